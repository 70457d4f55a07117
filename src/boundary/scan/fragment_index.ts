/**
 * Finds every stretch of 12 or more bytes that a text has in common with the protected content.
 *
 * Every fifth stretch of 8 bytes of the content (a gram) is in a hash table. Any 12 bytes in a row hold one of them whole,
 * so the table is a fifth of the content, and looking up each 8 bytes of a text misses nothing. Of a gram that stands there
 * again, a second table has what stands around it: the windows of 12 bytes. A find is compared with the content itself: no
 * collision of hashes can raise or hide one.
 */
import { keyOf, SEPARATOR } from "./normalize.ts";
import { type ProtectedContent, WHOLE } from "./protected_content.ts";

/** Normalized bytes in a row that make a hit. */
export const SHORTEST_FRAGMENT = 12;
const GRAM = 8;
/** Distance of the grams in the table: the largest at which 12 bytes cannot slip through. */
const STEP = SHORTEST_FRAGMENT - GRAM + 1;
/** Longest stretch told at once: following each further could take time in the square of a text of dashes. */
const LONGEST_PIECE = 64;

/** Another one in each process: no file can be made whose stretches have one hash, to make scans slow. */
const BASE = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) | 1;
/** `BASE` to the power of `GRAM`, modulo 2^32: takes the oldest byte out of the rolling hash. */
const BASE_OUT = Array.from({ length: GRAM }).reduce<number>((power) => Math.imul(power, BASE), 1);
const SCATTER = 0x9e3779b1;
/** Size of the filter for whole values, as a power of two in bits. */
const WHOLE_BITS = 20;

/** A stretch that text and content share: offsets into each. */
export interface Shared {
  start: number;
  end: number;
  /** Offset of the first byte in the content. */
  at: number;
}

interface Pair {
  start: number;
  content: Uint8Array;
  at: number;
}

function hashOf(bytes: Uint8Array, start: number, length: number): number {
  let hash = 0;
  for (let at = start; at < start + length; at++) hash = (Math.imul(hash, BASE) + (bytes[at] ?? 0)) | 0;
  return hash;
}

function isSame(text: Uint8Array, { start, content, at, length }: Pair & { length: number }): boolean {
  for (let index = 0; index < length; index++) {
    if (text[start + index] !== content[at + index]) return false;
  }
  return true;
}

/** One bit for each hash: small enough for the processor's cache, unlike a table. */
class Filter {
  readonly #bytes: Uint8Array;
  readonly #shift: number;

  constructor(bits: number) {
    this.#bytes = new Uint8Array(2 ** (bits - 3));
    this.#shift = 32 - bits;
  }

  add(hash: number): void {
    const bit = Math.imul(hash, SCATTER) >>> this.#shift;
    this.#bytes[bit >>> 3] = (this.#bytes[bit >>> 3] ?? 0) | 1 << (bit & 7);
  }

