/** Finds what changes when some rows of a terminal become others: rows that stay are moved by it, not written again. */
import type { Row } from "./style.ts";

/** Rows in place of others; between two of these, rows stay as they are. */
interface RowChange {
  /** Place of the first row among the old rows, and how many of them go. */
  old: number;
  removed: number;
  /** Place of the first row among the new rows, and how many of them come. */
  now: number;
  added: number;
}

/** Bytes that moving a row costs: one that is shorter is rather written again. */
const MOVE_COST = 12;

/** Returns the changes from above to below, so that as much text as possible stays. Rows are compared as they are written. */
export function rowChanges(old: readonly string[], now: readonly string[]): RowChange[] {
  let [top, oldEnd, nowEnd] = [0, old.length, now.length];
  while (top < Math.min(oldEnd, nowEnd) && old[top] === now[top]) top++;
  while (oldEnd > top && nowEnd > top && old[oldEnd - 1] === now[nowEnd - 1]) {
    [oldEnd, nowEnd] = [oldEnd - 1, nowEnd - 1];
  }
  // saved[i][j]: what can stay of the old rows from i and the new ones from j on.
  const saved = Array.from({ length: oldEnd + 1 }, () => new Uint32Array(nowEnd + 1));
  const at = (i: number, j: number) => saved[i]?.[j] ?? 0;
  const worth = (i: number, j: number) => old[i] === now[j] ? Math.max(0, (old[i]?.length ?? 0) - MOVE_COST) : 0;
  for (let i = oldEnd - 1; i >= top; i--) {
    for (let j = nowEnd - 1; j >= top; j--) {
      const stays = worth(i, j);
      const best = Math.max(at(i + 1, j), at(i, j + 1), stays > 0 ? stays + at(i + 1, j + 1) : 0);
      saved[i]?.fill(best, j, j + 1);
    }
  }
  const changes: RowChange[] = [];
  let [i, j] = [top, top];
  let open: RowChange = { old: i, removed: 0, now: j, added: 0 };
  const close = () => {
    if (open.removed + open.added > 0) changes.push(open);
    open = { old: i, removed: 0, now: j, added: 0 };
  };
  while (i < oldEnd || j < nowEnd) {
    const stays = i < oldEnd && j < nowEnd ? worth(i, j) : 0;
    if (stays > 0 && at(i, j) === stays + at(i + 1, j + 1)) {
      close();
      [i, j] = [i + 1, j + 1];
      open = { old: i, removed: 0, now: j, added: 0 };
    } else if (i < oldEnd && (j >= nowEnd || at(i, j) === at(i + 1, j))) {
      i++;
      open.removed++;
    } else {
      j++;
      open.added++;
    }
  }
  close();
  return changes;
}

/**
 * Returns how many columns at the beginning of a row look the same in another. Only of plain ASCII: how wide other
 * characters are, terminals do not agree on, and one may belong to the character before it.
 */
export function keptColumns(old: Row, now: Row): number {
  let kept = 0;
  let [span, at] = [0, 0];
  for (const { text, style } of old) {
    for (let index = 0; index < text.length; index++, kept++, at++) {
      while (at >= (now[span]?.text.length ?? Infinity)) [span, at] = [span + 1, 0];
      const other = now[span];
      if (
        other === undefined || other.style !== style || other.text[at] !== text[index] || !isAscii(text[index] ?? "")
      ) {
        return endsBefore(other?.text[at]) ? kept : Math.max(0, kept - 1);
      }
    }
  }
  while (at >= (now[span]?.text.length ?? Infinity)) [span, at] = [span + 1, 0];
  return endsBefore(now[span]?.text[at]) ? kept : Math.max(0, kept - 1);
}

/** Whether a character begins anew behind any other. */
function endsBefore(next: string | undefined): boolean {
  return next === undefined || isAscii(next);
}

/** Whether a text takes one column for each character on every terminal. */
export function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** Returns the row from a column on; what comes before is ASCII. */
export function behindColumn(row: Row, column: number): Row {
  let left = column;
  return row.flatMap((span) => {
    const text = span.text.slice(left);
    left = Math.max(0, left - span.text.length);
    return text === "" ? [] : [{ ...span, text }];
  });
}
