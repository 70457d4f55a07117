/**
 * Reads the command line and runs the command it names. Two steps: normalize (`--k v`, `--k=v`, `--k=` and `--k ""`
 * become the same, global options are taken from any place, negative numbers can be values, `--` ends options), then
 * dispatch (values get their types, and what does not fit is refused with a suggestion). No command library:
 * normalizing has to know every option already, and what was left for the library cost 2.3 ms of every start and 80 KB
 * (measured with @stricli/core 1.3.0, a tenth of the time to the first request).
 */
import { AgentcliError } from "../errors.ts";
import {
  type Argument,
  type Command,
  type Context,
  GLOBAL_OPTIONS,
  type Group,
  type NumberOption,
  type Option,
  optionOfLetter,
  type Options,
  SHORT_OPTIONS,
  type Values,
} from "./command.ts";
import { resolve } from "../platform/path.ts";
import { askWhich, closest } from "../config/suggest.ts";

/** An option by its camelCase name, or as it was typed where it is not known. */
export interface GivenOption {
  name: string;
  value?: string | undefined;
}

/** The command line in one form. */
export interface Normalized {
  /** Words that name the command or group, as far as they match. */
  path: string[];
  /** The command or group at `path`. */
  node: Command | Group;
  /** Values of the global options that were given. */
  globals: { -readonly [K in keyof typeof GLOBAL_OPTIONS]?: string | true };
  /** In the order given; the value is that after `=`, or the next word. */
  options: GivenOption[];
  /** The words that are neither options nor part of `path`. */
  words: string[];
}

/** `base-url` and `baseUrl` are the same option. */
export function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `baseUrl` as it is typed: `base-url`. */
export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

interface Token {
  kind: "word" | "option" | "unknown";
  text: string;
  /** Index in argv. */
  at: number;
}

/** Splits short options apart; everything after `--` is words. */
function* tokens(argv: readonly string[], ended: { at: number }): Generator<Token> {
  for (let at = 0; at < argv.length; at++) {
    const text = argv[at] ?? "";
    if (text === "--") {
      ended.at = at;
      return;
    }
    if (/^--./.test(text)) yield { kind: "option", text: text.slice(2), at };
    else if (/^-[A-Za-z]+$/.test(text)) {
      for (const letter of text.slice(1)) {
        const name = SHORT_OPTIONS[letter];
        yield name === undefined ? { kind: "unknown", text: `-${letter}`, at } : { kind: "option", text: name, at };
      }
    } else yield { kind: "word", text, at };
  }
}

/**
 * Reads `argv` against the tree of commands. Unknown options stay in `options` for {@link dispatch} to refuse;
 * throws `usage` for an option without its value and for an unknown letter.
 */
export function normalize(argv: readonly string[], tree: Group): Normalized {
  const found: Normalized = { path: [], node: tree, globals: {}, options: [], words: [] };
  const ended = { at: argv.length };
  const all = [...tokens(argv, ended)];
  // The command first, since it decides which options take a value. A value of a global option is not a word of the
  // path.
  const skipped = walkPath(all, argv, found);
  const commandOptions: Options = found.node.kind === "command" ? found.node.options : {};
  for (const given of all) {
    if (skipped.has(given.at)) continue;
    if (given.kind === "word") {
      found.words.push(given.text);
      continue;
    }
    const lettered = given.kind === "unknown" ? optionOfLetter(given.text.slice(1), commandOptions) : given.text;
    if (lettered === undefined) throw unknownLetter(given.text, { path: found.path, options: commandOptions });
    const token: Token = { ...given, text: lettered };
    const [typed, inLine] = splitOption(token.text);
    const name = camelCase(typed);
    const isGlobal = Object.hasOwn(GLOBAL_OPTIONS, name);
    const option = Object.hasOwn(commandOptions, name)
      ? commandOptions[name]
      : isGlobal
      ? GLOBAL_OPTIONS[name as keyof typeof GLOBAL_OPTIONS]
      : undefined;
    let value = inLine;
    if (value === undefined && option !== undefined && option.kind !== "flag") {
      const after = { end: ended.at, known: { ...GLOBAL_OPTIONS, ...commandOptions } };
      const isAlone = option.kind === "text" && option.alone === true && !hasWordAfter(token, argv, ended.at);
      value = isAlone ? "" : valueAfter(token, argv, after);
      if (!isAlone) skipped.add(token.at + 1);
    }
    if (isGlobal && !Object.hasOwn(commandOptions, name)) {
      found.globals[name as keyof typeof GLOBAL_OPTIONS] = value ?? true;
    } else found.options.push({ name: option === undefined ? typed : name, value });
  }
  found.words.push(...argv.slice(ended.at + 1));
  return found;
}

