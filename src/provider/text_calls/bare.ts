/** Reads calls without marks: a message that is nothing but calls, or that ends with them after a short paragraph. */
import { isRecord } from "../../platform/record.ts";
import { meantParameter, plainToolName } from "../trained_names.ts";
import {
  type CallContext,
  callOfObject,
  declaredName,
  isNothingButCall,
  mendObject,
  propertiesOf,
  readArgumentsObject,
  type TextCall,
} from "./call.ts";
import { Cursor, readJson } from "./cursor.ts";
import { PARAGRAPH_LIMIT } from "./marks.ts";
import { opensPython, readPythonCalls, readPythonList } from "./python.ts";
import { skipThought } from "./quotation.ts";

/** Result of reading a whole message. */
type BareResult =
  | { kind: "calls"; calls: TextCall[]; rest: string }
  /** Data: one JSON value that is no call. Markers in its strings are content. */
  | { kind: "data" }
  | { kind: "prose" };

const PROSE: BareResult = { kind: "prose" };

/** Words that show a call as an example. */
export const SHOWS =
  /\b(?:examples?|e\.g\.|instance|such as|like this|looks? like|form(?:at)?|syntax|schema|would|could|might)\b/i;

/** Closing marks after an object that has no opening ones. */
const STRAY_CLOSE = /(?<![>\s])(?:\s*<\/(?=[\w|｜]{0,24}(?:tool|function|call))[\w|｜]{4,56}>)+$/;

