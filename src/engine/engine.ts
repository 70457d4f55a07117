/**
 * Describes engines: data about how a model server is started, queried and ended, and the command lines made from it.
 */

/** Systems that install hints are for. */
type System = "linux" | "darwin" | "windows";

/** The names of the values that replace `{name}` in templates. */
const VALUE_NAMES = [
  // The requested model; a path is absolute.
  "model",
  // The same, where it is an existing path.
  "model_path",
  // The same, where it is not: an id of a hub or of the engine's own store.
  "model_id",
  // The model id for requests, where the model was given as a path.
  "name",
  "host",
  // The host as in a URL: a v6 address in brackets.
  "url_host",
  "port",
  // Tokens of one conversation.
  "context_window",
  // Tokens of all conversations together.
  "context_total",
  "parallel",
  // Only ever in the environment, never in argv: everybody on a machine can list argv.
  "api_key",
  "tensor_parallel",
  "pipeline_parallel",
  // Set where Ray is to spread the model over machines.
  "ray",
  // Name of a parser that suits the model.
  "tool_parser",
  // MiB of memory for prompt caches that are not in use.
  "cache_memory",
  // Set unless the engine may fetch models.
  "offline",
] as const;

export type ValueName = typeof VALUE_NAMES[number];

/** The values themselves; an absent one leaves out the option that needs it. */
export type Values = Partial<Record<ValueName, string>>;

interface OptionTemplate {
  flag: string;
  /** With `{name}` for values; without it the option is a switch. */
  value?: string;
  /** Left out unless this value is there; for switches. */
  needs?: ValueName;
  /** Never left out because a version does not know it: without it the engine would not do what was requested. */
  required?: true;
  /** The help of the installed version must match too: the flag may be older than its value. */
  inHelp?: RegExp;
  /** The help must hold the value as a word. */
  valueInHelp?: true;
  /** Not reported where the installed version does not know it: not every version needs it. */
  optional?: true;
  /** Left out together with this flag. */
  with?: string;
}

export interface Command {
  /** The first one found is run. */
  programs: readonly string[];
  /** Words before the options, with `{name}`; a word whose value is absent is left out. */
  words: readonly string[];
  options: readonly OptionTemplate[];
  /** Words that make it print all options, tried in order; empty where there is nothing to check. */
  help: readonly (readonly string[])[];
  /** Only run where this value is there. */
  needs?: ValueName;
  /** A failure of it changes nothing: older versions have no such command, or there was nothing to do. */
  mayFail?: true;
}

type Running =
  /** A child that serves until it is ended; of several commands the first whose program is installed. */
  | { kind: "child"; commands: readonly Command[] }
  /** Calls that set up a server elsewhere, and calls that remove it again. */
  | { kind: "service"; start: readonly Command[]; stop: readonly Command[] };

/** When an engine is ready. By the body where servers answer anything with 200. */
interface Ready {
  /** From the origin. */
  path: string;
  proves(answer: { status: number; json: unknown }): boolean;
}

/** An engine of the table, or one from a template of the user. */
export interface Engine {
  /** Also the name of the provider that `--register` writes. */
  id: string;
  product: string;
  /** Default; null where `--port` has to be given. */
  port: number | null;
  /** Names of servers, as they are recognized, that are this engine. */
  servers: readonly string[];
  model: {
    /** Whether it starts without one. */
    required: boolean;
    takes: "id" | "path or id" | "file or id";
  };
  /** Default tokens of one conversation; absent: the engine decides. */
  contextWindow?: number;
  running: Running;
  environment: Readonly<Record<string, string>>;
  ready: Ready;
  /** The backend that is made to load the model once the server answers; others load it when they start. */
  preload?: string;
  install: Readonly<Record<System, string>>;
  /** Paragraphs of its help. */
  notes: readonly string[];
  /** A template of the user: its words are exactly what is run. */
  own?: true;
}

/** An option that is not passed, and why: one clause. */
export interface LeftOut {
  flag: string;
  reason: string;
}

const PLACEHOLDER = /\{([a-z_]+)\}/g;

