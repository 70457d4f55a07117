/**
 * The strong forms: calls between marks, anywhere in a text that is not quoted or thought; after a mark as JSON, as
 * Python, as Gemma's maps, between tags, or name first.
 */
import { MARK_CANDIDATE, reasoningMarkAt } from "../chat/reasoning_marks.ts";
import {
  type CallContext,
  parsedCall,
  type ParseResult,
  readArgumentsObject,
  readCallObjects,
  type TextCall,
} from "./call.ts";
import { Cursor, endOfSpace } from "./cursor.ts";
import { type CallMark, callMarkAt, GAP, OPENER, skipClosing } from "./marks.ts";
import { type Notation, opensPython, orBroken, readMap, readPythonCalls, readPythonList } from "./python.ts";
import {
  createQuotations,
  endOfThought,
  opensResult,
  positionOf,
  QUOTATION_OPENER,
  skipOpenThought,
} from "./quotation.ts";
import { readPairs, readTag, STRAY_TAG } from "./tagged.ts";

/** Calls, or something like them, from `start` to `end` with the marks around them. `calls` is empty when refused. */
export interface MarkedSpan {
  form: string;
  /** Values stand between tags, without escapes. */
  tagged: boolean;
  start: number;
  end: number;
  calls: TextCall[];
  position: ReturnType<typeof positionOf>;
}

interface MarkedCalls {
  /** In order, refused ones included. */
  spans: MarkedSpan[];
  /** Offset where the model began to invent results, or the end of the text. */
  until: number;
  /** Offset of a call without an end; null for none. */
  broken: number | null;
  /** Spans of reasoning and quotations. */
  hidden: (readonly [from: number, to: number])[];
}

/** Everything that changes how the text after it is read. */
const LANDMARKS = new RegExp([OPENER, QUOTATION_OPENER, MARK_CANDIDATE].join("|"), "g");

/** The calls of a text. One pass; nothing is read after a call without an end. */
export function findMarked(text: string, context: CallContext): MarkedCalls {
  const landmarks = new RegExp(LANDMARKS);
  const quotations = createQuotations(text);
  let until = text.length;
  let spans: MarkedSpan[] = [];
  let broken: number | null = null;
  const hidden: MarkedCalls["hidden"] = [];
  let floor = skipOpenThought(text);
  landmarks.lastIndex = floor;
  hidden.push([0, floor]);
  for (let found = landmarks.exec(text); found !== null; found = landmarks.exec(text)) {
    const at = found.index;
    const cursor = new Cursor(text, at);
    const marked = /[<[\]A*f-]/.test(cursor.character) ? readMarked(cursor, context) : null;
    if (marked?.result.kind === "broken") {
      broken = at;
      break;
    }
    if (marked !== null) {
      const { form = "", tagged = false, result } = marked;
      const calls = result.kind === "calls" ? result.calls : [];
      const end = skipClosing(text, cursor.at);
      const position = positionAt(text, { at, floor, last: spans.at(-1) });
      spans.push({ form, tagged, start: at, end, calls, position });
      landmarks.lastIndex = floor = end;
      continue;
    }
    const thought = reasoningMarkAt(text, at);
    if (thought !== null) {
      floor = endOfSpace(text, thought.kind === "open" ? endOfThought(text, thought) : thought.end);
      landmarks.lastIndex = floor;
      hidden.push([thought.kind === "open" ? at : 0, floor]);
      // A closing mark alone: the opening one was lost, and everything up to here was reasoning.
      if (thought.kind === "close") spans = [];
      continue;
    }
    if (opensResult(text, at) && spans.some(({ calls, position }) => calls.length > 0 && position !== "quoted")) {
      until = at;
      break;
    }
    const end = quotations.endOf(at);
    if (end === null) continue;
    landmarks.lastIndex = end;
    hidden.push([at, end]);
  }
  const meant = text.slice(0, until);
  return { spans: refuseAmidProse(meant, refuseMisjudged(meant, spans)), until, broken, hidden };
}

/**
 * Returns the position of a call on its line. Right after another one, or on its line, it is that one's; nothing
 * before `floor` is looked at.
 */
function positionAt(
  text: string,
  { at, floor, last }: { at: number; floor: number; last: MarkedSpan | undefined },
): MarkedSpan["position"] {
  const gap = text.slice(floor, at);
  const before = gap.slice(gap.lastIndexOf("\n") + 1);
  const adjacent = last !== undefined && floor === last.end && /^[^\S\n]*\n?[^\S\n]*$/.test(gap);
  const grouped = adjacent || (last !== undefined && before.length === gap.length && last.position === "quoted");
  return grouped ? last.position : positionOf(before);
}

