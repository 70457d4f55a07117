/**
 * Finds the lines of a text that match a pattern. The pattern is a model's and the text anybody's, so the time must
 * grow with the text alone, whatever the pattern (threat 126): the engine is RE2, which no pattern makes slow.
 */
import { lineStart } from "../text.ts";

/** A pattern, ready to search. */
export interface LineMatcher {
  /** The start and end of matching lines in `text`, whose lines end in `\n` alone; in order. */
  lines(text: string, watch: SearchWatch): Iterable<readonly [number, number]>;
  /**
   * The pattern for ripgrep, or null when that could find something else. It skips bytes that are not UTF-8, where
   * we read Latin-1, so it gets only patterns that take nothing but ASCII.
   */
  readonly rust: string | null;
}

export interface SearchWatch {
  /** Returns whether the time is up; asked often. */
  late(): boolean;
  /** Called for each line that is too long. */
  skipped(): void;
}

/** The longest pattern, in characters. */
const LENGTH_LIMIT = 2_000;
/**
 * The longest line, in characters: the worst pattern takes 25 s for it (measured), most take a hundredth of a second.
 */
const LINE_LIMIT = 1024 * 1024;
/** Lines between two checks of the clock. */
const LOOK_EVERY = 256;

/** A pattern that is plain text, with escaped characters. */
const LITERAL = /^(?:[^\\^$.|?*+()[\]{}]|\\[^\w\s])*$/;
/** A line end in a pattern, as a character or an escape. */
const LINE_END = /\n|^(?:[^\\]|\\[^n])*\\n/;
/**
 * A pattern that matches and checks only ASCII, and means the same in both dialects: no `.`, no negated sets, no flags,
 * no `\<`, and in a class none of ripgrep's operators.
 */
const ASCII_ONLY =
  /^(?:[^\\.?*+(){}[\]\x80-\uffff]|\\[bdsw]|\\[!-/:;=?@[-`{-~]|\[(?!\^)(?:(?!--|&&|~~)[^\\[\]\x80-\uffff]|\\[dsw]|\\[!-/:-@[-`{-~])+\]|\((?:\?:|(?!\?))|\)|[?*+]|\{\d+(?:,\d*)?\})*$/;

/** Returns a matcher, or one sentence for the model about why there is none. */
export async function lineMatcher(pattern: string): Promise<LineMatcher | { problem: string }> {
  if (pattern.length > LENGTH_LIMIT) {
    return { problem: "The pattern is longer than 2,000 characters. Search for a part of it." };
  }
  if (LINE_END.test(pattern)) {
    return {
      problem: "The pattern asks for \\n, but lines are searched one by one. Search for one line and use context.",
    };
  }
  const rust = ASCII_ONLY.test(pattern) ? pattern : null;
  if (LITERAL.test(pattern)) {
    const text = pattern.replace(/\\(.)/gu, "$1");
    return { rust, lines: (searched) => literalLines(searched, text) };
  }
  const { RE2JS, RE2JSException } = await import("npm:re2js@2.10.0");
  try {
    const regex = RE2JS.compile(pattern, RE2JS.LOOKBEHINDS);
    return { rust, lines: (text, watch) => regexLines(text, regex, watch) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace("error parsing regexp: ", "");
    return {
      problem: `The pattern cannot be read: ${reason}. Write \\ before a sign that stands for itself; ` +
        "look-ahead and back references are not supported.",
    };
  }
}

function* literalLines(text: string, literal: string): Iterable<readonly [number, number]> {
  for (let at = text.indexOf(literal); at >= 0 && at < text.length;) {
    const end = lineEnd(text, at);
    yield [lineStart(text, at), end];
    at = text.indexOf(literal, end + 1);
  }
}

function* regexLines(
  text: string,
  regex: { test(line: string): boolean },
  watch: SearchWatch,
): Iterable<readonly [number, number]> {
  let count = 0;
  for (let start = 0; start < text.length;) {
    if (count++ % LOOK_EVERY === 0 && watch.late()) return;
    const end = lineEnd(text, start);
    if (end - start > LINE_LIMIT) watch.skipped();
    else if (regex.test(text.slice(start, end))) yield [start, end];
    start = end + 1;
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}