/**
 * `text` with every `{name}` replaced, once: values are not expanded again. Null when a value is absent.
 * Braces around anything else stay.
 */
export function fill(text: string, values: Values): string | null {
  let absent = false;
  const filled = text.replace(PLACEHOLDER, (whole, name: string) => {
    if (!isValueName(name)) return whole;
    const value = values[name];
    if (value === undefined) absent = true;
    return value ?? "";
  });
  return absent ? null : filled;
}

function isValueName(name: string): name is ValueName {
  return (VALUE_NAMES as readonly string[]).includes(name);
}

/** Returns the flags that a help text names. */
export function flagsOf(help: string): Set<string> {
  return new Set(help.match(/(?<![\w-])--?[A-Za-z][\w-]*/g) ?? []);
}

/** Returns the flags among the user's own words: `--port=1` is `--port`. */
function givenFlags(own: readonly string[]): Set<string> {
  return new Set(own.filter((word) => word.startsWith("-")).map((word) => word.split("=")[0] ?? word));
}

/** Flags of `own` that name what this program decides itself, such as the address: they would contradict it. */
export function contradictions(command: Command, own: readonly string[]): string[] {
  const given = givenFlags(own);
  return command.options.filter((option) => option.required && given.has(option.flag)).map((option) => option.flag);
}

/**
 * Returns the words of a command. `help` is what the installed version printed, null where that is unavailable; options
 * it does not know are left out and reported (with `unchecked` none are); those that `own`, which comes last, gives
 * itself are left out silently.
 */
export function buildWords(
  command: Command,
  options: { values: Values; help: string | null; own: readonly string[]; unchecked?: boolean },
): { words: string[]; leftOut: LeftOut[] } {
  const { values, help, own } = options;
  const known = help === null ? null : flagsOf(help);
  const given = givenFlags(own);
  const leftOut: LeftOut[] = [];
  const passed = new Set<string>();
  const words = command.words.map((word) => fill(word, values)).filter((word) => word !== null);
  for (const option of command.options) {
    const value = option.value === undefined ? undefined : fill(option.value, values);
    if (value === null || (option.needs !== undefined && values[option.needs] === undefined)) continue;
    if (given.has(option.flag) || (option.with !== undefined && !passed.has(option.with))) continue;
    if (option.optional && known?.has(option.flag) === false) continue;
    const reason = option.required || options.unchecked ? null : whyNot(option, { value, help, known });
    if (reason !== null) {
      leftOut.push({ flag: value === undefined ? option.flag : `${option.flag} ${value}`, reason });
      continue;
    }
    passed.add(option.flag);
    words.push(option.flag, ...(value === undefined ? [] : [value]));
  }
  return { words: [...words, ...own], leftOut };
}

function whyNot(
  option: OptionTemplate,
  met: { value: string | undefined; help: string | null; known: Set<string> | null },
): string | null {
  if (met.help === null || met.known === null) {
    return option.inHelp || option.valueInHelp ? "its help could not be read" : null;
  }
  if (!met.known.has(option.flag)) return "the installed version does not know it";
  const value = met.value;
  const unknown = (option.inHelp && !option.inHelp.test(met.help)) ||
    (option.valueInHelp && value !== undefined && !new Set(met.help.match(/[\w.-]+/g)).has(value));
  return unknown ? "the installed version does not know this value" : null;
}

/** Returns the commands of an engine, whatever it runs as. */
export function commandsOf(engine: Engine): readonly Command[] {
  const { running } = engine;
  return running.kind === "child" ? running.commands : [...running.start, ...running.stop];
}

/** The values that the commands and variables of an engine use: any other has no effect. */
export function usedValues(engine: Engine): Set<ValueName> {
  const texts = [
    ...commandsOf(engine).flatMap(({ words, options }) => [...words, ...options.map((option) => option.value ?? "")]),
    ...Object.values(engine.environment),
  ];
  const names = texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name ?? ""));
  return new Set(names.filter(isValueName));
}

/** Variables of an engine that have a value. */
export function buildEnvironment(engine: Engine, values: Values): Record<string, string> {
  const entries = Object.entries(engine.environment).map(([name, text]) => [name, fill(text, values)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}
