/** Reads calls behind an opening mark: as JSON, as Python, as Gemma's maps, between tags, or name first. */
import { type CallContext, parsedCall, type ParseResult, readArgumentsObject, readCallObjects } from "./call.ts";
import type { Cursor } from "./cursor.ts";
import { type Notation, opensPython, readMap, readPythonCalls, readPythonList } from "./python.ts";
import { type CallMark, callMarkAt, GAP } from "./marks.ts";
import { readPairs, readTag } from "./tagged.ts";

/** The calls behind one opening mark. */
interface MarkedResult {
  result: ParseResult;
  /** The name of the form: of the family of models that is known for it, else of the mark. */
  form: string;
  /** Values stand between tags, without escapes. */
  tagged: boolean;
}

/** The same, where the mark may tell the form. */
type FoundResult = Pick<MarkedResult, "result"> & Partial<MarkedResult>;

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

/** More marks in a row open nothing; keeps the whole linear. */
const MARKS_LIMIT = 6;

/**
 * gpt-oss: the recipient stands before or behind the channel; what is between it and the arguments says that they are
 * JSON. Source: OpenAI's guide to the harmony response format.
 */
const HEADER =
  /(?:<\|start\|>assistant)?(?:<\|channel\|>(?:commentary|analysis))? to=([\w.-]{1,128})(?:<\|channel\|>(?:commentary|analysis))?\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*<\|message\|>\s*/y;

/** ReAct: the tool and its arguments on lines of their own, or both in one object behind `Action:`. */
const ACTION_NAME =
  /\*{0,2}Action\*{0,2}:\*{0,2}[ \t]*`?([A-Za-z_][\w.-]{0,127})`?[ \t\r]*\n\s*\*{0,2}Action[ _]Input\*{0,2}:\*{0,2}\s*/y;
const ACTION_OBJECT = /\*{0,2}Action\*{0,2}:\*{0,2}\s*(?=[{[`]|[A-Za-z_][\w.]{0,127}\()/y;

/** Separators between the name of a tool and its arguments. Source: mistral-common; the tool call guide of Kimi K2. */
const BEHIND_NAME = /\s+|:\d{1,8}|\[CALL_ID\][\w-]{0,64}|\[ARGS\]/y;

/**
 * Reads at an opening mark; null when what follows is nothing like a call (prose about the format). The cursor is
 * behind the calls when they have an end.
 */
export function readMarked(cursor: Cursor, context: CallContext): MarkedResult | null {
  const [, recipient] = cursor.takePattern(HEADER) ?? [];
  if (recipient !== undefined) {
    if (cursor.character !== "{") return null;
    return { result: readArgumentsObject(cursor, { name: recipient, context }), form: "harmony", tagged: false };
  }
  const action = cursor.takePattern(ACTION_NAME) ?? cursor.takePattern(ACTION_OBJECT);
  if (action !== null) {
    cursor.takePattern(GAP);
    if (opensPython(cursor, { list: false })) {
      return { result: readPythonCalls(cursor, context), form: "react", tagged: false };
    }
    if (!/[{[]/.test(cursor.character)) return null;
    const [, name] = action;
    const result = name === undefined
      ? readCallObjects(cursor, context)
      : readArgumentsObject(cursor, { name, context });
    cursor.takePattern(FENCE_END);
    return { result, form: "react", tagged: false };
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
  return { result: found.result, form: found.form ?? family, tagged: found.tagged ?? false };
}

/** Reads a tag that names the tool; leaves the cursor in its place when there is none. */
function readTagged(cursor: Cursor, context: CallContext, around: string | undefined): MarkedResult | null {
  const start = cursor.at;
  const result = readTag(cursor, context, around);
  const form = cursor.text.startsWith("<function=", start) ? "qwen_coder" : "minimax";
  if (result === null) cursor.at = start;
  return result && { result, form, tagged: true };
}

/** The next mark before the calls: one that opens, or one that belongs to one that does. */
function openingAt(cursor: Cursor, before: readonly CallMark[]): CallMark | null {
  const mark = callMarkAt(cursor.text, cursor.at);
  if (mark === null || mark.kind === "close" || before.length === MARKS_LIMIT) return null;
  return mark.kind === "open" || before.length > 0 ? mark : null;
}

function readBehind(
  cursor: Cursor,
  { opener, context }: { opener: CallMark; context: CallContext },
): FoundResult | null {
  // Code behind Llama's tag is for an interpreter, and no call, unless it is a method of a tool or a list.
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
): FoundResult | null {
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
function readMapCall(cursor: Cursor, context: CallContext): FoundResult | null {
  const name = cursor.takeName();
  cursor.skipSpace();
  if (name === null || !cursor.take("{")) return null;
  const input = readMap(cursor, { notation: GEMMA, close: "}", assign: ":" });
  return { result: input === null ? { kind: "broken" } : parsedCall({ name, input }, context), form: "gemma" };
}

const GEMMA: Notation = {
  words: new Map<string, unknown>([["true", true], ["false", false], ["null", null]]),
  string: readToken,
  key: (cursor) => readToken(cursor) ?? cursor.takeName(),
};

function readToken(cursor: Cursor): string | null | undefined {
  const token = cursor.takeAny(['<|"|>', "<escape>"]);
  if (token === null) return undefined;
  const end = cursor.text.indexOf(token, cursor.at);
  if (end < 0) return null;
  const value = cursor.text.slice(cursor.at, end);
  cursor.at = end + token.length;
  return value;
}
