/** An exact set of windows of a content: each is kept once, by where it stands. */
import { SEPARATOR } from "./normalize.ts";

/** Windows of one length; equal ones are one. Grows as needed. */
export class WindowTable {
  readonly #content: Uint8Array;
  readonly #length: number;
  /** Start of a window, counted from 1; 0 is empty. */
  #slots: Uint32Array = new Uint32Array(1024);
  #count = 0;

  constructor(content: Uint8Array, length: number) {
    this.#content = content;
    this.#length = length;
  }

  #hash(bytes: Uint8Array, start: number): number {
    let hash = 0x811c9dc5;
    for (let index = 0; index < this.#length; index++) hash = Math.imul(hash ^ (bytes[start + index] ?? 0), 0x01000193);
    return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0;
  }

  /** The slot of an equal window, or the free one where it belongs. */
  #slotOf(bytes: Uint8Array, start: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#hash(bytes, start) & mask;
    for (;;) {
      const at = this.#slots[slot] ?? 0;
      if (at === 0 || this.#same(bytes, { start, at: at - 1 })) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #same(bytes: Uint8Array, { start, at }: { start: number; at: number }): boolean {
    for (let index = 0; index < this.#length; index++) {
      if (bytes[start + index] !== this.#content[at + index]) return false;
    }
    return true;
  }

  /** Adds the window of the content that begins at `start`, unless it reaches into another file. */
  add(start: number): void {
    if (start + this.#length > this.#content.length) return;
    for (let index = 0; index < this.#length; index++) {
      if (this.#content[start + index] === SEPARATOR) return;
    }
    const slot = this.#slotOf(this.#content, start);
    if (this.#slots[slot] !== 0) return;
    this.#slots[slot] = start + 1;
    this.#count += 1;
    if (this.#count * 2 > this.#slots.length) this.#grow();
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (const at of old) {
      if (at !== 0) this.#slots[this.#slotOf(this.#content, at - 1)] = at;
    }
  }

  /** Where in the content the window of `bytes` at `start` stands; null when it does not. */
  find(bytes: Uint8Array, start: number): number | null {
    if (start + this.#length > bytes.length || this.#count === 0) return null;
    const at = this.#slots[this.#slotOf(bytes, start)] ?? 0;
    return at === 0 ? null : at - 1;
  }
}
