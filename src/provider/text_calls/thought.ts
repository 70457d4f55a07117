/** Reasoning that is left in a text: nothing in it is a call. */
import { MARK_CANDIDATE, type ReasoningMark, reasoningMarkAt } from "../chat/reasoning_marks.ts";
import { endOfSpace } from "./cursor.ts";

/** Offset behind the reasoning that `mark` opens: behind the first thing that closes it, the end of the text without. */
export function endOfThought(text: string, mark: ReasoningMark & { kind: "open" }): number {
  const closing = new RegExp(mark.closers.map((closer) => RegExp.escape(closer)).join("|"), "g");
  closing.lastIndex = mark.end;
  return closing.test(text) ? closing.lastIndex : text.length;
}

/** Offset behind the reasoning that a text begins with; the end of the text when it is not closed. */
export function skipOpenThought(text: string): number {
  let at = endOfSpace(text, 0);
  for (let mark = openAt(text, at); mark !== null; mark = openAt(text, at)) {
    at = endOfSpace(text, endOfThought(text, mark));
  }
  return at;
}

/**
 * Offset where the message proper starts: behind reasoning at its beginning, with or without an opening mark (templates
 * may swallow it).
 */
export function skipThought(text: string): number {
  const at = skipOpenThought(text);
  if (at > endOfSpace(text, 0) || /[{[`]/.test(text.charAt(at))) return at;
  for (const candidate of text.matchAll(new RegExp(MARK_CANDIDATE, "g"))) {
    const mark = reasoningMarkAt(text, candidate.index);
    if (mark !== null) return mark.kind === "close" ? mark.end : at;
  }
  return at;
}

function openAt(text: string, at: number): ReasoningMark & { kind: "open" } | null {
  const mark = reasoningMarkAt(text, at, { first: true });
  return mark?.kind === "open" ? mark : null;
}
