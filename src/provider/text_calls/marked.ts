/** The strong forms: calls between the markers of their family, anywhere in a text that is not quoted or thought. */
import { MARK_CANDIDATE, reasoningMarkAt } from "../reasoning_marks.ts";
import { createCodeSpans } from "./code_spans.ts";
import { Cursor, endOfSpace, isSpace } from "./cursor.ts";
import type { DeclaredTools, Family, TextCall } from "./family.ts";
import { FAMILIES } from "./families.ts";
import { endOfThought, skipOpenThought } from "./thought.ts";

/** A call, or something like it, from `start` to `end` with the tokens around it. `calls` is empty when refused. */
export interface MarkedSpan {
  family: Family;
  start: number;
  end: number;
  calls: TextCall[];
}

const QUOTES = "\"'“‘«";

/**
 * The calls of a text in order, refused ones included; empty when there is no marker. One pass: each part of the text is
 * read by at most one family of an opener, and nothing is read after a call without an end.
 */
export function findMarked(text: string, tools: DeclaredTools): MarkedSpan[] {
  const openers = FAMILIES.flatMap((family) => family.openers);
  if (!openers.some((opener) => text.includes(opener))) return [];
  const landmarks = landmarkPattern(openers);
  const code = createCodeSpans(text);
  let spans: MarkedSpan[] = [];
  let floor = 0;
  let quotedUntil = -1;
  landmarks.lastIndex = skipOpenThought(text);
  for (let found = landmarks.exec(text); found !== null; found = landmarks.exec(text)) {
    const at = found.index;
    const mark = found[0];
    if (mark === "`" || mark === "~~~") {
      landmarks.lastIndex = code.endOf(at);
      continue;
    }
    const thought = openers.includes(mark) ? null : reasoningMarkAt(text, at);
    if (thought !== null) {
      landmarks.lastIndex = thought.kind === "open" ? endOfThought(text, thought) : thought.end;
      // A closing mark alone: the opening one was swallowed, and all up to here was thought.
      if (thought.kind === "close") spans = [];
      continue;
    }
    const reading = readAt(new Cursor(text, at), { opener: mark, tools });
    if (reading === null) continue;
    if (reading === "broken") break;
    const span = widen(text, { ...reading, start: at, floor });
    floor = span.end;
    landmarks.lastIndex = span.end;
    const quoted = isQuoted(text, span.start) || quotedUntil >= span.start;
    if (quoted) quotedUntil = endOfSpace(text, span.end);
    spans.push(quoted ? { ...span, calls: [] } : span);
  }
  return refuseMisjudged(text, spans);
}

/** Everything that changes how the text after it is read. */
function landmarkPattern(openers: readonly string[]): RegExp {
  const literals = [...new Set(openers)].map((literal) => RegExp.escape(literal));
  return new RegExp(["`", "~~~", ...literals, MARK_CANDIDATE].join("|"), "g");
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

/** Takes in the tokens around a call that belong to its family, but nothing before `floor`. */
function widen(text: string, span: MarkedSpan & { floor: number }): MarkedSpan {
  const { family, calls, floor } = span;
  let { start, end } = span;
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
  return { family, start, end, calls };
}

/** Offset behind the last character before `at` that is not white space. */
function startOfSpace(text: string, at: number): number {
  while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

function isQuoted(text: string, start: number): boolean {
  return start > 0 && QUOTES.includes(text.charAt(start - 1));
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
