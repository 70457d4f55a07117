/**
 * Text as the scan compares it: lower case, without white space, quotes and backslashes, as UTF-8. What is left out is
 * what changes when text is indented, wrapped, quoted or escaped. Source: specification of the boundary, "Letting out".
 */

/** Never part of normalised text; stands between two files. */
export const SEPARATOR = 0x20;

/** Byte → byte after folding; 0x20 for what is left out. */
const FOLDED: Readonly<Uint8Array> = foldingTable();

function foldingTable(): Uint8Array {
  const table = Uint8Array.from({ length: 256 }, (_, byte) => byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);
  for (const left of " \t\n\v\f\r\"'`\\") table[left.charCodeAt(0)] = SEPARATOR;
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
export function asUtf8(bytes: Uint8Array): Uint8Array {
  const little = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!little && !(bytes[0] === 0xfe && bytes[1] === 0xff)) return bytes;
  return new TextEncoder().encode(new TextDecoder(little ? "utf-16le" : "utf-16be").decode(bytes));
}

/** The normalised form of bytes. */
export function normaliseBytes(source: Uint8Array): Uint8Array {
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
