/** What a verb is: a declaration that costs nothing at start, and the code that is loaded when it is called. */
import type { Io } from "../platform/io.ts";
import type { Completion, Options, Values } from "./option.ts";

/** The options that stand anywhere on the line, of every verb. */
export interface Globals {
  /** Absolute path of `-C`, else the working directory. */
  cwd: string;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  /** `--no-color` was given. */
  noColor: boolean;
  yes: boolean;
}

/** What a verb is given to work with. */
export interface Context {
  io: Io;
  globals: Globals;
}

/** One call of a verb, parsed. */
export interface Invocation<O extends Options = Options> {
  options: Values<O>;
  /** As many as `arguments` allow. */
  arguments: readonly string[];
  context: Context;
}

/** A positional argument. */
export interface Argument {
  name: string;
  brief: string;
  optional?: boolean;
  /** Takes all that follow; only the last may. */
  repeated?: boolean;
  completion?: Completion;
  /** One of these; other words are refused. */
  values?: readonly string[];
}

/** Runs a verb. Declared as a method, so that verbs with different options fit into one tree. */
export type Run<O extends Options> = { run(invocation: Invocation<O>): Promise<number | void> }["run"];

/** A verb. `load` returns the function that does the work and returns the exit code (nothing: 0). */
export interface Verb<O extends Options = Options> {
  kind: "verb";
  brief: string;
  /** Further paragraphs of the help. */
  detail?: string;
  arguments: readonly Argument[];
  options: O;
  /** Command lines that work as they stand. */
  examples: readonly string[];
  hidden?: boolean;
  /** Connects to providers: in projects with protected paths it runs in a process that copies nothing out. */
  connects?: true;
  /** Paragraphs behind the help that are loaded only when it is asked for, from the options of the line. */
  moreHelp?(options: readonly string[]): Promise<string>;
  load(): Promise<Run<O>>;
}

/** Verbs below a word: `providers add`. */
export interface Group {
  kind: "group";
  brief: string;
  detail?: string;
  // deno-lint-ignore no-explicit-any -- a tree of verbs with different options
  verbs: Record<string, Verb<any> | Group>;
}

/** Declares a verb; infers the type of its options for `run`. */
export function verb<O extends Options>(declaration: Omit<Verb<O>, "kind">): Verb<O> {
  return { kind: "verb", ...declaration };
}

/** Declares a group. */
export function group(declaration: Omit<Group, "kind">): Group {
  return { kind: "group", ...declaration };
}
