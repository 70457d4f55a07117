/** Calls written as JSON objects: `{"name": …, "arguments": {…}}` and the shapes models make of it. */
import type { Cursor } from "./cursor.ts";
import { callReading, type DeclaredTools, isRecord, type Reading, type TextCall } from "./family.ts";
import { parseJson, readJson } from "./json.ts";

/** Keys that go with a call without changing it. */
const COMPANIONS = new Set(["name", "id", "type", "arguments", "parameters"]);

/**
 * The name and arguments that an object states, or null when it is no call.
 * Shapes: `arguments` (Hermes), `parameters` (Llama), either inside `function` (the API's own form), arguments as the
 * serialised text of an object. No arguments mean an empty object only where no other key could have been meant.
 */
export function callOfObject(value: unknown): { name: string; input: unknown } | null {
  if (!isRecord(value)) return null;
  const call = isRecord(value.function) ? value.function : value;
  if (typeof call.name !== "string") return null;
  const input = call.arguments ?? call.parameters;
  if (input === undefined || input === null) {
    return Object.keys(call).every((key) => COMPANIONS.has(key)) ? { name: call.name, input: {} } : null;
  }
  return { name: call.name, input: typeof input === "string" ? parseJson(input) : input };
}

/** The reading of a parsed value: an object that is a call, or an array of them. All or nothing. */
function readingOfValue(value: unknown, tools: DeclaredTools): Reading {
  const calls: TextCall[] = [];
  const objects = Array.isArray(value) ? value : [value];
  for (const object of objects) {
    const call = callOfObject(object);
    const reading = call === null ? null : callReading(call, tools);
    if (reading?.kind !== "calls") return { kind: "refused" };
    calls.push(...reading.calls);
  }
  return calls.length === 0 ? { kind: "refused" } : { kind: "calls", calls };
}

/** Reads the arguments object of a call whose name stood before it. Null when no object opens here. */
export function readArgumentsObject(cursor: Cursor, call: { name: string; tools: DeclaredTools }): Reading | null {
  if (cursor.character !== "{") return null;
  const json = readJson(cursor);
  if (json.kind === "open") return { kind: "broken" };
  if (json.kind === "invalid") return { kind: "refused" };
  return callReading({ name: call.name, input: json.value }, call.tools);
}

/**
 * Reads call objects that follow each other, parted by white space and `separator`, or an array of them. Null when
 * neither opens here. All or nothing: one that is no call, or may not run, refuses all.
 */
export function readCallObjects(
  cursor: Cursor,
  options: { tools: DeclaredTools; separator: string },
): Reading | null {
  if (cursor.character !== "{" && cursor.character !== "[") return null;
  const values: unknown[] = [];
  let end: number;
  do {
    const json = readJson(cursor);
    if (json.kind === "open") return { kind: "broken" };
    values.push(json.kind === "value" ? json.value : null);
    end = cursor.at;
    cursor.skipSpace();
    if (cursor.take(options.separator)) cursor.skipSpace();
  } while (cursor.character === "{");
  cursor.at = end;
  return readingOfValue(values.length === 1 ? values[0] : values, options.tools);
}
