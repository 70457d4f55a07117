/**
 * Text as the scan compares it: lower case, without white space, quotes, backslashes and NUL, as UTF-8. What is left out
 * is what changes when text is indented, wrapped, quoted, escaped, or written as UTF-16. Source: specification of the boundary, "Letting out".
 */

/** Never part of normalized text; stands between two files. */
export const SEPARATOR = 0x20;

/** Byte → byte after folding; 0x20 for what is left out. */
const FOLDED: Readonly<Uint8Array> = foldingTable();

function foldingTable(): Uint8Array {
  const table = Uint8Array.from({ length: 256 }, (_, byte) => byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);
  for (const left of "\0 \t\n\v\f\r\"'`\\") table[left.charCodeAt(0)] = SEPARATOR;
  return table;
}

/** The folded form of an ASCII byte of text; {@link SEPARATOR} when it is left out. */
export function foldedByte(byte: number): number {
  return FOLDED[byte] ?? byte;
}

/**
 * Puts the two-byte letter that ends at `last` into lower case (Western, Greek, Cyrillic). By bytes, so that it works in
 * the middle of noise.
 */
export function foldLetter(kept: Uint8Array, last: number): void {
  const [lead, byte] = [kept[last - 1], kept[last] ?? 0];
  if (lead === 0xc3) {
    if (byte >= 0x80 && byte <= 0x9e && byte !== 0x97) kept[last] = byte + 0x20;
    return;
  }
  const first = lead === 0xce ? 0x91 : lead === 0xd0 ? 0x90 : 0x100;
  if (byte < first || byte > 0xaf) return;
  if (byte < 0xa0) kept[last] = byte + 0x20;
  else {
    kept[last - 1] = lead === 0xce ? 0xcf : 0xd1;
    kept[last] = byte - 0x20;
  }
}

/** A file's bytes as UTF-8 where a mark at the beginning says that they are UTF-16, else as they are. */
function asUtf8(bytes: Uint8Array): Uint8Array {
  const little = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!little && !(bytes[0] === 0xfe && bytes[1] === 0xff)) return bytes;
  return new TextEncoder().encode(new TextDecoder(little ? "utf-16le" : "utf-16be").decode(bytes));
}

/** Characters without a width of their own, and those that only choose the look of the one before. */
const UNSEEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\u{e0000}-\u{e0fff}]/gu;
/** Dots, accents and lines on, below and through a letter. */
const MARKS = /[\p{Mn}\p{Me}]/gu;
/** Letters of other scripts, and below them the Latin ones that they look like. */
const FOREIGN = "асеіјорѕхуАВЕІЈКМНОРСЅТХοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ";
const LATIN = "aceijopsxyABEIJKMHOPCSTXoABEZHIKMNOPTYX";
/** Signs that stand between letters like a hyphen, and have a character of their own. */
const HYPHENS = /[\u2010-\u2015\u2212\u00b7\u2022\u2027\u2219\u22c5\u30fb]/g;
const LOOKALIKE = new RegExp(`[${FOREIGN}]`, "g");
const NOT_ASCII = /[^\0-\x7f]/;

/**
 * Returns a text in which characters that look alike are the same (NFKC: full-width, styled, composed; letters of other
 * scripts), without marks and unseen ones. Null where that changes nothing.
 */
export function compatible(text: string): string | null {
  if (!NOT_ASCII.test(text)) return null;
  const bare = text.normalize("NFKD").replace(MARKS, "").normalize("NFKC").replace(UNSEEN, "");
  const same = bare.replace(LOOKALIKE, (letter) => LATIN[FOREIGN.indexOf(letter)] ?? letter).replace(HYPHENS, "-");
  return same === text ? null : same;
}

/** The forms of a file's bytes that texts are compared with: as they are, and {@link compatible} where that differs. */
export function formsOf(bytes: Uint8Array): Uint8Array[] {
  const source = asUtf8(bytes);
  if (source.every((byte) => byte < 0x80)) return [source];
  const other = compatible(new TextDecoder().decode(source));
  return other === null ? [source] : [source, new TextEncoder().encode(other)];
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

/** The bytes in the order of the characters read backwards; UTF-8 sequences stay whole. */
export function reversed(bytes: Uint8Array): Uint8Array {
  const back = bytes.slice().reverse();
  // A sequence now stands as its continuation bytes, then its lead.
  for (let at = 0; at < back.length; at++) {
    const start = at;
    while (at < back.length && ((back[at] ?? 0) & 0xc0) === 0x80) at += 1;
    if (at > start && at < back.length) back.subarray(start, at + 1).reverse();
  }
  return back;
}

/** Bytes as a string of one character each: a key of maps, and something to search in. */
export function keyOf(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}
