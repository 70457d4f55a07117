/** Finds the lines of a text that match a pattern, with the engine that is fast and safe for both. */
import { lineStart } from "../text.ts";
import { type LinearMatcher, linearMatcher } from "./regex_linear.ts";
import { parseRegex } from "./regex_parse.ts";
import {
  ANY,
  type CharacterSet,
  characterSet,
  complement,
  disjoint,
  literalText,
  type Regex,
  takesAsciiOnly,
  toJavaScript,
  toRust,
} from "./regex.ts";

/** A pattern, ready to search. */
export interface LineMatcher {
  /** The start and end of matching lines in `text`, whose lines end in `\n` alone; in order. */
  lines(text: string, watch: SearchWatch): Iterable<readonly [number, number]>;
  /**
   * The pattern for ripgrep, or null when that cannot have it. It passes over bytes that are no UTF-8, where we read
   * Latin-1, so it gets only what takes nothing but ASCII; for the rest we are as fast (measured: 50,000 files, 7 s).
   */
  readonly rust: string | null;
}

export interface SearchWatch {
  /** Returns whether the time is up; asked often. */
  late(): boolean;
  /** Told of each line that is too long for the pattern. */
  skipped(): void;
}

/** Steps that the runtime's engine may take between two looks at the clock, at worst: about a tenth of a second. */
const STEP_BUDGET = 50_000_000;
/** Characters, or a line more, that are searched between two looks at the clock. */
const PIECE_LENGTH = 64 * 1024;

/** A matcher for `pattern`, or one sentence about why there is none. Never throws. */
export function lineMatcher(pattern: string): LineMatcher | { problem: string } {
  const regex = parseRegex(pattern);
  if ("problem" in regex) return regex;
  const literal = literalText(regex);
  const rust = takesAsciiOnly(regex) ? toRust(regex) : null;
  if (literal !== null) return { rust, lines: (text) => literalLines(text, literal) };
  const compiled = compile(regex);
  if (compiled === null) {
    return {
      problem: "The pattern refers to a group or a property that does not exist. Remove that \\1, \\k<name> or \\p{…}.",
    };
  }
  const linear = linearMatcher(regex);
  const cost = regexCost(regex);
  // Lines of three hundred characters are ordinary; where they cost too much, there must be another way.
  if (linear === null && cost.factor * 300 ** cost.degree > STEP_BUDGET) {
    return {
      problem: "The pattern could take too long. Use fewer repetitions together with look-around or back references.",
    };
  }
  const find = { compiled, linear, cost };
  return {
    rust: linear === null ? null : rust,
    lines: (text, watch) => searchPieces(text, find, watch),
  };
}

interface Find {
  compiled: RegExp;
  linear: LinearMatcher | null;
  cost: RegexCost;
}

/** Piece by piece of whole lines, each with the engine that cannot take long for it. */
function* searchPieces(text: string, find: Find, watch: SearchWatch): Iterable<readonly [number, number]> {
  for (let start = 0; start < text.length;) {
    if (watch.late()) return;
    const end = Math.min(text.length, lineEnd(text, Math.min(start + PIECE_LENGTH, text.length)) + 1);
    const piece = start === 0 && end === text.length ? text : text.slice(start, end);
    for (const [from, to] of pieceLines(piece, find, watch)) yield [start + from, start + to];
    start = end;
  }
}

