/** Decodes a text in every supported encoding, as if all of it were encoded so; the rest becomes harmless noise. */
import { bytesOfKey, keyOf, normalizeBytes, reversed } from "./normalize.ts";

export type Form = "plain" | "escaped" | "percent" | "reversed" | "hex" | "base64";

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
  for (let depth = 0, escaped = text; depth < ESCAPE_DEPTH && escaped.includes("\\"); depth++) {
    const next = unescape(escaped);
    if (next === escaped) break;
    escaped = next;
    yield { form: "escaped", bytes: normalizeBytes(encoder.encode(escaped)) };
  }
  if (PERCENT.test(text)) yield { form: "percent", bytes: normalizeBytes(percentDecoded(raw)) };
  yield { form: "reversed", bytes: reversed(plain) };
  // In `0x41` and `\x41` the prefix is not part of the byte.
  const hex = /[\\0]x/i.test(text) ? encoder.encode(text.replace(/[\\0]x/gi, " ")) : raw;
  yield* packedIn("hex", hex, HEX);
  yield* packedIn("base64", raw, BASE64);
}

const encoder = new TextEncoder();

/** Decodes escapes of JSON and C-like strings for white space and character numbers. */
function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|([\\nrtfbv]))/gi,
    (whole, two?: string, four?: string, more?: string, letter?: string) => {
      if (letter !== undefined) return letter === "\\" ? "\\" : " ";
      const code = parseInt(two ?? four ?? more ?? "", 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

const PERCENT = /%[0-9a-f]{2}/i;

function percentDecoded(raw: Uint8Array): Uint8Array {
  const decode = (sign: string) => String.fromCharCode(parseInt(sign.slice(1), 16));
  return bytesOfKey(keyOf(raw).replace(new RegExp(PERCENT, "gi"), decode));
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

/** Decodes runs of digits at every alignment, because words before a run look like a part of it. */
function* packedIn(form: Form, raw: Uint8Array, encoding: Digits): Generator<Variant> {
  const digits = digitRuns(raw, encoding);
  const { bits } = encoding;
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