/**
 * Refuses calls that are quoted, and those that are a part of a sentence, unless the message ends with them or another
 * call follows: a sentence that continues speaks about the call. Calls right after each other stand and fall together.
 */
function refuseAmidProse(text: string, spans: readonly MarkedSpan[]): MarkedSpan[] {
  let behind: MarkedSpan | undefined;
  let follows = false;
  return spans.toReversed().map((span) => {
    const gap = text.slice(span.end, behind?.start);
    const ends = behind === undefined && /^[\s.,;]*$/.test(gap);
    const amid = span.position === "amid" || /^[^\n]*\S/.test(gap);
    const alike = behind?.position === "amid" && behind.calls.length === 0 && gap.trim() === "";
    if (span.position === "quoted") behind = { ...span, calls: [] };
    else if (alike || (amid && !ends && !follows)) behind = { ...span, calls: [], position: "amid" };
    else behind = span;
    follows ||= behind.calls.length > 0;
    return behind;
  }).reverse();
}

/**
 * Refuses calls of a format without escapes when one of its closing tags is left over after them: then a value held
 * the format itself, and where it ended is a guess.
 */
function refuseMisjudged(text: string, spans: readonly MarkedSpan[]): MarkedSpan[] {
  const last = spans.findLastIndex(({ end }, index) => STRAY_TAG.test(text.slice(end, spans[index + 1]?.start)));
  return spans.map((span, index) => span.tagged && index <= last ? { ...span, calls: [] } : span);
}

/** The calls after one opening mark. */
interface MarkedResult {
  result: ParseResult;
  /** The name of the form; of the family of models that is known for the mark, where nothing else says. */
  form?: string;
  /** Values stand between tags, without escapes. */
  tagged?: true;
}

/** Forms that are known by the name of a family: what the opening mark looks like → the family. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^tool_call$/, "hermes"],
  [/^\|python_tag\|$/, "llama"],
  [/^TOOL_CALLS$/, "mistral"],
  [/^｜tool▁/, "deepseek"],
  [/^\|tool_call(?:s_section)?_begin\|$/, "kimi"],
  [/^\|tool_call_start\|$/, "lfm"],
  [/^TOOL_REQUEST$/, "lm_studio"],
];

const FENCE_END = /\s*```(?=\s|<|$)/y;

/** More marks in a row open nothing; keeps the work linear. */
const MARKS_LIMIT = 6;

/**
 * gpt-oss: the recipient stands before or after the channel; what is between it and the arguments says that they are
 * JSON. Source: OpenAI's guide to the harmony response format.
 */
const HEADER =
  /(?:<\|start\|>assistant)?(?:<\|channel\|>(?:commentary|analysis))? to=([\w.-]{1,128})(?:<\|channel\|>(?:commentary|analysis))?\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*<\|message\|>\s*/y;

/** ReAct: the tool and its arguments on lines of their own, or both in one object after `Action:`. */
const ACTION_NAME =
  /\*{0,2}Action\*{0,2}:\*{0,2}[ \t]*`?([A-Za-z_][\w.-]{0,127})`?[ \t\r]*\n\s*\*{0,2}Action[ _]Input\*{0,2}:\*{0,2}\s*/y;
