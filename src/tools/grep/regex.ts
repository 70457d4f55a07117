/** Regular expressions as data, in the forms of JavaScript with the `u` flag. */

/** First and last code point, both included. */
export type Range = readonly [number, number];
/** Sorted, neither overlapping nor touching. */
export type CharacterSet = readonly Range[];

/** The last code point there is. */
const LAST = 0x10ffff;

/** Any order and overlap made a set. */
export function characterSet(ranges: readonly Range[]): CharacterSet {
  const sorted = [...ranges].sort((one, other) => one[0] - other[0]);
  const set: [number, number][] = [];
  for (const [low, high] of sorted) {
    const last = set.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else set.push([low, high]);
  }
  return set;
}

/** The characters of `text`. */
export function charactersOf(text: string): CharacterSet {
  return characterSet([...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    return [code, code];
  }));
}

/** All that is not in `set`. */
export function complement(set: CharacterSet): CharacterSet {
  const rest: Range[] = [];
  let next = 0;
  for (const [low, high] of set) {
    if (low > next) rest.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= LAST) rest.push([next, LAST]);
  return rest;
}

/** Returns the intersection of both sets. */
export function intersection(one: CharacterSet, other: CharacterSet): CharacterSet {
  return complement(characterSet([...complement(one), ...complement(other)]));
}

/** Returns whether nothing is in both. */
export function disjoint(one: CharacterSet, other: CharacterSet): boolean {
  return one.every(([low, high]) => other.every((range) => high < range[0] || low > range[1]));
}

/** Returns whether the code point is in it. */
export function contains(set: CharacterSet, code: number): boolean {
  for (const [low, high] of set) {
    if (code < low) return false;
    if (code <= high) return true;
  }
  return false;
}

/** With the other letter case of every letter, where that is one character. Large ranges are taken as complete. */
export function withBothCases(set: CharacterSet): CharacterSet {
  const ranges: Range[] = [...set];
  for (const [low, high] of set) {
    // Beyond a few hundred characters a range is an alphabet of its own, or everything.
    for (let code = low; code <= high && code < low + 1_024; code++) {
      const character = String.fromCodePoint(code);
      for (const form of [character.toLowerCase(), character.toUpperCase()]) {
        const other = form.codePointAt(0);
        if (other !== undefined && form.length === String.fromCodePoint(other).length) ranges.push([other, other]);
      }
    }
  }
  return characterSet(ranges);
}

/** `\d`, as JavaScript has it. */
export const DIGIT = characterSet([[0x30, 0x39]]);
/** `\w`, as JavaScript has it: without the letters of other languages. */
export const WORD = characterSet([[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]);
/** `\s`, as JavaScript has it. */
export const SPACE = characterSet([
  ...charactersOf("\t\v\f \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"),
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2000, 0x200a],
]);
/** The ends of lines: lines are searched one by one, so nothing matches them. */
export const LINE_END = charactersOf("\n\r");
/** `.`, as JavaScript has it. */
export const ANY = complement(charactersOf("\n\r\u2028\u2029"));

export type Regex =
  /** One character out of a set; an empty set never matches. */
  | { kind: "set"; set: CharacterSet }
  | { kind: "sequence"; parts: readonly Regex[] }
  | { kind: "choice"; options: readonly Regex[] }
  /** `most` is Infinity where there is no limit. */
  | { kind: "repeat"; body: Regex; least: number; most: number; lazy: boolean }
  | { kind: "group"; body: Regex; name?: string }
  | { kind: "assertion"; at: "start" | "end" | "boundary" | "inside" }
  /** `(?=x)`, `(?!x)`, `(?<=x)`, `(?<!x)`; `opening` is the text up to the body. */
  | { kind: "look"; opening: string; body: Regex }
  /** Back references and Unicode properties, as they are written. */
  | { kind: "raw"; source: string };

