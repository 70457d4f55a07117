/** Calls as Python writes them: `name(path="a", limit=3)`, alone or in a list. */
import { allOf, type CallContext, callReading, type Reading } from "./call.ts";
import type { Cursor } from "./cursor.ts";
import { type Notation, readMap, readSeries } from "./literal.ts";

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

/** True where a call, or a list of calls, begins. */
export function opensPython(cursor: Cursor, { list }: { list: boolean }): boolean {
  const pattern = list ? /\[\s*[A-Za-z_][\w.]{0,127}\(/y : /[A-Za-z_][\w.]{0,127}\(/y;
  pattern.lastIndex = cursor.at;
  return pattern.test(cursor.text);
}

/** Reads a list of calls. */
export function readPythonList(cursor: Cursor, context: CallContext): Reading {
  cursor.take("[");
  const readings: Reading[] = [];
  const one = () => {
    const reading = readPythonCall(cursor, context);
    readings.push(reading);
    return reading.kind !== "broken";
  };
  return readSeries(cursor, { close: "]", one }) ? allOf(readings) : { kind: "broken" };
}

/** Reads calls that follow each other, with white space, a comma or a semicolon between. */
export function readPythonCalls(cursor: Cursor, context: CallContext): Reading {
  const readings: Reading[] = [];
  let end: number;
  do {
    const reading = readPythonCall(cursor, context);
    if (reading.kind === "broken") return reading;
    readings.push(reading);
    end = cursor.at;
    cursor.takePattern(/\s*[,;]?\s*/y);
  } while (opensPython(cursor, { list: false }));
  cursor.at = end;
  return allOf(readings);
}

function readPythonCall(cursor: Cursor, context: CallContext): Reading {
  const name = cursor.takeName();
  if (name === null || !cursor.take("(")) return { kind: "broken" };
  const input = readMap(cursor, { notation: VALUES, key: (at) => at.takeName(), close: ")", assign: "=" });
  if (input === null) return { kind: "broken" };
  // Llama writes the tools of its own runtime as methods.
  return callReading({ name: name.replace(/\.call$/, ""), input }, context);
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
