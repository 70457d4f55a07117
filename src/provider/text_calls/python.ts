/** Calls as Python writes them, `name(path="a", limit=3)`, and the literals that other notations share with it. */
import type { Cursor } from "./cursor.ts";
import { allOf, type CallContext, parsedCall, type ParseResult, readEach } from "./call.ts";

/** Deeper nesting is not a call but an attack on the stack. */
const DEPTH_LIMIT = 64;
/** Characters of the longest number or word that is read. */
const ATOM_LIMIT = 400;

/** Thrown where a value is invalid or has no end. */
class Unreadable extends Error {
  override readonly name = "Unreadable";
}

/** Returns what `read` gives; broken where a value of it cannot be read to its end. */
export function orBroken(read: () => ParseResult): ParseResult {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unreadable) return { kind: "broken" };
    throw error;
  }
}

export interface Notation {
  /** The quotes around a string. */
  quotes: readonly string[];
  /** Returns what a string that is written like this says; absent: just that. */
  unescape?(written: string): string;
  /** Keys of maps may stand without quotes. */
  bareKeys?: true;
  words: ReadonlyMap<string, unknown>;
}

function readLiteral(cursor: Cursor, notation: Notation, depth: number): unknown {
  if (depth > DEPTH_LIMIT) throw new Unreadable();
  const text = readString(cursor, notation);
  if (text !== null) return text;
  if (cursor.take("[")) {
    const values: unknown[] = [];
    readSeries(cursor, "]", () => values.push(readLiteral(cursor, notation, depth + 1)));
    return values;
  }
  if (cursor.take("{")) return readMap(cursor, notation, { depth, close: "}", assign: ":" });
  const number = Number(cursor.takeMatch(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, ATOM_LIMIT) ?? NaN);
  if (Number.isFinite(number)) return number;
  const word = cursor.takeMatch(/[A-Za-z]+/y, ATOM_LIMIT) ?? "";
  if (!notation.words.has(word)) throw new Unreadable();
  return notation.words.get(word);
}

/** Returns a string that opens here, null for none. Throws for one without an end. */
function readString(cursor: Cursor, { quotes, unescape }: Notation): string | null {
  const close = cursor.takeAny(quotes);
  if (close === null) return null;
  const { text, at } = cursor;
  for (let index = at; index < text.length; index++) {
    if (text.startsWith(close, index)) {
      cursor.at = index + close.length;
      return unescape?.(text.slice(at, index)) ?? text.slice(at, index);
    }
    // A plain string of Python ends on its line.
    if (close.length === 1 && text.charAt(index) === "\n") break;
    if (unescape !== undefined && text.charAt(index) === "\\") index++;
  }
  throw new Unreadable();
}

/**
 * Reads keys and values up to and including `close`; `named`: keys are names. Throws where it has no end, or a key
 * comes twice.
 */
export function readMap(
  cursor: Cursor,
  notation: Notation,
  { close, assign, depth = 0, named = false }: { close: string; assign: string; depth?: number; named?: boolean },
): Record<string, unknown> {
  const found = new Map<string, unknown>();
  readSeries(cursor, close, () => {
    const key = (named ? null : readString(cursor, notation)) ??
      (named || notation.bareKeys ? cursor.takeName() : null);
    cursor.skipSpace();
    if (key === null || found.has(key) || !cursor.take(assign)) throw new Unreadable();
    cursor.skipSpace();
    found.set(key, readLiteral(cursor, notation, depth + 1));
  });
  return Object.fromEntries(found);
}

/** Reads things separated by commas up to and including `close`. */
function readSeries(cursor: Cursor, close: string, readOne: () => void): void {
  for (let first = true;; first = false) {
    cursor.skipSpace();
    if (cursor.take(close)) return;
    if (!first) {
      if (!cursor.take(",")) throw new Unreadable();
      cursor.skipSpace();
      if (cursor.take(close)) return;
    }
    readOne();
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

const VALUES: Notation = { words: WORDS, quotes: ['"""', "'''", '"', "'"], unescape: unescaped };

/** True where a call, or a list of calls, begins. */
export function opensPython(cursor: Cursor, { list }: { list: boolean }): boolean {
  const pattern = list ? /\[\s*[A-Za-z_][\w.]{0,127}\(/y : /[A-Za-z_][\w.]{0,127}\(/y;
  pattern.lastIndex = cursor.at;
  return pattern.test(cursor.text);
}

/** Reads a list of calls. */
export function readPythonList(cursor: Cursor, context: CallContext): ParseResult {
  cursor.take("[");
  return orBroken(() => {
    const results: ParseResult[] = [];
    readSeries(cursor, "]", () => results.push(readPythonCall(cursor, context)));
    return allOf(results);
  });
}

/** Reads calls that follow each other. */
export function readPythonCalls(cursor: Cursor, context: CallContext): ParseResult {
  const opens = () => opensPython(cursor, { list: false });
  return orBroken(() => readEach(cursor, () => readPythonCall(cursor, context), opens));
}

function readPythonCall(cursor: Cursor, context: CallContext): ParseResult {
  const name = cursor.takeName();
  if (name === null || !cursor.take("(")) throw new Unreadable();
  const input = readMap(cursor, VALUES, { close: ")", assign: "=", named: true });
  // Llama writes the tools of its own runtime as methods.
  return parsedCall({ name: name.replace(/\.call$/, ""), input }, context);
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g;

/** Returns what a string says; an unknown escape stays as it is, as in Python. */
function unescaped(written: string): string {
  return written.replace(ESCAPE, (whole, two?: string, four?: string, eight?: string, plain?: string) => {
    if (plain !== undefined) return ESCAPES[plain] ?? whole;
    const point = parseInt(two ?? four ?? eight ?? "", 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