/** The pattern as a JavaScript regular expression for the flag `u`; matches never leave a line of a longer text. */
export function toJavaScript(regex: Regex): string {
  switch (regex.kind) {
    case "set":
      return classText(regex.set, (code) => `\\u{${code.toString(16)}}`);
    case "sequence":
      return regex.parts.map(toJavaScript).join("");
    case "choice":
      return `(?:${regex.options.map(toJavaScript).join("|")})`;
    case "repeat":
      return `(?:${toJavaScript(regex.body)})${quantifier(regex)}`;
    case "group":
      return `(${regex.name === undefined ? "" : `?<${regex.name}>`}${toJavaScript(regex.body)})`;
    case "assertion":
      // Not `^` and `$`: with the flag `m` these know more line ends than we do.
      return { start: "(?<![^\\n])", end: "(?![^\\n])", boundary: "\\b", inside: "\\B" }[regex.at];
    case "look":
      return `${regex.opening}${toJavaScript(regex.body)})`;
    case "raw":
      return regex.source;
  }
}

/** The pattern for ripgrep's default engine; null when that has no such form. */
export function toRust(regex: Regex): string | null {
  switch (regex.kind) {
    case "set":
      // No text that is searched holds half a surrogate pair, and that engine has no name for one.
      return classText(withoutSurrogates(regex.set), (code) => `\\x{${code.toString(16)}}`);
    case "sequence":
      return joined(regex.parts, "");
    case "choice": {
      const options = joined(regex.options, "|");
      return options && `(?:${options})`;
    }
    case "repeat": {
      const body = toRust(regex.body);
      return body === null ? null : `(?:${body})${quantifier(regex)}`;
    }
    case "group": {
      const body = toRust(regex.body);
      return body === null ? null : `(?:${body})`;
    }
    case "assertion":
      return { start: "^", end: "$", boundary: "(?-u:\\b)", inside: "(?-u:\\B)" }[regex.at];
    case "look":
    case "raw":
      return null;
  }
}

function joined(parts: readonly Regex[], by: string): string | null {
  const texts = parts.map(toRust);
  return texts.includes(null) ? null : texts.join(by);
}

function withoutSurrogates(set: CharacterSet): CharacterSet {
  return set.flatMap(([low, high]): [number, number][] => {
    const parts: [number, number][] = [];
    if (low < 0xd800) parts.push([low, Math.min(high, 0xd7ff)]);
    if (high > 0xdfff) parts.push([Math.max(low, 0xe000), high]);
    return parts;
  });
}

function classText(set: CharacterSet, name: (code: number) => string): string {
  const [first, ...others] = set;
  // A class that holds nothing, in a form that both dialects take.
  if (first === undefined) return "[^\\s\\S]";
  if (others.length === 0 && first[0] === first[1]) return name(first[0]);
  return `[${set.map(([low, high]) => low === high ? name(low) : `${name(low)}-${name(high)}`).join("")}]`;
}

function quantifier({ least, most, lazy }: Regex & { kind: "repeat" }): string {
  const text = most === Infinity
    ? (least === 0 ? "*" : least === 1 ? "+" : `{${least},}`)
    : least === 0 && most === 1
    ? "?"
    : `{${least},${most}}`;
  return lazy ? `${text}?` : text;
}

/** Returns whether it takes and looks at ASCII alone: then the encoding of a text does not matter. */
export function takesAsciiOnly(regex: Regex): boolean {
  switch (regex.kind) {
    case "set":
      return (regex.set.at(-1)?.[1] ?? 0) < 0x80;
    case "sequence":
      return regex.parts.every(takesAsciiOnly);
    case "choice":
      return regex.options.every(takesAsciiOnly);
    case "repeat":
    case "group":
      return takesAsciiOnly(regex.body);
    case "assertion":
      return true;
    case "look":
    case "raw":
      return false;
  }
}

/** The text that the pattern is, when it is nothing but text. */
export function literalText(regex: Regex): string | null {
  if (regex.kind === "set") {
    const [only, ...others] = regex.set;
    return only !== undefined && others.length === 0 && only[0] === only[1] ? String.fromCodePoint(only[0]) : null;
  }
  if (regex.kind !== "sequence" || regex.parts.length === 0) return null;
  const texts = regex.parts.map(literalText);
  return texts.includes(null) ? null : texts.join("");
}
