/** Parses JSON from outside, and reads its parts. */

/** A JSON object whose members are not known. */
export type JsonRecord = Record<string, unknown>;

/** Returns whether `value` is a JSON object (no array, no null). */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a JSON text; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `value` when it is a text that is not empty, else null. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** `value` as a count: a finite number of at least 0, rounded down; else null. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : null;
}

/** The fields of a JSON object; none for anything else. Only own fields: `__proto__` is data. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? Object.assign(Object.create(null), value) : Object.create(null);
}

/** The members of a JSON array; none for anything else. */
export function membersOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Tokens; more than this is a mistake of the server. */
const WINDOW_LIMIT = 100_000_000;

/** A plausible number of tokens, else null. */
export function tokens(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= WINDOW_LIMIT ? value : null;
}

/** Returns every word of a JSON value: its strings, keys too, and its numbers. */
export function* stringsOf(value: unknown): Generator<string> {
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string" || typeof next === "number") yield String(next);
    else if (Array.isArray(next)) waiting.push(...next);
    else if (typeof next === "object" && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        yield key;
        waiting.push(member);
      }
    }
  }
}
