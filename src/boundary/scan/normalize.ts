/**
 * Normalizes text for comparison: UTF-8 in lower case, without white space, quotes, backslashes and NUL, which change
 * when text is indented, wrapped, quoted, escaped, or written as UTF-16. Source: specification of the boundary,
 * "Letting out".
 */
import { normalized, utf8Text } from "../../platform/text.ts";

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

/**
 * Lower-cases the two-byte letter that ends at `last` (Western, Greek, Cyrillic). Works on bytes, so that it also works
 * amid binary noise.
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

/** Encodings of text that is no Unicode: in each, some bytes are other letters. */
const CODE_PAGES: readonly string[] = ["windows-1250", "windows-1251", "windows-1252"];

/** Matches controls that no plain text has: one byte of most letters in UTF-16, as NUL is of ASCII. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;
/** Matches what text has next to none of: such controls, and units that are no characters. */
// deno-lint-ignore no-control-regex
const NO_TEXT = /[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd\p{Cn}\p{Co}\p{Cs}]/gu;

/** Returns whether decoded bytes may be text: three units and one of 32 may be no characters. Of random data one of eight is none. */
function mayBeText(text: string): boolean {
  const units = text.replaceAll("\0", "");
  return (units.length - units.replace(NO_TEXT, "").length - 3) * 32 <= units.length;
}

/** Returns what bytes may say as UTF-16; `plain` is what they say as UTF-8. */
function wideTextsOf(bytes: Uint8Array, plain: string): string[] {
  if (!CONTROL.test(plain) && !plain.includes("\ufffd")) return [];
  const [little = "", big = ""] = ["utf-16le", "utf-16be"].map((encoding) => new TextDecoder(encoding).decode(bytes));
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return [little];
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return [big];
  const texts = [little, big].filter(mayBeText);
  // Letters of the wrong byte order make no blanks, but long fragments of the few that any two texts share.
  const spaced = texts.filter((text) => /[ \n]/.test(text));
  return spaced.length > 0 ? spaced : texts;
}

/** Returns what the bytes of a file say: as UTF-8, and where they are none, as each encoding of text that they may be in. */
export function textsOf(bytes: Uint8Array): string[] {
  const plain = new TextDecoder().decode(bytes);
  const texts = wideTextsOf(bytes, plain);
  if (bytes.includes(0) || utf8Text(bytes) !== null) return [plain, ...texts];
  const pages = CODE_PAGES.map((encoding) => new TextDecoder(encoding).decode(bytes));
  // Tools show it as Latin-1.
  return [...new Set([plain, ...texts, keyOf(bytes), ...pages])];
}

/** Zero-width characters, and those that only change the look of the one before. */
const UNSEEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\u{e0000}-\u{e0fff}]/gu;
/** Combining marks: dots, accents and lines. */
const MARKS = /[\p{Mn}\p{Me}]/gu;
/** Letters of other scripts, with the Latin letters that they look like below. */
const FOREIGN = "асеіјорѕхуАВЕІЈКМНОРСЅТХοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ";
const LATIN = "aceijopsxyABEIJKMHOPCSTXoABEZHIKMNOPTYX";
/** Characters that are used like a hyphen. */
const HYPHENS = /[\u2010-\u2015\u2212\u00b7\u2022\u2027\u2219\u22c5\u30fb]/g;
const LOOKALIKE = new RegExp(`[${FOREIGN}]`, "g");
const NOT_ASCII = /[^\0-\x7f]/;

/**
 * Replaces lookalike characters (full-width, styled and composed ones by NFKC, letters of other scripts) and drops
 * marks and invisible ones. Returns null if that changes nothing.
 */
export function compatible(text: string): string | null {
  if (!NOT_ASCII.test(text)) return null;
  const bare = normalized(normalized(text, "NFKD").replace(MARKS, ""), "NFKC").replace(UNSEEN, "");
  const same = bare.replace(LOOKALIKE, (letter) => LATIN[FOREIGN.indexOf(letter)] ?? letter).replace(HYPHENS, "-");
  return same === text ? null : same;
}

/** Returns the forms of a file's bytes to compare texts with: unchanged, and of each of its {@link textsOf} what differs. */
export function formsOf(bytes: Uint8Array): Uint8Array[] {
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x80 || byte === 0x0a || byte === 0x0d || byte === 0x09)) {
    return [bytes];
  }
  const texts = textsOf(bytes);
  const others = [...texts.slice(1), ...texts.map(compatible).filter((text) => text !== null)];
  return [bytes, ...others.map((text) => new TextEncoder().encode(text))];
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