/** Finds the name of a tool, and what may stand before it, whose arguments follow as an object. */
const NAMED =
  /^(?:\**(?:tool|function)[ _]call:?\**:?\s*|(?:assistant\s+)?to=)?[`"]?([A-Za-z_][\w.-]{0,127})[`"]?\s*(?::\s*)?(?=\{)/i;

/** Reads the message after its reasoning; after an answer that is closed; or its end, after a short paragraph. */
export function readBare(text: string, context: CallContext): BareResult {
  const start = skipThought(text);
  const whole = readWhole(text, { start, context });
  if (whole.kind !== "prose") return whole;
  for (const place of [behindAnswer(text, start), behindParagraph(text, start, BEFORE_FENCE)]) {
    const result = place === null ? whole : readWhole(text, { start: place, context });
    if (result.kind === "calls") return result;
  }
  const place = behindParagraph(text, start, BEFORE_CALL);
  const last = place === null ? whole : readWhole(text, { start: place, context });
  // What was shown while it streamed stays in the text.
  return last.kind === "calls" ? { ...last, rest: text } : whole;
}

/** True when a text from `start` on is nothing but calls. */
export function isBareFrom(text: string, start: number, context: CallContext): boolean {
  return readWhole(text, { start, context }).kind === "calls";
}

function readWhole(text: string, { start, context }: { start: number; context: CallContext }): BareResult {
  const behind = text.slice(start).trim().replace(/^functools(?=\[)/, "");
  const { message, code, tool } = unfenced(/^[{[]/.test(behind) ? behind.replace(STRAY_CLOSE, "") : behind);
  const held = (calls: TextCall[]): BareResult => ({ kind: "calls", calls, rest: text.slice(0, start).trimEnd() });
  const cursor = new Cursor(message);
  if (opensPython(cursor, { list: true })) {
    const result = readPythonList(cursor, context);
    const calls = result.kind === "calls" && cursor.at === message.length ? plausible(result.calls, context) : null;
    return calls === null ? PROSE : held(calls);
  }
  const written = pythonCalls(message, context) ?? namedCall(tool === null ? message : `${tool} ${message}`, context);
  if (written !== null) return { kind: "calls", calls: written, rest: text };
  const values = code ? null : readValues(cursor) ?? mendedValues(message, context);
  if (values === null) return PROSE;
  const calls = values.map((value) => weakCall(value, context)).filter((call) => call !== null);
  if (calls.length === 0 || calls.length < values.length) return { kind: "data" };
  return held(calls);
}

/**
 * Calls as code of Python, one after the other, by the exact names of the tools; also printed ones, as Gemma writes.
 */
function pythonCalls(message: string, context: CallContext): TextCall[] | null {
  const printed = /^print\(([^]*)\)$/.exec(message)?.[1] ?? message;
  const cursor = new Cursor(printed);
  if (!opensPython(cursor, { list: false })) return null;
  const result = readPythonCalls(cursor, context);
  if (result.kind !== "calls" || cursor.at < printed.length) return null;
  return result.calls.every(({ input }) => Object.keys(input).length > 0) ? plausible(result.calls, context) : null;
}

/** One call whose tool is named before its arguments: `Read {"file_path": "a"}`. */
function namedCall(message: string, context: CallContext): TextCall[] | null {
  const [opening, name = ""] = NAMED.exec(message) ?? [];
  if (opening === undefined || !isSpelled(name, context)) return null;
  const cursor = new Cursor(message, opening.length);
  const result = readArgumentsObject(cursor, { name, context });
  if (result.kind !== "calls" || message.slice(cursor.at).trim() !== "") return null;
  return result.calls.every(({ input }) => Object.keys(input).length > 0) ? plausible(result.calls, context) : null;
}

/** Keys of an object that holds nothing but a list of calls, and what may stand beside it. */
const LISTS = ["tool_calls", "function_calls", "calls", "tool_call", "function_call"];
const BESIDE = ["role", "content", "finish_reason"];

/** The JSON values that a message consists of; null when it has anything else. */
function readValues(cursor: Cursor): unknown[] | null {
  let values: unknown[] = [];
  while (cursor.at < cursor.text.length) {
    const json = /[{[]/.test(cursor.character) ? readJson(cursor) : null;
    if (json?.kind !== "value") return null;
    if (values.length === 0 && Array.isArray(json.value)) values = json.value;
    else values.push(...listed(json.value));
    cursor.takePattern(/\s*[,;]?\s*/y);
  }
  return cursor.text === "" ? null : values;
}

/** The calls that an object lists, as the API does; any other value alone. */
function listed(value: unknown): unknown[] {
  if (!isRecord(value)) return [value];
  const [key, second] = Object.keys(value).filter((name) => !BESIDE.includes(name));
  const list = key !== undefined && second === undefined && LISTS.includes(key) ? value[key] : undefined;
  return Array.isArray(list) ? list : isRecord(list) ? [list] : [value];
}

/** A message that is one object, but not quite JSON. */
function mendedValues(message: string, context: CallContext): unknown[] | null {
  if (!/^\{\s*["'\w][^]*\}$/.test(message)) return null;
  const mended = mendObject(message, context);
  return isNothingButCall(mended) ? [mended] : null;
}

/**
 * The inside of a message that is one fence; else the message. `code` when the fence is one of Python, `tool` when it
 * is named like one.
 */
function unfenced(message: string): { message: string; code: boolean; tool: string | null } {
  const [opening, word = ""] = /^```([A-Za-z_][\w.-]{0,40})?[ \t]*\r?\n/.exec(message) ?? [];
  const close = /\n[ \t]*```$/.exec(message)?.[0];
  if (opening === undefined || close === undefined) return { message, code: false, tool: null };
  const inside = message.slice(opening.length, -close.length).trim();
  const isData = /^(?:json|tool_calls?|tool_code|xml|text|plaintext)?$/.test(word);
  if (isData || word === "python") return { message: inside, code: word === "python", tool: null };
  return inside.startsWith("{") ? { message: inside, code: true, tool: word } : { message, code: false, tool: null };
}

/** Returns the offset after a marked answer, where a call may stand. */
function behindAnswer(text: string, start: number): number | null {
  const end = /<\/(?:answer|response)>\s*(?=[[{`])/g;
  end.lastIndex = start;
  return end.test(text) ? end.lastIndex : null;
}

/** One paragraph, and the fence after it, which may stand in an item of a list. */
const BEFORE_FENCE = /^((?:[^\n`]+\n){1,8})\n?[ \t]*(?=```)/;
/** One paragraph of nothing but words, and an object or the name of a tool after it. */
const BEFORE_CALL =
  /^((?!here\b)(?:[^\n`<>[\]{}|"“”«»]+\n){1,8}?)\n?(?=\{|\[\{|[A-Za-z_][\w.]{0,40}(?:\(|:? ?\{)|(?:tool|function)[ _]call:)/i;

/**
 * Returns the offset of what `before` finds after one paragraph that shows no example, where a message may end with it.
 */
function behindParagraph(text: string, start: number, before: RegExp): number | null {
  const message = text.slice(start).trimStart();
  const [opening, paragraph = ""] = before.exec(message.slice(0, PARAGRAPH_LIMIT + 4)) ?? [];
  if (opening === undefined || SHOWS.test(paragraph) || /Action:\**\s*$/.test(paragraph)) return null;
  return text.length - message.length + opening.length;
}

/** Stricter than a marked call: no foreign keys, arguments are there, and one of them at least is the tool's. */
function weakCall(value: unknown, context: CallContext): TextCall | null {
  const call = callOfObject(value, context);
  const name = call === null ? null : declaredName(call.name, context);
  if (call === null || name === null || !isRecord(call.input) || !isSpelled(call.name, context)) return null;
  if (!isNothingButCall(value) && !call.flat) return null;
  return isPlausible({ name, input: call.input }, context) ? { name, input: call.input } : null;
}

/** Without marks, what a name means elsewhere is no proof of a call: it may be data. */
function isSpelled(name: string, context: CallContext): boolean {
  const declared = declaredName(name, context);
  return declared !== null && plainToolName(declared) === plainToolName(name);
}

function plausible(calls: readonly TextCall[], context: CallContext): TextCall[] | null {
  return calls.length > 0 && calls.every((call) => isPlausible(call, context)) ? [...calls] : null;
}

/** Keeps out the definition of a tool (`{"name":…,"parameters":{"type":"object",…}}`), which has the same shape. */
function isPlausible({ name, input }: TextCall, context: CallContext): boolean {
  const given = Object.keys(input);
  const properties = propertiesOf(name, context);
  return given.length === 0 || given.some((key) => meantParameter(key, properties) !== null);
}
