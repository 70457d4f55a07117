/** The strong forms: calls between marks, anywhere in a text that is not quoted or thought. */
import { MARK_CANDIDATE, reasoningMarkAt } from "../chat/reasoning_marks.ts";
import type { CallContext, TextCall } from "./call.ts";
import { Cursor, endOfSpace } from "./cursor.ts";
import { OPENER, skipClosing } from "./marks.ts";
import { readMarked } from "./notations.ts";
import {
  createQuotations,
  endOfThought,
  opensResult,
  positionOf,
  QUOTATION_OPENER,
  skipOpenThought,
} from "./quotation.ts";
import { STRAY_TAG } from "./tagged.ts";

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
      const { form, tagged, result } = marked;
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
      // A closing mark alone: the opening one was swallowed, and all up to here was thought.
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
 * Returns the position of a call on its line. Right behind another one, or on its line, it is that one's; nothing
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
 * call follows: a sentence that goes on speaks about the call. Calls right behind each other stand and fall together.
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
 * Refuses calls of a format without escapes when one of its closing tags is left over behind them: then a value held
 * the format itself, and where it ended is a guess.
 */
function refuseMisjudged(text: string, spans: readonly MarkedSpan[]): MarkedSpan[] {
  const last = spans.findLastIndex(({ end }, index) => STRAY_TAG.test(text.slice(end, spans[index + 1]?.start)));
  return spans.map((span, index) => span.tagged && index <= last ? { ...span, calls: [] } : span);
}
