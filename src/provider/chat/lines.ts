/** Bytes into lines: the first step of reading a stream. */
import { ProviderFailure } from "../failure.ts";

/** Longest line, in characters. Source: specification of the no-cloud boundary, "Around it". */
const LINE_LIMIT = 16 * 1024 * 1024;

/**
 * Cuts UTF-8 bytes, however they are split, into lines that end in LF, CRLF or CR. A byte order mark at the start is
 * dropped; U+2028 and its kind end no line. Each line costs its length once, also when it comes byte by byte.
 */
export class LineDecoder {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  /** Pieces of the line that has not ended. */
  #pending: string[] = [];
  #pendingLength = 0;
  /** The last chunk ended in CR: a LF that follows belongs to it. */
  #afterReturn = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Takes the next bytes; their lines have been handed on when it returns. A line over 16 Mi is `invalid_reply`. */
  feed(bytes: Uint8Array): void {
    this.#split(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Hands on what stands after the last line end, if anything. */
  end(): void {
    this.#split(this.#decoder.decode());
    const rest = this.rest();
    this.#pending = [];
    this.#pendingLength = 0;
    if (rest !== "") this.#onLine(rest);
  }

  /** The start of a line that has not ended; joined only when short, else empty. */
  shortRest(limit: number): string {
    return this.#pendingLength <= limit ? this.rest() : "";
  }

  private rest(): string {
    return this.#pending.length === 1 ? this.#pending[0] ?? "" : this.#pending.join("");
  }

  #split(decoded: string): void {
    if (decoded === "") return;
    let text = decoded;
    if (this.#afterReturn && text.startsWith("\n")) text = text.slice(1);
    this.#afterReturn = text.endsWith("\r");
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n");
    let start = 0;
    let end = text.indexOf("\n");
    if (end >= 0 && this.#pendingLength > 0) {
      this.#pending.push(text.slice(0, end));
      const line = this.#pending.join("");
      this.#pending = [];
      this.#pendingLength = 0;
      this.#onLine(line);
      start = end + 1;
      end = text.indexOf("\n", start);
    }
    while (end >= 0) {
      this.#onLine(text.slice(start, end));
      start = end + 1;
      end = text.indexOf("\n", start);
    }
    if (start < text.length) this.#keep(start === 0 ? text : text.slice(start));
  }

  #keep(rest: string): void {
    this.#pendingLength += rest.length;
    if (this.#pendingLength > LINE_LIMIT) {
      throw new ProviderFailure("invalid_reply", "the server sent a line of more than 16 MiB", { kind: "invalid" });
    }
    this.#pending.push(rest);
  }
}
