/**
 * How a chat begins: on a drawn terminal or line by line; and what its commands and questions need from their surface.
 */
import type { Choice } from "../../terminal/picker.ts";
import type { Row } from "../../terminal/style.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import type { Context, Invocation } from "../command.ts";
import type { Question, QuestionAnswer } from "./questions/question.ts";
import { checkStoreOptions, type SessionOptions } from "../../runtime/session_options.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import type { OpenSession } from "../../runtime/open_session.ts";
import type { RUN_OPTIONS, RunOptions } from "../run/command.ts";
import { givenServers } from "../run/run.ts";
import { warn } from "../output.ts";

export type ChatOptions = RunOptions & Pick<SessionOptions, "mcpServers">;

export interface PickQuestion {
  title: string;
  choices: readonly Choice[];
  /** Control-S on a choice does this, and says the result; the list stays open. */
  onSave?(index: number): Promise<string>;
}

/** A way to show things and to ask. */
export interface ChatView {
  /** Whether output goes to a terminal: elsewhere it may go into a log, which gets nothing protected. */
  readonly isTerminal: boolean;
  width(): number;
  /** Rows that stay. */
  print(rows: readonly Row[]): void;
  /** One of the choices by its place; null when nothing was chosen, or nobody is there. */
  pick(question: PickQuestion): Promise<number | null>;
  /** Asks whether a call may run; null when nobody answers. */
  question(question: Question): Promise<QuestionAnswer | null>;
  /** A line of text; null when the user gave up. */
  ask(title: string): Promise<string | null>;
  /** Shows what is being done while it takes time. */
  during<T>(label: string, work: Promise<T>): Promise<T>;
  /** Takes a text as if it had been typed. */
  send(text: string): void;
  /** Puts a text into the input line. */
  draft(text: string): void;
  /** Draws the end of a resumed session. */
  replay(opened: OpenSession): Promise<void>;
  /** Lends the terminal to work; false where there is none to lend. Absent: there never is one. */
  lend?(work: () => Promise<void>): Promise<boolean>;
  /** Ends the chat after the current work. */
  leave(): void;
  clear(): void;
}

/** The beginning of a chat: a prompt, and a session that is still to be chosen. */
export interface Beginning {
  first: string | undefined;
  choosesSession: boolean;
}

/**
 * Prepares the session: the one that is chosen where `choosesSession`. Where no model is configured and somebody can be
 * asked, one is chosen first; the chat ends when none is. Throws what `prepare` throws, and the signal's reason.
 */
export async function beginChat(
  chat: AgentSession,
  { view, context, canAsk, choosesSession, signal }: {
    view: ChatView;
    context: Context;
    canAsk: boolean;
    choosesSession: boolean;
    signal: AbortSignal;
  },
): Promise<void> {
  if (choosesSession) {
    const { chooseStored } = await import("./commands/stored_sessions.ts");
    const resume = await chooseStored({ view, context, current: null });
    signal.throwIfAborted();
    chat.configure({ resume: resume ?? undefined });
  }
  try {
    await view.during("connecting", chat.ready());
  } catch (error) {
    const { code } = asAgentcliError(error);
    if (!canAsk) throw error;
    if (code !== "no_provider" && code !== "no_model") throw withWayOut(error);
    const { chooseFirstModel } = await import("./commands/models.ts");
    const selector = await chooseFirstModel({ view, context, signal });
    if (selector === null) return view.leave();
    await view.during("connecting", chat.setModel(selector));
  }
}

/** Errors that another model can avoid. */
const OF_THE_MODEL: ReadonlySet<string> = new Set([
  "unknown_provider",
  "unknown_model",
  "unknown_role",
  "provider_unreachable",
  "key_missing",
  "key_store_unusable",
]);

function withWayOut(error: unknown): unknown {
  const { code, message, hint } = asAgentcliError(error);
  if (!OF_THE_MODEL.has(code)) return error;
  const here = "for this chat: /model chooses another one, /model demo needs no server";
  return new AgentcliError(code, message, { hint: hint === undefined ? here : `${hint}; ${here}`, cause: error });
}

/** Runs the command. Throws `usage` for machine formats, which belong to `run`. */
export async function run({ options, arguments: words, context }: Invocation<typeof RUN_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const format = options.outputFormat ?? "text";
  if (globals.json || format !== "text" || (options.inputFormat ?? "text") !== "text") {
    throw new AgentcliError("usage", "chat is for people; machine formats belong to run", {
      hint: "agentcli run --input-format stream-json --output-format stream-json",
    });
  }
  if (options.permissionPromptTool !== undefined || options.includePartialMessages) {
    throw new AgentcliError("usage", "--permission-prompt-tool and --include-partial-messages are for run", {
      hint: "leave them out: the chat asks at the terminal, and shows what arrives piece by piece",
    });
  }
  // `--resume` without a session: any may still be chosen.
  const choosesSession = options.resume === "";
  checkStoreOptions(choosesSession ? { ...options, resume: "latest" } : options);
  const { servers, problems } = await givenServers(options, context);
  for (const problem of problems) await warn(context, problem);
  const given = { ...options, mcpServers: servers };
  const beginning = { first: words[0], choosesSession };
  const drawn = io.stdin.isTerminal && io.stdout.isTerminal && (io.env("TERM") ?? "dumb") !== "dumb";
  if (drawn || (io.os === "windows" && io.stdin.isTerminal && io.stdout.isTerminal)) {
    const { TerminalChat } = await import("./terminal/terminal_chat.ts");
    return await new TerminalChat(given, context).run(beginning);
  }
  const { LineChat } = await import("./line_chat.ts");
  return await new LineChat(given, context).run(beginning);
}
