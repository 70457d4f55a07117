/** Values in notations close to JSON: Python's, and Gemma's own. Lists, maps, numbers and words are the same in all. */
import type { Cursor } from "./cursor.ts";

/** Deeper nesting is not a call but an attack on the stack. */
const DEPTH_LIMIT = 64;
/** Characters of the longest number or word that is read. */
const ATOM_LIMIT = 400;

/** Where notations differ. */
export interface Notation {
  /** Reads a string; undefined when none opens here, null when it has no end. */
  string(cursor: Cursor): string | null | undefined;
  /** Reads the key of a map; null when there is none. */
  key(cursor: Cursor): string | null;
  words: ReadonlyMap<string, unknown>;
}

/** A value, or null when none can be read to its end. */
export type LiteralReading = { value: unknown } | null;

/** Reads one value at the cursor. */
function readLiteral(cursor: Cursor, options: { notation: Notation; depth?: number }): LiteralReading {
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

/** Where a map is written otherwise than its notation says. */
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
export function readSeries(cursor: Cursor, series: { close: string; one(): boolean }): boolean {
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
