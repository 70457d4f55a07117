/** The normalized content of all protected files in one piece, with the way back to file and line. */
import { foldedByte, foldLetter, formsOf, keyOf, SEPARATOR } from "./normalize.ts";

/** Shortest and longest whole value or line that counts by itself, in normalized bytes; a longer one is a fragment. */
export const WHOLE = { shortest: 8, longest: 11 } as const;

/** Most normalized bytes kept; files beyond are not scanned for, and told. */
const CONTENT_LIMIT = 64 * 1024 * 1024;

const [NEWLINE, EQUALS, COLON, HASH, DASH, COMMA, SEMICOLON] = [0x0a, 0x3d, 0x3a, 0x23, 0x2d, 0x2c, 0x3b];

/**
 * A line up to its `=`, where that sets a variable: words in upper case. Open code names the variables that it reads, so
 * their names are no secret. Narrow, since what stands there could be one: no word of a key looks like this.
 */
const NAME = /^\s*(?:export\s+|-\s+)?(?:\d{0,2}[A-Z]{0,24}\d{0,3}_)+\d{0,2}[A-Z]{0,24}\d{0,3}\s*$/;
const LONGEST_NAME = 128;

/** A place in a file. Lines count from 1. */
export interface Place {
  path: string;
  firstLine: number;
  lastLine: number;
}

/** A quotation mark that is dropped by normalizing but ends values. */
function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27 || byte === 0x60;
}

/** Whether the line is the name of a variable up to a sign, and a value follows: an `=` at the end belongs to base64. */
function isName(source: Uint8Array, start: number, sign: number): boolean {
  const next = source[sign + 1] ?? NEWLINE;
  if (source[sign] !== EQUALS || next === EQUALS || next < 0x20 || sign - start > LONGEST_NAME) return false;
  return NAME.test(keyOf(source.subarray(start, sign)));
}

/** Collects files one after another. */
export class ProtectedContent {
  #bytes: Uint8Array = new Uint8Array(64 * 1024);
  #length = 0;
  /** Offset of each line's start, over all files. */
  readonly #lines: number[] = [];
  readonly #files: { path: string; start: number; firstLine: number }[] = [];
  /** Whole values and lines of a length in {@link WHOLE}, and where they stand. */
  readonly wholes = new Map<string, number>();
  /** Names of variables with what stands around them in their lines, normalized. */
  readonly #names = new Set<string>();
  /** Files that were too much: their content is not found. */
  readonly leftOut: string[] = [];
  readonly #limit: number;

  constructor(limit = CONTENT_LIMIT) {
    this.#limit = limit;
  }

  /** Everything so far; files are parted by {@link SEPARATOR}. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns whether a file of so many bytes would be kept; one that would not need not be read. */
  hasRoomFor(bytes: number): boolean {
    return this.#length + bytes + 1 <= this.#limit;
  }

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
   * Normalizes on the way in, and notes whole lines, what follows the first `=` or `:` of a line, what follows a leading
   * dash, and what stands in quotes.
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

  /** Whether a normalized fragment is nothing but the name of a variable. */
  isName(fragment: string): boolean {
    return [...this.#names].some((name) => name.includes(fragment));
  }

  placeOf(start: number, end: number): Place {
    const { path, firstLine } = this.#files.findLast((file) => file.start <= start) ?? { path: "", firstLine: 0 };
    const lineOf = (offset: number) => lastAtMost(this.#lines, offset) - firstLine + 1;
    return { path, firstLine: lineOf(start), lastLine: lineOf(end - 1) };
  }
}

/** The last index whose value is at most `limit`; values never fall. */
function lastAtMost(values: readonly number[], limit: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((values[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
