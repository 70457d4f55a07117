/** Recovers tool calls that a server left in the text of a message. Source: specification of backends, section 8. */
import { loadRepair } from "../chat/arguments.ts";
import { isRecord } from "../../platform/record.ts";
import { meantParameter, plainToolName } from "../trained_names.ts";
import type { ToolSchema } from "../types.ts";
import {
  type CallContext,
  callOfObject,
  contextOf,
  declaredName,
  isNothingButCall,
  mendObject,
  propertiesOf,
  type TextCall,
} from "./call.ts";
import { readBlocks } from "./blocks.ts";
import { findMarked, type MarkedSpan } from "./marked.ts";
import { Cursor, readJson } from "./cursor.ts";
import { opensPython, readPythonList } from "./python.ts";
import { PARAGRAPH_LIMIT } from "./marks.ts";
import { skipThought } from "./quotation.ts";

/** The calls and the rest of a text. */
interface Recovered {
  /** At least one, in the order of the text. */
  calls: TextCall[];
  /**
   * The text without the calls: its parts without the white space around them, parted by an empty line. Up to the first
   * call it is the text as it stands, so what was shown while streaming is the beginning of it.
   */
  rest: string;
  /** The form of the first call; `bare` for a message that is nothing but calls. */
  family: string;
}

/**
 * The calls in the text of a complete reply, or null when there are none that may run.
 *
 * A call counts when its tool is declared, every value of it is closed and it stands outside reasoning and quotations
 * and not in the middle of a sentence; a call without marks only when it is the whole message. What the model made up
 * as the result of a call is left out, with all that follows. After a call without an end nothing counts, since it may
 * be the inside of one of its values. Never throws; time grows with the length of the text.
 *
 * The caller makes sure that the request had tools, that the reply had no structured calls, and that it was not cut
 * (`finish` is not `length`).
 */
export function recoverCalls(text: string, tools: readonly ToolSchema[]): Recovered | null {
  return recover(text, contextOf(tools));
}

/** {@link recoverCalls}, where JSON that is closed but not quite JSON is mended like that of other calls. */
export async function recoverMended(text: string, tools: readonly ToolSchema[]): Promise<Recovered | null> {
  const context = contextOf(tools);
  const found = recover(text, context);
  return context.mended === 0 ? found : recover(text, contextOf(tools, await loadRepair()));
}

