/** Keeps text that may become a tool call from being shown while it streams. */
import { isToolName } from "../trained_names.ts";
import { callMarkAt, GAP, lineTail, OPENER, openerTail, PARAGRAPH_LIMIT } from "./marks.ts";

/** UTF-16 units that are deferred at most; more is a text about calls, not a call that is worth the wait. */
const DEFER_LIMIT = 65_536;
/** A beginning that stays undecided longer than this is decided. */
const UNDECIDED_LIMIT = 256;

/** Passes text on until it could be a call. What `push` and `end` give is, put together, what was pushed. */
export interface Holdback {
  /** Takes a piece; gives what may be shown now. */
  push(text: string): string;
  /** The end of the text: returns what was deferred. */
  end(): string;
  /** True while something is deferred. */
  readonly deferring: boolean;
}

/**
 * `start`: nothing but white space has come, the weak form is possible. `flow`: looking for markers; what is deferred
 * may be the beginning of one. `deferred`: a marker came, everything waits for the end. `off`: everything passes.
 */
type State = "start" | "flow" | "deferred" | "off";

/** A holdback for one reply; one that is not `enabled` passes everything. A piece without brackets costs one search. */
export function createHoldback(enabled: boolean): Holdback {
  let state: State = enabled ? "start" : "off";
  let deferred = "";
  /** Characters that may still come before a fence with a call. */
  let paragraph = PARAGRAPH_LIMIT;
  /** The last character that was passed on. */
  let before = "";

  function flow(text: string): string {
    const found = findMark(text, { fences: paragraph > 0, before });
    if (found.certain) state = "deferred";
    if (found.fence) paragraph = 0;
    paragraph -= found.at;
    deferred = text.slice(found.at);
    before = text.charAt(found.at - 1) || before;
    return text.slice(0, found.at);
  }

  function start(text: string): string {
    if (text.trimStart() === "") return text;
    const decision = classifyBeginning(text);
    if (decision === "other") {
      state = "flow";
      return flow(text);
    }
    if (decision === "call") state = "deferred";
    deferred = text;
    return "";
  }

  return {
    push(text) {
      if (state === "off") return text;
      if (state === "deferred") {
        deferred += text;
        if (deferred.length <= DEFER_LIMIT) return "";
        state = "off";
        return release();
      }
      const all = deferred === "" ? text : release() + text;
      return state === "start" ? start(all) : flow(all);
    },
    end: release,
    get deferring() {
      return deferred !== "";
    },
  };

  function release(): string {
    const text = deferred;
    deferred = "";
    return text;
  }
}

/** Marks that open a call, or end an answer that a call may follow. */
const MARKS = new RegExp(`${OPENER}|</(?:answer|response)>`, "g");

/** A call begins, may begin when more comes, or does not. */
type Decision = "call" | "open" | "other";

/**
 * Returns the offset from which a text must be deferred: its length for nothing. `certain` when a call begins there,
 * not only a mark; `fence` when a fence was met that holds none.
 */
