/** Reads a regular expression as a model writes it: JavaScript's syntax, and what other dialects share without conflict. */
import {
  ANY,
  type CharacterSet,
  characterSet,
  charactersOf,
  complement,
  DIGIT,
  intersection,
  LINE_END,
  type Regex,
  SPACE,
  withBothCases,
  WORD,
} from "./regex.ts";

/** Longest pattern, in characters. */
const LENGTH_LIMIT = 2_000;
/** Deepest nesting of groups. */
const DEPTH_LIMIT = 50;
/** Highest count in braces. */
const COUNT_LIMIT = 1_000;

/** `[[:alpha:]]` and its kind, which models know from grep. */
const POSIX: Readonly<Record<string, CharacterSet>> = {
  alpha: characterSet([[0x41, 0x5a], [0x61, 0x7a]]),
  alnum: characterSet([[0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]]),
  blank: charactersOf(" \t"),
  digit: DIGIT,
  lower: characterSet([[0x61, 0x7a]]),
  punct: characterSet([[0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]]),
  space: SPACE,
  upper: characterSet([[0x41, 0x5a]]),
  word: WORD,
  xdigit: characterSet([[0x30, 0x39], [0x41, 0x46], [0x61, 0x66]]),
};

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };

class PatternProblem extends Error {}

/** The pattern, or one sentence about what is wrong with it. `(?i)` in front ignores letter case. Never throws. */
export function parseRegex(pattern: string): Regex | { problem: string } {
  if (pattern.length > LENGTH_LIMIT) {
    return { problem: "The pattern is longer than 2,000 characters. Search for a part of it." };
  }
  const ignoreCase = pattern.startsWith("(?i)");
  try {
    return new Parser(ignoreCase ? pattern.slice(4) : pattern, ignoreCase).parse();
  } catch (error) {
    if (error instanceof PatternProblem) return { problem: error.message };
    throw error;
  }
}

