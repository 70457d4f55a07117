/** Parses calls of declared tools written as JSON objects: `{"name": …, "arguments": {…}}` and its variants. */
import { readArgumentsWith, type RepairJson } from "../chat/arguments.ts";
import { isRecord, parseJson } from "../../platform/record.ts";
import { meantParameter, meantTool } from "../trained_names.ts";
import type { ToolSchema } from "../types.ts";
import { type Cursor, type JsonResult, readJson } from "./cursor.ts";
import { closingMarks } from "./marks.ts";

/** Most objects of one text that are repaired. */
const MENDED_LIMIT = 64;

/** A call found in text, complete, of a declared tool. */
export interface TextCall {
  name: string;
  input: Record<string, unknown>;
}

export interface CallContext {
  /** Name → JSON Schema of the parameters. */
  tools: ReadonlyMap<string, Record<string, unknown>>;
  /** The library that repairs JSON; null while it is not loaded. */
  repair: RepairJson | null;
  /** Objects that could be repaired with the library; bounds its work. */
  mended: number;
  /** The places of the closing marks of the text, once they were asked for. */
  closings?: readonly number[];
}

/**
 * Result of parsing at an opening mark. The cursor is after it when it has an end.
 * - `calls`: all of it is complete and declared.
 * - `refused`: it has an end, but is no call that may run (undeclared name, arguments of another kind, invalid JSON).
 * - `broken`: it starts as a call and has no end that can be trusted. Text after it may be the inside of one of its
 *   values, so nothing after it is read.
 */
export type ParseResult = { kind: "calls"; calls: TextCall[] } | { kind: "refused" } | { kind: "broken" };

/** Returns the context for one text. */
export function contextOf(tools: readonly ToolSchema[], repair: RepairJson | null = null): CallContext {
  return { tools: new Map(tools.map((tool) => [tool.function.name, tool.function.parameters])), repair, mended: 0 };
}

/** False when enough was repaired. */
function mayMend(context: CallContext): boolean {
  return context.mended < MENDED_LIMIT;
}

/** Repairs one closed object that is not quite JSON, like arguments; null where it cannot, or not yet. */
export function mendObject(json: string, context: CallContext): Record<string, unknown> | null {
  if (!mayMend(context)) return null;
  context.mended++;
  return readArgumentsWith(json, context.repair)?.input ?? null;
}

/** The declared name that `name` means, or null. */
export function declaredName(name: string, { tools }: CallContext): string | null {
  return tools.has(name) ? name : meantTool(name, [...tools.keys()]);
}

/** A result of one call: refused unless the tool is declared and the arguments are an object. */
export function parsedCall(call: { name: string; input: unknown }, context: CallContext): ParseResult {
  const name = declaredName(call.name, context);
  if (name === null || !isRecord(call.input)) return { kind: "refused" };
  return { kind: "calls", calls: [{ name, input: call.input }] };
}

/** One result of several calls. All or nothing: one that is refused refuses all. */
export function allOf(results: readonly ParseResult[]): ParseResult {
  const calls = results.flatMap((result) => result.kind === "calls" ? result.calls : []);
  const refused = calls.length === 0 || results.some((result) => result.kind !== "calls");
  return refused ? { kind: "refused" } : { kind: "calls", calls };
}

/** The JSON Schema of a tool's parameters; undefined when it is not declared. */
export function parametersOf(name: string, context: CallContext): Record<string, unknown> | undefined {
  return context.tools.get(declaredName(name, context) ?? "");
}

/** The schemas of a tool's parameters by name. */
export function propertiesOf(name: string, context: CallContext): Record<string, unknown> {
  const properties = parametersOf(name, context)?.properties;
  return isRecord(properties) ? properties : {};
}

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
 * have been meant; `flat` when they stand beside the name instead, all that the tool needs and nothing else.
 */
