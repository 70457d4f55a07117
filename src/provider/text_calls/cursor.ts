/** A place in a text that moves forward over what it recognizes, complete JSON included. */
import { parseJson } from "../../platform/record.ts";

/** Longest name of a tool or argument; bounds the look-ahead at each opener. */
const NAME_LIMIT = 128;

/** Reads a text from left to right. A method that finds nothing leaves the position as it is. */
export class Cursor {
  /** `at`: the UTF-16 offset. */
  constructor(readonly text: string, public at = 0) {}

  /** The character here; empty at the end. */
  get character(): string {
    return this.text.charAt(this.at);
  }

  /** Moves past `literal` if it stands here. */
  take(literal: string): boolean {
    if (!this.text.startsWith(literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  /** Moves past the first of `literals` that stands here, and gives it. */
  takeAny(literals: readonly string[]): string | null {
    return literals.find((literal) => this.take(literal)) ?? null;
  }

  /** Moves past what the sticky `pattern` matches here, and gives its groups. */
  takePattern(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at = pattern.lastIndex;
    return found;
  }

  skipSpace(): void {
    this.at = endOfSpace(this.text, this.at);
  }

  /** Moves past the name of a tool or argument: letters, digits, `_`, `.` and `-`, at most 128. */
  takeName(): string | null {
    return this.takeMatch(/[A-Za-z_][\w.-]*/y, NAME_LIMIT);
  }

  /** Moves past what the sticky `pattern` matches here, unless it is empty or longer than `limit`. */
  takeMatch(pattern: RegExp, limit: number): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    if (found === "" || found.length > limit) return null;
    this.at += found.length;
    return found;
  }
}

/** Offset of the first character from `at` that is not what JSON calls white space. */
export function endOfSpace(text: string, at: number): number {
  while (at < text.length && " \n\r\t".includes(text.charAt(at))) at++;
  return at;
}

export type JsonResult =
  | { kind: "value"; value: unknown }
  /** Its brackets close, but it is not JSON. */
  | { kind: "invalid" }
  /** It has no end. */
  | { kind: "open" };

/**
 * Offset after the object or array that opens at `at`, or -1 when it is not closed. Brackets in strings do not count.
 * One pass; what stands inside is not checked.
 */
function endOfJson(text: string, at: number): number {
  let depth = 0;
  let inString = false;
  for (let index = at; index < text.length; index++) {
    const sign = text.charAt(index);
    if (sign === '"') inString = !inString;
    else if (inString) index += sign === "\\" ? 1 : 0;
    else if (sign === "{" || sign === "[") depth++;
    else if ((sign === "}" || sign === "]") && --depth <= 0) return index + 1;
  }
  return -1;
}

/** Reads the object or array at the cursor as strict JSON, and moves past it unless it is open. */
export function readJson(cursor: Cursor): JsonResult {
  const end = endOfJson(cursor.text, cursor.at);
  if (end < 0) return { kind: "open" };
  const value = parseJson(cursor.text.slice(cursor.at, end));
  cursor.at = end;
  return value === undefined ? { kind: "invalid" } : { kind: "value", value };
}
