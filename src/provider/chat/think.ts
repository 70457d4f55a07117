/** Splits reasoning between marks from the text while it streams. */
import { answerMarkAt, deferredTail, MARK_CANDIDATE, mayBeginMark, reasoningMarkAt } from "./reasoning_marks.ts";

interface ThinkSink {
  text(text: string): void;
  reasoning(text: string): void;
  /** Turns all text so far and `rest` into reasoning: the template had opened the block, only its end was sent. */
  reclassify(rest: string): void;
}

/** Longest white space that is held back: a model that endlessly writes blank lines must not cost more with each. */
const SPACE_LIMIT = 256;

/** May follow an opening mark and belongs to it (gpt-oss). */
const MESSAGE = "<|message|>";

/** Marks that a text is searched for: fences of code, opening tags with attributes, and marks. */
const TEXT_MARKS = new RegExp(`\`{3,}|<([\\w.:|-]{1,48})(?=\\s)|${MARK_CANDIDATE}`, "g");

/**
 * `start`: nothing but white space came. `text`: an answer, in which a closing mark may still show that it was
 * reasoning. `opened`, `after`: right after the mark that opens or closes reasoning, where white space is dropped.
 * `inside`: reasoning. `answer`: an answer between marks of its own. `plain`: text until the end.
 */
type State = "start" | "text" | "opened" | "inside" | "after" | "answer" | "plain";

/**
 * Splits text. Blocks count only at the very start of a reply; marks further on are what the model talks about.
 * A mark may be split over pieces: what could become one is held back until it is clear.
 */
export class ThinkSplitter {
  readonly #sink: ThinkSink;
  #state: State = "start";
  /** Held back: the start of a mark, or white space whose meaning is undecided. */
  #deferred = "";
  #lastCharacter = "\n";
  /** Marks that close the open block or answer. */
  #closers: readonly string[] = [];
  /** Closing marks of what was opened in the text: they prove nothing. */
  readonly #mentioned = new Set<string>();
  /** The text is between fences of code. */
  #inCode = false;
  /** Stands between the reasoning of two blocks. */
  #separator = "";

  constructor(sink: ThinkSink) {
    this.#sink = sink;
  }

  /** The server separates reasoning itself: marks in the text are text. */
  reasoningIsSeparate(): void {
    if (this.#state !== "start" && this.#state !== "text") return;
    this.#state = "plain";
    this.#release();
  }

  push(piece: string): void {
    if (this.#state === "plain" || (this.#state === "text" && this.#deferred === "" && !/[<[◁`]/.test(piece))) {
      this.#text(piece);
      return;
    }
    let rest = this.#deferred + piece;
    this.#deferred = "";
    for (;;) {
      const next = this.#step(rest);
      if (next === null) return;
      rest = next;
    }
  }

  /** The reply ended: what was held back is what it looks like. */
  end(): void {
    if (this.#state === "inside") this.#deferred = this.#deferred.trimEnd();
    this.#release();
  }

  /** Handles the front of `rest`; gives what is left of it, or null when all is used or held. */
  #step(rest: string): string | null {
    switch (this.#state) {
      case "start":
      case "after":
        return this.#stepStart(rest);
      case "text":
        return this.#stepText(rest);
      case "opened": {
        const body = rest.trimStart();
        if (body.length < MESSAGE.length && MESSAGE.startsWith(body)) return this.#defer(body);
        this.#state = "inside";
        if (!body.startsWith(MESSAGE)) return body;
        this.#state = "opened";
        return body.slice(MESSAGE.length);
      }
      case "inside":
        return this.#stepInside(rest);
      case "answer":
        return this.#stepAnswer(rest);
      case "plain":
        if (rest !== "") this.#text(rest);
        return null;
    }
  }

  #stepStart(rest: string): string | null {
    const body = rest.trimStart();
    const { length } = rest;
    if (mayBeginMark(body) && length <= SPACE_LIMIT) return this.#defer(this.#state === "after" ? body : rest);
    const mark = reasoningMarkAt(body, 0, { first: true });
    if (mark?.kind === "open") {
      this.#closers = mark.closers;
      this.#state = "opened";
      return body.slice(mark.end);
    }
    const answer = answerMarkAt(body, 0);
    if (answer !== null) {
      this.#closers = answer.closers;
      this.#state = "after";
      return body.slice(answer.end);
    }
    if (this.#state === "after") {
      if (body === "") return null;
      this.#state = this.#closers.length > 0 ? "answer" : "plain";
      return body;
    }
    this.#state = "text";
    return rest;
  }