const ACTION_OBJECT = /\*{0,2}Action\*{0,2}:\*{0,2}\s*(?=[{[`]|[A-Za-z_][\w.]{0,127}\()/y;

/** Separators between the name of a tool and its arguments. Source: mistral-common; the tool call guide of Kimi K2. */
const BEHIND_NAME = /\s+|:\d{1,8}|\[CALL_ID\][\w-]{0,64}|\[ARGS\]/y;

/**
 * Reads at an opening mark; null when what follows is nothing like a call (prose about the format). The cursor is
 * after the calls when they have an end.
 */
function readMarked(cursor: Cursor, context: CallContext): MarkedResult | null {
  const [, recipient] = cursor.takePattern(HEADER) ?? [];
  if (recipient !== undefined) {
    if (cursor.character !== "{") return null;
    return { result: readArgumentsObject(cursor, { name: recipient, context }), form: "harmony" };
  }
  const action = cursor.takePattern(ACTION_NAME) ?? cursor.takePattern(ACTION_OBJECT);
  if (action !== null) {
    cursor.takePattern(GAP);
    if (opensPython(cursor, { list: false })) {
      return { result: readPythonCalls(cursor, context), form: "react" };
    }
    if (!/[{[]/.test(cursor.character)) return null;
    const [, name] = action;
    const result = name === undefined
      ? readCallObjects(cursor, context)
      : readArgumentsObject(cursor, { name, context });
    cursor.takePattern(FENCE_END);
    return { result, form: "react" };
  }
  cursor.takePattern(GAP);
  const marks: CallMark[] = [];
  for (let mark = openingAt(cursor, marks); mark !== null; mark = openingAt(cursor, marks)) {
    marks.push(mark);
    cursor.at = mark.end;
    cursor.takePattern(GAP);
  }
  const opener = marks.findLast((mark) => mark.kind === "open");
  const tag = readTagged(cursor, context, opener?.name);
  if (tag !== null) return tag;
  if (opener === undefined) return null;
  const found = readBehind(cursor, { opener, context });
  if (found === null) return null;
  // Small models close one bracket too many.
  cursor.takePattern(/[}\]]{1,2}(?=\s*<[\/|｜])/y);
  cursor.takePattern(FENCE_END);
  const [, family = opener.name] = FAMILIES.find(([pattern]) => pattern.test(opener.name)) ?? [];
  return { form: family, ...found };
}

/** Reads a tag that names the tool; leaves the cursor in its place when there is none. */
function readTagged(cursor: Cursor, context: CallContext, around: string | undefined): MarkedResult | null {
  const start = cursor.at;
  const result = readTag(cursor, context, around);
  const form = cursor.text.startsWith("<function=", start) ? "qwen_coder" : "minimax";
  if (result === null) cursor.at = start;
  return result && { result, form, tagged: true };
}

/** The next mark before the calls: an opening one, or one that belongs to it. */
function openingAt(cursor: Cursor, before: readonly CallMark[]): CallMark | null {
  const mark = callMarkAt(cursor.text, cursor.at);
  if (mark === null || mark.kind === "close" || before.length === MARKS_LIMIT) return null;
  return mark.kind === "open" || before.length > 0 ? mark : null;
}

function readBehind(
  cursor: Cursor,
  { opener, context }: { opener: CallMark; context: CallContext },
): MarkedResult | null {
  // Code after Llama's tag is for an interpreter and not a call, unless it is a method of a tool or a list.
  const isCode = opener.name.includes("python_tag");
  if (/^(?:\{|\[\s*[\]{[])/.test(cursor.text.slice(cursor.at, cursor.at + 64))) {
    return { result: readCallObjects(cursor, context) };
  }
  if (opensPython(cursor, { list: true })) return { result: readPythonList(cursor, context) };
  if (opensPython(cursor, { list: false })) {
    const name = /[\w.]+/y;
    name.lastIndex = cursor.at;
    return isCode && !name.exec(cursor.text)?.[0].endsWith(".call")
      ? null
      : { result: readPythonCalls(cursor, context) };
  }
  if (cursor.take("call:")) return readMapCall(cursor, context);
  return isCode ? null : readNamed(cursor, { opener, context });
}

/** Reads a call whose name stands before its arguments, alone or with `function` before it. */
function readNamed(
  cursor: Cursor,
  { opener, context }: { opener: CallMark; context: CallContext },
): MarkedResult | null {
  let name = cursor.takeName();
  if (name === null) return null;
  const marked = skipBehindName(cursor);
  if (name === "function" && marked) {
    name = cursor.takeName() ?? name;
    skipBehindName(cursor);
  }
  if (cursor.character === "{") return { result: readArgumentsObject(cursor, { name, context }) };
  const tag = readTagged(cursor, context, opener.name);
  if (tag !== null) return tag;
  const result = readPairs(cursor, { name, around: opener.name }, context);
  return result && { result, form: "glm", tagged: true };
}

/** True when a mark was among what was skipped. */
function skipBehindName(cursor: Cursor): boolean {
  let marked = false;
  for (;;) {
    if (cursor.takePattern(GAP) !== null || cursor.takePattern(BEHIND_NAME) !== null) continue;
    const mark = callMarkAt(cursor.text, cursor.at);
    if (mark === null || !/arg|sep|tool_name/i.test(mark.name) || /arg_(?:key|value|type)/.test(mark.name)) {
      return marked;
    }
    marked = true;
    cursor.at = mark.end;
  }
}

/**
 * Gemma 4: `call:n{k:<|"|>v<|"|>}`; FunctionGemma writes `<escape>`. Strings stand between tokens and have no escapes;
 * numbers, words, lists and maps are as in JSON, keys without quotes. Source: their chat templates.
 */
function readMapCall(cursor: Cursor, context: CallContext): MarkedResult | null {
  const name = cursor.takeName();
  cursor.skipSpace();
  if (name === null || !cursor.take("{")) return null;
  const result = orBroken(() =>
    parsedCall({ name, input: readMap(cursor, GEMMA, { close: "}", assign: ":" }) }, context)
  );
  return { result, form: "gemma" };
}

const GEMMA: Notation = {
  words: new Map<string, unknown>([["true", true], ["false", false], ["null", null]]),
  quotes: ['<|"|>', "<escape>"],
  bareKeys: true,
};
