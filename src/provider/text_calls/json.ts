/** Finds and reads one complete JSON object or array that stands in other text. */
import type { Cursor } from "./cursor.ts";

const QUOTE = 34;
const BACKSLASH = 92;

/** What stands at a place where JSON was expected. */
export type JsonReading =
  | { kind: "value"; value: unknown }
  /** Its brackets close, but it is not JSON. */
  | { kind: "invalid" }
  /** It has no end. */
  | { kind: "open" };

/**
 * Offset behind the object or array that opens at `at`, or -1 when it is not closed. Brackets in strings do not count.
 * One pass; what stands inside is not checked.
 */
function endOfJson(text: string, at: number): number {
  let depth = 0;
  for (let index = at; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        if (index < 0) return -1;
        break;
      case 123: // {
      case 91: // [
        depth++;
        break;
      case 125: // }
      case 93: // ]
        depth--;
        if (depth <= 0) return index + 1;
    }
  }
  return -1;
}

/** Offset of the quote that closes the string opening at `at`, or -1. */
function endOfString(text: string, at: number): number {
  for (let index = at + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index;
  }
  return -1;
}

/** Reads the object or array at the cursor by the letter of JSON, and moves behind it unless it is open. */
export function readJson(cursor: Cursor): JsonReading {
  const end = endOfJson(cursor.text, cursor.at);
  if (end < 0) return { kind: "open" };
  const value = parseJson(cursor.text.slice(cursor.at, end));
  cursor.at = end;
  return value === undefined ? { kind: "invalid" } : { kind: "value", value };
}

/** The value of a JSON text, or undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