/** Splits an option as it was typed, without its dashes, at the sign before its value. */
export function splitOption(text: string): [name: string, value: string | undefined] {
  const equals = text.indexOf("=");
  return equals < 0 ? [text, undefined] : [text.slice(0, equals), text.slice(equals + 1)];
}

/** Most likely the command of a prompt is missing: without a terminal there is no chat. */
export const NO_COMMAND = 'to prompt a model: agentcli run "<prompt>"; see: agentcli --help';

/** Options of commands have no letters: the long ones that begin with it are named. */
function unknownLetter(text: string, { path, options }: { path: readonly string[]; options: Options }): AgentcliError {
  // The letters of a chat, where there is no terminal for one.
  if (path.length === 0 && /^-[mcr]$/.test(text)) {
    return new AgentcliError("usage", `a command must come before ${text}`, { hint: NO_COMMAND });
  }
  const near = askWhich(
    Object.keys(options).filter((name) => name.startsWith(text.slice(1))).slice(0, 3)
      .map((name) => `--${kebabCase(name)}`),
  );
  const see = `see: ${["agentcli", ...path, "--help"].join(" ")}`;
  const hint = near === undefined ? see : `${near} ${see}`;
  return new AgentcliError("usage", `unknown option ${text}`, { hint });
}

/** Fills in `path` and `node`; returns the positions of the words used for it. */
function walkPath(all: readonly Token[], argv: readonly string[], found: Normalized): Set<number> {
  const used = new Set<number>();
  let skipNext = -1;
  for (const token of all) {
    if (found.node.kind === "command") break;
    if (token.kind !== "word") {
      const option = (GLOBAL_OPTIONS as Options)[camelCase(token.text)];
      if (option !== undefined && option.kind !== "flag" && token.at + 1 < argv.length) skipNext = token.at + 1;
      continue;
    }
    if (token.at === skipNext) continue;
    const next: Command | Group | undefined = Object.hasOwn(found.node.commands, token.text)
      ? found.node.commands[token.text]
      : undefined;
    if (next === undefined) break;
    found.path.push(token.text);
    found.node = next;
    used.add(token.at);
  }
  return used;
}

function hasWordAfter(token: Token, argv: readonly string[], end: number): boolean {
  return token.at + 1 < end && !(argv[token.at + 1] ?? "").startsWith("-");
}

function valueAfter(
  token: Token,
  argv: readonly string[],
  { end, known }: { end: number; known: Options },
): string {
  const next = token.at + 1 < end ? argv[token.at + 1] : undefined;
  const looksLikeOption = next !== undefined && next.startsWith("--") &&
    Object.hasOwn(known, camelCase(next.slice(2).split("=")[0] ?? ""));
  if (next === undefined || looksLikeOption) {
    const name = kebabCase(token.text);
    throw new AgentcliError("usage", `option --${name} needs a value`, {
      hint: next === undefined ? `write --${name}=<value>` : `write --${name}=${next} if that is the value`,
    });
  }
  return next;
}

/** Runs the command that `line` names and returns its exit code. Throws what the command throws, and `usage` errors. */
export async function dispatch(line: Normalized, context: Context): Promise<number> {
  const { node } = line;
  if (node.kind === "group") throw (await import("./chat_line.ts")).withoutCommand(line, node);
  const options = readOptions(line, node.options);
  checkWords(line, node.arguments);
  const loading = node.load();
  if (node.connects !== undefined) {
    const { copyingVariables } = await import("../boundary/policy/environment.ts");
    if (copyingVariables(context.io.env).length > 0) {
      const { reexecWithoutLeaks } = await import("./reexec.ts");
      const { addDir = [] }: { addDir?: readonly string[] } = options;
      const directories = ["", ...addDir].map((directory) => resolve(context.globals.cwd, directory));
      const again = await reexecWithoutLeaks(context.io, node.connects === "here" ? directories : "anywhere");
      if (again !== null) return again;
    }
  }
  const run = await loading;
  return await run({ options, arguments: line.words, context }) ?? 0;
}

