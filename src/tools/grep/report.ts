/** Collects what a search returns to the model, the same whichever way was searched. */
import { shownName } from "../file_names.ts";
import type { GrepInput } from "../declarations.ts";
import type { FileMatches, SearchLimits } from "./search.ts";

/** Added when the time was up. */
export const LATE_NOTE = "INCOMPLETE: the time was up before every file was searched, so there may be more matches; " +
  "narrow the search with path or glob, or simplify the pattern";

/** Lines of a result. */
const LINES_LIMIT = 200;
/** Most characters of a result. */
const TEXT_LIMIT = 20 * 1024;

/** Collects matches, in the order of the paths, up to the limits. */
export class SearchReport {
  readonly #mode: GrepInput["output_mode"];
  readonly #context: number;
  readonly #limit: number;
  readonly #rows: string[] = [];
  #length = 0;
  #matches = 0;
  #files = 0;
  #full = false;

  /** `context`: lines around a match. `limit`: most characters of the result. */
  constructor(mode: GrepInput["output_mode"], { context, limit }: { context: number; limit: number }) {
    this.#mode = mode;
    this.#context = context;
    this.#limit = Math.min(limit, TEXT_LIMIT);
  }

  /** An empty one of the same form. */
  fresh(): SearchReport {
    return new SearchReport(this.#mode, { context: this.#context, limit: this.#limit });
  }

  get wanted(): SearchLimits {
    if (this.#mode === "count") return { most: Infinity, context: null };
    return this.#mode === "content" ? { most: LINES_LIMIT + 1, context: this.#context } : { most: 1, context: null };
  }

  /** Returns whether nothing more fits, and something was left out. */
  get full(): boolean {
    return this.#full;
  }

  add(display: string, found: FileMatches): void {
    const name = shownName(display);
    const fits = this.#mode === "content"
      ? this.#addLines(name, found)
      : this.#addRow(this.#mode === "count" ? `${name}:${found.count}` : name);
    if (!fits) return;
    this.#files++;
    this.#matches += found.count;
  }

  #addLines(name: string, { lines }: FileMatches): boolean {
    let previous = -1;
    for (const { number, text, match } of lines) {
      const gap = this.#context > 0 && this.#rows.length > 0 && number !== previous + 1;
      if (gap && !this.#addRow("--")) return false;
      const mark = match ? ":" : "-";
      if (!this.#addRow(`${name}${mark}${number}${mark}${text}`)) return previous >= 0;
      previous = number;
    }
    return true;
  }

  #addRow(row: string): boolean {
    if (this.#full || this.#rows.length >= LINES_LIMIT || this.#length + row.length > this.#limit) {
      this.#full = true;
      return false;
    }
    this.#rows.push(row);
    this.#length += row.length + 1;
    return true;
  }

  /** The result; `notes` say what else was left out. */
  text(notes: readonly string[]): string {
    const rows = this.#rows.at(-1) === "--" ? this.#rows.slice(0, -1) : [...this.#rows];
    if (this.#full) rows.push(`[more matches follow; narrow the search with path, glob or a longer pattern]`);
    if (rows.length === 0) rows.push(notes.includes(LATE_NOTE) ? "No match in what was searched." : "No match.");
    return [...rows, ...notes.map((note) => `[${note}]`)].join("\n");
  }

  get totals(): { numFiles: number; numMatches: number } {
    return { numFiles: this.#files, numMatches: this.#matches };
  }
}