export function callOfObject(
  value: unknown,
  context: CallContext,
): { name: string; input: unknown; flat?: true } | null {
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
    const beside = Object.entries(call).filter(([key]) => !COMPANIONS.has(key));
    if (beside.length === 0) return { name, input: {} };
    return areArguments(beside.map(([key]) => key), name, context)
      ? { name, input: Object.fromEntries(beside), flat: true }
      : null;
  }
  return { name, input: typeof input === "string" ? parseJson(input) ?? mendObject(input, context) : input };
}

/** Whether keys are parameters of a declared tool, all of them, and those that it requires are among them. */
function areArguments(keys: readonly string[], name: string, context: CallContext): boolean {
  const properties = propertiesOf(name, context);
  const required = parametersOf(name, context)?.required;
  const meant = new Set(keys.map((key) => meantParameter(key, properties)));
  return !meant.has(null) && Array.isArray(required) && required.every((key) => meant.has(key));
}

/** True when an object has no key but those of a call, and its arguments. */
export function isNothingButCall(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value) || !Object.keys(value).every((key) => COMPANIONS.has(key))) return false;
  const call = isRecord(value.function) ? value.function : value;
  return ARGUMENTS.some((key) => call[key] !== undefined);
}

/** Reads the arguments object of a call whose name stood before it. */
export function readArgumentsObject(cursor: Cursor, call: { name: string; context: CallContext }): ParseResult {
  const json = readObject(cursor, call.context);
  if (json.kind === "open") return { kind: "broken" };
  if (json.kind === "invalid") return { kind: "refused" };
  return parsedCall({ name: call.name, input: json.value }, call.context);
}

/** Reads what follows each other, with white space, a comma or a semicolon between, as long as another one `opens`. */
export function readEach(cursor: Cursor, read: () => ParseResult, opens: () => boolean): ParseResult {
  const results: ParseResult[] = [];
  let end: number;
  do {
    const result = read();
    if (result.kind === "broken") return result;
    results.push(result);
    end = cursor.at;
    cursor.takePattern(/\s*[,;]?\s*/y);
  } while (opens());
  cursor.at = end;
  return allOf(results);
}

/** Reads call objects, or arrays of them. One that is no call, or may not run, refuses all. */
export function readCallObjects(cursor: Cursor, context: CallContext): ParseResult {
  return readEach(cursor, () => {
    const json = readObject(cursor, context);
    if (json.kind === "open") return { kind: "broken" };
    const value = json.kind === "value" ? json.value : null;
    const calls = (Array.isArray(value) ? value : [value]).map((object) => callOfObject(object, context));
    return allOf(calls.map((call) => call === null ? { kind: "refused" } : parsedCall(call, context)));
  }, () => cursor.character === "{");
}

/** With the one or two braces that a model forgot before the mark that closes its call: all strings are closed. */
function withBraces(json: string): string {
  if (!json.endsWith("}")) return json;
  return [json, `${json}}`, `${json}}}`].find((one) => parseJson(one) !== undefined) ?? json;
}

/**
 * Reads an object or an array as strict JSON; where that fails it is repaired, up to a closing mark or the end of
 * the text: any other end is a guess.
 */
function readObject(cursor: Cursor, context: CallContext): JsonResult {
  const start = cursor.at;
  const json = readJson(cursor);
  if (json.kind === "value" || !mayMend(context)) return json;
  const { text } = cursor;
  context.closings ??= closingMarks(text);
  const first = context.closings.findIndex((at) => at > start);
  for (const close of first < 0 ? [] : context.closings.slice(first, first + TRIES)) {
    let written = text.slice(start, close).trimEnd();
    if (written.endsWith("```")) written = written.slice(0, -3).trimEnd();
    // An array is repaired as the only value of an object.
    const isArray = written.startsWith("[");
    const closed = close < text.length ? withBraces(written) : written;
    const mended = mendObject(isArray ? `{"calls":${written}}` : closed, context);
    if (mended === null) continue;
    cursor.at = start + written.length;
    return { kind: "value", value: isArray ? mended.calls : mended };
  }
  return json;
}
