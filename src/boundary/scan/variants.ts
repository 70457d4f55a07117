/** Decodes a text in every supported encoding, as if all of it were encoded that way; the rest becomes harmless noise. */
import { compatible, keyOf, normalizeBytes, reversed } from "./normalize.ts";

export type Form =
  | ("plain" | "escaped" | "percent" | "quoted-printable" | "reversed")
  | ("decimal" | "octal" | "binary" | "hex" | "base64" | "reversed base64");

/** Encodings of bytes as numbers: base, and most digits of one number. */
const NUMBERS: readonly (readonly [Form, number, number])[] = [
  ["decimal", 10, 4],
  ["octal", 8, 4],
  ["binary", 2, 8],
];
/** Most characters between two numbers of a run: `) + chr(`, or the offset that `od` puts before a line. */
const NUMBER_GAP = 16;
/** Encodings of a byte as a character and two hexadecimal digits. */
const PAIRS: readonly (readonly [Form, RegExp])[] = [
  ["percent", /%([0-9a-f]{2})/gi],
  ["quoted-printable", /=(?:([0-9a-f]{2})|\r?\n)/gi],
];
/** How many levels of nested escapes (JSON in JSON) are decoded. */
const ESCAPE_DEPTH = 3;
/** Separates two runs; not part of any text. */
const CUT = 0xff;

/**
 * The line prefixes that our tools and others print (`12\t`, `src/a.ts:12:`). Without them, short lines form one text.
 */
const NUMBERED = /^[ \t]*(?:[^\s:]{1,300}[:-])?\d{1,9}[\t:|-]/gm;

/** A decoded variant of a text, normalized. */
interface Variant {
  form: Form;
  bytes: Uint8Array;
}

/** Yields the variants of `text`, the likeliest first, decoded lazily. */
export function* variantsOf(text: string): Generator<Variant> {
  yield* decodedVariants(text);
  const bare = text.includes("\n") ? text.replace(NUMBERED, "") : text;
  if (bare !== text) yield* decodedVariants(bare);
}

function* decodedVariants(text: string): Generator<Variant> {
  const raw = encoder.encode(text);
  const plain = normalizeBytes(raw);
  yield { form: "plain", bytes: plain };
  const alike = compatible(text);
  if (alike !== null) yield { form: "plain", bytes: normalizedText(alike) };
  for (let depth = 0, escaped = text; depth < ESCAPE_DEPTH && /[\\&]/.test(escaped); depth++) {
    const next = unescape(escaped);
    if (next === escaped) break;
    escaped = next;
    yield { form: "escaped", bytes: normalizedText(escaped) };
  }
  for (const [form, pairs] of PAIRS) {
    if (text.search(pairs) >= 0) yield { form, bytes: normalizeBytes(pairsDecoded(raw, pairs)) };
  }
  yield { form: "reversed", bytes: reversed(plain) };
  // In `0x41` and `\x41` the prefix is not part of the byte.
  const hex = /[\\0]x/i.test(text) ? encoder.encode(text.replace(/[\\0]x/gi, " ")) : raw;
  for (const [form, base, digits] of NUMBERS) {
    yield { form, bytes: normalizeBytes(numbersDecoded(raw, { base, digits })) };
  }
  yield* packedIn("hex", digitRuns(hex, HEX), HEX);
  const digits = digitRuns(raw, BASE64);
  yield* packedIn("base64", digits, BASE64);
  yield* packedIn("reversed base64", digits.reverse(), BASE64);
}

const encoder = new TextEncoder();

