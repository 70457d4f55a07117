/** Declarations of commands and options. They are cheap at start; the code of a command is loaded when it is called. */
import type { Io } from "../platform/io.ts";

/** The kind of values that completions offer. */
export type Completion =
  | "provider"
  | "model"
  | "role"
  | "setting"
  | "setting_value"
  | "engine"
  | "session"
  | "topic"
  | "artifact"
  | "mcp_server"
  | "scaffold"
  | "installed_artifact"
  | "foreign_artifact"
  | "hook_event"
  | "file"
  | "directory";

interface Common {
  brief: string;
  /** Heading in the help; "Options" when absent. */
  group?: string;
  /** Not shown in help and completions. */
  hidden?: boolean;
  /** Its short spelling, without the dash. */
  letter?: string;
}
interface FlagOption extends Common {
  kind: "flag";
}
/** A value as typed; with `values` one of these. */
interface TextOption<T extends string = string> extends Common {
  kind: "text";
  placeholder: string;
  /** It may come without a value, which is then empty. */
  alone?: true;
  values?: readonly T[];
  completion?: Completion;
}
export interface NumberOption extends Common {
  kind: "number";
  placeholder: string;
  integer: boolean;
  minimum: number;
  maximum: number;
}
/** May be given several times. */
interface ListOption extends Common {
  kind: "list";
  placeholder: string;
  completion?: Completion;
}
export type Option = FlagOption | TextOption | NumberOption | ListOption;
/** Options of a command by camelCase name (`baseUrl` is typed `--base-url` or `--baseUrl`). */
export type Options = Record<string, Option>;

type ValueOf<O extends Option> = O extends FlagOption ? boolean
  : O extends NumberOption ? number | undefined
  : O extends ListOption ? readonly string[]
  : O extends TextOption<infer T> ? T | undefined
  : never;
/** Parsed options: flags are false and lists empty when not given, the others undefined. */
export type Values<O extends Options> = { readonly [K in keyof O]: ValueOf<O[K]> };

/** The optional parts of an option. */
type More<O extends Option> = Partial<Omit<O, "kind" | "brief" | "placeholder" | "values" | "integer">>;

/** A switch. */
export function flag(brief: string, more: More<FlagOption> = {}): FlagOption {
  return { kind: "flag", brief, ...more };
}
/** A value; `placeholder` is what the help shows for it. */
export function text(placeholder: string, brief: string, more: More<TextOption> = {}): TextOption {
  return { kind: "text", placeholder, brief, ...more };
}
/** One of a few words. */
export function choice<const T extends string>(
  values: readonly T[],
  brief: string,
  more: More<TextOption> = {},
): TextOption<T> {
  return { kind: "text", placeholder: values.join("|"), values, brief, ...more };
}
/** A number with a fraction, of at least 0 unless bounded otherwise. */
export function decimal(placeholder: string, brief: string, more: More<NumberOption> = {}): NumberOption {
  return { kind: "number", placeholder, brief, integer: false, minimum: 0, maximum: Number.MAX_VALUE, ...more };
}
/** A whole number of at least 0 unless bounded otherwise. */
export function integer(placeholder: string, brief: string, more: More<NumberOption> = {}): NumberOption {
  return { ...decimal(placeholder, brief, { maximum: Number.MAX_SAFE_INTEGER, ...more }), integer: true };
}
/** Several values. */
export function list(placeholder: string, brief: string, more: More<ListOption> = {}): ListOption {
  return { kind: "list", placeholder, brief, ...more };
}

/** By camelCase name, as in {@link Globals}. */
export const GLOBAL_OPTIONS = {
  cwd: text("DIR", "Run in this directory", { group: "Global options", completion: "directory" }),
  json: flag("Print machine-readable JSON on stdout", { group: "Global options" }),
  quiet: flag("Print only results and errors", { group: "Global options" }),
  verbose: flag("Print more details, including causes of errors", { group: "Global options" }),
  noColor: flag("Print without colors (same as NO_COLOR)", { group: "Global options" }),
  yes: flag("Make changes without asking for confirmation", { group: "Global options" }),
  help: flag("Print help", { group: "Global options" }),
  version: flag("Print the version", { group: "Global options" }),
} as const satisfies Options;

/** One-letter spellings. `-v` alone at the root is the version (specification, stream-json §1). */
export const SHORT_OPTIONS: Readonly<Record<string, keyof typeof GLOBAL_OPTIONS>> = {
  C: "cwd",
  q: "quiet",
  v: "verbose",
  y: "yes",
  h: "help",
  V: "version",
};

/** The options that every command takes, anywhere on the line. */
export interface Globals {
  /** Absolute path of `-C`, else the working directory. */
  cwd: string;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  noColor: boolean;
  yes: boolean;
}

export interface Context {
  io: Io;
  globals: Globals;
}

export interface Invocation<O extends Options = Options> {
  options: Values<O>;
  /** As many as `arguments` allow. */
  arguments: readonly string[];
  context: Context;
}

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

/** Runs a command. Declared as a method, so that commands with different options fit into one tree. */
type Run<O extends Options> = { run(invocation: Invocation<O>): Promise<number | void> }["run"];

/** A command. `load` returns the function that does the work and returns the exit code (nothing: 0). */
export interface Command<O extends Options = Options> {
  kind: "command";
  brief: string;
  /** Further paragraphs of the help. */
  detail?: string;
  arguments: readonly Argument[];
  options: O;
  /** Command lines that work as they are. */
  examples: readonly string[];
  hidden?: boolean;
  /**
   * Connects to providers in its own project or where clients say: in projects with protected paths its process copies
   * nothing out.
   */
  connects?: "here" | "anywhere";
  /** Paragraphs after the help, loaded only when help is requested, from the options of the line. */
  moreHelp?(options: readonly { name: string; value?: string | undefined }[]): Promise<string>;
  load(): Promise<Run<O>>;
}

/** Commands below a word: `providers add`. */
export interface Group {
  kind: "group";
  brief: string;
  detail?: string;
  // deno-lint-ignore no-explicit-any -- a tree of commands with different options
  commands: Record<string, Command<any> | Group>;
  /** The default one on a terminal. */
  usual?: string;
}

/** Returns the options that can follow a command, or a group that has a default one. */
export function optionsAt(node: Command | Group): Options {
  if (node.kind === "command") return node.options;
  const usual = node.usual === undefined ? undefined : node.commands[node.usual];
  return usual?.kind === "command" ? usual.options : {};
}

/** Returns the commands of a group that help and completions show, with their names. */
export function shownCommands({ commands }: Group): [string, Command | Group][] {
  return Object.entries(commands).filter(([, node]) => node.kind === "group" || node.hidden !== true);
}

/** Returns the name of the option with a letter. */
export function optionOfLetter(letter: string, options: Options): string | undefined {
  return SHORT_OPTIONS[letter] ?? Object.keys(options).find((name) => options[name]?.letter === letter);
}

/** Declares a command, by default without arguments and options; infers the type of its options for `run`. */
export function command<O extends Options = Record<never, never>>(
  declaration: Omit<Command<O>, "kind" | "arguments" | "options"> & Partial<Pick<Command<O>, "arguments" | "options">>,
): Command<O> {
  return { kind: "command", arguments: [], options: {} as O, ...declaration };
}

/** Declares a group. */
export function group(declaration: Omit<Group, "kind">): Group {
  return { kind: "group", ...declaration };
}
