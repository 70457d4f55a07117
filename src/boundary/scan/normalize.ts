/**
 * Normalizes text for comparison: UTF-8 in lower case, without white space, quotes, backslashes and NUL, which change
 * when text is indented, wrapped, quoted, escaped, or written as UTF-16. Source: specification of the boundary,
 * "Letting out".
 */
import { utf8Text } from "../../platform/text.ts";

/** Separates files; never part of normalized text. */
export const SEPARATOR = 0x20;

/** Byte → folded byte; 0x20 for bytes that are dropped. */
const FOLDED: Readonly<Uint8Array> = foldingTable();

function foldingTable(): Uint8Array {
  const table = Uint8Array.from({ length: 256 }, (_, byte) => byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);
  for (const left of "\0 \t\n\v\f\r\"'`\\") table[left.charCodeAt(0)] = SEPARATOR;
  return table;
}

/** Returns the folded form of an ASCII byte; {@link SEPARATOR} if it is dropped. */
export function foldedByte(byte: number): number {
  return FOLDED[byte] ?? byte;
}

/** Lower-cases the two-byte letter that ends at `last`. Works on bytes, so that it also works amid binary noise. */
export function foldLetter(kept: Uint8Array, last: number): void {
  const [lead = 0, byte = 0] = [kept[last - 1], kept[last]];
  if (lead < 0xc3 || lead > 0xdf || byte > 0xbf) return;
  const lower = String.fromCharCode((lead & 0x1f) << 6 | byte & 0x3f).toLowerCase().charCodeAt(0);
  if (lower < 0x80 || lower > 0x7ff) return;
  kept[last - 1] = 0xc0 | lower >> 6;
  kept[last] = 0x80 | lower & 0x3f;
}

/** The encodings of UTF-16, by the mark that a file begins with. */
const WIDE: Readonly<Record<string, string>> = { "\xff\xfe": "utf-16le", "\xfe\xff": "utf-16be" };

/**
 * Returns what the bytes of a file say in the encodings in which tools show it: UTF-8, else UTF-16 behind a mark or
 * Latin-1. ASCII in UTF-16 without a mark is UTF-8 with NUL, which normalizing drops.
 */
export function textsOf(bytes: Uint8Array): string[] {
  const plain = new TextDecoder().decode(bytes);
  const wide = WIDE[keyOf(bytes.subarray(0, 2))];
  if (wide !== undefined) return [plain, new TextDecoder(wide).decode(bytes)];
  return bytes.includes(0) || utf8Text(bytes) !== null ? [plain] : [plain, keyOf(bytes)];
}

/** Returns the forms of a file's bytes to compare texts with: unchanged, and its text if it has another encoding. */
export function formsOf(bytes: Uint8Array): Uint8Array[] {
  return [bytes, ...textsOf(bytes).slice(1).map((text) => new TextEncoder().encode(text))];
}

/** Returns the normalized form of bytes. */
export function normalizeBytes(source: Uint8Array): Uint8Array {
  const kept = new Uint8Array(source.length);
  let length = 0;
  for (let at = 0; at < source.length; at++) {
    const byte = source[at] ?? 0;
    if (byte >= 0x80) {
      kept[length] = byte;
      foldLetter(kept, length++);
      continue;
    }
    const folded = FOLDED[byte] ?? 0;
    kept[length] = folded;
    if (folded !== SEPARATOR) length += 1;
  }
  return kept.subarray(0, length);
}

/** Returns the text reversed by characters, as bytes; UTF-8 sequences stay intact. */
export function reversed(bytes: Uint8Array): Uint8Array {
  const back = bytes.slice().reverse();
  // A sequence now has its continuation bytes before its lead byte.
  for (let at = 0; at < back.length; at++) {
    const start = at;
    while (at < back.length && ((back[at] ?? 0) & 0xc0) === 0x80) at += 1;
    if (at > start && at < back.length) back.subarray(start, at + 1).reverse();
  }
  return back;
}

/** Returns bytes as a string with one character each, for map keys and searches. */
export function keyOf(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

/** Returns the bytes of a {@link keyOf}. */
export function bytesOfKey(key: string): Uint8Array {
  const bytes = new Uint8Array(key.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = key.charCodeAt(at);
  return bytes;
}
