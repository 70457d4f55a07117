/** The folded blocks of the transcript, and the view that unfolds one above the input; the same key folds it. */
import { type Row, row } from "../../../terminal/style.ts";
import { firstParts } from "./activity.ts";

/** All rows of what is folded, for a width. */
export type UnfoldedRows = (width: number) => Row[];

/** Folded texts that are kept; older ones are gone. */
const KEPT = 300;

/** The folded texts of a chat, numbered from 1. */
export class Folds {
  readonly #folds = new Map<number, UnfoldedRows>();
  #last = 0;
  /** The unfolded one, and the first row of it that is shown. */
  #shown: { number: number; offset: number } | null = null;
  /** As drawn last: how far a page goes. */
  #window = 1;
  #made: { number: number; width: number; rows: Row[] } | null = null;

  /** Names the next one, where it is folded; the key is named once. */
  get mark(): string {
    return this.#last === 0 ? "(#1, Ctrl-O)" : `(#${this.#last + 1})`;
  }

  add(rows: UnfoldedRows): void {
    this.#folds.set(++this.#last, rows);
    this.#folds.delete(this.#last - KEPT);
  }

  get isUnfolded(): boolean {
    return this.#shown !== null;
  }

  /** Unfolds the one of this number, without one the last; folds the one that is unfolded. Returns what is wrong, or "". */
  toggle(number: number | null): string {
    if (this.#shown !== null && (number === null || number === this.#shown.number)) {
      this.fold();
      return "";
    }
    if (this.#last === 0) return "nothing is folded";
    const wanted = number ?? this.#last;
    if (!this.#folds.has(wanted)) return `nothing is folded as #${wanted}; the last is #${this.#last}`;
    this.#shown = { number: wanted, offset: 0 };
    return "";
  }

  fold(): void {
    this.#shown = null;
    this.#made = null;
  }

  /** Shows the page before or behind. */
  page(direction: -1 | 1): void {
    if (this.#shown === null) return;
    const step = Math.max(1, this.#window - 1) * direction;
    this.#shown = { ...this.#shown, offset: Math.max(0, this.#shown.offset + step) };
  }

  /** The rows of the unfolded one, at most `height`; none where nothing is unfolded. */
  rows({ width, height }: { width: number; height: number }): Row[] {
    const shown = this.#shown;
    const unfold = shown === null ? undefined : this.#folds.get(shown.number);
    if (shown === null || unfold === undefined || height < 1) return [];
    if (this.#made?.number !== shown.number || this.#made.width !== width) {
      this.#made = { number: shown.number, width, rows: unfold(width) };
    }
    const { rows } = this.#made;
    const window = Math.max(1, height - 1);
    const offset = Math.max(0, Math.min(shown.offset, rows.length - window));
    [this.#window, this.#shown] = [window, { ...shown, offset }];
    const seen = rows.slice(offset, offset + window);
    if (height === 1) return seen;
    const place = `rows ${offset + 1}-${offset + seen.length} of ${rows.length}`;
    const parts = [`#${shown.number}`, ...rows.length > window ? [place, "PageUp, PageDown"] : [], "Ctrl-O folds"];
    return [...seen, row(firstParts(parts, width), "dim")];
  }
}
