/**
 * The weak form: a message that is nothing but call objects, bare or in one fence. Llama 3.x answers like this without
 * its tag, and small models of every family do when they forget theirs. It could also be data that was asked for, so
 * more is required of it than of marked calls.
 */
import { Cursor } from "./cursor.ts";
import { callOfObject } from "./json_call.ts";
import { declaredName, type DeclaredTools, isRecord, type TextCall } from "./family.ts";
import { readJson } from "./json.ts";
import { skipThought } from "./thought.ts";

const CALL_KEYS: ReadonlySet<string> = new Set(["name", "id", "type", "function", "arguments", "parameters"]);

/** What a whole message came to. */
export type BareReading =
  | { kind: "calls"; calls: TextCall[]; rest: string }
  /** Data: one JSON value that is no call. Markers in its strings are content. */
  | { kind: "data" }
  /** Anything else. */
  | { kind: "prose" };

/** Reads the message after its reasoning. */
export function readBare(text: string, tools: DeclaredTools): BareReading {
  const start = skipThought(text);
  const message = unfenced(text.slice(start).trim());
  if (!/^[{[]/.test(message)) return { kind: "prose" };
  const cursor = new Cursor(message);
  let values: unknown[] = [];
  while (cursor.at < message.length) {
    const json = /[{[]/.test(cursor.character) ? readJson(cursor) : null;
    if (json?.kind !== "value") return { kind: "prose" };
    if (values.length === 0 && Array.isArray(json.value)) values = json.value;
    else values.push(json.value);
    cursor.skipSpace();
    if (cursor.take(";")) cursor.skipSpace();
  }
  const calls = values.map((value) => weakCall(value, tools));
  const found = calls.filter((call) => call !== null);
  if (found.length === 0 || found.length < calls.length) return { kind: "data" };
  return { kind: "calls", calls: found, rest: text.slice(0, start).trimEnd() };
}

/** The inside of a message that is one fence marked as JSON or not marked; else the message. */
function unfenced(message: string): string {
  const opening = /^```(?:json|tool_call|tool_code)?[ \t]*\r?\n/.exec(message)?.[0];
  if (opening === undefined || !message.endsWith("\n```")) return message;
  return message.slice(opening.length, -"\n```".length).trim();
}

/** Stricter than a marked call: no foreign keys, arguments are there, and one of them at least is the tool's. */
function weakCall(value: unknown, tools: DeclaredTools): TextCall | null {
  if (!isRecord(value) || !Object.keys(value).every((key) => CALL_KEYS.has(key))) return null;
  const inner = isRecord(value.function) ? value.function : value;
  if (inner.arguments === undefined && inner.parameters === undefined) return null;
  const call = callOfObject(value);
  const name = call === null ? null : declaredName(call.name, tools);
  if (call === null || name === null || !isRecord(call.input)) return null;
  return isPlausible(call.input, tools.get(name)) ? { name, input: call.input } : null;
}

/** Keeps out the definition of a tool (`{"name":…,"parameters":{"type":"object",…}}`), which has the same shape. */
function isPlausible(input: Record<string, unknown>, parameters: Record<string, unknown> | undefined): boolean {
  const given = Object.keys(input);
  const properties = isRecord(parameters?.properties) ? parameters.properties : {};
  return given.length === 0 || given.some((name) => Object.hasOwn(properties, name));
}
