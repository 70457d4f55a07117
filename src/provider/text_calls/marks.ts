/**
 * The marks around calls: one table, recognized by the words in their names, whatever their brackets and prefixes are.
 */

/** A mark. `inner` ones stand between the parts of a call. */
export interface CallMark {
  kind: "open" | "close" | "inner";
  /** The text between the brackets. */
  name: string;
  end: number;
}

/** Longer names do not count; bounds what is held back of a stream. */
const NAME_LIMIT = 48;

/** Longest paragraph that announces the fence with a call after it, in characters. */
export const PARAGRAPH_LIMIT = 400;

/** Prefix of every tag of MiniMax M3. */
export const NAMESPACE = String.raw`\]<\]\w{1,24}\[>\[`;

const ANGLE = String.raw`<[\/\w:|｜▁.-]{1,${NAME_LIMIT}}>`;

/** Names in square brackets (Mistral, LM Studio, Pangu), and lines that announce calls (GigaChat 3, HyperCLOVA X). */
const LITERALS: ReadonlyMap<string, CallMark["kind"]> = new Map([
  ["[TOOL_CALLS]", "open"],
  ["[TOOL_REQUEST]", "open"],
  ["[unused11]", "open"],
  ["function call<|role_sep|>", "open"],
  ["-> tool/function_call", "open"],
  ["[/TOOL_CALLS]", "close"],
  ["[END_TOOL_REQUEST]", "close"],
  ["[unused12]", "close"],
  ["[CALL_ID]", "inner"],
  ["[ARGS]", "inner"],
]);

/** The message header of gpt-oss that names a recipient. */
const HEADERS = [
  "<|start|>assistant to=",
  "<|start|>assistant<|channel|>commentary to=",
  "<|start|>assistant<|channel|>analysis to=",
  "<|channel|>commentary to=",
  "<|channel|>analysis to=",
];

/** Tags that name a tool, as `<function=n>` or `<invoke name="n">`, with any prefix. */
const TAG = String
  .raw`<(?:[|｜]?[\w.-]{1,24}[:|｜])?(?:function|function_call|invoke|tool_call|tool_use|tool|call)(?:=|[\s\u0120]*name\s?=)`;

/** A line of the ReAct form that names a tool; bold in some replies. */
const ACTION = String.raw`(?<=^|\n)\*{0,2}Action\*{0,2}:`;

/** The end of a turn or of an answer, which goes with a call that stands before it. */
const TURN_ENDS = String.raw`<\/s>|<\/(?:answer|response)>|<end_of_turn>|<｜end▁of▁sentence｜>|` +
  String.raw`<\|(?:eom_id|eot_id|eot|im_end|call|end|return|message_sep|endoftext|END_OF_TURN_TOKEN|END_RESPONSE)\|>`;

/** Finds what may open a call. */
export const OPENER: string = [
  NAMESPACE,
  ...HEADERS.map((header) => RegExp.escape(header)),
  TAG,
  ANGLE,
  ACTION,
  ...[...LITERALS].filter(([, kind]) => kind === "open")
    .map(([mark]) => (mark.startsWith("[") ? "" : String.raw`(?<=^|\n)`) + RegExp.escape(mark)),
].join("|");

const FENCE = "`{3}(?:json|python|tool_code|xml)?(?=\\s)\\s*";

/** Separators between marks and the parts of a call: white space, a namespace, the opening of a fence. */
export const GAP = new RegExp(
  String.raw`(?:\s+(?:${NAMESPACE}\s*)?(?:${FENCE})?|${NAMESPACE}\s*(?:${FENCE})?|${FENCE})`,
  "y",
);

const BRACKETED = [...[...LITERALS.keys()].filter((mark) => mark.startsWith("[")), ...HEADERS, "]<]minimax[>["];

/** Texts that lines of calls begin with. */
const LINES = [...[...LITERALS.keys()].filter((mark) => !mark.startsWith("[")), "Action:", "**Action:", "**Action**:"];

