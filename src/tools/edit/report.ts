/** Reports an edit: the changed lines for the model, and hunks for clients. */
import { cutText } from "../../platform/text.ts";
import { lineStarts } from "../text.ts";
import { linesAt } from "./nearest.ts";
import type { Replacement } from "./match.ts";

/** Lines around a change that are shown. */
const AROUND = 3;

/** Lines of a change that the model gets: it knows what it wrote. */
const SHOWN_LINES = 12;

/** Changes that clients get in detail. */
const HUNK_LIMIT = 20;

/** One changed place, in the form of unified diffs: lines begin with a space, `-` or `+`. */
interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A changed place of the new text as numbered lines, with its surrounding lines. */
export function showChange(changed: string, place: { start: number; length: number }): string {
  const { start, length } = place;
  const lines = linesOf(changed);
  const [first = 1, last = 1] = linesAt(changed, [start, start + Math.max(0, length - 1)]);
  const from = Math.max(1, first - AROUND);
  const to = Math.min(lines.length, last + AROUND, from + SHOWN_LINES - 1);
  const rows: string[] = [];
  for (let line = from; line <= to; line++) rows.push(`${line}\t${cutText(lines[line - 1] ?? "", 200)}`);
  return rows.join("\n");
}

/** Groups replacements whose lines touch or are close. */
function grouped(
  file: string,
  replacements: readonly Replacement[],
): { first: number; last: number; members: Replacement[] }[] {
  const groups: { first: number; last: number; members: Replacement[] }[] = [];
  const lines = linesAt(file, replacements.flatMap(({ start, end }) => [start, Math.max(start, end - 1)]));
  for (const [index, replacement] of replacements.entries()) {
    const first = lines[index * 2] ?? 1;
    const last = lines[index * 2 + 1] ?? first;
    const open = groups.at(-1);
    if (open !== undefined && first <= open.last + 2 * AROUND) {
      open.last = last;
      open.members.push(replacement);
    } else groups.push({ first, last, members: [replacement] });
  }
  return groups;
}

/** The changes as hunks, at most twenty. */
export function hunksOf(file: string, replacements: readonly Replacement[]): Hunk[] {
  const lines = linesOf(file);
  const starts = lineStarts(file);
  let shift = 0;
  return grouped(file, replacements).slice(0, HUNK_LIMIT).map(({ first, last, members }) => {
    // A replacement that takes the last line end may join the next line: it is part of the change.
    const end = Math.min(lines.length, last + 1);
    const begin = starts[first - 1] ?? 0;
    const stop = starts[end] ?? file.length;
    let text = "";
    let from = begin;
    for (const member of members) {
      text += file.slice(from, member.start) + member.text;
      from = member.end;
    }
    const before = lines.slice(first - 1, end);
    const after = linesOf(text + file.slice(from, stop));
    while (before.length > 0 && after.length > 0 && before.at(-1) === after.at(-1)) {
      before.pop();
      after.pop();
    }
    const above = lines.slice(Math.max(0, first - 1 - AROUND), first - 1);
    const tail = first - 1 + before.length;
    const below = lines.slice(tail, tail + AROUND);
    const hunk = {
      oldStart: first - above.length,
      oldLines: above.length + before.length + below.length,
      newStart: first - above.length + shift,
      newLines: above.length + after.length + below.length,
      lines: [
        ...above.map((line) => ` ${line}`),
        ...before.map((line) => `-${line}`),
        ...after.map((line) => `+${line}`),
        ...below.map((line) => ` ${line}`),
      ],
    };
    shift += after.length - before.length;
    return hunk;
  });
}
