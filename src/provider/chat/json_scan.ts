/** Whether text is one closed JSON object, found by its brackets alone: also in text that is not quite JSON. */

/** What the text read so far is. */
export type ScanState = "empty" | "open" | "closed" | "more";

/** Deepest nesting of what a server sends. Source: specification of the no-cloud boundary, "Around it". */
export const DEPTH_LIMIT = 200;

/**
 * Follows brackets and strings over pieces of text. `closed`: exactly one object ended and only white space followed;
 * `more`: something else stands before or after it. Outside strings JSON has no apostrophe and no backtick, so there
 * they can only open strings of a looser kind: a brace in such a string must not look like the end.
 */
export class ObjectScanner {
  state: ScanState = "empty";
  /** The deepest nesting met. */
  deepest = 0;
  #depth = 0;
  #quote = 0;
  #escaped = false;

  push(text: string): void {
    for (let index = 0; index < text.length; index++) this.#step(text.charCodeAt(index));
  }

  #step(code: number): void {
    if (this.#quote !== 0) {
      if (this.#escaped) this.#escaped = false;
      else if (code === BACKSLASH) this.#escaped = true;
      else if (code === this.#quote) this.#quote = 0;
      return;
    }
    if (code <= 0x20 || this.state === "more") return;
    if (this.state === "empty") {
      if (code !== OPEN_BRACE) return this.#becomeMore();
      this.state = "open";
    } else if (this.state === "closed") {
      return this.#becomeMore();
    }
    if (code === QUOTE || code === APOSTROPHE || code === BACKTICK) this.#quote = code;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.deepest = Math.max(this.deepest, ++this.#depth);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.#depth--;
      if (this.#depth === 0) this.state = "closed";
    }
  }

  #becomeMore(): void {
    this.state = "more";
  }
}

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const BACKTICK = 0x60;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