class Parser {
  readonly #text: string;
  readonly #ignoreCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(text: string, ignoreCase: boolean) {
    this.#text = text;
    this.#ignoreCase = ignoreCase;
  }

  parse(): Regex {
    const regex = this.#choice();
    if (this.#at < this.#text.length) throw this.#problem("has a ) without its (; write \\) for a plain one");
    return regex;
  }

  #problem(what: string): PatternProblem {
    return new PatternProblem(`The pattern ${what} (at character ${this.#at + 1}).`);
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #takeMatch(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    const match = form.exec(this.#text);
    if (match !== null) this.#at = form.lastIndex;
    return match;
  }

  #nextCode(): number {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) throw this.#problem("ends in the middle of an escape; write \\\\ for a plain backslash");
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #choice(): Regex {
    if (++this.#depth > DEPTH_LIMIT) throw this.#problem("has more than 50 groups inside each other; use fewer");
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    this.#depth--;
    const [only] = options;
    if (options.length === 1 && only !== undefined) return only;
    // One character out of several is a set, which never has to be tried twice.
    if (options.every((option) => option.kind === "set")) {
      return { kind: "set", set: characterSet(options.flatMap((option) => [...option.set])) };
    }
    return { kind: "choice", options };
  }

  #sequence(): Regex {
    const parts: Regex[] = [];
    while (this.#at < this.#text.length && !"|)".includes(this.#text.charAt(this.#at))) parts.push(this.#repeated());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: "sequence", parts };
  }

  #repeated(): Regex {
    const body = this.#atom();
    const counts = this.#counts();
    if (counts === null) return body;
    if (body.kind === "assertion" || body.kind === "look") {
      throw this.#problem("repeats an assertion, which has no length; remove the repetition");
    }
    const regex: Regex = { kind: "repeat", body, ...counts, lazy: this.#take("?") };
    if (this.#counts() !== null) throw this.#problem("repeats a repetition; put it in a group");
    return regex;
  }

  #counts(): { least: number; most: number } | null {
    if (this.#take("*")) return { least: 0, most: Infinity };
    if (this.#take("+")) return { least: 1, most: Infinity };
    if (this.#take("?")) return { least: 0, most: 1 };
    const match = this.#takeMatch(/\{(\d+)(,(\d*))?\}/y);
    if (match === null) return null;
    const least = Number(match[1]);
    const most = match[2] === undefined ? least : match[3] === "" ? Infinity : Number(match[3]);
    if (least > COUNT_LIMIT || most < least || (most !== Infinity && most > COUNT_LIMIT)) {
      throw this.#problem("has a count above 1,000 or out of order; write {least,most}");
    }
    return { least, most };
  }

  #atom(): Regex {
    const character = this.#text.charAt(this.#at);
    if ("*+?".includes(character)) throw this.#problem("repeats nothing; write \\ before a plain * + or ?");
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return this.#set(this.#class());
    if (this.#take(".")) return { kind: "set", set: ANY };
    if (this.#take("^")) return { kind: "assertion", at: "start" };
    if (this.#take("$")) return { kind: "assertion", at: "end" };
    if (this.#take("\\")) return this.#escape();
    const code = this.#nextCode();
    return this.#set([[code, code]]);
  }

  /** A set of what was named: letter case and line ends as they are everywhere. */
  #set(set: CharacterSet): Regex {
    const folded = this.#ignoreCase ? withBothCases(set) : set;
    return { kind: "set", set: intersection(folded, complement(LINE_END)) };
  }

  #group(): Regex {
    const look = this.#takeMatch(/\?<?[=!]/y);
    const named = look === null ? this.#takeMatch(/\?P?<([A-Za-z_]\w*)>/y) : null;
    const silent = look === null && named === null && this.#take("?:");
    if (look === null && named === null && !silent && this.#take("?")) {
      throw this.#problem("has a group of an unknown kind; (?i) is understood at the start only");
    }
    const body = this.#choice();
    if (!this.#take(")")) throw this.#problem("has a ( without its ); write \\( for a plain one");
    if (look !== null) return { kind: "look", opening: `(${look[0]}`, body };
    if (silent) return body;
    return named?.[1] === undefined ? { kind: "group", body } : { kind: "group", body, name: named[1] };
  }

  #escape(): Regex {
    if (this.#take("b")) return { kind: "assertion", at: "boundary" };
    if (this.#take("B")) return { kind: "assertion", at: "inside" };
    if (this.#take("A")) return { kind: "assertion", at: "start" };
    if (this.#take("z") || this.#take("Z")) return { kind: "assertion", at: "end" };
    const raw = this.#takeMatch(/[1-9]\d*|k<\w+>|[pP]\{[\w=]+\}/y);
    if (raw !== null) return { kind: "raw", source: `\\${raw[0]}` };
    if (this.#text.startsWith("n", this.#at)) {
      throw this.#problem("asks for \\n, but lines are searched one by one; search for one line and use context");
    }
    return this.#set(this.#escapedSet());
  }

  /** After a backslash: what it names, in a class or outside. */
  #escapedSet(): CharacterSet {
    const kind = this.#takeMatch(/[dDwWsS]/y)?.[0];
    if (kind !== undefined) {
      const set = { d: DIGIT, w: WORD, s: SPACE }[kind.toLowerCase()] ?? [];
      return kind === kind.toLowerCase() ? set : complement(set);
    }
    const hexadecimal = this.#takeMatch(/x([\da-fA-F]{2})|u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})/y);
    if (hexadecimal !== null) {
      const code = parseInt(hexadecimal[1] ?? hexadecimal[2] ?? hexadecimal[3] ?? "", 16);
      if (code > 0x10ffff) throw this.#problem("names a character above 10ffff, the last one there is");
      return [[code, code]];
    }
    const code = this.#nextCode();
    const character = String.fromCodePoint(code);
    const control = Object.hasOwn(CONTROLS, character) ? CONTROLS[character] : undefined;
    if (control !== undefined) return [[control, control]];
    if (/[A-Za-z0-9]/.test(character)) {
      throw this.#problem(`has the unknown escape \\${character}; write ${character} for the plain character`);
    }
    return [[code, code]];
  }

  #class(): CharacterSet {
    const negated = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    while (!this.#take("]")) {
      if (this.#at >= this.#text.length) throw this.#problem("has a [ without its ]; write \\[ for a plain one");
      const first = this.#classMember();
      const low = single(first);
      if (low === null || !/-[^\]]/y.test(this.#text.slice(this.#at, this.#at + 2))) {
        ranges.push(...first);
        continue;
      }
      this.#at++;
      const last = this.#classMember();
      const high = single(last);
      if (high === null) ranges.push(...first, [0x2d, 0x2d], ...last);
      else if (high < low) throw this.#problem("has a range that is out of order; write the lower character first");
      else ranges.push([low, high]);
    }
    const set = characterSet(ranges);
    if (!negated) return set;
    // Case is folded before negating: not-a is not A either.
    return complement(this.#ignoreCase ? withBothCases(set) : set);
  }

  #classMember(): CharacterSet {
    const posix = this.#takeMatch(/\[:(\w+):\]/y);
    if (posix !== null) {
      const set = Object.hasOwn(POSIX, posix[1] ?? "") ? POSIX[posix[1] ?? ""] : undefined;
      if (set === undefined) {
        throw this.#problem(
          `has an unknown class; known are ${Object.keys(POSIX).map((name) => `[:${name}:]`).join(" ")}`,
        );
      }
      return set;
    }
    if (this.#take("\\")) {
      if (this.#take("b")) return [[8, 8]];
      if (/[pP]/.test(this.#text.charAt(this.#at))) throw this.#problem("has \\p inside [ ]; use a choice instead");
      return this.#escapedSet();
    }
    const code = this.#nextCode();
    return [[code, code]];
  }
}

function single(set: CharacterSet): number | null {
  const [only, ...others] = set;
  return only !== undefined && others.length === 0 && only[0] === only[1] ? only[0] : null;
}
