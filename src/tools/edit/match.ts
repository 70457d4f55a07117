/** Which parts of a file an edit means. Source: specification of the tools, row `Edit`. */
import { findAll } from "./find.ts";
import { reindent } from "./indentation.ts";

/** A part of the file, as positions in its text, and what comes in its place. */
export interface Replacement {
  start: number;
  end: number;
  text: string;
}

/** What was found. `exact` is false for a match that differs in white space only. */
export type Match =
  | { kind: "found"; replacements: Replacement[]; exact: boolean }
  | { kind: "several"; positions: number[]; exact: boolean }
  | { kind: "none" };

/** What is asked for. */
export interface EditRequest {
  old: string;
  new: string;
  all: boolean;
}

/** A text with some characters left out, and where the others stood. */
interface Reduced {
  text: string;
  /** Position in the full text of each character. */
  origin: Uint32Array;
}

function reduce(text: string, keep: (code: number, at: number) => boolean): Reduced {
  const origin = new Uint32Array(text.length);
  const pieces: string[] = [];
  let kept = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (keep(text.charCodeAt(at), at)) origin[kept++] = at;
    else {
      if (from < at) pieces.push(text.slice(from, at));
      from = at + 1;
    }
  }
  pieces.push(text.slice(from));
  return { text: pieces.join(""), origin: origin.subarray(0, kept) };
}

/** Space, tab, line feed, carriage return, form feed, vertical tab, and the no-break space that models mistake for one. */
function isWhite(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0;
}

/** The line end that most lines have. */
function lineEndOf(text: string): "\r\n" | "\n" {
  let feeds = 0;
  let pairs = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    feeds += 1;
    if (text[at - 1] === "\r") pairs += 1;
  }
  return pairs * 2 > feeds ? "\r\n" : "\n";
}

/** `text` with the line ends of the file; a file without any leaves it as it is. */
function withLineEndsOf(file: string, text: string): string {
  if (!file.includes("\n")) return text;
  const plain = text.replaceAll("\r\n", "\n");
  return lineEndOf(file) === "\r\n" ? plain.replaceAll("\n", "\r\n") : plain;
}

/** Whether a position lies between the CR and the LF of one line end: no edit may begin or end there. */
function partsLineEnd(file: string, position: number): boolean {
  return file[position] === "\n" && file[position - 1] === "\r";
}

/** Matches in the text without the CR of line ends; positions are those of the full text. */
function findIgnoringLineEnds(file: string, old: string): { start: number; end: number }[] {
  if (!file.includes("\r\n") && !old.includes("\r\n")) return [];
  const reduced = reduce(file, (code, at) => !(code === 13 && file.charCodeAt(at + 1) === 10));
  const pattern = old.replaceAll("\r\n", "\n");
  return findAll(reduced.text, pattern).map((at) => {
    const first = reduced.origin[at] ?? 0;
    // A match that begins with a line feed takes the CR before it along; otherwise it would be left behind.
    const start = partsLineEnd(file, first) ? first - 1 : first;
    return { start, end: (reduced.origin[at + pattern.length - 1] ?? 0) + 1 };
  });
}

/** Matches in the text without any white space, from the first to the last character that is none. */
function findIgnoringWhiteSpace(file: string, old: string): { start: number; end: number }[] {
  const pattern = reduce(old, (code) => !isWhite(code)).text;
  if (pattern === "") return [];
  const reduced = reduce(file, (code) => !isWhite(code));
  return findAll(reduced.text, pattern).map((at) => ({
    start: reduced.origin[at] ?? 0,
    end: (reduced.origin[at + pattern.length - 1] ?? 0) + 1,
  }));
}

function choose(spans: { start: number; end: number }[], options: { all: boolean; text: string }): Match {
  if (spans.length > 1 && !options.all) {
    return { kind: "several", positions: spans.map((span) => span.start), exact: true };
  }
  const replacements: Replacement[] = [];
  for (const span of spans) {
    if (span.start >= (replacements.at(-1)?.end ?? 0)) replacements.push({ ...span, text: options.text });
  }
  return { kind: "found", replacements, exact: true };
}

/**
 * Finds what an edit replaces: the exact text; else the text with other line ends; else the one place that differs in
 * white space only, with `new` indented as the file is. Everything outside of the replacements stays as it is.
 */
export function matchEdit(file: string, request: EditRequest): Match {
  const options = { all: request.all, text: withLineEndsOf(file, request.new) };
  const exact = findAll(file, request.old).map((start) => ({ start, end: start + request.old.length }))
    .filter(({ start, end }) => !partsLineEnd(file, start) && !partsLineEnd(file, end));
  if (exact.length > 0) return choose(exact, options);
  const otherEnds = findIgnoringLineEnds(file, request.old);
  if (otherEnds.length > 0) return choose(otherEnds, options);
  const loose = findIgnoringWhiteSpace(file, request.old);
  const [only] = loose;
  if (only === undefined) return { kind: "none" };
  if (loose.length > 1) return { kind: "several", positions: loose.map((span) => span.start), exact: false };
  const placed = reindent(file, { span: only, old: request.old, new: request.new });
  return { kind: "found", replacements: [{ ...placed, text: withLineEndsOf(file, placed.text) }], exact: false };
}

/** The file with the replacements, which are in order and do not overlap. */
export function applyReplacements(file: string, replacements: readonly Replacement[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, text } of replacements) {
    pieces.push(file.slice(from, start), text);
    from = end;
  }
  pieces.push(file.slice(from));
  return pieces.join("");
}