/** The mark at `at`, or null. */
export function callMarkAt(text: string, at: number): CallMark | null {
  for (const [mark, kind] of LITERALS) {
    if (text.startsWith(mark, at)) return { kind, name: mark.replace(/^\[|\]$/g, ""), end: at + mark.length };
  }
  const pattern = new RegExp(ANGLE, "y");
  pattern.lastIndex = at;
  const name = pattern.exec(text)?.[0].slice(1, -1);
  const kind = name === undefined ? null : kindOf(name);
  return name === undefined || kind === null ? null : { kind, name, end: pattern.lastIndex };
}

function kindOf(name: string): CallMark["kind"] | null {
  if (/^[|｜]?\/|(?:^|[^a-z])end(?:[^a-z]|$)|suffix|^[^|｜]+[|｜]$/i.test(name)) {
    return /tool|function|action|python|call|arg/i.test(name) ? "close" : null;
  }
  if (/arg|sep|tool_name|plugin/i.test(name)) return "inner";
  return /^(?:tools?|function|action|call)$|(?:tool|function)s?[_▁]?(?:call|request|use|code|prefix)|python_(?:tag|start)|START_ACTION|action_start/i
      .test(name)
    ? "open"
    : null;
}

/** Returns the offset after closing marks, separators and ends of turns that follow a call, without white space. */
export function skipClosing(text: string, from: number): number {
  const pattern = new RegExp(String.raw`(?:\s|${NAMESPACE})*(?:(${TURN_ENDS})|(?=<|\[))`, "y");
  for (let end = from;;) {
    pattern.lastIndex = end;
    const found = pattern.exec(text);
    if (found === null) return end;
    const mark = found[1] === undefined ? callMarkAt(text, pattern.lastIndex) : null;
    const goes = mark?.kind === "close" || (mark?.kind === "inner" && end > from && /sep/.test(mark.name));
    if (found[1] === undefined && !goes) return end;
    end = mark?.end ?? pattern.lastIndex;
  }
}

/** The places of all closing marks, of the ends of turns, and of the end of the text. */
export function closingMarks(text: string): number[] {
  const found = [...text.matchAll(new RegExp(`(${TURN_ENDS})|${ANGLE}|\\[`, "g"))];
  const marks = found.filter((one) => one[1] !== undefined || callMarkAt(text, one.index)?.kind === "close");
  return [...marks.map((one) => one.index), text.length];
}

/** The beginning of a mark or of a tag that names a tool. */
const BEGINNING = new RegExp(
  String.raw`^(?:<[\/\w:|｜▁.-]{0,${NAME_LIMIT}}|${
    TAG.slice(0, TAG.indexOf("(?:=|"))
  }[\s\u0120]?(?:n|na|nam|name)?\s?)$`,
);

/** Returns the offset at which the end of `text` may begin an opening mark; its length for none. */
export function openerTail(text: string): number {
  for (let at = Math.max(0, text.length - NAME_LIMIT - 10); at < text.length; at++) {
    if (!"<[]".includes(text.charAt(at))) continue;
    const tail = text.slice(at);
    // A closing bracket more often ends a list than it begins a namespace.
    if (tail.startsWith("]") && !(tail === "]" ? /^\s?$/.test(text.charAt(at - 1)) : tail.startsWith("]<"))) continue;
    if (BEGINNING.test(tail) || BRACKETED.some((literal) => literal.startsWith(tail))) return at;
  }
  return text.length;
}

/**
 * Returns the offset of the last line of `text` if it may become an announcement of calls; else the length of the text.
 */
export function lineTail(text: string): number {
  const start = text.lastIndexOf("\n") + 1;
  const line = text.slice(start, start + NAME_LIMIT);
  return line !== "" && LINES.some((one) => one.startsWith(line)) ? start : text.length;
}
