/** Calls written as JSON objects: `{"name": …, "arguments": {…}}` and the shapes models make of it. */
import {
  allOf,
  type CallContext,
  callReading,
  declaredName,
  isRecord,
  mayMend,
  mendObject,
  type Reading,
} from "./call.ts";
import type { Cursor } from "./cursor.ts";
import { type JsonReading, parseJson, readJson } from "./json.ts";
import { closingMarks } from "./marks.ts";

/** Keys that hold the name of the tool, and those that hold its arguments. */
const NAMES = ["name", "tool_name", "tool", "function_name", "action"];
const ARGUMENTS = ["arguments", "parameters", "args", "tool_input", "action_input", "input"];

/** Keys that go with a call without changing it. */
const COMPANIONS: ReadonlySet<string> = new Set([
  ...NAMES,
  ...ARGUMENTS,
  "function",
  "id",
  "type",
  "tool_call_id",
  "index",
]);

/** Closing marks that are tried as the end of an object that is not quite JSON. */
const TRIES = 8;

/**
 * The name and arguments that an object states, or null when it is no call.
 * Shapes: the keys of the table, inside `function` too (the API's own form), or one key that names a tool (Apertus);
 * arguments also as the serialized text of an object. No arguments mean an empty object only where no other key could
 * have been meant.
 */
export function callOfObject(value: unknown, context: CallContext): { name: string; input: unknown } | null {
  if (!isRecord(value)) return null;
  const call = isRecord(value.function) ? value.function : value;
  const name = NAMES.map((key) => call[key]).find((found) => typeof found === "string") ??
    (typeof call.function === "string" ? call.function : undefined);
  if (typeof name !== "string") {
    const [only, ...others] = Object.entries(call);
    const named = only !== undefined && others.length === 0 && declaredName(only[0], context) !== null;
    return named && isRecord(only[1]) ? { name: only[0], input: only[1] } : null;
  }
  const input = ARGUMENTS.map((key) => call[key]).find((found) => found !== undefined && found !== null);
  if (input === undefined) {
    return Object.keys(call).every((key) => COMPANIONS.has(key)) ? { name, input: {} } : null;
  }
  return { name, input: typeof input === "string" ? parseJson(input) ?? mendObject(input, context) : input };
}

/** True when an object has no key but those of a call, and its arguments. */
export function isNothingButCall(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value) || !Object.keys(value).every((key) => COMPANIONS.has(key))) return false;
  const call = isRecord(value.function) ? value.function : value;
  return ARGUMENTS.some((key) => call[key] !== undefined);
}

/** Reads the arguments object of a call whose name stood before it. */
export function readArgumentsObject(cursor: Cursor, call: { name: string; context: CallContext }): Reading {
  const json = readObject(cursor, call.context);
  if (json.kind === "open") return { kind: "broken" };
  if (json.kind === "invalid") return { kind: "refused" };
  return callReading({ name: call.name, input: json.value }, call.context);
}

/**
 * Reads call objects that follow each other, with white space, a comma or a semicolon between, or arrays of them. All or
 * nothing: one that is no call, or may not run, refuses all.
 */
export function readCallObjects(cursor: Cursor, context: CallContext): Reading {
  const readings: Reading[] = [];
  let end: number;
  do {
    const json = readObject(cursor, context);
    if (json.kind === "open") return { kind: "broken" };
    const value = json.kind === "value" ? json.value : null;
    for (const object of Array.isArray(value) ? value : [value]) {
      const call = callOfObject(object, context);
      readings.push(call === null ? { kind: "refused" } : callReading(call, context));
    }
    end = cursor.at;
    cursor.takePattern(/\s*[,;]?\s*/y);
  } while (cursor.character === "{");
  cursor.at = end;
  return allOf(readings);
}

/**
 * Reads an object or an array by the letter of JSON; where that fails it is mended, up to a closing mark or the end of
 * the text: where else it ends is a guess.
 */
function readObject(cursor: Cursor, context: CallContext): JsonReading {
  const start = cursor.at;
  const json = readJson(cursor);
  if (json.kind === "value" || !mayMend(context)) return json;
  const { text } = cursor;
  context.closings ??= closingMarks(text);
  const first = context.closings.findIndex((at) => at > start);
  for (const close of first < 0 ? [] : context.closings.slice(first, first + TRIES)) {
    let written = text.slice(start, close).trimEnd();
    if (written.endsWith("```")) written = written.slice(0, -3).trimEnd();
    // An array is mended as the only value of an object.
    const isArray = written.startsWith("[");
    const mended = mendObject(isArray ? `{"calls":${written}}` : written, context);
    if (mended === null) continue;
    cursor.at = start + written.length;
    return { kind: "value", value: isArray ? mended.calls : mended };
  }
  return json;
}
