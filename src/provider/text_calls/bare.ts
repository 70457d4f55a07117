/**
 * The weak form: a message that is nothing but calls, bare or in one fence. Llama 3.x and 4 and Phi answer like this, and
 * small models of every family do when they forget their marks. It could also be data that was asked for, so more is
 * required of it than of marked calls.
 */
import { type CallContext, declaredName, isRecord, mendObject, propertiesOf, type TextCall } from "./call.ts";
import { Cursor } from "./cursor.ts";
import { callOfObject, isNothingButCall } from "./json_call.ts";
import { readJson } from "./json.ts";
import { opensPython, readPythonList } from "./python.ts";
import { skipThought } from "./thought.ts";

/** What a whole message came to. */
export type BareReading =
  | { kind: "calls"; calls: TextCall[]; rest: string }
  /** Data: one JSON value that is no call. Markers in its strings are content. */
  | { kind: "data" }
  /** Anything else. */
  | { kind: "prose" };

/** A paragraph that announces the fence that ends the message is at most this long, in characters. */
export const PARAGRAPH_LIMIT = 400;

/** Words of somebody who shows a call, and does not make it. */
export const SHOWS =
  /\b(?:examples?|e\.g\.|instance|such as|like this|looks? like|form(?:at)?|syntax|schema|would|could|might)\b/i;

/** Reads the message after its reasoning; behind an answer that is closed; or one fence behind a short paragraph. */
export function readBare(text: string, context: CallContext): BareReading {
  const start = skipThought(text);
  const whole = readWhole(text, { start, context });
  if (whole.kind !== "prose") return whole;
  for (const place of [behindAnswer(text, start), lastFence(text, start)]) {
    const reading = place === null ? whole : readWhole(text, { start: place, context });
    if (reading.kind === "calls") return reading;
  }
  return whole;
}

function readWhole(text: string, { start, context }: { start: number; context: CallContext }): BareReading {
  const { message, code } = unfenced(text.slice(start).trim().replace(/^functools(?=\[)/, ""));
  const cursor = new Cursor(message);
  if (opensPython(cursor, { list: true })) {
    const reading = readPythonList(cursor, context);
    const calls = reading.kind === "calls" && cursor.at === message.length ? reading.calls : [];
    const plausible = calls.length > 0 && calls.every((call) => isPlausible(call, context));
    return plausible ? { kind: "calls", calls, rest: text.slice(0, start).trimEnd() } : { kind: "prose" };
  }
  const values = code ? null : readValues(cursor) ?? mendedValues(message, context);
  if (values === null) return { kind: "prose" };
  const calls = values.map((value) => weakCall(value, context)).filter((call) => call !== null);
  if (calls.length === 0 || calls.length < values.length) return { kind: "data" };
  return { kind: "calls", calls, rest: text.slice(0, start).trimEnd() };
}

/** True when a text from `start` on is nothing but calls. */
export function isBareFrom(text: string, start: number, context: CallContext): boolean {
  return readWhole(text, { start, context }).kind === "calls";
}

/** The JSON values that a message consists of; null when it has anything else. */
function readValues(cursor: Cursor): unknown[] | null {
  let values: unknown[] = [];
  while (cursor.at < cursor.text.length) {
    const json = /[{[]/.test(cursor.character) ? readJson(cursor) : null;
    if (json?.kind !== "value") return null;
    if (values.length === 0 && Array.isArray(json.value)) values = json.value;
    else values.push(json.value);
    cursor.takePattern(/\s*[,;]?\s*/y);
  }
  return cursor.text === "" ? null : values;
}

/** A message that is one object, but not quite JSON. */
function mendedValues(message: string, context: CallContext): unknown[] | null {
  if (!/^\{\s*["'\w][^]*\}$/.test(message)) return null;
  const mended = mendObject(message, context);
  return isNothingButCall(mended) ? [mended] : null;
}

/** The inside of a message that is one fence; else the message. `code` when the fence is one of Python. */
function unfenced(message: string): { message: string; code: boolean } {
  const [opening, language] = /^```(json|tool_calls?|tool_code|python)?[ \t]*\r?\n/.exec(message) ?? [];
  if (opening === undefined || !message.endsWith("\n```")) return { message, code: false };
  return { message: message.slice(opening.length, -"\n```".length).trim(), code: language === "python" };
}

/** Where a call may stand behind an answer that is marked as one. */
function behindAnswer(text: string, start: number): number | null {
  const end = /<\/(?:answer|response)>\s*(?=[[{`])/g;
  end.lastIndex = start;
  return end.test(text) ? end.lastIndex : null;
}

/** Where the only fence of a message opens that ends with it, behind one paragraph that does not speak of an example. */
function lastFence(text: string, start: number): number | null {
  const message = text.slice(start).trimStart();
  const [opening, paragraph = ""] = /^((?:[^\n`]+\n){1,8})\n?(?=```)/.exec(message.slice(0, PARAGRAPH_LIMIT + 4)) ?? [];
  if (opening === undefined || SHOWS.test(paragraph) || /Action:\**\s*$/.test(paragraph)) return null;
  return text.length - message.length + opening.length;
}

/** Stricter than a marked call: no foreign keys, arguments are there, and one of them at least is the tool's. */
function weakCall(value: unknown, context: CallContext): TextCall | null {
  const call = isNothingButCall(value) ? callOfObject(value, context) : null;
  const name = call === null ? null : declaredName(call.name, context);
  if (call === null || name === null || !isRecord(call.input)) return null;
  return isPlausible({ name, input: call.input }, context) ? { name, input: call.input } : null;
}

/** Keeps out the definition of a tool (`{"name":…,"parameters":{"type":"object",…}}`), which has the same shape. */
function isPlausible({ name, input }: TextCall, context: CallContext): boolean {
  const given = Object.keys(input);
  const properties = propertiesOf(name, context);
  return given.length === 0 || given.some((key) => Object.hasOwn(properties, key));
}
