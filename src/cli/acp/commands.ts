/** Slash commands: those of the chat that need no terminal, and those of the project. */
import { AgentcliError } from "../../errors.ts";
import { didYouMean } from "../../config/suggest.ts";
import type { TurnListener } from "../../protocol/turn_event.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import type { OpenSession } from "../../runtime/open_session.ts";
import { plainText, type Row } from "../../terminal/style.ts";
import type { ChatView } from "../chat/begin.ts";
import { COMMANDS } from "../chat/commands/commands.ts";
import type { TypedCommand, TypedPrompt } from "../chat/input/typed_line.ts";
import type { Context } from "../command.ts";
import { fenced } from "../../platform/text.ts";
import type { AvailableCommand } from "./wire.ts";

const WIDTH = 100;

const BUILT_IN: readonly AvailableCommand[] = Object.entries(COMMANDS).flatMap(([name, { brief, inClients }]) =>
  inClients === undefined ? [] : [commandOf(name, brief, inClients)]
);

function commandOf(name: string, description: string, hint: string): AvailableCommand {
  return { name, description, ...hint === "" ? {} : { input: { hint } } };
}

/** The commands that a client offers; without a session, those that every session has. */
export async function availableCommands(opened: OpenSession | null): Promise<AvailableCommand[]> {
  if (opened === null) return [...BUILT_IN];
  const { sessionCommands } = await import("../chat/input/client_commands.ts");
  const ofSession = await sessionCommands(opened);
  return [...BUILT_IN, ...ofSession.map(({ name, brief, hint }) => commandOf(name, brief, hint))];
}

/**
 * A command of the chat or the project in a prompt; null for any other prompt. Throws `usage` for one that is not
 * offered here.
 */
export async function readCommand(
  text: string,
  agent: AgentSession,
): Promise<TypedPrompt | TypedCommand | null> {
  if (!text.startsWith("/")) return null;
  const { readTyped } = await import("../chat/input/typed_line.ts");
  const typed = await readTyped(text, agent);
  if (typed.kind === "shell") return null;
  if (typed.kind === "prompt") return typed.from === null ? null : typed;
  if (COMMANDS[typed.name].inClients === undefined) {
    const names = BUILT_IN.map(({ name }) => `/${name}`);
    throw new AgentcliError("usage", `/${typed.name} is a command of the chat in the terminal`, {
      hint: didYouMean(`/${typed.name}`, names) ?? `here: ${names.join(", ")}`,
    });
  }
  return typed;
}

/** Runs a command and returns what it prints, as Markdown. Throws what it meets. */
export async function runCommand(
  command: TypedCommand,
  target: { agent: AgentSession; context: Context; signal: AbortSignal; emit: TurnListener },
): Promise<string> {
  const { agent, context, signal, emit } = target;
  const rows: Row[] = [];
  const { runLine } = await import("../chat/commands/commands.ts");
  await runLine(command, { chat: agent, view: viewOf(rows), context, signal, emit });
  const text = rows.map(plainText).join("\n");
  return text.trim() === "" ? `/${command.name}: done` : fenced(text);
}

/** Prints into `rows`; nobody is there to choose or to answer. */
function viewOf(rows: Row[]): ChatView {
  return {
    isTerminal: false,
    width: () => WIDTH,
    print: (printed) => void rows.push(...printed),
    pick: () => Promise.resolve(null),
    question: () => Promise.resolve(null),
    ask: () => Promise.resolve(null),
    during: (_label, work) => work,
    send: () => {},
    draft: () => {},
    replay: () => Promise.resolve(),
    leave: () => {},
    clear: () => {},
  };
}
