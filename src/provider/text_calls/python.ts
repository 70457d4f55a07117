/** Keyword arguments as Python writes them: `name(path="a", limit=3)`. */
import type { Cursor } from "./cursor.ts";
import { type Notation, readMap } from "./literal.ts";

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["\n", ""],
]);

/** Python's own words, and JSON's, which models mix. */
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["True", true],
  ["False", false],
  ["None", null],
  ["true", true],
  ["false", false],
  ["null", null],
]);

const VALUES: Notation = {
  words: WORDS,
  string: readString,
  key: (cursor) => readString(cursor) ?? null,
};

/** Reads `key=value, …)`; the cursor is behind the opening parenthesis. Null when it has no end or is something else. */
export function readKeywords(cursor: Cursor): Record<string, unknown> | null {
  return readMap(cursor, { notation: VALUES, key: (at) => at.takeName(), close: ")", assign: "=" });
}

function readString(cursor: Cursor): string | null | undefined {
  const close = cursor.takeAny(['"""', "'''", '"', "'"]);
  if (close === null) return undefined;
  const { text } = cursor;
  const pieces: string[] = [];
  let from = cursor.at;
  for (let index = from; index < text.length; index++) {
    const character = text.charAt(index);
    // A plain string of Python ends on its line.
    if (character === "\n" && close.length === 1) return null;
    if (text.startsWith(close, index)) {
      cursor.at = index + close.length;
      return pieces.join("") + text.slice(from, index);
    }
    if (character !== "\\") continue;
    const escape = readEscape(text, index + 1);
    pieces.push(text.slice(from, index), escape.text);
    index += escape.length;
    from = index + 1;
  }
  return null;
}

/** What follows a backslash; an unknown escape stays as it is written, as in Python. `length` counts what it takes. */
function readEscape(text: string, at: number): { text: string; length: number } {
  const pattern = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})/y;
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  const point = parseInt(found?.[1] ?? found?.[2] ?? found?.[3] ?? "", 16);
  if (found !== null && point <= 0x10ffff) return { text: String.fromCodePoint(point), length: found[0].length };
  const character = text.charAt(at);
  return { text: ESCAPES.get(character) ?? "\\" + character, length: character.length };
}