/** Returns the error for a wrong line. */
export function usage(line: Normalized, message: string): AgentcliError {
  return new AgentcliError("usage", message, { hint: `see: ${["agentcli", ...line.path, "--help"].join(" ")}` });
}

/** Returns the words that were likely meant, as the end of a message; empty for none. */
export function meant(word: string, choices: { names: readonly string[]; prefix: string }): string {
  const near = askWhich(closest(word, choices.names).map((name) => choices.prefix + name));
  return near === undefined ? "" : `; ${near}`;
}

function readOptions(line: Normalized, declared: Options): Values<Options> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(declared)) {
    const kind = declared[name]?.kind;
    values[name] = kind === "flag" ? false : kind === "list" ? [] : undefined;
  }
  for (const { name, value } of line.options) {
    const option = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (option === undefined) {
      const all: Options = { ...declared, ...GLOBAL_OPTIONS };
      const names = Object.keys(all).filter((key) => all[key]?.hidden !== true).map(kebabCase);
      throw usage(line, `unknown option --${name}${meant(name, { names, prefix: "--" })}`);
    }
    const shown = `--${kebabCase(name)}`;
    const read = valueOf(option, value);
    if ("problem" in read) throw usage(line, `${shown} ${read.problem}`);
    // Of an option that takes one value the last one counts, so that an alias can be overridden.
    if (option.kind === "list") (values[name] as unknown[]).push(read.value);
    else values[name] = read.value;
  }
  // Each value is now what its declaration says.
  return values as Values<Options>;
}

/** Returns the value of an option in its own type, or what is wrong with it, as a clause. */
export function valueOf(option: Option, value: string | undefined): { value: unknown } | { problem: string } {
  if (option.kind === "flag") return value === undefined ? { value: true } : { problem: "takes no value" };
  // The normalizer has refused an option without its value.
  const text = value ?? "";
  if (option.kind === "number") return numberOf(text, option);
  if (option.kind === "text" && option.values !== undefined && !option.values.includes(text)) {
    return {
      problem: `must be one of ${option.values.join(", ")}, not "${text}"${
        meant(text, { names: option.values, prefix: "" })
      }`,
    };
  }
  return { value: text };
}

function numberOf(text: string, option: NumberOption): { value: number } | { problem: string } {
  const value = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  const kind = option.integer ? "a whole number" : "a number";
  if (Number.isNaN(value) || (option.integer && !Number.isInteger(value))) {
    return { problem: `must be ${kind}, not "${text}"` };
  }
  if (value < option.minimum) return { problem: `must be ${kind} of at least ${option.minimum}, not ${text}` };
  if (value > option.maximum) return { problem: `must be ${kind} of at most ${option.maximum}, not ${text}` };
  return { value };
}

function checkWords(line: Normalized, declared: readonly Argument[]): void {
  const command = ["agentcli", ...line.path].join(" ");
  const missing = declared[line.words.length];
  if (
    missing !== undefined && missing.optional !== true && !(missing.repeated && line.words.length >= declared.length)
  ) {
    throw usage(line, `${command} needs <${missing.name}>`);
  }
  for (const [index, { name, values }] of declared.entries()) {
    const word = line.words[index];
    if (word === undefined || values === undefined || values.includes(word)) continue;
    throw usage(
      line,
      `<${name}> must be one of ${values.join(", ")}, not "${word}"${meant(word, { names: values, prefix: "" })}`,
    );
  }
  const unlimited = declared.some((argument) => argument.repeated === true);
  const extra = line.words[declared.length];
  if (extra !== undefined && !unlimited) {
    const count = declared.length === 0
      ? "no arguments"
      : declared.length === 1
      ? "one argument"
      : `${declared.length} arguments`;
    throw usage(
      line,
      `${command} takes ${count}, and "${extra}" is one more${
        declared.length === 0 ? "" : " (quote arguments that contain spaces)"
      }`,
    );
  }
}