function pieceLines(piece: string, find: Find, watch: SearchWatch): Iterable<readonly [number, number]> {
  const { factor, degree } = find.cost;
  const fits = (longest: number, all: number) => factor * longest ** (degree - 1) * all <= STEP_BUDGET;
  if (fits(piece.length, piece.length) || fits(longestLine(piece), piece.length)) {
    return compiledLines(piece, find.compiled);
  }
  return lineByLine(piece, (from, to) => {
    if (find.linear !== null) return find.linear.test(piece.slice(from, to), watch.late);
    if (!fits(to - from, to - from)) {
      watch.skipped();
      return false;
    }
    find.compiled.lastIndex = 0;
    return find.compiled.test(piece.slice(from, to));
  });
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

function* lineByLine(
  text: string,
  test: (start: number, end: number) => boolean,
): Iterable<readonly [number, number]> {
  for (let start = 0; start < text.length;) {
    const end = lineEnd(text, start);
    if (test(start, end)) yield [start, end];
    start = end + 1;
  }
}

/** Steps for a line of n characters: at most about `factor` × n ^ `degree`. Infinity where that has no such form. */
interface RegexCost {
  factor: number;
  degree: number;
}

const EVERYTHING = complement([]);
const HOPELESS: Tries = { ways: Infinity, loops: 0, any: true };

/** Cost of one attempt at one place: ways to match fixed parts, loops that trade with what follows, any loop. */
interface Tries {
  ways: number;
  loops: number;
  any: boolean;
}

/** The worst cost of searching a line. */
export function regexCost(regex: Regex): RegexCost {
  const { ways, loops, any } = triesOf(regex, []);
  // Every place of the line is a start; a loop that never trades still walks to its end from each.
  return { factor: ways, degree: 1 + Math.max(loops, any ? 1 : 0) };
}

/** `follow`: the characters that may stand after `regex`; empty when nothing follows, for then nothing can fail. */
function triesOf(regex: Regex, follow: CharacterSet): Tries {
  switch (regex.kind) {
    case "set":
    case "assertion":
      return { ways: 1, loops: 0, any: false };
    case "raw":
      return { ways: 1, loops: 1, any: true };
    case "group":
      return triesOf(regex.body, follow);
    case "look":
      return triesOf(regex.body, EVERYTHING);
    case "choice": {
      const options = regex.options.map((option) => triesOf(option, follow));
      return {
        ways: options.reduce((sum, { ways }) => sum + ways, 0),
        loops: Math.max(...options.map(({ loops }) => loops)),
        any: options.some(({ any }) => any),
      };
    }
    case "sequence":
      return sequenceTries(regex.parts, follow);
    case "repeat":
      return repeatTries(regex, follow);
  }
}

function sequenceTries(parts: readonly Regex[], follow: CharacterSet): Tries {
  let next = follow;
  const all: Tries = { ways: 1, loops: 0, any: false };
  for (const part of [...parts].reverse()) {
    const tries = triesOf(part, next);
    all.ways *= tries.ways;
    all.loops += tries.loops;
    all.any ||= tries.any;
    const first = firstOf(part);
    next = first.nullable ? characterSet([...first.set, ...next]) : first.set;
  }
  return all;
}

function repeatTries({ body, least, most }: Regex & { kind: "repeat" }, follow: CharacterSet): Tries {
  if (most <= 1) {
    const once = triesOf(body, follow);
    return { ...once, ways: once.ways + 1 - least };
  }
  const inner = triesOf(body, EVERYTHING);
  // A loop or a choice that is itself repeated multiplies with every round: no polynomial holds it.
  if (inner.ways > 1 || inner.any) return HOPELESS;
  if (most !== Infinity) return { ways: most - least + 1, loops: 0, any: false };
  return { ways: 1, loops: disjoint(firstOf(body).set, follow) ? 0 : 1, any: true };
}

function firstOf(regex: Regex): { set: CharacterSet; nullable: boolean } {
  switch (regex.kind) {
    case "set":
      return { set: regex.set, nullable: false };
    case "group":
      return firstOf(regex.body);
    case "repeat": {
      const body = firstOf(regex.body);
      return { set: body.set, nullable: body.nullable || regex.least === 0 };
    }
    case "choice": {
      const options = regex.options.map(firstOf);
      return {
        set: characterSet(options.flatMap((option) => [...option.set])),
        nullable: options.some((option) => option.nullable),
      };
    }
    case "sequence": {
      let set: CharacterSet = [];
      for (const part of regex.parts) {
        const first = firstOf(part);
        set = characterSet([...set, ...first.set]);
        if (!first.nullable) return { set, nullable: false };
      }
      return { set, nullable: true };
    }
    case "assertion":
      // At an end nothing follows, so whatever a loop gives back cannot stand there.
      return { set: [], nullable: regex.at === "boundary" || regex.at === "inside" };
    case "look":
    case "raw":
      return { set: regex.kind === "raw" ? EVERYTHING : ANY, nullable: true };
  }
}
