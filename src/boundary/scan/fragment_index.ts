/**
 * Finds every stretch of 12 or more bytes that a text shares with the protected content.
 *
 * A hash table holds every fifth stretch of 8 bytes (a gram) of the content. Any 12 bytes contain one of them, so
 * looking up every 8 bytes of a text misses nothing, and the table is a fifth of the content. If a gram occurs again, a
 * second table holds the 12-byte windows around it. Each find is compared with the content itself, so hash collisions
 * neither add nor hide one.
 */
import { keyOf, SEPARATOR } from "./normalize.ts";
import { type ProtectedContent, WHOLE } from "./protected_content.ts";

/** Length of a run of normalized bytes that makes a hit. */
export const SHORTEST_FRAGMENT = 12;
const GRAM = 8;
/** Distance between grams in the table: the largest one at which no 12 bytes are missed. */
const STEP = SHORTEST_FRAGMENT - GRAM + 1;
/** Longest stretch reported at once, because extending each further would be quadratic for a text of dashes. */
const LONGEST_PIECE = 64;

/** Random for each process, so that nobody can craft a file with colliding hashes to slow down scans. */
const BASE = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) | 1;
/** `BASE` to the power of `GRAM`, modulo 2^32: removes the oldest byte from the rolling hash. */
const BASE_OUT = Array.from({ length: GRAM }).reduce<number>((power) => Math.imul(power, BASE), 1);
const SCATTER = 0x9e3779b1;
/** Size of the filter for whole values: 2 to this power, in bits. */
const WHOLE_BITS = 20;
/** A stretch shared by text and content. `start` and `end` are offsets in the text. */
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

/** One bit per hash: unlike the table, small enough for the processor's cache. */
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

/** A hash table of stretches of one length; of equal stretches it has the first. */
class StretchTable {
  readonly #content: Uint8Array;
  readonly #length: number;
  /** Offset of each stretch plus 1; 0 is an empty slot. */
  #slots = new Uint32Array(2);
  #shift = 31;
  #count = 0;

  constructor(content: Uint8Array, length: number) {
    this.#content = content;
    this.#length = length;
  }

  /** Returns the slot of an equal stretch, or the free slot for it. */
  #slotOf(bytes: Uint8Array, start: number): number {
    const length = this.#length;
    for (let slot = Math.imul(hashOf(bytes, start, length), SCATTER) >>> this.#shift;; slot++) {
      slot &= this.#slots.length - 1;
      const at = this.#slots[slot] ?? 0;
      if (at === 0 || isSame(bytes, { start, content: this.#content, at: at - 1, length })) return slot;
    }
  }

  /** Adds the stretch at `start` unless it crosses into another file; returns the offset of the first equal one. */
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

  /** Returns the offset in the content of the stretch of `bytes` at `start`, or null. */
  find(bytes: Uint8Array, start: number): number | null {
    const at = start < 0 || start + this.#length > bytes.length ? 0 : this.#slots[this.#slotOf(bytes, start)] ?? 0;
    return at === 0 ? null : at - 1;
  }
}

/** Returns the shared stretch around a shared gram: backward up to where another gram would match, and forward. */
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

/** The index of a finished content. */
export class FragmentIndex {
  readonly #content: Uint8Array;
  readonly #wholes: ReadonlyMap<string, number>;
  readonly #filter: Filter;
  readonly #grams: StretchTable;
  /** The windows around repeated grams. */
  readonly #windows: StretchTable;
  /** For whole values and lines. */
  readonly #wholeFilter = new Filter(WHOLE_BITS);

  constructor(content: ProtectedContent) {
    this.#content = content.bytes;
    this.#wholes = content.wholes;
    this.#filter = new Filter(Math.max(14, Math.min(30, Math.ceil(Math.log2(this.#content.length)) + 2)));
    this.#grams = new StretchTable(this.#content, GRAM);
    this.#windows = new StretchTable(this.#content, SHORTEST_FRAGMENT);
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
   * Calls `found` for each stretch that `text` shares with the content, until it returns true: stretches of 12 or more
   * bytes (long ones in parts), and whole values and lines. All shared runs of 12 bytes are in a reported stretch.
   */
  search(text: Uint8Array, found: (shared: Shared) => boolean): void {
    if (text.length < GRAM) return;
    const content = this.#content;
    /** Difference of offsets → end of the last reported stretch on it. */
    const reported = new Map<number, number>();
    const report = (start: number, at: number): boolean => {
      if ((reported.get(at - start) ?? 0) >= start + GRAM) return false;
      const shared = extend(text, { start, content, at });
      const length = shared.end - shared.start;
      if (length < SHORTEST_FRAGMENT) return false;
      // A stretch that was cut continues before the cut, so that no 12 bytes across it are missed.
      reported.set(at - start, length < LONGEST_PIECE ? shared.end : shared.end - SHORTEST_FRAGMENT);
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
