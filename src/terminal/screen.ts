/**
 * Draws a terminal: rows that stay, above a few live rows that are drawn again. Rows are written over in place and
 * in one write, so that nothing flickers; what has scrolled away is never touched.
 */
import type { Output } from "../platform/io.ts";
import { paint, type Row, rowWidth } from "./style.ts";

/** Live rows and where the cursor stands in them. */
export interface LiveRows {
  rows: readonly Row[];
  cursor: { row: number; column: number } | null;
}

/** A screen. Calls are written in order; a reader that has gone makes {@link Screen.settled} reject. */
export interface Screen {
  /** Columns that a row may take: one less than there are, since a full line would wrap on some terminals. */
  width(): number;
  /** Rows of the terminal; 24 where that is unknown. */
  height(): number;
  /** Adds rows above the live ones, which are drawn again as they are given. */
  print(rows: readonly Row[], live: LiveRows): void;
  /** Draws the live rows where they differ from what is shown, or anew when the terminal was resized since. */
  live(live: LiveRows): void;
  clear(): void;
  settled(): Promise<void>;
}

const NOTHING: LiveRows = { rows: [], cursor: null };
const HIDE = "\x1b[?25l";
const SHOW = "\x1b[?25h";

/** A screen on `output`, which is a terminal. */
export function createScreen(output: Output, options: { color: boolean }): Screen {
  return new TerminalScreen(output, options);
}

class TerminalScreen implements Screen {
  readonly #output: Output;
  readonly #options: { color: boolean };
  #shown: LiveRows = NOTHING;
  /** The row of the live ones that the terminal's cursor is in. */
  #at = 0;
  /** Columns and rows at the last drawing. */
  #columns = 0;
  #height = 0;
  /** Live rows that scrolled away when the terminal became lower: it takes them back when it grows. */
  #lost: Row[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(output: Output, options: { color: boolean }) {
    this.#output = output;
    this.#options = options;
  }

  width(): number {
    return Math.max(4, this.#output.columns() - 1);
  }

  height(): number {
    return Math.max(2, this.#output.rows?.() ?? 24);
  }

  print(rows: readonly Row[], live: LiveRows): void {
    if (rows.length === 0) return this.live(live);
    const shown = this.#fitted(live);
    const lines = [...rows, ...shown.rows].map((line) => this.#emptied(line));
    const start = this.#toTop();
    this.#lost = [];
    this.#shown = shown;
    const last = Math.max(0, shown.rows.length - 1);
    this.#at = last;
    const end = shown.rows.length === 0 ? "\r\n" : "";
    this.#write(`${start}${lines.join("\r\n")}${end}\x1b[J${this.#toCursor(shown)}`);
  }

  live(live: LiveRows): void {
    const shown = this.#fitted(live);
    const before = this.#shown;
    if (this.#columns !== this.#output.columns() || this.#height !== this.height()) {
      const start = this.#toTop();
      const lines = shown.rows.map((line) => this.#emptied(line));
      this.#shown = shown;
      this.#at = Math.max(0, shown.rows.length - 1);
      return this.#write(`${start}${lines.join("\r\n")}\x1b[J${this.#toCursor(shown)}`);
    }
    let text = "";
    for (const [index, line] of shown.rows.entries()) {
      const old = before.rows[index];
      if (old !== undefined && this.#paint(old) === this.#paint(line)) continue;
      text += this.#toRow(index, before.rows.length) + this.#emptied(line);
    }
    if (before.rows.length > shown.rows.length) {
      text += shown.rows.length === 0
        ? `${this.#toRow(0, before.rows.length)}\x1b[J`
        : `${this.#toRow(shown.rows.length, before.rows.length)}\x1b[J`;
    }
    this.#shown = shown;
    const cursor = this.#toCursor(shown);
    if (text !== "" || !sameCursor(before, shown)) this.#write(text + cursor);
  }

  clear(): void {
    const live = this.#shown;
    this.#shown = NOTHING;
    this.#at = 0;
    this.#write("\x1b[H\x1b[2J");
    this.live(live);
  }

  async settled(): Promise<void> {
    await this.#writing;
  }

  /**
   * A line on an emptied row. Emptied behind it, tmux would still count the cells of what stood there, and break the row
   * by them when it becomes narrower.
   */
  #emptied(line: Row): string {
    return `\x1b[K${this.#paint(line)}`;
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
   * To the first live row, whose place changes when the terminal broke the rows above the cursor anew. Nothing is cleared
   * here: at the top of the screen tmux would put all of it into what has scrolled away.
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

  /** To a live row; `there` rows are on the terminal, what lies below is made by line feeds. */
  #toRow(index: number, there: number): string {
    const reachable = Math.min(index, Math.max(0, Math.max(there, this.#at + 1) - 1));
    const move = reachable - this.#at;
    const vertical = move > 0 ? `\x1b[${move}B` : move < 0 ? `\x1b[${-move}A` : "";
    this.#at = index;
    return `${vertical}\r${"\r\n".repeat(index - reachable)}`;
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
    // It is told to whoever waits next.
    this.#writing.catch(() => {});
  }
}

function sameCursor(one: LiveRows, other: LiveRows): boolean {
  return one.cursor?.row === other.cursor?.row && one.cursor?.column === other.cursor?.column;
}
