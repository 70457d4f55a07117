/** Sets of characters as ranges of code points: what a place of a pattern takes. */

/** First and last code point, both included. */
export type Range = readonly [number, number];
/** Sorted, neither overlapping nor touching. */
export type CharacterSet = readonly Range[];

/** The last code point there is. */
const LAST = 0x10ffff;

/** Any order and overlap made a set. */
export function characterSet(ranges: readonly Range[]): CharacterSet {
  const sorted = [...ranges].sort((one, other) => one[0] - other[0]);
  const set: [number, number][] = [];
  for (const [low, high] of sorted) {
    const last = set.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else set.push([low, high]);
  }
  return set;
}

/** The characters of `text`. */
export function charactersOf(text: string): CharacterSet {
  return characterSet([...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    return [code, code];
  }));
}

/** All that is not in `set`. */
export function complement(set: CharacterSet): CharacterSet {
  const rest: Range[] = [];
  let next = 0;
  for (const [low, high] of set) {
    if (low > next) rest.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= LAST) rest.push([next, LAST]);
  return rest;
}

/** What is in both. */
export function intersection(one: CharacterSet, other: CharacterSet): CharacterSet {
  return complement(characterSet([...complement(one), ...complement(other)]));
}

/** Whether nothing is in both. */
export function disjoint(one: CharacterSet, other: CharacterSet): boolean {
  return one.every(([low, high]) => other.every((range) => high < range[0] || low > range[1]));
}

/** Whether the code point is in it. */
export function contains(set: CharacterSet, code: number): boolean {
  for (const [low, high] of set) {
    if (code < low) return false;
    if (code <= high) return true;
  }
  return false;
}

/** With the other letter case of every letter, where that is one character. Large ranges are taken as complete. */
export function withBothCases(set: CharacterSet): CharacterSet {
  const ranges: Range[] = [...set];
  for (const [low, high] of set) {
    // Beyond a few hundred characters a range is an alphabet of its own, or everything.
    for (let code = low; code <= high && code < low + 1_024; code++) {
      const character = String.fromCodePoint(code);
      for (const form of [character.toLowerCase(), character.toUpperCase()]) {
        const other = form.codePointAt(0);
        if (other !== undefined && form.length === String.fromCodePoint(other).length) ranges.push([other, other]);
      }
    }
  }
  return characterSet(ranges);
}

/** `\d`, as JavaScript has it. */
export const DIGIT = characterSet([[0x30, 0x39]]);
/** `\w`, as JavaScript has it: without the letters of other languages. */
export const WORD = characterSet([[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]);
/** `\s`, as JavaScript has it. */
export const SPACE = characterSet([
  ...charactersOf("\t\v\f \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"),
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2000, 0x200a],
]);
/** The ends of lines: lines are searched one by one, so nothing matches them. */
export const LINE_END = charactersOf("\n\r");
/** `.`, as JavaScript has it. */
export const ANY = complement(charactersOf("\n\r\u2028\u2029"));
