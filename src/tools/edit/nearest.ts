/** Finds the places of old_string; where there is none, the nearest text, for the model to see what differs. */
import { cutText } from "../../platform/text.ts";

/**
 * For each length of a beginning of `pattern`, the longest shorter beginning that is also its end (Knuth, Morris and
 * Pratt). The search of the runtime needs 50 s for 100,000 repeated characters in 1,000,000; this needs milliseconds.
 */
function borders(pattern: string): Uint32Array {
  const lengths = new Uint32Array(pattern.length);
  for (let at = 1, matched = 0; at < pattern.length; at++) {
    while (matched > 0 && pattern[at] !== pattern[matched]) matched = lengths[matched - 1] ?? 0;
    if (pattern[at] === pattern[matched]) matched += 1;
    lengths[at] = matched;
  }
  return lengths;
}

/**
 * Returns the offsets of `pattern` in `text`, from left to right. Overlapping ones are included, because each of them
 * may be meant: `}}` occurs twice in `}}}`. An empty pattern occurs nowhere.
 */
export function findAll(text: string, pattern: string): number[] {
  const found: number[] = [];
  if (pattern === "" || pattern.length > text.length) return found;
  const fallback = borders(pattern);
  for (let at = 0, matched = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== pattern[matched]) matched = fallback[matched - 1] ?? 0;
    if (text[at] === pattern[matched]) matched += 1;
    if (matched < pattern.length) continue;
    found.push(at - pattern.length + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return found;
}

/** The number, from 1, of the line of each of the rising positions. */
export function linesAt(text: string, positions: readonly number[]): number[] {
  let line = 1;
  let next = text.indexOf("\n");
  return positions.map((position) => {
    while (next !== -1 && next < position) {
      line += 1;
      next = text.indexOf("\n", next + 1);
    }
    return line;
  });
}

const SHOWN_LINES = 8;

const SHOWN_LENGTH = 200;

/** Most candidates of one line: a closing brace occurs everywhere and proves nothing. */
const PLACES = 20;

/** Similarity (0 to 1) below which a line is not worth showing. */
const WORTH_SHOWING = 0.4;

function pairsOf(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  const text = line.trim().slice(0, SHOWN_LENGTH).toLowerCase();
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Returns the similarity of two lines: twice the common pairs of characters by all pairs (Dice). */
function similarity(wanted: Map<string, number>, line: string): number {
  const other = pairsOf(line);
  let common = 0;
  let total = 0;
  for (const amount of wanted.values()) total += amount;
  for (const [pair, amount] of other) {
    total += amount;
    common += Math.min(amount, wanted.get(pair) ?? 0);
  }
  return total === 0 ? 0 : 2 * common / total;
}

/** The line (from 0) at which most lines of `wanted` are where they should be; null when none is anywhere. */
function bestByLines(lines: string[], wanted: string[]): number | null {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const key = line.trim();
    const known = places.get(key);
    if (known === undefined) places.set(key, [index]);
    else if (known.length < PLACES) known.push(index);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of wanted.entries()) {
    // Long lines say more about the place than a lone bracket.
    const weight = Math.min(line.trim().length, 40);
    if (weight === 0) continue;
    for (const place of places.get(line.trim()) ?? []) {
      votes.set(place - index, (votes.get(place - index) ?? 0) + weight);
    }
  }
  let best: number | null = null;
  for (const [start, weight] of votes) {
    if (best === null || weight > (votes.get(best) ?? 0)) best = start;
  }
  return best === null || (votes.get(best) ?? 0) < 4 ? null : best;
}

/** Returns the line (from 0) nearest to the longest line of `wanted`, minus its index; null when none is near. */
function bestBySimilarity(lines: string[], wanted: string[]): number | null {
  let longest = 0;
  for (const [index, line] of wanted.entries()) {
    if (line.trim().length > (wanted[longest] ?? "").trim().length) longest = index;
  }
  const pairs = pairsOf(wanted[longest] ?? "");
  let best = -1;
  let score = WORTH_SHOWING;
  for (const [index, line] of lines.entries()) {
    const found = similarity(pairs, line);
    if (found > score) [best, score] = [index, found];
  }
  return best === -1 ? null : best - longest;
}

/** Returns a reason that the two texts alone show; null when there is none. */
function knownReason(file: string, old: string): string | null {
  const lines = old.split("\n").filter((line) => line.trim() !== "");
  if (lines.every((line) => /^ *\d+\t/.test(line))) return "old_string holds the line numbers of Read; leave them out";
  if (findAll(file.toLowerCase(), old.toLowerCase()).length > 0) return "only upper and lower case differ";
  return null;
}

function shown(line: string): string {
  return cutText(line, SHOWN_LENGTH);
}

/**
 * Explains to the model why `old` was not found in the file: a reason where one is known, and the nearest lines
 * with their numbers and the first of them that differs. `lines` are those.
 */
export function explainNoMatch(
  file: string,
  old: string,
): { text: string; lines: readonly [first: number, last: number] | null } {
  const lines = file.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  const all = old.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  const first = all.findIndex((line) => line.trim() !== "");
  const wanted = all.slice(Math.max(0, first));
  while (wanted.length > 1 && wanted.at(-1)?.trim() === "") wanted.pop();
  const reason = knownReason(file, old);
  const opening = reason === null ? "" : ` Why: ${reason}.`;
  const start = bestByLines(lines, wanted) ?? bestBySimilarity(lines, wanted);
  if (start === null) {
    return { text: `${opening} No line of the file is similar. Read it and copy the text exactly.`, lines: null };
  }
  const from = Math.max(0, start);
  const rows: string[] = [];
  let difference = "";
  for (let at = from; at < Math.min(lines.length, start + wanted.length); at++) {
    const inFile = lines[at] ?? "";
    const inOld = wanted[at - start] ?? "";
    if (rows.length < SHOWN_LINES) rows.push(`${at + 1}\t${shown(inFile)}`);
    if (difference === "" && inFile.trim() !== inOld.trim()) {
      difference = `\nFirst difference, line ${at + 1}:\nfile:       ${shown(inFile)}\nold_string: ${shown(inOld)}`;
    }
  }
  if (difference === "" && lines.length < start + wanted.length) difference = "\nThe file ends before old_string does.";
  return {
    text: `${opening} Nearest lines:\n${rows.join("\n")}${difference}\nCopy the text exactly as the file has it.`,
    lines: [from + 1, Math.min(lines.length, start + wanted.length)],
  };
}
