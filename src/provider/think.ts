/** Reasoning that stands in the text between `<think>` and `</think>`, told apart while it streams. */

/** Where the two kinds go. */
export interface ThinkSink {
  text(text: string): void;
  reasoning(text: string): void;
  /**
   * All text so far was reasoning: the template had opened the block and only its end was sent. White space at its end
   * counts only when more reasoning follows.
   */
  reclassify(): void;
}

const OPENER = "<think>";
const CLOSER = "</think>";
/** Longest white space that is held back: a model that runs away in blank lines must not cost more with each. */
const SPACE_LIMIT = 256;

/**
 * `start`: nothing but white space came. `text`: an answer, in which a closer may still show that it was none.
 * `opened`, `after`: right behind the opener or the closer, where white space is dropped. `inside`: reasoning.
 * `plain`: text for good.
 */
type State = "start" | "text" | "opened" | "inside" | "after" | "plain";

/**
 * Splits text. A block counts only at the very start of a reply; tags further on are what the model talks about.
 * A tag may be split over pieces: what could become one is held back until it is clear.
 */
export class ThinkSplitter {
  readonly #sink: ThinkSink;
  #state: State = "start";
  /** Held back: the start of a tag, or white space whose meaning is open. */
  #held = "";
  #lastCharacter = "\n";

  constructor(sink: ThinkSink) {
    this.#sink = sink;
  }

  /** The server tells reasoning apart itself: tags in the text are text. */
  reasoningIsSeparate(): void {
    if (this.#state !== "start" && this.#state !== "text") return;
    this.#state = "plain";
    this.#release();
  }

  push(piece: string): void {
    if (this.#state === "plain" || (this.#state === "text" && this.#held === "" && !piece.includes("<"))) {
      this.#text(piece);
      return;
    }
    let rest = this.#held + piece;
    this.#held = "";
    for (;;) {
      const next = this.#step(rest);
      if (next === null) return;
      rest = next;
    }
  }

  /** The reply ended: what was held back is what it looks like. */
  end(): void {
    if (this.#state === "inside") this.#held = this.#held.trimEnd();
    this.#release();
  }

  /** Handles the front of `rest`; gives what is left of it, or null when all is used or held. */
  #step(rest: string): string | null {
    switch (this.#state) {
      case "start": {
        const body = rest.trimStart();
        const open = body.length < OPENER.length && OPENER.startsWith(body);
        if (open && rest.length <= SPACE_LIMIT) return this.#hold(rest);
        if (body.startsWith(OPENER)) {
          this.#state = "opened";
          return body.slice(OPENER.length);
        }
        this.#state = "text";
        return rest;
      }
      case "text":
        return this.#stepText(rest);
      case "opened": {
        const body = rest.trimStart();
        if (body === "") return null;
        this.#state = "inside";
        return body;
      }
      case "inside":
        return this.#stepInside(rest);
      case "after": {
        const body = rest.trimStart();
        if (body === "") return null;
        this.#state = "plain";
        return body;
      }
      case "plain":
        if (rest !== "") this.#text(rest);
        return null;
    }
  }

  #stepText(rest: string): string | null {
    const end = rest.indexOf(CLOSER);
    if (end < 0) {
      const keep = tagStart(rest);
      if (keep > 0) this.#text(rest.slice(0, keep));
      return keep < rest.length ? this.#hold(rest.slice(keep)) : null;
    }
    const before = end > 0 ? rest.charAt(end - 1) : this.#lastCharacter;
    // Quoted, it is something the model talks about.
    if (/["'`]/.test(before)) {
      this.#text(rest.slice(0, end + CLOSER.length));
      this.#state = "plain";
      return rest.slice(end + CLOSER.length);
    }
    this.#sink.reclassify();
    const reasoning = rest.slice(0, end).trimEnd();
    if (reasoning !== "") this.#sink.reasoning(reasoning);
    this.#state = "after";
    return rest.slice(end + CLOSER.length);
  }

  #stepInside(rest: string): string | null {
    const end = rest.indexOf(CLOSER);
    if (end >= 0) {
      const reasoning = rest.slice(0, end).trimEnd();
      if (reasoning !== "") this.#sink.reasoning(reasoning);
      this.#state = "after";
      return rest.slice(end + CLOSER.length);
    }
    const before = rest.slice(0, tagStart(rest));
    const trimmed = before.trimEnd().length;
    const keep = before.length - trimmed <= SPACE_LIMIT ? trimmed : before.length;
    if (keep > 0) this.#sink.reasoning(rest.slice(0, keep));
    return keep < rest.length ? this.#hold(rest.slice(keep)) : null;
  }

  #text(text: string): void {
    if (text === "") return;
    this.#lastCharacter = text.charAt(text.length - 1);
    this.#sink.text(text);
  }

  #hold(text: string): null {
    this.#held = text;
    return null;
  }

  #release(): void {
    const held = this.#held;
    this.#held = "";
    if (held === "") return;
    if (this.#state === "inside") this.#sink.reasoning(held);
    else this.#text(held);
  }
}

/** Where in `text` a closer may begin that is not complete; its length when none does. */
function tagStart(text: string): number {
  const open = text.lastIndexOf("<");
  return open >= 0 && CLOSER.startsWith(text.slice(open)) ? open : text.length;
}