  has(hash: number): boolean {
    const bit = Math.imul(hash, SCATTER) >>> this.#shift;
    return ((this.#bytes[bit >>> 3] ?? 0) >>> (bit & 7) & 1) === 1;
  }
}

/** Stretches of the content, all of one length; of equal ones the first. */
class StretchTable {
  readonly #content: Uint8Array;
  readonly #length: number;
  /** Where each stretch begins, counted from 1; 0 is empty. */
  #slots: Uint32Array;
  #shift: number;
  #count = 0;

  constructor(content: Uint8Array, { length, bits }: { length: number; bits: number }) {
    this.#content = content;
    this.#length = length;
    this.#slots = new Uint32Array(2 ** bits);
    this.#shift = 32 - bits;
  }

  /** The slot of an equal stretch, or the free one where it belongs. */
  #slotOf(bytes: Uint8Array, start: number): number {
    const length = this.#length;
    for (let slot = Math.imul(hashOf(bytes, start, length), SCATTER) >>> this.#shift;; slot++) {
      slot &= this.#slots.length - 1;
      const at = this.#slots[slot] ?? 0;
      if (at === 0 || isSame(bytes, { start, content: this.#content, at: at - 1, length })) return slot;
    }
  }

  /** Adds the stretch that begins at `start`, unless it reaches into another file; returns where an equal one begins. */
  add(start: number): number | null {
    const end = start + this.#length;
    if (start < 0 || end > this.#content.length) return null;
    for (let at = start; at < end; at++) if (this.#content[at] === SEPARATOR) return null;
    const slot = this.#slotOf(this.#content, start);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return known - 1;
    this.#slots[slot] = start + 1;
    if (++this.#count * 2 > this.#slots.length) this.#grow();
    return start;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    this.#shift -= 1;
    for (const at of old) if (at !== 0) this.#slots[this.#slotOf(this.#content, at - 1)] = at;
  }

  /** Where in the content the stretch of `bytes` at `start` stands; null when it does not. */
  find(bytes: Uint8Array, start: number): number | null {
    const at = start < 0 || start + this.#length > bytes.length ? 0 : this.#slots[this.#slotOf(bytes, start)] ?? 0;
    return at === 0 ? null : at - 1;
  }
}

/** The shared stretch around a shared gram: as much in front as another gram would not have found, and what follows. */
function extend(text: Uint8Array, { start, content, at }: Pair): Shared {
  let back = 0;
  while (back < STEP - 1 && back < start && back < at) {
    const byte = content[at - back - 1];
    if (byte === SEPARATOR || byte !== text[start - back - 1]) break;
    back += 1;
  }
  const most = Math.min(LONGEST_PIECE - back, text.length - start, content.length - at);
  let length = GRAM;
  while (length < most) {
    const byte = content[at + length];
    if (byte === SEPARATOR || byte !== text[start + length]) break;
    length += 1;
  }
  return { start: start - back, end: start + length, at: at - back };
}

/** The tables over a finished content. */
export class FragmentIndex {
  readonly #content: Uint8Array;
  readonly #wholes: ReadonlyMap<string, number>;
  readonly #filter: Filter;
  readonly #grams: StretchTable;
  /** Around grams that stand there again. */
  readonly #windows: StretchTable;
  /** For whole values and lines. */
  readonly #wholeFilter = new Filter(WHOLE_BITS);

  constructor(content: ProtectedContent) {
    this.#content = content.bytes;
    this.#wholes = content.wholes;
    const bits = Math.max(10, Math.ceil(Math.log2(this.#content.length / STEP + 1)) + 1);
    this.#filter = new Filter(Math.min(30, bits + 3));
    this.#grams = new StretchTable(this.#content, { length: GRAM, bits });
    this.#windows = new StretchTable(this.#content, { length: SHORTEST_FRAGMENT, bits: bits + 1 });
    for (let at = 0; at < this.#content.length; at += STEP) this.#add(at);
    for (const start of this.#wholes.values()) this.#wholeFilter.add(hashOf(this.#content, start, GRAM));
  }

  #add(at: number): void {
    const first = this.#grams.add(at);
    if (first === at) this.#filter.add(hashOf(this.#content, at, GRAM));
    if (first === null || first === at) return;
    const around = { start: at + 1 - STEP, at: first + 1 - STEP, length: SHORTEST_FRAGMENT + STEP - 1 };
    if (isSame(this.#content, { content: this.#content, ...around })) return;
    for (let start = at + 1 - STEP; start <= at; start++) this.#windows.add(start);
  }

  /**
   * Tells `found` of what `text` shares with the content, until it returns true: stretches of 12 and more, long ones in
   * pieces, and whole values and lines as they are. Every shared 12 bytes are in a stretch that is told.
   */
  search(text: Uint8Array, found: (shared: Shared) => boolean): void {
    if (text.length < GRAM) return;
    const content = this.#content;
    /** Difference of offsets → end of what was told on it. */
    const told = new Map<number, number>();
    const report = (start: number, at: number): boolean => {
      if ((told.get(at - start) ?? 0) >= start + GRAM) return false;
      const shared = extend(text, { start, content, at });
      const length = shared.end - shared.start;
      if (length < SHORTEST_FRAGMENT) return false;
      // What was cut short is taken up again, so that no 12 bytes across the cut are passed over.
      told.set(at - start, length < LONGEST_PIECE ? shared.end : shared.end - SHORTEST_FRAGMENT);
      return found(shared);
    };
    let hash = hashOf(text, 0, GRAM);
    for (let start = 0, end = GRAM; end <= text.length; start++, end++) {
      if (this.#filter.has(hash) && this.#searchGram(text, { start, report })) return;
      if (this.#wholeFilter.has(hash) && this.#searchWholes(text, { start, found })) return;
      hash = (Math.imul(hash, BASE) + (text[end] ?? 0) - Math.imul(text[start] ?? 0, BASE_OUT)) | 0;
    }
  }

  #searchGram(text: Uint8Array, given: { start: number; report: (start: number, at: number) => boolean }): boolean {
    const first = this.#grams.find(text, given.start);
    if (first === null) return false;
    if (given.report(given.start, first)) return true;
    for (let start = given.start + 1 - STEP; start <= given.start; start++) {
      const at = this.#windows.find(text, start);
      if (at !== null && given.report(start, at)) return true;
    }
    return false;
  }

  #searchWholes(text: Uint8Array, given: { start: number; found: (shared: Shared) => boolean }): boolean {
    const { start } = given;
    for (let length: number = WHOLE.longest; length >= WHOLE.shortest; length--) {
      if (start + length > text.length) continue;
      const at = this.#wholes.get(keyOf(text.subarray(start, start + length)));
      if (at !== undefined && given.found({ start, end: start + length, at })) return true;
    }
    return false;
  }
}
