/** A page of numbered lines, filled line by line until it is full. */
import { count } from "../result.ts";
import { cutText } from "../text.ts";

/** Lines of a page when the call names no limit. */
const PAGE_LINES = 2000;

/** Most bytes of a page, whatever the limit and the window. */
const PAGE_BYTES = 50 * 1024;

/** Characters of a line that are shown, in a page that has room for several such lines. */
export const LINE_LENGTH = 2000;

/** Characters of a line that are shown in the smallest page. */
const SHORTEST_CUT = 80;

/** Which lines are wanted. */
export interface PageRange {
  /** First line, from 1. */
  offset: number;
  /** Most lines. */
  limit: number;
  /** Most bytes. */
  bytes: number;
}

/** The range of a call: missing or impossible numbers become the nearest possible ones. */
export function pageRange(input: { offset?: number; limit?: number }, resultBytes: number): PageRange {
  const whole = (value: number | undefined, otherwise: number) =>
    value === undefined || !(value >= 1) ? otherwise : Math.floor(value);
  return {
    offset: whole(input.offset, 1),
    limit: whole(input.limit, PAGE_LINES),
    bytes: Math.min(PAGE_BYTES, resultBytes),
  };
}

/** Collects lines; `add` says whether the page wants more. */
export class Page {
  readonly #range: PageRange;
  readonly #lineLength: number;
  readonly #rows: string[] = [];
  #bytes = 0;
  #line = 0;
  #full = false;

  constructor(range: PageRange) {
    this.#range = range;
    // One long line must not be the whole page: its number and its beginning tell what it is.
    this.#lineLength = Math.min(LINE_LENGTH, Math.max(Math.floor(range.bytes / 4), SHORTEST_CUT));
  }

  /** Lines seen so far, before the page and in it. */
  get seen(): number {
    return this.#line;
  }

  get full(): boolean {
    return this.#full;
  }

  /** Takes the next line of the file, without its line end; `length` is its true length when `line` is only its beginning. */
  add(line: string, length = line.length): void {
    this.#line += 1;
    if (this.#line < this.#range.offset) return;
    const plain = line.endsWith("\r") ? line.slice(0, -1) : line;
    const cut = length > this.#lineLength
      ? `${cutText(plain, this.#lineLength)} [line cut: ${count(length, "character")}]`
      : plain;
    const row = `${this.#line}\t${cut}`;
    const bytes = new TextEncoder().encode(row).length + 1;
    if (this.#rows.length >= this.#range.limit || (this.#rows.length > 0 && this.#bytes + bytes > this.#range.bytes)) {
      // The line that did not fit is the first of the next page.
      this.#line -= 1;
      this.#full = true;
      return;
    }
    this.#rows.push(row);
    this.#bytes += bytes;
  }

  /**
   * The page as the model gets it. `total` is the number of lines of the file, null when it is not known.
   * Null when the offset is beyond the end.
   */
  text(total: number | null): string | null {
    if (this.#rows.length === 0) return null;
    const last = this.#range.offset + this.#rows.length - 1;
    const of = total === null ? "" : ` of ${total}`;
    if (this.#full) {
      return `${this.#rows.join("\n")}\n[lines ${this.#range.offset}-${last}${of}; go on with offset ${last + 1}]`;
    }
    if (this.#range.offset > 1) {
      return `${this.#rows.join("\n")}\n[lines ${this.#range.offset}-${last}${of}; end of file]`;
    }
    return this.#rows.join("\n");
  }
}
