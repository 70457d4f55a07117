/** From a template and values to the words of a command. Words stay words: nothing is ever joined for a shell. */
import type { Command, Engine, OptionTemplate, ValueName, Values } from "./types.ts";

/** An option that is not passed, and why: one clause. */
export interface LeftOut {
  flag: string;
  reason: string;
}

/** Words after the program. */
export interface BuiltWords {
  words: string[];
  leftOut: LeftOut[];
}

const PLACEHOLDER = /\{([a-z_]+)\}/g;

/**
 * `text` with every `{name}` replaced, once: what a value holds is not looked at again. Null when a value is absent.
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

const NAMES: Readonly<Record<ValueName, true>> = {
  model: true,
  model_path: true,
  model_id: true,
  name: true,
  host: true,
  url_host: true,
  port: true,
  context_window: true,
  context_total: true,
  parallel: true,
  api_key: true,
  tensor_parallel: true,
  pipeline_parallel: true,
  ray: true,
  tool_parser: true,
  offline: true,
};

function isValueName(name: string): name is ValueName {
  return Object.hasOwn(NAMES, name);
}

/** The flags that a help text knows. */
function flagsOf(help: string): Set<string> {
  return new Set(help.match(/(?<![\w-])--?[A-Za-z][\w-]*/g) ?? []);
}

/** The flags among the user's own words: `--port=1` is `--port`. */
function givenFlags(own: readonly string[]): Set<string> {
  return new Set(own.filter((word) => word.startsWith("-")).map((word) => word.split("=")[0] ?? word));
}

/** Flags of `own` that name what this program decides itself, such as the address: they would contradict it. */
export function contradictions(command: Command, own: readonly string[]): string[] {
  const given = givenFlags(own);
  return command.options.filter((option) => option.required && given.has(option.flag)).map((option) => option.flag);
}

/**
 * The words of a command. `help` is what the installed version printed, null where that cannot be had; options it does
 * not know are left out and told (with `unchecked` none are), and so are those that `own`, which comes last, gives itself (not told).
 */
export function buildWords(
  command: Command,
  options: { values: Values; help: string | null; own: readonly string[]; unchecked?: boolean },
): BuiltWords {
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
    if (option.optional && !(known?.has(option.flag) ?? false)) continue;
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

/** The commands of an engine, whatever it runs as. */
export function commandsOf(engine: Engine): readonly Command[] {
  const { running } = engine;
  return running.kind === "child" ? running.commands : [...running.start, ...running.stop];
}

/** Which values the commands and variables of an engine use: what does not appear here has no effect. */
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
