/** Calls as Python writes them, `name(path="a", limit=3)`, and the literals that other notations share with it. */
import type { Cursor } from "./cursor.ts";
import { allOf, type CallContext, parsedCall, type ParseResult, readEach } from "./call.ts";

/** Deeper nesting is not a call but an attack on the stack. */
const DEPTH_LIMIT = 64;
/** Characters of the longest number or word that is read. */
const ATOM_LIMIT = 400;

export interface Notation {
  /** Reads a string; undefined when none opens here, null when it has no end. */
  string(cursor: Cursor): string | null | undefined;
  /** Reads the key of a map; null when there is none. */
  key(cursor: Cursor): string | null;
  words: ReadonlyMap<string, unknown>;
}

/** A value, or null when none can be read to its end. */
type LiteralResult = { value: unknown } | null;

function readLiteral(cursor: Cursor, options: { notation: Notation; depth?: number }): LiteralResult {
  const { notation, depth = 0 } = options;
  if (depth > DEPTH_LIMIT) return null;
  const text = notation.string(cursor);
  if (text !== undefined) return text === null ? null : { value: text };
  if (cursor.take("[")) {
    const values: unknown[] = [];
    const closed = readSeries(cursor, {
      close: "]",
      one() {
        const found = readLiteral(cursor, { notation, depth: depth + 1 });
        if (found !== null) values.push(found.value);
        return found !== null;
      },
    });
    return closed ? { value: values } : null;
  }
  if (cursor.take("{")) {
    const value = readMap(cursor, { notation, depth, close: "}", assign: ":" });
    return value === null ? null : { value };
  }
  const number = cursor.takeMatch(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, ATOM_LIMIT);
  if (number !== null) return Number.isFinite(Number(number)) ? { value: Number(number) } : null;
  const word = cursor.takeMatch(/[A-Za-z]+/y, ATOM_LIMIT);
  return word !== null && notation.words.has(word) ? { value: notation.words.get(word) } : null;
}

interface MapOptions {
  notation: Notation;
  key?: Notation["key"];
  assign: string;
  close: string;
  depth?: number;
}

/** Reads keys and values up to and including `close`. Null when it has no end, or a key comes twice. */
export function readMap(cursor: Cursor, options: MapOptions): Record<string, unknown> | null {
  const { notation, depth = 0, close, assign } = options;
  const readKey = options.key ?? notation.key;
  const found = new Map<string, unknown>();
  const closed = readSeries(cursor, {
    close,
    one() {
      const key = readKey(cursor);
      if (key === null || found.has(key)) return false;
      cursor.skipSpace();
      if (!cursor.take(assign)) return false;
      cursor.skipSpace();
      const value = readLiteral(cursor, { notation, depth: depth + 1 });
      if (value !== null) found.set(key, value.value);
      return value !== null;
    },
  });
  return closed ? Object.fromEntries(found) : null;
}

/** Reads things parted by commas up to and including `close`; false when one cannot be read. */
function readSeries(cursor: Cursor, series: { close: string; one(): boolean }): boolean {
  for (let first = true;; first = false) {
    cursor.skipSpace();
    if (cursor.take(series.close)) return true;
    if (!first) {
      if (!cursor.take(",")) return false;
      cursor.skipSpace();
      if (cursor.take(series.close)) return true;
    }
    if (!series.one()) return false;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" },
  ...{ "\\": "\\", "'": "'", '"': '"', "\n": "" },
};

/** Python's own words, and JSON's, which models mix. */
const WORDS: ReadonlyMap<string, unknown> = new Map(
  Object.entries({ True: true, False: false, None: null, true: true, false: false, null: null }),
);

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
export function readPythonList(cursor: Cursor, context: CallContext): ParseResult {
  cursor.take("[");
  const results: ParseResult[] = [];
  const one = () => {
    const result = readPythonCall(cursor, context);
    results.push(result);
    return result.kind !== "broken";
  };
  return readSeries(cursor, { close: "]", one }) ? allOf(results) : { kind: "broken" };
}

/** Reads calls that follow each other. */
export function readPythonCalls(cursor: Cursor, context: CallContext): ParseResult {
  return readEach(cursor, () => readPythonCall(cursor, context), () => opensPython(cursor, { list: false }));
}

function readPythonCall(cursor: Cursor, context: CallContext): ParseResult {
  const name = cursor.takeName();
  if (name === null || !cursor.take("(")) return { kind: "broken" };
  const input = readMap(cursor, { notation: VALUES, key: (at) => at.takeName(), close: ")", assign: "=" });
  if (input === null) return { kind: "broken" };
  // Llama writes the tools of its own runtime as methods.
  return parsedCall({ name: name.replace(/\.call$/, ""), input }, context);
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

/** Reads the escape behind a backslash, and its length; an unknown escape stays as it is, as in Python. */
function readEscape(text: string, at: number): { text: string; length: number } {
  const pattern = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})/y;
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  const point = parseInt(found?.[1] ?? found?.[2] ?? found?.[3] ?? "", 16);
  if (found !== null && point <= 0x10ffff) return { text: String.fromCodePoint(point), length: found[0].length };
  const character = text.charAt(at);
  return { text: ESCAPES[character] ?? "\\" + character, length: character.length };
}
