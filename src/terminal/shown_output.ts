/** Prepares the output of a program for display. */
import { joined } from "../platform/text.ts";

// deno-lint-ignore no-control-regex -- the sequences of colors start with a control character
const COLORS = /\x1b\[[0-9;:]*m/g;

/**
 * The text without colors, and of each line what follows its last carriage return, as progress bars leave it. It
 * is not safe to show yet: `clean` is for that.
 */
export function shownOutput(text: string): string {
  return text.replace(COLORS, "").split("\n").map((line) => {
    const kept = line.replace(/(?<!\r)\r+$/, "");
    return kept.slice(kept.lastIndexOf("\r") + 1);
  }).join("\n");
}

/** Keeps the end of what a program prints, however much that is. */
export class OutputTail {
  #bytes: Uint8Array = new Uint8Array();
  #isCut = false;

  add(bytes: Uint8Array): void {
    const all = joined([this.#bytes, bytes]);
    this.#isCut ||= all.length > TAIL_BYTES;
    this.#bytes = all.slice(-TAIL_BYTES);
  }

  /** The last lines, at most `most`; none of them begins before what is kept. */
  lines(most: number): string[] {
    const text = shownOutput(new TextDecoder().decode(this.#bytes)).trimEnd();
    const lines = text === "" ? [] : text.split("\n");
    return (this.#isCut && lines.length > 1 ? lines.slice(1) : lines).slice(-most);
  }
}

/** Enough for a few rows of any terminal. */
const TAIL_BYTES = 4096;
