/** Finds the lines of a text that match a pattern, with the engine that is fast and safe for both. */
import { regexCost } from "./regex_cost.ts";
import { type LinearMatcher, linearMatcher } from "./regex_linear.ts";
import { parseRegex } from "./regex_parse.ts";
import { literalText, type Regex, toJavaScript, toRust } from "./regex.ts";

/** A pattern, ready to search. */
export interface LineMatcher {
  /** The start and end of matching lines in `text`, whose lines end in `\n` alone; in order. */
  lines(text: string): Iterable<readonly [number, number]>;
  /** The pattern for ripgrep, or null when that cannot have it. */
  readonly rust: string | null;
}

/** Steps that the runtime's engine may take for one line, at worst: some tens of milliseconds. */
const STEP_BUDGET = 20_000_000;

/** A matcher for `pattern`, or one sentence about why there is none. Never throws. */
export function lineMatcher(pattern: string): LineMatcher | { problem: string } {
  const regex = parseRegex(pattern);
  if ("problem" in regex) return regex;
  const literal = literalText(regex);
  if (literal !== null) return { rust: toRust(regex), lines: (text) => literalLines(text, literal) };
  const compiled = compile(regex);
  if (compiled === null) return { problem: "The pattern refers to a group or a property that does not exist." };
  const linear = linearMatcher(regex);
  const cost = regexCost(regex);
  // Lines of a thousand characters are ordinary; where they already cost too much, there must be another way.
  if (linear === null && cost.factor * 1_000 ** cost.degree > STEP_BUDGET * 100) {
    return { problem: "The pattern could take too long. Use fewer repetitions with look-around or back references." };
  }
  return {
    rust: linear === null ? null : toRust(regex),
    lines(text) {
      const fits = (length: number) => cost.factor * length ** cost.degree <= STEP_BUDGET;
      const fast = fits(text.length) || fits(longestLine(text));
      return fast || linear === null ? compiledLines(text, compiled) : linearLines(text, linear);
    },
  };
}

function compile(regex: Regex): RegExp | null {
  try {
    return new RegExp(toJavaScript(regex), "gu");
  } catch {
    // A back reference or property that the parser cannot judge.
    return null;
  }
}

function longestLine(text: string): number {
  let longest = 0;
  for (let start = 0; start <= text.length;) {
    const end = lineEnd(text, start);
    longest = Math.max(longest, end - start);
    start = end + 1;
  }
  return longest;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function* literalLines(text: string, literal: string): Iterable<readonly [number, number]> {
  for (let at = text.indexOf(literal); at >= 0;) {
    const end = lineEnd(text, at);
    yield [lineStart(text, at), end];
    at = text.indexOf(literal, end + 1);
  }
}

function* compiledLines(text: string, compiled: RegExp): Iterable<readonly [number, number]> {
  for (let from = 0; from <= text.length;) {
    compiled.lastIndex = from;
    const match = compiled.exec(text);
    // After the last line end there is no line.
    if (match === null || (match.index === text.length && (text === "" || text.endsWith("\n")))) return;
    const end = lineEnd(text, match.index);
    yield [lineStart(text, match.index), end];
    from = end + 1;
  }
}

function* linearLines(text: string, linear: LinearMatcher): Iterable<readonly [number, number]> {
  for (let start = 0; start < text.length;) {
    const end = lineEnd(text, start);
    if (linear.test(text, start, end)) yield [start, end];
    start = end + 1;
  }
}
