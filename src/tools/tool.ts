/** The shape of a tool: what the registry, the permission and the engine share. */
import type { BackgroundCommands } from "./bash/background.ts";
import type { Label } from "../boundary/policy/label.ts";
import type { SessionSandbox } from "../boundary/sandbox/sandbox.ts";
import type { WatchOptions } from "../boundary/sandbox/watched_run.ts";
import type { Refusal, ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import type { CheckedArguments } from "../provider/check_arguments.ts";
import type { PlainSchema } from "../mcp/signature.ts";
import type { Clock, Io } from "../platform/io.ts";
import type { ShownImage } from "../provider/chat/content.ts";

/** The effect of a tool; decides permission modes, and which calls may run together. */
type ToolKind = "read" | "write" | "execute" | "note";

/** The change of a call to a file, for display; as protected as the result. */
export interface FileChange {
  name: string;
  /** Null when there was no such file. */
  before: string | null;
  after: string;
}

export interface ToolResult {
  content: string;
  isError: boolean;
  /** Shown to the model after the results; as protected as `label` says. Absent for none. */
  images?: readonly ShownImage[];
  label: Label;
  /** The protected file it shows, for placeholders and refusals; of several the first. */
  source?: { path: string; rule: string };
  /** For clients of the protocol (`tool_use_result`): facts such as the file path or the patch. */
  details?: Record<string, unknown>;
  /** Of a file that was written; never stored. */
  change?: FileChange;
}

interface PreviousVersion {
  /** Real. */
  path: string;
  /** Null when there is no such file yet. */
  before: Uint8Array<ArrayBuffer> | null;
  after: Uint8Array<ArrayBuffer>;
  /** Permission bits; null where nobody knows. */
  mode: number | null;
  /** The higher of both contents. */
  label: Label;
}

/**
 * Returns what an editor has for a file; null where it has nothing to say. `modified` is the time of the file on the
 * disk, in milliseconds since 1970. Asked only for a file that the reader gave, and only its path is shown.
 */
export type UnsavedText = (path: string, file: { modified: number; signal: AbortSignal }) => Promise<string | null>;

/** The context of a tool: its only access to the outside. */
export interface ToolContext {
  workspace: Workspace;
  /** Files that this session read and wrote; Write and Edit check it. */
  memory: SessionMemory;
  signal: AbortSignal;
  /** Most bytes of a result, about: a share of the model's window. A result that was cut says how to get the rest. */
  resultBytes: number;
  /** The sandbox of commands where paths are protected; without it none run there. */
  sandbox?: SessionSandbox | undefined;
  /** Looks for protected content in a text for a file that is not protected. */
  checkWrite?: ((text: string, display: string) => Promise<Refusal | null>) | undefined;
  /** Scans what a program changed, once it has ended: see `WatchOptions`. */
  protectChanges?: WatchOptions["protectChanges"];
  /** Tells the person something that is not an error; never the model. */
  notify?: ((text: string) => void | Promise<void>) | undefined;
  /** Gets what a command prints while it runs, for the person; where it gives a promise the command waits. */
  onOutput?: ((bytes: Uint8Array) => void | Promise<void>) | undefined;
  /** Keeps what a change replaces, so that it can be undone; called before the change is made. */
  keepPrevious?: ((change: PreviousVersion) => Promise<void>) | undefined;
  /** Asks an editor for its text of a file; absent where none can be asked. See {@link UnsavedText}. */
  unsaved?: UnsavedText | undefined;
  /** The highest label in the session; absent counts as protected. Decides the network of commands. */
  sessionLabel?: Label | undefined;
  /** Runs a search in a session of its own and returns its answer; absent where none can be run. */
  explore?: ((task: string) => Promise<ToolResult>) | undefined;
  io: Pick<Io, "env" | "environment" | "os"> & { clock: Clock };
  /** Returns whether the model supports image input; null for unknown. Absent: it does not. */
  supportsImages?: (() => Promise<boolean | null>) | undefined;
  /** The deny rule by which no tool may show what is in this file, or null; absent when no rule is about reading. */
  readDenied?: ((path: ResolvedPath) => string | null) | undefined;
  /** Names of variables that hold resolved keys; children never get them. */
  secretVariables: readonly string[];
}

/** From a line, counted from 1, to a line; `Infinity` for a file whose end was not reached. */
export type LineRange = readonly [first: number, last: number];

/** A file as it was when it was last read or written in this session. */
interface KnownFile {
  modified: number;
  size: number;
  inode: number;
  digest: string;
  /** The lines that the session has not seen; absent for none. */
  unseen?: readonly LineRange[];
}

/** State of files and todos that a session keeps between calls. */
export interface SessionMemory {
  /** Real path → what the file was when it was last read or written in this session. */
  files: Map<string, KnownFile>;
  /** Digests of calls that were refused once as a likely slip: the same call again is intended. */
  warned: Set<string>;
  failedEdits: Map<string, number>;
  /** Commands that run in the background; absent before the first. */
  commands?: BackgroundCommands;
  todos: { content: string; status: "pending" | "in_progress" | "completed" }[];
}

/** A tool. `Input` is what `parameters` describe; arguments are checked by them before `run` sees any. */
// deno-lint-ignore no-explicit-any -- the registry holds tools of different inputs
export interface Tool<Input = any> {
  name: string;
  /** Prompt text, from the `prompt.md` beside the tool. Every byte costs every user. */
  description: string;
  parameters: PlainSchema;
  /**
   * Parameters that are accepted though they are not declared to the model, and sets of arguments that do `instead` of
   * the required ones: what models send unasked.
   */
  taken?: { properties: Record<string, PlainSchema>; instead: readonly (readonly string[])[] };
  kind: ToolKind;
  /** Of its declaration; absent for open. */
  label?: Label;
  /** The same call returns something new each time. */
  mayRepeat?: true;
  /** Returns the subject that permission rules match and that a person is shown: the command, or the path as given. */
  subject(input: Input): string;
  /** Returns the name that permission rules know a call by, where that is not the tool's own. */
  ruleName?(input: Input): string;
  /** Checks the arguments by more than `parameters`; absent: by that alone. */
  check?(input: Record<string, unknown>): CheckedArguments;
  /**
   * Returns why the boundary keeps a call from being made, one sentence, whoever would allow it; null where it does
   * not.
   */
  forbidden?(input: Input, context: ToolContext): Promise<string | null>;
  /** Failures that the model can act on are results with `isError`; only bugs and aborts throw. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
  /**
   * The result of a call that could not be done, or would change nothing; null for any other. Does nothing itself:
   * it comes before the question to a person, so that nobody allows what then fails. Absent for tools without a
   * precheck.
   */
  precheck?(input: Input, context: ToolContext): Promise<ToolResult | null>;
}

/** Returns the subject of a call with unchecked arguments; null where the tool cannot read them. */
export function subjectOfUnchecked(tool: Tool | undefined, input: Record<string, unknown>): string | null {
  try {
    const subject: unknown = tool?.subject(input);
    return typeof subject === "string" ? subject : null;
  } catch {
    return null;
  }
}

/** A tool without its implementation. */
// deno-lint-ignore no-explicit-any -- as in Tool
export type ToolDeclaration<Input = any> = Omit<Tool<Input>, "run" | "precheck">;

/**
 * A tool whose code is loaded at its first call. Tools that most turns do not call (a quarter of the code on the way to
 * the first request) then cost no time at the start.
 */
export function loadedLater<Input>(
  declaration: ToolDeclaration<Input>,
  load: () => Promise<Tool<Input>>,
): Tool<Input> {
  return {
    ...declaration,
    run: async (input, context) => await (await load()).run(input, context),
    precheck: async (input, context) => await (await load()).precheck?.(input, context) ?? null,
  };
}

/** The tools by which a model finds and calls the tools of MCP servers. */
export const [MCP_FIND, MCP_CALL] = ["McpFind", "McpCall"] as const;
