/** What is drawn again below the rows that stay: the open block, what is done, what waits, the line, and the status. */
import { clean } from "../../terminal/clean.ts";
import type { LiveRows } from "../../terminal/screen.ts";
import { type Row, row } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";

/** Texts that wait and are shown. */
const WAITING_ROWS = 3;
/** Rows that must be free for an empty one between the open block and what is done. */
const GAP_ROOM = 6;

/** The parts, each already as wide as the terminal. */
export interface LiveParts {
  /** The block that is still written; its end is shown. */
  open: readonly Row[];
  /** What is being done; null for nothing. */
  activity: Row | null;
  /** Texts that wait for their turn. */
  waiting: readonly string[];
  /** What a key would do; empty for nothing. */
  hint: string;
  /** The line that is typed, or a question. */
  line: LiveRows;
  status: Row;
}

/** The rows from top to bottom, at most `height` where the line leaves room. */
export function liveRows(parts: LiveParts, { width, height }: { width: number; height: number }): LiveRows {
  const { line, status } = parts;
  const free = height - line.rows.length - 1;
  const activity = activityRows(parts, width).slice(0, Math.max(0, free));
  const room = free - activity.length;
  const open = room > 0 ? parts.open.slice(-room) : [];
  const gap: Row[] = room - open.length > GAP_ROOM && open.length > 0 ? [[]] : [];
  const above = [...open, ...gap, ...activity];
  const cursor = line.cursor === null ? null : { ...line.cursor, row: line.cursor.row + above.length };
  return { rows: [...above, ...line.rows, status], cursor };
}

function activityRows({ activity, waiting, hint }: LiveParts, width: number): Row[] {
  const queued = waiting.slice(0, WAITING_ROWS).map((text) => row(fit(`queued: ${clean(text)}`, width), "dim"));
  const hinted = hint === "" ? [] : [row(fit(hint, width), "warning")];
  return [...activity === null ? [] : [activity], ...queued, ...hinted];
}
