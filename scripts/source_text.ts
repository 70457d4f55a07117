/** Reads TypeScript as text: which parts are code, strings and comments, and what it imports. */

/** A source file in parts of the same length as the original, so that places agree. */
export interface SourceParts {
  /** Comments and the content of strings and regular expressions are blanks. */
  code: string;
  /** Only comments are blanks. */
  withStrings: string;
  /** Everything but comments is blanks. */
  comments: string;
}

/** Before these a slash begins a regular expression and not a division. */
const BEFORE_EXPRESSION =
  /(?:^|[=(,:;!&|?{}[+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield))\s*$/;

type Part = "code" | "string" | "comment";

/** End of the regular expression that begins at `start`, flags left out. */
function expressionEnd(text: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === "\n") return start + 1;
    else if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    else if (character === "/" && !inClass) return at + 1;
  }
  return text.length;
}

function stringEnd(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === quote || text[at] === "\n") return at + 1;
  }
  return text.length;
}

/** Which part of the text each character belongs to. */
function partsOf(text: string): Part[] {
  const parts: Part[] = new Array(text.length).fill("code");
  const fill = (from: number, to: number, part: Part) => parts.fill(part, from, to);
  // What closes the code that is being read: `}` of a template's `${`, or the end of the file.
  const templates: number[] = [];
  let depth = 0;
  let at = 0;
  const readTemplate = (from: number) => {
    let end = from;
    while (end < text.length && text[end] !== "`" && !text.startsWith("${", end)) end += text[end] === "\\" ? 2 : 1;
    fill(from, end, "string");
    if (text.startsWith("${", end)) {
      templates.push(depth);
      return end + 2;
    }
    return end + 1;
  };
  while (at < text.length) {
    const character = text[at];
    if (text.startsWith("//", at)) {
      const end = text.indexOf("\n", at);
      fill(at, end < 0 ? text.length : end, "comment");
      at = end < 0 ? text.length : end;
    } else if (text.startsWith("/*", at)) {
      const end = text.indexOf("*/", at + 2);
      fill(at, end < 0 ? text.length : end + 2, "comment");
      at = end < 0 ? text.length : end + 2;
    } else if (character === '"' || character === "'") {
      const end = stringEnd(text, at);
      fill(at + 1, end - 1, "string");
      at = end;
    } else if (character === "`") {
      at = readTemplate(at + 1);
    } else if (character === "}" && templates.length > 0 && templates.at(-1) === depth) {
      templates.pop();
      at = readTemplate(at + 1);
    } else if (character === "/" && BEFORE_EXPRESSION.test(text.slice(Math.max(0, at - 20), at))) {
      const end = expressionEnd(text, at);
      fill(at + 1, end - 1, "string");
      at = end;
    } else {
      if (character === "{") depth += 1;
      if (character === "}") depth -= 1;
      at += 1;
    }
  }
  return parts;
}

/** Splits a source into its parts. Made for the sources of this project: an odd one may be split wrongly. */
export function splitSource(text: string): SourceParts {
  const parts = partsOf(text);
  const keep = (...wanted: Part[]) => {
    let result = "";
    for (let at = 0; at < text.length; at++) {
      const character = text[at] ?? "";
      result += character === "\n" || wanted.includes(parts[at] ?? "code") ? character : " ";
    }
    return result;
  };
  return { code: keep("code"), withStrings: keep("code", "string"), comments: keep("comment") };
}

/** One import or re-export, static or dynamic. */
export interface Import {
  specifier: string;
  /** From 1. */
  line: number;
  /** Names as the other module calls them; empty for `* as`, `export *`, dynamic and bare imports. */
  names: string[];
}

/** The line of a place, from 1. */
export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

const STATIC =
  /\b(import|export)\s+(type\s+)?(?:([\w$]+\s*,?\s*)?(\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?\s*from\s*)?"([^"\n]*)"/g;
const DYNAMIC = /\bimport\s*\(\s*(?:"([^"\n]*)"|([^)]*))/g;

/** What a source imports. An `import()` of something that is no literal has the specifier `""`. */
export function importsOf(text: string): Import[] {
  const { withStrings, code } = splitSource(text);
  const found: Import[] = [];
  for (const match of withStrings.matchAll(STATIC)) {
    // A match inside a string is no import.
    if (code.slice(match.index, match.index + 6).trim() === "") continue;
    const list = match[4]?.startsWith("{") ? match[4].slice(1, -1).split(",") : [];
    const names = list.map((name) => name.trim().replace(/^type\s+/, "").split(/\s+as\s+/)[0] ?? "").filter(Boolean);
    found.push({ specifier: match[5] ?? "", line: lineOf(text, match.index), names });
  }
  for (const match of withStrings.matchAll(DYNAMIC)) {
    if (code.slice(match.index, match.index + 6).trim() === "") continue;
    // `typeof import("…")` and `import("…").Type` in a type are rare here and count as imports too.
    found.push({ specifier: match[1] ?? "", line: lineOf(text, match.index), names: [] });
  }
  return found;
}