function recover(text: string, context: CallContext): Recovered | null {
  if (context.tools.size === 0 || !/[<{[]/.test(text)) return null;
  const bare = readBare(text, context);
  if (bare.kind === "calls") return { calls: bare.calls, rest: bare.rest, family: "bare" };
  if (bare.kind === "data") return null;
  const { spans, until } = findMarked(text, context);
  const found = spans.filter((span) => span.calls.length > 0);
  const [first] = found;
  if (first === undefined) {
    // The blocks stay in the text: they were shown while they came.
    const calls = readBlocks(text, skipThought(text), context);
    return calls.length === 0 ? null : { calls, rest: text, family: "search_replace" };
  }
  return {
    calls: found.flatMap((span) => span.calls),
    rest: textWithout(text.slice(0, until), found),
    family: first.form,
  };
}

function textWithout(text: string, spans: readonly MarkedSpan[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of [...spans, { start: text.length, end: text.length }]) {
    const part = text.slice(from, start);
    if (part.trim() !== "") parts.push(from === 0 ? part.trimEnd() : part.trim());
    from = end;
  }
  return parts.join("\n\n");
}

/** Result of reading a whole message. */
type BareResult =
  | { kind: "calls"; calls: TextCall[]; rest: string }
  /** Data: one JSON value that is no call. Markers in its strings are content. */
  | { kind: "data" }
  /** Anything else. */
  | { kind: "prose" };

/** Words of somebody who shows a call, and does not make it. */
const SHOWS =
  /\b(?:examples?|e\.g\.|instance|such as|like this|looks? like|form(?:at)?|syntax|schema|would|could|might)\b/i;

/** Reads the message after its reasoning; behind an answer that is closed; or one fence behind a short paragraph. */
function readBare(text: string, context: CallContext): BareResult {
  const start = skipThought(text);
  const whole = readWhole(text, { start, context });
  if (whole.kind !== "prose") return whole;
  for (const place of [behindAnswer(text, start), lastFence(text, start)]) {
    const result = place === null ? whole : readWhole(text, { start: place, context });
    if (result.kind === "calls") return result;
  }
  return whole;
}

function readWhole(text: string, { start, context }: { start: number; context: CallContext }): BareResult {
  const { message, code } = unfenced(text.slice(start).trim().replace(/^functools(?=\[)/, ""));
  const cursor = new Cursor(message);
  if (opensPython(cursor, { list: true })) {
    const result = readPythonList(cursor, context);
    const calls = result.kind === "calls" && cursor.at === message.length ? result.calls : [];
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
function isBareFrom(text: string, start: number, context: CallContext): boolean {
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

/** Returns the offset behind a marked answer, where a call may stand. */
function behindAnswer(text: string, start: number): number | null {
  const end = /<\/(?:answer|response)>\s*(?=[[{`])/g;
  end.lastIndex = start;
  return end.test(text) ? end.lastIndex : null;
}

/** Returns the offset of the only fence, at the end of a message, behind one paragraph that shows no example. */
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
  // Without marks, what a name means elsewhere is no proof of a call: it may be data.
  if (plainToolName(name) !== plainToolName(call.name)) return null;
  return isPlausible({ name, input: call.input }, context) ? { name, input: call.input } : null;
}

/** Keeps out the definition of a tool (`{"name":…,"parameters":{"type":"object",…}}`), which has the same shape. */
function isPlausible({ name, input }: TextCall, context: CallContext): boolean {
  const given = Object.keys(input);
  const properties = propertiesOf(name, context);
  return given.length === 0 || given.some((key) => meantParameter(key, properties) !== null);
}

/** A call that was not read. */
export interface UnparsedCall {
  /** The declared tool that is named in it; null when it names none. */
  name: string | null;
  /** The message ends with it: it is no part of what is explained. */
  ends: boolean;
}

/** Characters behind the beginning of a call in which its tool is named. */
const NAME_WITHIN = 400;
/** Characters between a mark that is not known and the name of a tool. */
const NAME_BEHIND = 60;

/** Looks like a mark around a call, of an unknown form. */
const MARK =
  /<[|｜/]?[\w:|｜▁.-]{0,40}(?:tool|func|call|invoke|action|plugin)[\w:|｜▁.-]{0,40}[^<>\n]{0,80}>|<[|｜][\w:▁.-]{1,40}[|｜]>|\[[A-Z_]{4,32}\]/g;

/** The call in a text in which none was found that may run, or null. */
export function unparsedCall(text: string, tools: readonly ToolSchema[]): UnparsedCall | null {
  const context = contextOf(tools);
  if (tools.length === 0 || readBare(text, context).kind === "data") return null;
  const { spans, broken, hidden } = findMarked(text, context);
  const ends = /[>}\])`]\s*$/.test(text);
  if (broken !== null) {
    const name = nameIn(text.slice(broken, broken + NAME_WITHIN), context);
    return { name, ends: name !== null };
  }
  const refused = spans.find((span) => span.position !== "quoted");
  if (refused !== undefined) {
    const name = nameIn(text.slice(refused.start, Math.min(refused.end, refused.start + NAME_WITHIN)), context);
    return name === null && !ends ? null : { name, ends };
  }
  if (!ends) return null;
  const name = nameOfUnknown(withoutHidden(text, hidden), context) ?? nameOfLast(text, context);
  return name === null ? null : { name, ends };
}

/** The first declared name that stands in `text` as a word. */
function nameIn(text: string, { tools }: CallContext): string | null {
  const names = [...tools.keys()].map((name) => RegExp.escape(name)).join("|");
  return new RegExp(`(?<![\\w-])(?:${names})(?![\\w-])`).exec(text)?.[0] ?? null;
}

/** The tool of a call in a form that is not known: behind a mark, in a tag, or as a line of code. */
function nameOfUnknown(text: string, context: CallContext): string | null {
  for (const mark of text.matchAll(MARK)) {
    const behind = mark.index + mark[0].length;
    const name = nameIn(mark[0], context) ?? nameIn(text.slice(behind, behind + NAME_BEHIND), context);
    if (name !== null) return name;
  }
  const line = text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  const tag = /<([A-Za-z_][\w.-]{0,127})>[^]*<\/\1>\s*$/.exec(text)?.[1];
  const code = /^([A-Za-z_][\w.-]{0,127})\(.*\)$/.exec(line)?.[1];
  const action = /(?:^|\n)\*{0,2}Action:\*{0,2}\s*`?([A-Za-z_][\w.-]{0,127})/.exec(text)?.[1];
  return [tag, code, action].find((name) => name !== undefined && context.tools.has(name)) ?? null;
}

/** The tool of calls that end a message and were not taken: an object behind words, or calls in a fence. */
function nameOfLast(text: string, context: CallContext): string | null {
  for (const start of [...text.matchAll(/(?<=\n)[ \t]*[{[]/g)].slice(0, 8)) {
    if (isBareFrom(text, start.index, context)) return nameIn(text.slice(start.index), context);
  }
  const [, before = "", content] = /^([^]*?)```[\w-]*\n((?:(?!```)[^])*)\n```\s*$/.exec(text) ?? [];
  if (content === undefined || SHOWS.test(before)) return null;
  const isCall = isBareFrom(content, 0, context) ||
    findMarked(content, context).spans.some((span) => span.calls.length > 0);
  return isCall ? nameIn(content, context) : null;
}

/** A text with spaces for what is thought or quoted. */
function withoutHidden(text: string, hidden: readonly (readonly [from: number, to: number])[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of hidden) {
    if (end <= from) continue;
    parts.push(text.slice(from, Math.max(start, from)), " ".repeat(end - Math.max(start, from)));
    from = end;
  }
  return parts.join("") + text.slice(from);
}
