/** The normalized content of all protected files in one buffer, with a map back to files and lines. */
import { foldedByte, foldLetter, formsOf, keyOf, SEPARATOR } from "./normalize.ts";

/** Lengths of a whole value or line that counts by itself, in normalized bytes; a longer one is a fragment anyway. */
export const WHOLE = { shortest: 8, longest: 11 } as const;

/** Limit of normalized bytes; files beyond it are not found, and reported. */
const CONTENT_LIMIT = 64 * 1024 * 1024;

const [NEWLINE, EQUALS, COLON, HASH, DASH, COMMA, SEMICOLON] = [0x0a, 0x3d, 0x3a, 0x23, 0x2d, 0x2c, 0x3b];

/**
 * A line up to its `=`, if it sets a variable in upper case. Open code names the variables that it reads, so the names
 * are no secret. The pattern is narrow, so that no part of a key matches it.
 */
const NAME = /^\s*(?:export\s+|-\s+)?(?:\d{0,2}[A-Z]{0,24}\d{0,3}_)+\d{0,2}[A-Z]{0,24}\d{0,3}\s*$/;
const LONGEST_NAME = 128;

/** A place in a file. Lines count from 1. */
export interface Place {
  path: string;
  firstLine: number;
  lastLine: number;
}

/** Returns whether a byte is a quotation mark: normalizing drops it, but it ends a value. */
function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27 || byte === 0x60;
}

/** Returns whether a line up to `sign` names a variable, with a value after it; a final `=` is base64 padding. */
function isName(source: Uint8Array, start: number, sign: number): boolean {
  const next = source[sign + 1] ?? NEWLINE;
  if (source[sign] !== EQUALS || next === EQUALS || next < 0x20 || sign - start > LONGEST_NAME) return false;
  return NAME.test(keyOf(source.subarray(start, sign)));
}

/** Collects the content of files. */
export class ProtectedContent {
  #bytes: Uint8Array = new Uint8Array(64 * 1024);
  #length = 0;
  /** The offset of each line, over all files. */
  readonly #lines: number[] = [];
  readonly #files: { path: string; start: number; firstLine: number }[] = [];
  /** Whole values and lines of a length in {@link WHOLE}, with their offset. */
  readonly wholes = new Map<string, number>();
  /** Names of variables with their lines up to the `=`, normalized. */
  readonly #names = new Set<string>();
  /** Files that did not fit: their content is not found. */
  readonly leftOut: string[] = [];
  readonly limit: number;

  /** `limit` is the most bytes to keep. */
  constructor(limit = CONTENT_LIMIT) {
    this.limit = limit;
  }

  /** All content so far; files are separated by {@link SEPARATOR}. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns whether a file of this size fits; if not, it need not be read. */
  hasRoomFor(bytes: number): boolean {
    return this.#length + bytes + 1 <= this.limit;
  }

  /** Adds a file; `path` is how hits name it. */
  add(path: string, bytes: Uint8Array): void {
    for (const source of formsOf(bytes)) {
      if (!this.hasRoomFor(source.length)) return void this.leftOut.push(path);
      this.#reserve(source.length + 1);
      this.#files.push({ path, start: this.#length, firstLine: this.#lines.length });
      this.#append(source);
      this.#bytes[this.#length++] = SEPARATOR;
    }
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#length + more, this.#bytes.length * 2));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }

  /**
   * Appends normalized bytes, and notes whole values: lines, what follows the first `=` or `:` of a line or a leading
   * dash, and quoted text.
   */
  #append(source: Uint8Array): void {
    const target = this.#bytes;
    let [value, item, quote, quoted] = [-1, -1, 0, -1];
    let previous = NEWLINE;
    let commented = -1;
    this.#lines.push(this.#length);
    let lineStart = this.#length;
    let sourceStart = 0;
    for (let at = 0; at <= source.length; at++) {
      const byte = at < source.length ? source[at] ?? 0 : NEWLINE;
      const folded = foldedByte(byte);
      if (folded !== SEPARATOR) {
        if (byte === HASH && commented < 0 && foldedByte(previous) === SEPARATOR && !isQuote(previous)) {
          commented = this.#length;
        }
        target[this.#length] = folded;
        if (byte >= 0x80) foldLetter(target, this.#length);
        this.#length += 1;
        if (value < 0 && (byte === EQUALS || byte === COLON)) {
          value = this.#length;
          if (isName(source, sourceStart, at)) this.#names.add(keyOf(target.subarray(lineStart, value)));
        } else if (byte === DASH && this.#length === lineStart + 1) item = this.#length;
      } else if (isQuote(byte)) {
        if (quote === 0) [quote, quoted] = [byte, this.#length];
        else if (quote === byte) {
          this.#note(quoted, this.#length);
          quote = 0;
        }
      } else if (byte === NEWLINE) {
        const end = this.#length;
        this.#noteLine([lineStart, value, item], end);
        if (commented > lineStart) this.#noteLine([lineStart, value, item], commented);
        [value, item, quote, commented] = [-1, -1, 0, -1];
        if (at < source.length) this.#lines.push(end);
        lineStart = end;
        sourceStart = at + 1;
      }
      previous = byte;
    }
  }

  #noteLine(starts: number[], end: number): void {
    const last = this.#bytes[end - 1];
    for (const start of starts) {
      if (start < 0 || end - start < WHOLE.shortest || end - start > WHOLE.longest + 1) continue;
      this.#note(start, end);
      if (last === COMMA || last === SEMICOLON) this.#note(start, end - 1);
    }
  }

  #note(start: number, end: number): void {
    if (end - start < WHOLE.shortest || end - start > WHOLE.longest) return;
    const key = keyOf(this.#bytes.subarray(start, end));
    if (!this.wholes.has(key)) this.wholes.set(key, start);
  }

  /** Returns whether a normalized fragment is only part of a variable's name. */
  isName(fragment: string): boolean {
    return [...this.#names].some((name) => name.includes(fragment));
  }

  placeOf(start: number, end: number): Place {
    const { path, firstLine } = this.#files.findLast((file) => file.start <= start) ?? { path: "", firstLine: 0 };
    const lineOf = (offset: number) => lastAtMost(this.#lines, offset) - firstLine + 1;
    return { path, firstLine: lineOf(start), lastLine: lineOf(end - 1) };
  }
}

/** Returns the last index of ascending values whose value is at most `limit`. */
function lastAtMost(values: readonly number[], limit: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((values[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
