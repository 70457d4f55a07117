/** A page of numbered lines, filled line by line until it is full; of long files without reading them whole. */
import { byteLength, cutText } from "../../platform/text.ts";
import { counted } from "../../platform/number.ts";
import { isRefusal } from "../result.ts";
import type { Label } from "../../boundary/policy/label.ts";
import type { Refusal, ResolvedPath } from "../../boundary/workspace/workspace.ts";
import type { LineRange, ToolContext } from "../tool.ts";

/** Lines of a page when the call names no limit. */
const PAGE_LINES = 2000;

/** Most bytes of a page, whatever the limit and the window. */
const PAGE_BYTES = 50 * 1024;

/** Characters of a line that are shown, in a page that has room for several such lines. */
const LINE_LENGTH = 2000;

/** Characters of a line that are shown in the smallest page. */
const SHORTEST_CUT = 80;

/** The lines of a page. */
export interface PageRange {
  /** First line, from 1. */
  offset: number;
  /** Most lines. */
  limit: number;
  /** Most bytes. */
  bytes: number;
}

/** The range of a call: missing or invalid numbers become the nearest valid ones. */
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
  readonly #cut: number[] = [];

  constructor(range: PageRange) {
    this.#range = range;
    // One long line must not be the whole page: its number and its beginning show what it is.
    this.#lineLength = Math.min(LINE_LENGTH, Math.max(Math.floor(range.bytes / 4), SHORTEST_CUT));
  }

  /** Lines seen so far, before the page and in it. */
  get seen(): number {
    return this.#line;
  }

  get full(): boolean {
    return this.#full;
  }

  /** The lines that the page shows whole, once it is full or the file has ended. */
  get shown(): LineRange[] {
    if (this.#rows.length === 0) return [];
    const ranges: LineRange[] = [];
    let first = this.#range.offset;
    for (const line of this.#cut) {
      ranges.push([first, line - 1]);
      first = line + 1;
    }
    return [...ranges, [first, this.#full ? this.#line : Infinity]];
  }

  /** Takes the next line of the file, without its line end; `length` is its length when `line` is its beginning. */
  add(line: string, length = line.length): void {
    this.#line += 1;
    if (this.#line < this.#range.offset) return;
    const plain = line.endsWith("\r") ? line.slice(0, -1) : line;
    const cut = length > this.#lineLength
      ? `${cutText(plain, this.#lineLength)} [line cut: ${counted(length, "character")}]`
      : plain;
    const row = `${this.#line}\t${cut}`;
    const bytes = byteLength(row) + 1;
    if (this.#rows.length >= this.#range.limit || (this.#rows.length > 0 && this.#bytes + bytes > this.#range.bytes)) {
      // The line that did not fit is the first of the next page.
      this.#line -= 1;
      this.#full = true;
      return;
    }
    if (cut !== plain) this.#cut.push(this.#line);
    this.#rows.push(row);
    this.#bytes += bytes;
  }

  /** Returns the page for the model; null beyond the end. `total` is the file's number of lines, null for unknown. */
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

/** Bytes read at a time. */
const STEP = 1024 * 1024;

/** Bytes of a line that are kept: enough for {@link LINE_LENGTH} characters of any alphabet. */
const LINE_BYTES = LINE_LENGTH * 4;

const LINE_FEED = 0x0a;

/** Puts lines together from pieces of a file, keeping no more of each than a page shows. */
class LineCollector {
  readonly #page: Page;
  readonly #decoder = new TextDecoder();
  #kept: number[] = [];
  #length = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#page.full;) {
      const found = bytes.indexOf(LINE_FEED, at);
      const end = found === -1 ? bytes.length : found;
      const room = LINE_BYTES - this.#kept.length;
      if (room > 0) this.#kept.push(...bytes.subarray(at, Math.min(end, at + room)));
      this.#length += end - at;
      if (found !== -1) this.#finish();
      at = end + 1;
    }
  }

  /** The last line, when no line end closed it. */
  end(): void {
    if (this.#length > 0 && !this.#page.full) this.#finish();
  }

  #finish(): void {
    const line = this.#decoder.decode(new Uint8Array(this.#kept));
    // A line kept whole is counted in characters; of any other, only the bytes are known.
    this.#page.add(line, this.#length > LINE_BYTES ? this.#length : line.length);
    this.#kept = [];
    this.#length = 0;
  }
}

/** The page of a long file in UTF-8, and the number of lines when the end was reached. */
export async function readLongFile(
  path: ResolvedPath,
  options: { range: PageRange; context: ToolContext },
): Promise<{ page: Page; total: number | null; label: Label } | Refusal> {
  const page = new Page(options.range);
  const lines = new LineCollector(page);
  for (let offset = 0;; offset += STEP) {
    options.context.signal.throwIfAborted();
    const read = await options.context.workspace.read(path, { offset, limit: STEP });
    if (isRefusal(read)) return read;
    lines.take(read.bytes);
    if (read.more && !page.full) continue;
    lines.end();
    return { page, total: page.full ? null : page.seen, label: read.label };
  }
}
