/** Copies of arguments in headers (`x-mcp-header`): which a tool wants, and how a value is written in one. */
import { fieldsOf, isRecord, type JsonRecord } from "../platform/record.ts";

/** Types that a header can carry: not numbers, whose text differs from program to program. */
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];
const DEPTH = 6;

interface Wanted {
  header: string;
  path: string[];
}

/** Returns the headers that a schema wants; null where it asks for an impossible one. */
function wantedHeaders(schema: JsonRecord): Wanted[] | null {
  const wanted: Wanted[] = [];
  const visit = (value: JsonRecord, path: string[]): boolean => {
    const named = value["x-mcp-header"];
    if (named !== undefined) {
      const isToken = typeof named === "string" && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/.test(named);
      if (!isToken || !TYPES.includes(value.type) || path.length === 0) return false;
      if (wanted.some(({ header }) => header.toLowerCase() === named.toLowerCase())) return false;
      wanted.push({ header: named, path });
    }
    if (path.length >= DEPTH) return true;
    return Object.entries(fieldsOf(value.properties)).every(([name, one]) =>
      !isRecord(one) || visit(one, [...path, name])
    );
  };
  return visit(schema, []) ? wanted : null;
}

/** Returns whether a tool can be called: one that wants impossible headers must not be. */
export function hasValidHeaders(schema: JsonRecord): boolean {
  return wantedHeaders(schema) !== null;
}

/** Returns the headers of a call, by name in lower case; values that are left out or null have none. */
export function headerParameters(schema: JsonRecord, args: JsonRecord): Record<string, string> {
  const headers = (wantedHeaders(schema) ?? []).flatMap(({ header, path }): [string, string][] => {
    const value = path.reduce<unknown>((at, name) => fieldsOf(at)[name], args);
    if (!["string", "number", "boolean"].includes(typeof value)) return [];
    return [[`mcp-param-${header.toLowerCase()}`, headerValue(String(value))]];
  });
  return Object.fromEntries(headers);
}

/**
 * Returns a value as a header carries it: in base64 between marks where it is not plain ASCII, or looks like base64.
 */
export function headerValue(value: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${new TextEncoder().encode(value).toBase64()}?=`;
}
