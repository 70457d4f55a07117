/**
 * Path patterns: `*`, `?`, `[a-z]`, `{a,b}` within a name and `**` over directories. Matching takes time proportional
 * to pattern times path, whatever the pattern: nothing here backtracks further than the last star (threat 126).
 */

export interface PathPattern {
  matches(names: readonly string[]): boolean;
  /** Names that every match starts with: other directories need not be read. */
  readonly prefix: readonly string[];
}

interface PatternOptions {
  ignoreCase?: boolean;
  /** Braces are plain characters, as in `.gitignore`. */
  noBraces?: boolean;
}

/** Most alternatives that braces may expand to. */
const BRACE_LIMIT = 200;
/** Longest pattern, in characters. */
const LENGTH_LIMIT = 2_000;
export const LIMITS_EXCEEDED =
  "The glob is longer than 2,000 characters, or its braces make more than 200 alternatives. " +
  "Use a shorter one, such as **/*.ts.";

/** `*` among characters, `**` among names. */
const STAR = Symbol("star");
/** A character or a name, or a test of it; {@link STAR} takes any number of them. */
type Part = string | typeof STAR | ((found: string) => boolean);

const ANY: Part = () => true;

/** Compiles `pattern`, names separated by `/`; null when it is too long or its braces expand to too much. */
export function compilePattern(pattern: string, options: PatternOptions = {}): PathPattern | null {
  if (pattern.length > LENGTH_LIMIT) return null;
  const texts = options.noBraces ? [pattern] : expandBraces(pattern);
  if (texts === null) return null;
  const caseFolded = (text: string) => options.ignoreCase ? text.toLowerCase() : text;
  const alternatives = texts.map((text) => compileNames(caseFolded(text)));
  const [only] = alternatives;
  return {
    prefix: alternatives.length === 1 && only !== undefined && !options.ignoreCase ? literalStart(only) : [],
    matches(names) {
      const compared = options.ignoreCase ? names.map(caseFolded) : names;
      return alternatives.some((alternative) => matchesAll(alternative, compared));
    },
  };
}

/** `{a,b}` expanded, nested ones too; an open brace stays as it is. Null when there are too many. */
function expandBraces(pattern: string): string[] | null {
  const waiting = [pattern];
  const done: string[] = [];
  for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
    const group = firstGroup(text);
    if (group === null) done.push(text);
    else for (const choice of group.choices) waiting.push(group.before + choice + group.after);
    if (done.length + waiting.length > BRACE_LIMIT) return null;
  }
  return done;
}

function firstGroup(text: string): { before: string; choices: string[]; after: string } | null {
  for (let start = text.indexOf("{"); start >= 0; start = text.indexOf("{", start + 1)) {
    const cuts = [start];
    let depth = 0;
    for (let at = start; at < text.length; at++) {
      const character = text[at];
      if (character === "\\") at++;
      else if (character === "{") depth++;
      else if (character === "," && depth === 1) cuts.push(at);
      else if (character === "}" && --depth === 0) {
        if (cuts.length === 1) break;
        const ends = [...cuts.slice(1), at];
        const choices = cuts.map((cut, index) => text.slice(cut + 1, ends[index]));
        return { before: text.slice(0, start), choices, after: text.slice(at + 1) };
      }
    }
  }
  return null;
}

function compileNames(text: string): Part[] {
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  // At the end `**` takes at least one name: the directory itself does not match.
  return names.flatMap((name, at) => name !== "**" ? compileName(name) : at === names.length - 1 ? [ANY, STAR] : STAR);
}

function compileName(text: string): Part {
  const parts = partsOf(text);
  const literal = literalStart(parts);
  if (literal.length === parts.length) return literal.join("");
  // `*.ts` is the most common pattern, matched with every file.
  const end = text.slice(1);
  if (text.startsWith("*") && !/[*?[\\]/.test(end)) return (name) => name.endsWith(end);
  return (name) => matchesAll(parts, name.split(""));
}

function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const found = character === "[" ? readClass(text, at) : null;
    if (found !== null) {
      parts.push(found.matches);
      at = found.end;
    } else if (character === "*") {
      if (parts.at(-1) !== STAR) parts.push(STAR);
    } else if (character === "?") {
      parts.push(ANY);
    } else {
      const escaped = character === "\\" && at + 1 < text.length;
      parts.push(escaped ? text.charAt(++at) : character);
    }
  }
  return parts;
}

function readClass(text: string, start: number): { matches(found: string): boolean; end: number } | null {
  const negated = text[start + 1] === "!" || text[start + 1] === "^";
  const from = start + (negated ? 2 : 1);
  // The first character is never the end: `[]]` holds a bracket.
  const end = text.indexOf("]", from + 1);
  if (end < 0) return null;
  const ranges: [string, string][] = [];
  for (let at = from; at < end; at++) {
    const low = text.charAt(at);
    const high = text[at + 1] === "-" && at + 2 < end ? text.charAt(at + 2) : low;
    if (high !== low) at += 2;
    ranges.push([low, high]);
  }
  return { matches: (found) => ranges.some(([low, high]) => low <= found && found <= high) !== negated, end };
}

/**
 * Matches characters or names greedily with one way back, to the last star: once reached, an earlier one never needs to
 * take more.
 */
function matchesAll(parts: readonly Part[], found: readonly string[]): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let retry = 0;
  while (at < found.length) {
    const part = parts[index];
    const one = found[at] ?? "";
    if (part === STAR) {
      if (index === parts.length - 1) return true;
      star = index++;
      retry = at;
    } else if (typeof part === "function" ? part(one) : part === one) {
      index++;
      at++;
    } else if (star >= 0) {
      index = star + 1;
      at = ++retry;
    } else return false;
  }
  while (parts[index] === STAR) index++;
  return index === parts.length;
}

/** The parts before the first that is a star or a test. */
function literalStart(parts: readonly Part[]): string[] {
  const literal: string[] = [];
  for (const part of parts) {
    if (typeof part !== "string") break;
    literal.push(part);
  }
  return literal;
}
