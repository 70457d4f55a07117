/** Compares texts as a unified diff. Loads the diff library: import this module lazily. */
import { createTwoFilesPatch } from "npm:diff@9.0.0";

/** More changed lines than this are shown as one change: finding the shortest one would take seconds. */
const MOST_CHANGES = 2000;
const CONTEXT = 3;

/**
 * The unified diff that turns `before` into `after`, with `name` as both file names (`/dev/null` for a missing
 * file: `before` null); empty when nothing changes.
 */
export function unifiedDiff(before: string | null, after: string, options: { name: string }): string {
  if (before === after) return "";
  const from = before === null ? "/dev/null" : options.name;
  const patch = createTwoFilesPatch(from, options.name, before ?? "", after, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MOST_CHANGES,
  });
  if (patch === undefined) return oneHunk(before ?? "", after, { from, to: options.name });
  // The library starts with two lines that belong to another format.
  return patch.replace(/^(Index: .*\n)?=+\n/, "");
}

/** Replaces all lines between the first and the last that differ. */
function oneHunk(before: string, after: string, { from, to }: { from: string; to: string }): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same++;
  const first = Math.max(0, start - CONTEXT);
  const kept = Math.min(same, CONTEXT);
  const range = (lines: readonly string[]) => {
    const count = lines.length - same + kept - first;
    return `${count === 0 ? first : first + 1},${count}`;
  };
  return [
    `--- ${from}`,
    `+++ ${to}`,
    `@@ -${range(old)} +${range(now)} @@`,
    ...old.slice(first, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - same).map((line) => `-${line}`),
    ...now.slice(start, now.length - same).map((line) => `+${line}`),
    ...old.slice(old.length - same, old.length - same + kept).map((line) => ` ${line}`),
    "",
  ].join("\n");
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
