/**
 * One reading of the command line before its meaning: `--k v`, `--k=v`, `--k=` and `--k ""` become the
 * same, global options are taken from any place, negative numbers can be values, `--` ends options.
 */
import { AgentcliError } from "../errors.ts";
import { GLOBAL_OPTIONS, type Group, type Options, SHORT_OPTIONS, type Verb } from "./verb.ts";

/** The command line in one form. */
export interface Normalized {
  /** Words that name the verb or group, as far as they are known. */
  path: string[];
  /** What `path` leads to. */
  node: Verb | Group;
  /** Values of the global options that were given. */
  globals: { -readonly [K in keyof typeof GLOBAL_OPTIONS]?: string | true };
  /** `--option` and `--option=value`, in the order given. */
  options: string[];
  /** The words that are no options and not part of `path`. */
  words: string[];
}

/** `base-url` and `baseUrl` are the same option. */
function camelCase(name: string): string {
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
 * Reads `argv` against the tree of verbs. Unknown options stay in `options` for {@link dispatch} to refuse;
 * throws `usage` for an option without its value and for an unknown letter.
 */
export function normalize(argv: readonly string[], tree: Group): Normalized {
  const found: Normalized = { path: [], node: tree, globals: {}, options: [], words: [] };
  const ended = { at: argv.length };
  const all = [...tokens(argv, ended)];
  // The verb first, since it decides which options take a value. A value of a global option is no word of the path.
  const skipped = walkPath(all, argv, found);
  const verbOptions: Options = found.node.kind === "verb" ? found.node.options : {};
  for (const token of all) {
    if (skipped.has(token.at)) continue;
    if (token.kind === "word") {
      found.words.push(token.text);
      continue;
    }
    if (token.kind === "unknown") {
      throw unknownLetter(token.text, { path: found.path, options: verbOptions });
    }
    const equals = token.text.indexOf("=");
    const name = camelCase(equals < 0 ? token.text : token.text.slice(0, equals));
    const isGlobal = Object.hasOwn(GLOBAL_OPTIONS, name);
    const option = Object.hasOwn(verbOptions, name)
      ? verbOptions[name]
      : isGlobal
      ? GLOBAL_OPTIONS[name as keyof typeof GLOBAL_OPTIONS]
      : undefined;
    let value = equals < 0 ? undefined : token.text.slice(equals + 1);
    if (value === undefined && option !== undefined && option.kind !== "flag") {
      value = valueAfter(token, argv, { end: ended.at, known: { ...GLOBAL_OPTIONS, ...verbOptions } });
      skipped.add(token.at + 1);
    }
    if (isGlobal && !Object.hasOwn(verbOptions, name)) {
      found.globals[name as keyof typeof GLOBAL_OPTIONS] = value ?? true;
    } else if (option === undefined) found.options.push(`--${token.text}`);
    else found.options.push(value === undefined ? `--${name}` : `--${name}=${value}`);
  }
  found.words.push(...argv.slice(ended.at + 1));
  return found;
}

/** Options of verbs have no letters: the long ones that begin with it are named. */
function unknownLetter(text: string, { path, options }: { path: readonly string[]; options: Options }): AgentcliError {
  const near = Object.keys(options).filter((name) => name.startsWith(text.slice(1))).slice(0, 3)
    .map((name) => `--${kebabCase(name)}`);
  const see = `see: ${["agentcli", ...path, "--help"].join(" ")}`;
  const hint = near.length === 0 ? see : `did you mean ${near.join(" or ")}? ${see}`;
  return new AgentcliError("usage", `unknown option ${text}`, { hint });
}

/** Fills in `path` and `node`; gives the places of the words that were used for it. */
function walkPath(all: readonly Token[], argv: readonly string[], found: Normalized): Set<number> {
  const used = new Set<number>();
  let skipNext = -1;
  for (const token of all) {
    if (found.node.kind === "verb") break;
    if (token.kind !== "word") {
      const option = (GLOBAL_OPTIONS as Options)[camelCase(token.text)];
      if (option !== undefined && option.kind !== "flag" && token.at + 1 < argv.length) skipNext = token.at + 1;
      continue;
    }
    if (token.at === skipNext) continue;
    const next: Verb | Group | undefined = Object.hasOwn(found.node.verbs, token.text)
      ? found.node.verbs[token.text]
      : undefined;
    if (next === undefined) break;
    found.path.push(token.text);
    found.node = next;
    used.add(token.at);
  }
  return used;
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
