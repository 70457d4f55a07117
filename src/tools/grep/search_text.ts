/** Searches the bytes of one file. */
import { decodeText, isUtf16 } from "../text.ts";
import type { LineMatcher, SearchWatch } from "./line_matcher.ts";

/** A line of a result. */
export interface FoundLine {
  /** From 1. */
  number: number;
  /** Cut to {@link LINE_LIMIT} characters. */
  text: string;
  /** False for context. */
  match: boolean;
}

/** What a file came to. */
export interface FileMatches {
  /** Matching lines; at least 1. Counting ends at the limit that was asked for. */
  count: number;
  /** Empty when lines were not asked for. */
  lines: FoundLine[];
}

/** What is wanted of a file. */
export interface SearchLimits {
  /** Most matching lines. */
  most: number;
  /** Lines around each match; null when no lines are wanted. */
  context: number | null;
}

/** Characters of a line that are shown. */
export const LINE_LIMIT = 400;

/** Cuts a line to what is shown. */
function shownLine(text: string): string {
  const line = text.endsWith("\r") ? text.slice(0, -1) : text;
  if (line.length <= LINE_LIMIT) return line;
  const half = line.charCodeAt(LINE_LIMIT - 1);
  // Not between the halves of a surrogate pair.
  const end = half >= 0xd800 && half < 0xdc00 ? LINE_LIMIT - 1 : LINE_LIMIT;
  return `${line.slice(0, end)}…`;
}

/** Whether bytes at the start of a file already show that it is no text. */
export function isNoText(head: Uint8Array): boolean {
  return !isUtf16(head) && head.includes(0);
}

/** The text of a file as Read shows it; null for what is not text: here a NUL byte anywhere makes it that. */
export function textOf(bytes: Uint8Array): string | null {
  const text = decodeText(bytes)?.text ?? null;
  if (text === null || text.includes("\0")) return null;
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** The matching lines of a text, with those around them; null when there are none. */
export function searchText(
  text: string,
  matcher: LineMatcher,
  limits: SearchLimits & { watch: SearchWatch },
): FileMatches | null {
  const found: [number, number][] = [];
  for (const [start, end] of matcher.lines(text, limits.watch)) {
    found.push([start, end]);
    if (found.length >= limits.most) break;
  }
  if (found.length === 0) return null;
  return { count: found.length, lines: limits.context === null ? [] : linesAround(text, found, limits.context) };
}

function linesAround(text: string, found: readonly [number, number][], context: number): FoundLine[] {
  const lines: FoundLine[] = [];
  const matching = new Set(found.map(([start]) => start));
  let number = 1;
  let counted = 0;
  let written = 0;
  for (const [start] of found) {
    for (let at = text.indexOf("\n", counted); at >= 0 && at < start; at = text.indexOf("\n", at + 1)) {
      number++;
      counted = at + 1;
    }
    let first = start;
    let before = 0;
    for (; before < context && first > written; before++) first = lineBefore(text, first);
    let lineNumber = number - before;
    let last = start;
    for (let at = first, after = 0; at < text.length || at === start;) {
      const end = text.indexOf("\n", at);
      const stop = end < 0 ? text.length : end;
      if (at >= written) {
        lines.push({ number: lineNumber, text: shownLine(text.slice(at, stop)), match: matching.has(at) });
      }
      last = stop + 1;
      lineNumber++;
      if (at >= start && after++ >= context) break;
      at = stop + 1;
    }
    written = Math.max(written, last);
  }
  return lines;
}

function lineBefore(text: string, start: number): number {
  return start <= 1 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
}