function findMark(
  text: string,
  { fences, before }: { fences: boolean; before: string },
): { at: number; certain: boolean; fence?: boolean } {
  // With the character before it, it is known where lines begin.
  const whole = before + text;
  const at = Math.min(openerTail(whole), lineTail(whole)) - before.length;
  if (!(fences ? /[<[\]`:>]/ : /[<[\]:>]/).test(text)) return { at, certain: false };
  const ticks = fences ? text.indexOf("`") : -1;
  const fence = ticks >= 0 ? classifyBeginning(text.slice(ticks)) : "other";
  for (const found of whole.matchAll(MARKS)) {
    const start = found.index - before.length;
    if (start < 0) continue;
    if (fence !== "other" && ticks < start) break;
    const behind = whole.slice(found.index + found[0].length);
    const decision = classifyBehind(found[0], behind);
    if (decision === "call") return { at: start, certain: true };
    if (decision === "open" && behind.length <= UNDECIDED_LIMIT) return { at: start, certain: false };
  }
  if (fence !== "other") return { at: ticks, certain: fence === "call" };
  return { at, certain: false, fence: ticks >= 0 && text.startsWith("```", ticks) };
}

/** Classifies the text after `Action:`: an object, or a name and the line of its arguments. */
function classifyAction(behind: string): Decision {
  const body = behind.replace(/^\**\s*/, "");
  if (body === "" || /^`{1,2}$/.test(body)) return "open";
  if (/^(?:[{[]|```)/.test(body)) return "call";
  const name = /^`?[A-Za-z_][\w.-]{0,127}`?[ \t\r]*/.exec(body)?.[0] ?? "";
  const next = body.slice(name.length);
  if (name !== "" && next.startsWith("(")) return "call";
  if (name === "" || (next !== "" && !next.startsWith("\n"))) return "other";
  const line = next.trimStart().replaceAll("*", "");
  if (/^Action[ _]Input:/.test(line)) return "call";
  return "Action Input:".startsWith(line) || "Action_Input:".startsWith(line) ? "open" : "other";
}

/** Classifies the text after a mark: a name, a tag or an object, or words about it. */
function classifyBehind(mark: string, behind: string): Decision {
  if (/ to=$/.test(mark)) return behind === "" ? "open" : /^[\w.-]/.test(behind) ? "call" : "other";
  if (/Action\**:$/.test(mark)) return classifyAction(behind);
  if (mark.endsWith("=")) return classifyTag(behind);
  const body = behind.replace(GAP_START, "");
  // An argument stands in an element of its own.
  const tool = /^<([A-Za-z_][\w-]*)>$/.exec(mark)?.[1];
  if (tool !== undefined && isToolName(tool)) {
    return body === "" ? "open" : /^<\w/.test(body) ? "call" : body === "<" ? "open" : "other";
  }
  if (body === "" || /^`{1,2}$/.test(body)) return isOpening(mark) ? "open" : "other";
  if (!isOpening(mark)) return "other";
  if (/^(?:[<{[]|```|\]<\])/.test(body)) return "call";
  if (mark.startsWith("</")) return "other";
  const name = /^[A-Za-z_][\w.:-]{0,127}\s{0,8}/.exec(body)?.[0] ?? "";
  if (name === "") return "other";
  return name.length === body.length ? "open" : /[<{([]/.test(body.charAt(name.length)) ? "call" : "other";
}

const GAP_START = new RegExp(`^${GAP.source}`);

function isOpening(mark: string): boolean {
  return mark.startsWith("</")
    ? /answer|response/.test(mark)
    : mark.startsWith("]") || callMarkAt(mark, 0)?.kind === "open";
}

/** Classifies the text after the `=` of a tag: a name, the end of the tag, and what a call continues with. */
function classifyTag(behind: string): Decision {
  const found = /^\s?["']?[A-Za-z_][\w.-]*["']?[^<>\n]*>\s*(?:\]<\]\w{1,24}\[>\[)?/.exec(behind);
  if (found === null) return /[<>\n]|^\s?["']?[^\w"'\s]/.test(behind) ? "other" : "open";
  if (found[0].length === behind.length) return "open";
  return /[<{\]]/.test(behind.charAt(found[0].length)) ? "call" : "other";
}

/** Beginnings of messages of the weak form, without white space. */
const FENCES = ["", "```", "```json", "```tool_call", "```tool_calls", "```tool_code"];
const BRACKETS = ["{", "[{"];
const FIRST_KEYS = [
  ...['"name"', '"type":"function"', '"function"', '"arguments"', '"parameters"', '"id"', '"action"', '"args"'],
  ...['"tool"', '"tool_name"', '"tool_call_id"', '"tool_calls"', '"function_call"'],
];

/** Returns whether a message that begins like this may be nothing but calls. */
function classifyBeginning(text: string): Decision {
  const begun = text.slice(0, UNDECIDED_LIMIT).replace(/\s+/g, "").replace(/^functools(?=\[)/, "");
  if (!/^[{[`f]/.test(begun)) return "other";
  let open = "functools[".startsWith(begun);
  const list = /^(?:```(?:python|tool_code)?)?\[[A-Za-z_][\w.]*(\()?/.exec(begun);
  if (list?.[1] !== undefined) return "call";
  open ||= list?.[0].length === begun.length || "```python[".startsWith(begun);
  for (const fence of FENCES) {
    for (const bracket of BRACKETS) {
      for (const key of FIRST_KEYS) {
        const beginning = fence + bracket + key;
        if (begun.startsWith(beginning)) return "call";
        open ||= beginning.startsWith(begun);
      }
    }
  }
  return open && text.length <= UNDECIDED_LIMIT ? "open" : "other";
}
