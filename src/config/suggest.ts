/** "Did you mean": the names that a mistyped word most likely means. */

/** Longer words are not compared: nobody types them, and the cost grows with the product of the lengths. */
const WORD_LIMIT = 64;

/**
 * Edit distance of two words, where swapping two neighbors costs one edit (optimal string alignment).
 * Letter case counts; callers fold it.
 */
function distance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}

/**
 * Up to three of `candidates` that `word` may have meant, nearest first; empty when none is near. A candidate is near
 * within a third of its length in edits (at least one), or when one is the beginning of the other.
 */
export function closest(word: string, candidates: Iterable<string>): string[] {
  const wanted = word.toLowerCase();
  if (wanted.length === 0 || wanted.length > WORD_LIMIT) return [];
  const near: { candidate: string; edits: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const name = candidate.toLowerCase();
    if (name.length > WORD_LIMIT) continue;
    const allowed = Math.max(1, Math.floor(Math.max(name.length, wanted.length) / 3));
    const edits = distance(wanted, name);
    // Completely different short words are one edit apart too (`a`, `b`): something must be shared.
    if (edits <= allowed && edits < name.length) near.push({ candidate, edits });
    else if (wanted.length >= 3 && (name.startsWith(wanted) || wanted.startsWith(name) && name.length >= 3)) {
      near.push({ candidate, edits: allowed + 1 });
    }
  }
  near.sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, 3).map((entry) => entry.candidate);
}

/** Returns the question `did you mean x, y or z?`; undefined without names. */
export function askWhich(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const list = names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return `did you mean ${list}?`;
}

/** Returns the question for those of `candidates` that `word` may have meant; undefined when none is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  return askWhich(closest(word, candidates));
}
