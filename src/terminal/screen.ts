/**
 * Draws a terminal: rows that stay, above a few live rows that are redrawn. Rows are overwritten in place and
 * in one write, so that nothing flickers; what has scrolled away is never touched.
 */
import type { Output } from "../platform/io.ts";
import { paint, type Row, rowWidth } from "./style.ts";

export interface LiveRows {
  rows: readonly Row[];
  cursor: { row: number; column: number } | null;
}

const NOTHING: LiveRows = { rows: [], cursor: null };
const HIDE = "\x1b[?25l";
const SHOW = "\x1b[?25h";
/**
 * Empties a row before it is written. Emptied after the text, tmux would still count the cells of what stood there, and
 * break the row by them when it becomes narrower.
 */
const EMPTY = "\x1b[K";

/** A screen on a terminal. Calls are written in order; a reader that has gone makes {@link Screen.settled} reject. */
export class Screen {
  readonly #output: Output;
  readonly #options: { color: boolean };
  #shown: LiveRows = NOTHING;
  /** The row of the live ones that the terminal's cursor is in. */
  #at = 0;
  /** Columns and rows at the last drawing. */
  #columns = 0;
  #height = 0;
  /** Live rows that scrolled away when the terminal became shorter: they come back when it grows. */
  #lost: Row[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(output: Output, options: { color: boolean }) {
    this.#output = output;
    this.#options = options;
  }

  /** Columns that a row may take: one less than the terminal has, since a full line would wrap on some terminals. */
  width(): number {
    return Math.max(4, this.#output.columns() - 1);
  }

  /** Rows of the terminal; 24 where that is unknown. */
  height(): number {
    return Math.max(2, this.#output.rows?.() ?? 24);
  }

  /** Adds rows above the live ones, which are redrawn as given. */
  print(rows: readonly Row[], live: LiveRows): void {
    this.#draw(rows, this.#fitted(live));
    if (rows.length > 0) this.#lost = [];
  }

  /** Draws the live rows where they differ from what is shown, or completely after a resize. */
  live(live: LiveRows): void {
    this.#draw([], this.#fitted(live));
  }

  /** Replaces the shown live rows by rows that stay and the new live ones. */
  #draw(printed: readonly Row[], shown: LiveRows): void {
    const { rows: old, cursor } = this.#shown;
    const now = [...printed, ...shown.rows];
    if (old.length + now.length === 0) return;
    const isResized = this.#columns !== this.#output.columns() || this.#height !== this.height();
    // What is taller than the terminal scrolls while it is written.
    const isAnew = isResized || old.length === 0 || shown.rows.length === 0 || now.length >= this.height();
    const text = isAnew ? this.#anew(now, shown.rows.length === 0 && printed.length > 0) : this.#changed(old, now);
    this.#shown = shown;
    this.#at -= printed.length;
    const isMoved = cursor?.row !== shown.cursor?.row || cursor?.column !== shown.cursor?.column;
    const place = this.#toCursor(shown);
    if (text !== "" || isMoved) this.#write(text + place);
  }

  /** Writes all rows over what is there; `isEnded`: nothing live is below them. */
  #anew(rows: readonly Row[], isEnded: boolean): string {
    const start = this.#toTop();
    const lines = rows.map((line) => `${EMPTY}${this.#paint(line)}`);
    this.#at = isEnded ? rows.length : Math.max(0, rows.length - 1);
    return `${start}${lines.join("\r\n")}${isEnded ? "\r\n" : ""}\x1b[J`;
  }

  /** Turns rows into others: unchanged rows are moved by deleting and inserting rows. */
  #changed(old: readonly Row[], now: readonly Row[]): string {
    const changes = rowChanges(old.map((line) => this.#paint(line)), now.map((line) => this.#paint(line)));
    let text = "";
    let [left, added] = [old.length, 0];
    for (const change of changes.toReversed()) {
      const fewer = change.removed - change.added;
      added += Math.max(0, -fewer);
      if (fewer <= 0) continue;
      text += `${this.#toRow(change.old + change.added)}\x1b[${fewer}M`;
      left -= fewer;
    }
    if (added > 0) {
      // Space below: at the end of the screen everything scrolls.
      text += this.#toRow(left - 1) + "\r\n".repeat(added);
      this.#at += added;
    }
    for (const change of changes) {
      const both = Math.min(change.removed, change.added);
      const more = change.added - both;
      const isLast = change.old + change.removed === old.length;
      for (let index = 0; index < change.added; index++) {
        const at = change.now + index;
        if (index === both && !isLast) text += `${this.#toRow(at)}\x1b[${more}L`;
        text += this.#over(at, index < both ? old[change.old + index] ?? [] : [], now[at] ?? []);
      }
    }
    return text;
  }

  /** Writes a row over another, from where they differ on. */
  #over(at: number, old: Row, now: Row): string {
    if (this.#paint(old) === this.#paint(now)) return "";
    const isCovered = rowWidth(now) >= rowWidth(old) && old.every(({ text }) => isAscii(text));
    const kept = isCovered ? keptColumns(old, now) : 0;
    const start = kept > 0 ? `\x1b[${kept}C` : isCovered ? "" : EMPTY;
    return `${this.#toRow(at)}${start}${this.#paint(behindColumn(now, kept))}`;
  }

  clear(): void {
    const live = this.#shown;
    // Cleared rows go to the scrollback, where live rows do not belong.
    this.live(NOTHING);
    this.#at = 0;
    this.#write("\x1b[H\x1b[2J");
    this.live(live);
  }

  async settled(): Promise<void> {
    await this.#writing;
  }

  #paint(line: Row): string {
    return paint(line, this.#options);
  }

  /** Never more rows than the terminal has: what scrolled away cannot be drawn again. */
  #fitted({ rows, cursor }: LiveRows): LiveRows {
    const dropped = Math.max(0, rows.length - this.height() + 1);
    if (dropped === 0) return { rows, cursor };
    return {
      rows: rows.slice(dropped),
      cursor: cursor === null ? null : { ...cursor, row: Math.max(0, cursor.row - dropped) },
    };
  }

  /**
   * Moves to the first live row, whose place changes when the terminal rewraps the rows above the cursor. Nothing is
   * cleared here: at the top of the screen tmux would put all of it into the scrollback.
   */
  #toTop(): string {
    const columns = this.#output.columns();
    const height = this.height();
    let up = this.#at;
    if (this.#columns !== 0 && (this.#columns !== columns || this.#height !== height)) {
      const rowsOf = (line: Row) => Math.max(1, Math.ceil(rowWidth(line) / columns));
      up = this.#shown.rows.slice(0, this.#at).reduce((sum, line) => sum + rowsOf(line), 0);
      up += Math.floor((this.#shown.cursor?.column ?? 0) / columns);
      let hidden = up - (height - 1);
      let back = 0;
      for (let last = this.#lost.at(-1); last !== undefined; last = this.#lost.at(-1)) {
        if (back + rowsOf(last) > height - this.#height) break;
        back += rowsOf(last);
        this.#lost.pop();
      }
      for (const line of this.#shown.rows) {
        if (hidden <= 0) break;
        this.#lost.push(line);
        hidden -= rowsOf(line);
      }
      up += back;
    }
    this.#height = height;
    this.#columns = columns;
    return `${up > 0 ? `\x1b[${up}A` : ""}\r`;
  }

  /** Moves to an existing row, counted from the first live one. */
  #toRow(index: number): string {
    const move = index - this.#at;
    this.#at = index;
    return `${move > 0 ? `\x1b[${move}B` : move < 0 ? `\x1b[${-move}A` : ""}\r`;
  }

  #toCursor({ rows, cursor }: LiveRows): string {
    if (cursor === null || rows.length === 0) return HIDE;
    const up = this.#at - cursor.row;
    const vertical = up > 0 ? `\x1b[${up}A` : up < 0 ? `\x1b[${-up}B` : "";
    this.#at = cursor.row;
    return `${vertical}\r${cursor.column > 0 ? `\x1b[${cursor.column}C` : ""}${SHOW}`;
  }

  #write(text: string): void {
    const framed = `${HIDE}${text}`;
    this.#writing = this.#writing.then(() => this.#output.write(framed));
    // Whoever waits next gets the error.
    this.#writing.catch(() => {});
  }
}

/** Rows in place of others; between two of these, rows stay as they are. */
interface RowChange {
  /** Position of the first row among the old rows, and how many of them are removed. */
  old: number;
  removed: number;
  /** Position of the first row among the new rows, and how many of them are added. */
  now: number;
  added: number;
}

/** Bytes that moving a row costs: a shorter one is written again instead. */
const MOVE_COST = 12;

/**
 * Returns the changes from top to bottom, so that as much text as possible stays. Rows are compared as they are
 * written.
 */
function rowChanges(old: readonly string[], now: readonly string[]): RowChange[] {
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
 * Returns how many columns at the beginning of a row look the same in another. Only for plain ASCII: terminals do not
 * agree on the width of other characters, and one may belong to the character before it.
 */
function keptColumns(old: Row, now: Row): number {
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

/** Whether a character never combines with the one before it. */
function endsBefore(next: string | undefined): boolean {
  return next === undefined || isAscii(next);
}

/** Whether a text takes one column for each character on every terminal. */
function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** Returns the row from a column on; what comes before is ASCII. */
function behindColumn(row: Row, column: number): Row {
  let left = column;
  return row.flatMap((span) => {
    const text = span.text.slice(left);
    left = Math.max(0, left - span.text.length);
    return text === "" ? [] : [{ ...span, text }];
  });
}