function normalizedText(text: string): Uint8Array {
  return normalizeBytes(encoder.encode(text));
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/**
 * Decodes escapes of JSON and C-like strings for white space and character numbers, HTML entities for ASCII, and
 * numeric ones.
 */
function unescape(text: string): string {
  return text.replace(
    /\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|(?:\\u\{|&#x)([0-9a-f]{1,6})[};]?|&#(\d{1,7});?|\\([\\nrtfbv])|&(amp|lt|gt|quot|apos|nbsp);?/gi,
    (whole, two?: string, four?: string, more?: string, decimal?: string, letter?: string, name?: string) => {
      if (letter !== undefined) return letter === "\\" ? "\\" : " ";
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? parseInt(two ?? four ?? more ?? "", 16) : parseInt(decimal, 10);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** Decodes `%41` or `=41`; with the latter, an equals sign at the end of a line joins it with the next. */
function pairsDecoded(raw: Uint8Array, pairs: RegExp): Uint8Array {
  const decoded = keyOf(raw).replace(pairs, (_, pair?: string) => pair ? String.fromCharCode(parseInt(pair, 16)) : "");
  const out = new Uint8Array(decoded.length);
  for (let at = 0; at < out.length; at++) out[at] = decoded.charCodeAt(at);
  return out;
}

/** Decodes numbers with anything between them; skips longer numbers, digits of other bases, and offsets. */
function numbersDecoded(raw: Uint8Array, { base, digits }: { base: number; digits: number }): Uint8Array {
  const out = new Uint8Array(raw.length + 1);
  let [length, value, count, end] = [0, 0, 0, 0];
  for (let at = 0; at <= raw.length; at++) {
    const digit = (raw[at] ?? 0) - 0x30;
    if (digit >= 0 && digit <= 9) {
      if (count === 0 && at - end > NUMBER_GAP) out[length++] = CUT;
      value = digit < base ? value * base + digit : Infinity;
      count += 1;
    } else if (count > 0) {
      if (count <= digits && value <= 0xff) out[length++] = value;
      [value, count, end] = [0, 0, at];
    }
  }
  return out.subarray(0, length);
}

/** An encoding of bytes as digits of some bits each. */
interface Digits {
  bits: number;
  /** Shortest run of digits worth decoding. */
  shortest: number;
  /** Byte → its digit; {@link BETWEEN} for what may separate digits, {@link NO_DIGIT} for the rest. */
  digits: Readonly<Uint8Array>;
}

const [BETWEEN, NO_DIGIT] = [64, 65];
const HEX = { bits: 4, shortest: 16, digits: digitsOf(["0123456789abcdef", "0123456789ABCDEF"], ":,-;") };
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64 = { bits: 6, shortest: 10, digits: digitsOf([`${ALPHABET}+/`, `${ALPHABET}-_`], "") };

/** Returns the table of an encoding. White space and quotes may separate digits in all of them. */
function digitsOf(alphabets: readonly string[], between: string): Uint8Array {
  const table = new Uint8Array(256).fill(NO_DIGIT).fill(BETWEEN, 0, 0x21);
  for (const sign of `"'\\${between}`) table[sign.charCodeAt(0)] = BETWEEN;
  for (const alphabet of alphabets) {
    for (let digit = 0; digit < alphabet.length; digit++) table[alphabet.charCodeAt(digit)] = digit;
  }
  return table;
}

/**
 * Returns the digits of all runs, each followed by {@link NO_DIGIT}. A regular expression would overflow the stack on
 * megabytes.
 */
function digitRuns(raw: Uint8Array, { digits, shortest }: Digits): Uint8Array {
  const out = new Uint8Array(raw.length + 1);
  let [length, start] = [0, 0];
  for (let at = 0; at <= raw.length; at++) {
    const digit = at < raw.length ? digits[raw[at] ?? 0] ?? NO_DIGIT : NO_DIGIT;
    if (digit === BETWEEN) continue;
    if (digit !== NO_DIGIT) {
      out[length++] = digit;
      continue;
    }
    if (length - start < shortest) length = start;
    else out[length++] = NO_DIGIT;
    start = length;
  }
  return out.subarray(0, length);
}

/** Decodes digits at every alignment, because words before a run look like a part of it. */
function* packedIn(form: Form, digits: Uint8Array, { bits }: Digits): Generator<Variant> {
  if (digits.length === 0) return;
  for (let alignment = 0; alignment * bits % 8 !== 0 || alignment === 0; alignment++) {
    const out = new Uint8Array(digits.length);
    let [length, word, held, skipped] = [0, 0, 0, 0];
    for (let at = 0; at < digits.length; at++) {
      const digit = digits[at] ?? NO_DIGIT;
      if (digit === NO_DIGIT) {
        out[length++] = CUT;
        held = skipped = 0;
      } else if (skipped < alignment) skipped += 1;
      else {
        word = word << bits | digit;
        held += bits;
        if (held < 8) continue;
        held -= 8;
        out[length++] = word >> held & 0xff;
      }
    }
    yield { form, bytes: normalizeBytes(out.subarray(0, length)) };
  }
}
