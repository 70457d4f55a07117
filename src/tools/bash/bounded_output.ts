/** Keeps the beginning and the end of what a command prints. */
import { grouped } from "../../platform/number.ts";
import { joined } from "../../platform/text.ts";

/** Most bytes kept of the beginning, and as many of the end. */
export const KEPT_BYTES = 10 * 1024;

/** Collects bytes; an endless stream costs no more than a short one. */
export class BoundedOutput {
  readonly #kept: number;
  readonly #head: Uint8Array;
  /** Twice the size, so that bytes move only once per full end. */
  readonly #tail: Uint8Array;
  #headLength = 0;
  #tailLength = 0;
  #total = 0;

  /** Keeps at most `limit` bytes, half of the beginning and half of the end. */
  constructor(limit: number) {
    this.#kept = Math.min(KEPT_BYTES, Math.floor(limit / 2));
    this.#head = new Uint8Array(this.#kept);
    this.#tail = new Uint8Array(2 * this.#kept);
  }

  add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const forHead = bytes.subarray(0, this.#kept - this.#headLength);
    this.#head.set(forHead, this.#headLength);
    this.#headLength += forHead.length;
    const rest = bytes.subarray(forHead.length).subarray(-this.#kept);
    if (this.#tailLength + rest.length > this.#tail.length) {
      const keep = this.#kept - Math.min(rest.length, this.#kept);
      this.#tail.copyWithin(0, this.#tailLength - keep, this.#tailLength);
      this.#tailLength = keep;
    }
    this.#tail.set(rest, this.#tailLength);
    this.#tailLength += rest.length;
  }

  /** The text; between beginning and end stands how many bytes were left out. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#tail.subarray(Math.max(0, this.#tailLength - this.#kept), this.#tailLength);
    const left = this.#total - head.length - tail.length;
    const decoder = new TextDecoder();
    if (left === 0) return decoder.decode(joined([head, tail]));
    // A cut can fall inside a character; its halves are useless.
    const start = decoder.decode(head).replace(/\uFFFD{1,3}$/, "");
    const end = decoder.decode(tail).replace(/^\uFFFD{1,3}/, "");
    const note = `[${grouped(left)} bytes omitted; redirect the output to a file to see all of it]`;
    return `${start}\n${note}\n${end}`;
  }
}
