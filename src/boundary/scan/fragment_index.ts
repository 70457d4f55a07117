/**
 * Finds every stretch of 12 or more bytes that a text has in common with the protected content.
 *
 * Every fifth stretch of 8 bytes of the content is in a hash table. Any 12 bytes in a row hold one of them whole, so the
 * table is a fifth of the content, and looking up each 8 bytes of a text misses nothing. A find is compared with the
 * content itself: no collision of hashes can raise or hide one.
 */
import { keyOf, SEPARATOR } from "./normalize.ts";
import { type Content, WHOLE } from "./content.ts";

/** Stretches of {@link SHORTEST_FRAGMENT} bytes; equal ones are one. */
class WindowTable {
  readonly #content: Uint8Array;
  /** Start of a window, counted from 1; 0 is empty. */
  #slots: Uint32Array = new Uint32Array(1024);
  #count = 0;

  constructor(content: Uint8Array) {
    this.#content = content;
  }

  /** The slot of an equal window, or the free one where it belongs. */
  #slotOf(bytes: Uint8Array, start: number): number {
    const last = this.#slots.length - 1;
    // Windows come here whose first grams are mostly one.
    const hash = Math.imul(gramHash(bytes, start), SCATTER) + gramHash(bytes, start + SHORTEST_FRAGMENT - GRAM);
    let slot = Math.imul(hash ^ (hash >>> 15), SCATTER) >>> 5 & last;
    for (;;) {
      const at = this.#slots[slot] ?? 0;
      const length = SHORTEST_FRAGMENT;
      if (at === 0 || isSame(bytes, { start, content: this.#content, at: at - 1, length })) return slot;
      slot = (slot + 1) & last;
    }
  }

  /** Adds the window of the content that begins at `start`, unless it reaches into another file. */
  add(start: number): void {
    const end = start + SHORTEST_FRAGMENT;
    if (end > this.#content.length || this.#content.subarray(start, end).includes(SEPARATOR)) return;
    const slot = this.#slotOf(this.#content, start);
    if (this.#slots[slot] !== 0) return;
    this.#slots[slot] = start + 1;
    this.#count += 1;
    if (this.#count * 2 <= this.#slots.length) return;
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (const at of old) {
      if (at !== 0) this.#slots[this.#slotOf(this.#content, at - 1)] = at;
    }
  }

  /** Where in the content the window of `bytes` at `start` stands; null when it does not. */
  find(bytes: Uint8Array, start: number): number | null {
    if (start + SHORTEST_FRAGMENT > bytes.length) return null;
    const at = this.#slots[this.#slotOf(bytes, start)] ?? 0;
    return at === 0 ? null : at - 1;
  }
}

/** Normalized bytes in a row that make a hit. */
export const SHORTEST_FRAGMENT = 12;
const GRAM = 8;
/** Distance of the stretches in the table: the largest at which 12 bytes cannot slip through. */
const STEP = SHORTEST_FRAGMENT - GRAM + 1;
/** Longest stretch told at once: following each further could take time in the square of a text of dashes. */
const LONGEST_PIECE = 64;
/** Longest chain of the table; what comes on top goes into a table of whole windows, so that no content makes scans slow. */
const CHAIN_LIMIT = 48;

const BASE = 0x01000193;
/** `BASE` to the power of `GRAM`, modulo 2^32: takes the oldest byte out of the rolling hash. */
const BASE_OUT = Array.from({ length: GRAM }).reduce<number>((power) => Math.imul(power, BASE), 1);
const SCATTER = 0x9e3779b1;
/** An entry of the table is the number of a stretch below, and bits of its hash above, which spare most comparisons. */
const NUMBERS = 2 ** 26 - 1;
const TAG_SHIFT = 26;
/** Size of the filter for whole values, as a power of two in bits. */
const WHOLE_BITS = 20;

/** A stretch that text and content share: offsets into each. */
export interface Shared {
  start: number;
  end: number;
  /** Offset of the first byte in the content. */
  at: number;
}

function gramHash(bytes: Uint8Array, at: number): number {
  let hash = 0;
  for (let index = 0; index < GRAM; index++) hash = (Math.imul(hash, BASE) + (bytes[at + index] ?? 0)) | 0;
  return hash;
}

function setBit(filter: Uint8Array, bit: number): void {
  filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | 1 << (bit & 7);
}

interface Pair {
  start: number;
  content: Uint8Array;
  at: number;
}

function isSame(text: Uint8Array, { start, content, at, length }: Pair & { length: number }): boolean {
  for (let index = 0; index < length; index++) {
    if (text[start + index] !== content[at + index]) return false;
  }
  return true;
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

/** The table over a finished content. */
export class FragmentIndex {
  readonly #content: Uint8Array;
  readonly #wholes: ReadonlyMap<string, number>;
  readonly #shift: number;
  /** Bucket → the first stretch in it, counted from 1, with six bits of its hash on top; 0 is none. */
  readonly #heads: Uint32Array;
  /** Stretch → the next one in its bucket, in the same form. */
  readonly #next: Uint32Array;
  readonly #crowded: WindowTable;
  /** One bit a hash: whether anything begins so. Small enough for the processor's cache, unlike the table. */
  readonly #filter: Uint8Array;
  readonly #filterShift: number;
  /** The same for whole values and lines. */
  readonly #wholeFilter = new Uint8Array(2 ** WHOLE_BITS / 8);

  constructor(content: Content) {
    this.#content = content.bytes;
    this.#wholes = content.wholes;
    const count = Math.max(0, Math.floor((this.#content.length - GRAM) / STEP) + 1);
    const bits = Math.min(26, Math.max(10, Math.ceil(Math.log2(count + 1))));
    this.#shift = 32 - bits;
    this.#heads = new Uint32Array(2 ** bits);
    this.#next = new Uint32Array(count + 1);
    this.#filterShift = 32 - Math.min(31, bits + 4);
    this.#filter = new Uint8Array(2 ** (29 - this.#filterShift));
    this.#crowded = new WindowTable(this.#content);
    this.#build(count);
    for (const start of this.#wholes.values()) {
      setBit(this.#wholeFilter, Math.imul(gramHash(this.#content, start), SCATTER) >>> (32 - WHOLE_BITS));
    }
  }

  #build(count: number): void {
    const [content, heads, next, filter] = [this.#content, this.#heads, this.#next, this.#filter];
    const counts = new Uint8Array(heads.length);
    const [shift, filterShift] = [this.#shift, this.#filterShift];
    for (let number = 1, at = 0; number <= count; number++, at += STEP) {
      let [hash, index] = [0, 0];
      for (; index < GRAM; index++) {
        const byte = content[at + index] ?? 0;
        if (byte === SEPARATOR) break;
        hash = (Math.imul(hash, BASE) + byte) | 0;
      }
      if (index < GRAM) continue;
      const scattered = Math.imul(hash, SCATTER);
      const bucket = scattered >>> shift;
      const head = heads[bucket] ?? 0;
      // The bytes around it are all that can be found by way of a stretch: the same again adds nothing.
      const tag = scattered << TAG_SHIFT >>> 0;
      const before = ((head & NUMBERS) - 1) * STEP;
      const around = { start: before + 1 - STEP, content, at: at + 1 - STEP, length: SHORTEST_FRAGMENT + STEP - 1 };
      if (head !== 0 && (head ^ tag) >>> 0 <= NUMBERS && isSame(content, around)) continue;
      const room = counts[bucket] ?? 0;
      if (room >= CHAIN_LIMIT) {
        for (let start = Math.max(0, at + 1 - STEP); start <= at; start++) this.#crowded.add(start);
        continue;
      }
      counts[bucket] = room + 1;
      next[number] = head;
      heads[bucket] = (tag | number) >>> 0;
      setBit(filter, scattered >>> filterShift);
    }
  }

  /**
   * Tells `found` of what `text` shares with the content, until it returns true: stretches of 12 and more, long ones in
   * pieces, and whole values and lines as they are. Every shared 12 bytes are in a stretch that is told.
   */
  search(text: Uint8Array, found: (shared: Shared) => boolean): void {
    if (text.length < GRAM) return;
    const [heads, next, content] = [this.#heads, this.#next, this.#content];
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
    const [filter, wholeFilter] = [this.#filter, this.#wholeFilter];
    const [shift, filterShift] = [this.#shift, this.#filterShift];
    const length = text.length;
    let hash = gramHash(text, 0);
    for (let start = 0, end = GRAM; end <= length; start++, end++) {
      const scattered = Math.imul(hash, SCATTER);
      const bit = scattered >>> filterShift;
      const wholeBit = scattered >>> (32 - WHOLE_BITS);
      if ((filter[bit >>> 3] ?? 0) >>> (bit & 7) & 1) {
        const bucket = scattered >>> shift;
        const tag = scattered << TAG_SHIFT >>> 0;
        let steps = 0;
        for (let entry = heads[bucket] ?? 0; entry !== 0; entry = next[entry & NUMBERS] ?? 0, steps++) {
          if ((entry ^ tag) >>> 0 > NUMBERS) continue;
          const at = ((entry & NUMBERS) - 1) * STEP;
          if (isSame(text, { start, content, at, length: GRAM }) && report(start, at)) return;
        }
        if (steps === CHAIN_LIMIT && this.#searchCrowded(text, { start, report })) return;
      }
      if ((wholeFilter[wholeBit >>> 3] ?? 0) >>> (wholeBit & 7) & 1 && this.#searchWholes(text, { start, found })) {
        return;
      }
      if (end === length) return;
      hash = (Math.imul(hash, BASE) + (text[end] ?? 0) - Math.imul(text[start] ?? 0, BASE_OUT)) | 0;
    }
  }

  #searchCrowded(text: Uint8Array, given: { start: number; report: (start: number, at: number) => boolean }): boolean {
    for (let start = Math.max(0, given.start + 1 - STEP); start <= given.start; start++) {
      const at = this.#crowded.find(text, start);
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
