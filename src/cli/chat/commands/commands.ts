/** The commands of the chat, in the order of the help. The code of one is loaded when it is called. */
import type { TurnListener } from "../../../protocol/turn_event.ts";
import type { AgentSession } from "../../../runtime/agent_session.ts";
import type { Context } from "../../command.ts";
import type { ChatView } from "../begin.ts";
import type { TypedCommand, TypedShell } from "../input/typed_line.ts";

/** Targets of commands. */
export interface CommandTarget {
  chat: AgentSession;
  view: ChatView;
  context: Context;
  signal: AbortSignal;
  emit: TurnListener;
}

/** Runs a command with what was typed after its name. Throws its failures. */
type Work = (argument: string, target: CommandTarget) => Promise<void>;

interface ChatCommand {
  brief: string;
  /**
   * It only shows something, or changes what a key may change at any time, so it need not wait for the running turn.
   */
  isBeside: boolean;
  /** The hint of clients at what is typed after it; undefined where it is for a terminal, or starts another session. */
  inClients: string | undefined;
  load(): Promise<Work>;
}

function command<Name extends string>(
  brief: string,
  load: () => Promise<Record<Name, Work>>,
  [name, inClients]: [name: Name, inClients?: string],
): ChatCommand {
  return { brief, isBeside: false, inClients, load: async () => (await load())[name] };
}

function beside<Name extends string>(...declared: Parameters<typeof command<Name>>): ChatCommand {
  return { ...command(...declared), isBeside: true };
}

const lists = () => import("./lists.ts");
const models = () => import("./models.ts");
const session = () => import("./session_commands.ts");
const stored = () => import("./stored_sessions.ts");
const turns = () => import("./rewind.ts");

/** By name; `""` in clients: nothing is typed after it. */
export const COMMANDS = {
  help: beside("list the commands and the keys", lists, ["help"]),
  model: command("switch to another model", models, ["switchModel", "provider:model"]),
  models: command("list the models of the servers", lists, ["models", ""]),
  tools: beside("list the tools of the model", lists, ["tools", ""]),
  permissions: beside("show or set the mode; list and remove rules", session, [
    "permissions",
    "a mode, or remove <number>",
  ]),
  mcp: beside("list the MCP servers, their tools and tokens", lists, ["servers", ""]),
  context: beside("show what fills the window", session, ["showContext", ""]),
  status: beside("show model, session and mode", session, ["showStatus", ""]),
  think: command("set how much the model reasons: on, off, low, medium, high", session, [
    "think",
    "on, off, low, medium or high",
  ]),
  retry: command("send the last prompt again, as if it had not been answered", turns, ["retry"]),
  copy: beside("copy the last answer to the clipboard", session, ["copyAnswer"]),
  init: command("let the model look around and write a short AGENTS.md", session, ["init"]),
  skills: beside("list the workflows and skills of the project", lists, ["skills", ""]),
  compact: command("summarize the older part now: /compact [what to keep]", session, ["compact", "what to keep"]),
  clear: command("begin a new session", stored, ["clear"]),
  rewind: command("go back to an earlier prompt: words, files or both", turns, ["rewind"]),
  redo: command("take /rewind or /undo back", turns, ["redo"]),
  undo: command("restore the files that the last turn changed", turns, ["undo", ""]),
  diff: beside("show the changes of this session", session, ["showDiff", ""]),
  resume: command("continue a stored session", stored, ["resume"]),
  rename: command("name the session; lists show it: /rename [name]", stored, ["rename"]),
  export: command("write the session to a file: /export [json|html] [file]", stored, [
    "exportSession",
    "a file name, or json",
  ]),
  secrets: command("list the protected paths", session, ["showSecrets", ""]),
  exit: command("exit; also /quit, exit and quit", stored, ["exit"]),
} as const;

export type CommandName = keyof typeof COMMANDS;

/** Runs a line that is not a prompt. Throws its failures. */
export async function runLine(typed: TypedCommand | TypedShell, target: CommandTarget): Promise<void> {
  if (typed.kind === "command") return await (await COMMANDS[typed.name].load())(typed.argument, target);
  const { chat, view, context: { io, globals: { cwd } }, signal, emit } = target;
  const { command, isForModel } = typed;
  if (!isForModel) {
    const { runOutside } = await import("../terminal/outside.ts");
    if (await view.lend?.(async () => view.print(await runOutside(command, { io, cwd }))) === true) return;
    signal.throwIfAborted();
  }
  // Without a terminal of its own, its output is shown like that of the model's commands: it may go into a log.
  await chat.runCommand(command, { signal, onEvent: emit, isForModel });
}
