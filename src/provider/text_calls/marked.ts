/** The strong forms: calls between the markers of their family, anywhere in a text that is not quoted or thought. */
import { MARK_CANDIDATE, reasoningMarkAt } from "../reasoning_marks.ts";
import { Cursor, endOfSpace, isSpace } from "./cursor.ts";
import type { DeclaredTools, Family, TextCall } from "./family.ts";
import { FAMILIES } from "./families.ts";
import { createQuotations, opensResult, QUOTATION_OPENER, standingOf } from "./quotation.ts";
import { endOfThought, skipOpenThought } from "./thought.ts";

/** A call, or something like it, from `start` to `end` with the tokens around it. `calls` is empty when refused. */
export interface MarkedSpan {
  family: Family;
  start: number;
  end: number;
  calls: TextCall[];
  /** How it stands on its line. */
  standing: ReturnType<typeof standingOf>;
}

/** The calls of a text. */
export interface MarkedCalls {
  /** In order, refused ones included. */
  spans: MarkedSpan[];
  /** Where the model began to make up results; the end of the text when it did not. */
  until: number;
}

/**
 * The calls of a text; none when there is no marker. One pass: each part of the text is read by at most one family of an
 * opener, and nothing is read after a call without an end.
 */
export function findMarked(text: string, tools: DeclaredTools): MarkedCalls {
  const openers = FAMILIES.flatMap((family) => family.openers);
  let until = text.length;
  if (!openers.some((opener) => text.includes(opener))) return { spans: [], until };
  const landmarks = landmarkPattern(openers);
  const quotations = createQuotations(text);
  let spans: MarkedSpan[] = [];
  let floor = skipOpenThought(text);
  landmarks.lastIndex = floor;
  for (let found = landmarks.exec(text); found !== null; found = landmarks.exec(text)) {
    const at = found.index;
    const mark = found[0];
    if (openers.includes(mark)) {
      const reading = readAt(new Cursor(text, at), { opener: mark, tools });
      if (reading === null) continue;
      if (reading === "broken") break;
      const span = placed(text, reading, { at, floor, last: spans.at(-1) });
      landmarks.lastIndex = floor = span.end;
      spans.push(span);
      continue;
    }
    const thought = reasoningMarkAt(text, at);
    if (thought !== null) {
      floor = endOfSpace(text, thought.kind === "open" ? endOfThought(text, thought) : thought.end);
      landmarks.lastIndex = floor;
      // A closing mark alone: the opening one was swallowed, and all up to here was thought.
      if (thought.kind === "close") spans = [];
      continue;
    }
    if (opensResult(text, at) && spans.some(({ calls, standing }) => calls.length > 0 && standing !== "quoted")) {
      until = at;
      break;
    }
    landmarks.lastIndex = quotations.endOf(at) ?? at + 1;
  }
  const meant = text.slice(0, until);
  return { spans: refuseAmidProse(meant, refuseMisjudged(meant, spans)), until };
}

/** Everything that changes how the text after it is read. */
function landmarkPattern(openers: readonly string[]): RegExp {
  const literals = [...new Set(openers)].map((literal) => RegExp.escape(literal));
  return new RegExp([...literals, QUOTATION_OPENER, MARK_CANDIDATE].join("|"), "g");
}

/** The reading of the first family that knows what stands at the opener; null when none does. */
function readAt(
  cursor: Cursor,
  options: { opener: string; tools: DeclaredTools },
): { family: Family; end: number; calls: TextCall[] } | "broken" | null {
  const start = cursor.at;
  for (const family of FAMILIES) {
    if (!family.openers.includes(options.opener)) continue;
    cursor.at = start;
    const reading = family.read(cursor, options.tools);
    if (reading === null) continue;
    if (reading.kind === "broken") return "broken";
    return { family, end: cursor.at, calls: reading.kind === "calls" ? reading.calls : [] };
  }
  return null;
}

/**
 * The span of a call with the tokens around it that belong to its family, and how it stands on its line. Right behind
 * another one, or on its line, it stands as that one does.
 */
function placed(
  text: string,
  { family, end, calls }: { family: Family; end: number; calls: TextCall[] },
  { at, floor, last }: { at: number; floor: number; last: MarkedSpan | undefined },
): MarkedSpan {
  let start = at;
  for (;;) {
    const edge = startOfSpace(text, start);
    const token = family.before.find((one) => edge - one.length >= floor && text.startsWith(one, edge - one.length));
    if (token === undefined) break;
    start = edge - token.length;
  }
  const cursor = new Cursor(text, end);
  do {
    end = cursor.at;
    cursor.skipSpace();
  } while (cursor.takeAny(family.after) !== null);
  const gap = text.slice(floor, start);
  const before = gap.slice(gap.lastIndexOf("\n") + 1);
  const adjacent = last !== undefined && floor === last.end && /^[^\S\n]*\n?[^\S\n]*$/.test(gap);
  const together = adjacent || (last !== undefined && before.length === gap.length && last.standing === "quoted");
  return { family, start, end, calls, standing: together ? last.standing : standingOf(before) };
}

/** Offset behind the last character before `at` that is not white space. */
function startOfSpace(text: string, at: number): number {
  while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
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
    const amid = span.standing === "amid" || /^[^\n]*\S/.test(gap);
    const alike = behind?.standing === "amid" && behind.calls.length === 0 && gap.trim() === "";
    if (span.standing === "quoted") behind = { ...span, calls: [] };
    else if (alike || (amid && !ends && !follows)) behind = { ...span, calls: [], standing: "amid" };
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
  const families = FAMILIES.filter((family) => family.closing && spans.some((span) => span.family === family));
  const lastStray = new Map<Family, number>();
  for (const [index, span] of spans.entries()) {
    const gap = text.slice(span.end, spans[index + 1]?.start ?? text.length);
    for (const family of families) {
      if (family.closing?.some((tag) => gap.includes(tag))) lastStray.set(family, index);
    }
  }
  return spans.map((span, index) => index <= (lastStray.get(span.family) ?? -1) ? { ...span, calls: [] } : span);
}