  #stepText(rest: string): string | null {
    const keep = deferredTail(rest);
    const known = rest.slice(0, keep);
    for (const found of known.matchAll(TEXT_MARKS)) {
      const at = found.index;
      if (found[0].startsWith("`")) this.#inCode = !this.#inCode;
      else if (found[1] !== undefined) this.#mentioned.add(`</${found[1]}>`);
      const mark = reasoningMarkAt(rest, at);
      if (mark?.kind === "open") { for (const closer of mark.closers) this.#mentioned.add(closer); }
      if (mark?.kind !== "close") continue;
      const before = at > 0 ? rest.charAt(at - 1) : this.#lastCharacter;
      // Quoted, or with its opening mark before it, it is something the model talks about.
      if (this.#inCode || /["'`]/.test(before) || this.#mentioned.has(rest.slice(at, mark.end))) continue;
      this.#sink.reclassify(rest.slice(0, at));
      return this.#close(rest, { at, behind: mark.end });
    }
    this.#text(known);
    return keep < rest.length ? this.#defer(rest.slice(keep)) : null;
  }

  #stepInside(rest: string): string | null {
    const end = firstOf(this.#closers, rest);
    if (end !== null) {
      this.#reason(rest.slice(0, end.at).trimEnd());
      return this.#close(rest, end);
    }
    const before = rest.slice(0, deferredTail(rest, this.#closers));
    const trimmed = before.trimEnd().length;
    const keep = before.length - trimmed <= SPACE_LIMIT ? trimmed : before.length;
    this.#reason(rest.slice(0, keep));
    return keep < rest.length ? this.#defer(rest.slice(keep)) : null;
  }

  /** Ends the reasoning before a mark; one that opens the answer as well is left for what comes next. */
  #close(rest: string, mark: { at: number; behind: number }): string {
    this.#separator = "\n\n";
    this.#closers = [];
    this.#state = "after";
    return rest.slice(answerMarkAt(rest, mark.at) === null ? mark.behind : mark.at);
  }

  /** The marks around an answer are not part of it. */
  #stepAnswer(rest: string): string | null {
    const end = firstOf(this.#closers, rest);
    if (end !== null) {
      this.#text(rest.slice(0, end.at));
      return rest.slice(end.behind);
    }
    const keep = deferredTail(rest, this.#closers);
    this.#text(rest.slice(0, keep));
    return keep < rest.length ? this.#defer(rest.slice(keep)) : null;
  }

  #text(text: string): void {
    if (text === "") return;
    this.#lastCharacter = text.charAt(text.length - 1);
    this.#sink.text(text);
  }

  #reason(text: string): void {
    if (text === "") return;
    this.#sink.reasoning(this.#separator + text);
    this.#separator = "";
  }

  #defer(text: string): null {
    this.#deferred = text;
    return null;
  }

  #release(): void {
    const deferred = this.#deferred;
    this.#deferred = "";
    if (this.#state === "inside" || this.#state === "opened") this.#reason(deferred);
    else this.#text(deferred);
  }
}

/** The first of `literals` that stands in `text`. */
function firstOf(literals: readonly string[], text: string): { at: number; behind: number } | null {
  let first: { at: number; behind: number } | null = null;
  for (const literal of literals) {
    const at = text.indexOf(literal);
    if (at >= 0 && (first === null || at < first.at)) first = { at, behind: at + literal.length };
  }
  return first;
}
