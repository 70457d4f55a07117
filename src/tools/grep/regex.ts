/** Regular expressions as data: what the search knows of a pattern. The forms are those of JavaScript with the `u` flag. */
import type { CharacterSet } from "./character_set.ts";

/** A piece of a pattern. */
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

/** Whether all it takes, and all it looks at, are characters of ASCII: then the encoding of a text does not matter. */
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
