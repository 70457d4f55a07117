/**
 * A text as every form that the scan looks through. Each view is normalized bytes; decoding gives what a text would be
 * if all of it were in that form, and whatever comes of the rest harms nothing.
 */
import { compatible, normalizeBytes, reversed } from "./normalize.ts";

export type Form =
  | "plain"
  | "escaped"
  | "separated"
  | "percent"
  | "quoted-printable"
  | "reversed"
  | "hex"
  | NumberForm
  | "base64"
  | "reversed base64";

type NumberForm = "decimal" | "octal" | "binary";

/** Bytes as numbers: their base, and most digits of one. */
const NUMBERS: readonly (readonly [NumberForm, number, number])[] = [
  ["decimal", 10, 4],
  ["octal", 8, 4],
  ["binary", 2, 8],
];
/** Most characters between two numbers of a run: `) + chr(`, and what `od` puts before a line. */
const NUMBER_GAP = 16;

export interface View {
  form: Form;
  bytes: Uint8Array;
}

/** Shortest runs worth decoding: 12 bytes. */
const SHORTEST_HEX = 24;
const SHORTEST_BASE64 = 10;
/** Shortest runs of letters with the same sign between each two, in letters. */
const SHORTEST_SEPARATED = 8;
/** Signs that stand between letters like a hyphen, and have a character of their own. */
const SIGNS = /[\u2010-\u2015\u2212\u00b7\u2022\u2027\u2219\u22c5\u30fb]/g;
/** Two of them with one character between: dashes of prose are common, and no reason to look. */
const SIGNS_BETWEEN =
  /[\u2010-\u2015\u2212\u00b7\u2022\u2027\u2219\u22c5\u30fb]\s*\S\s*[\u2010-\u2015\u2212\u00b7\u2022\u2027\u2219\u22c5\u30fb]/g;
const ENTITY = /&(?:#|amp|lt|gt|quot|apos|nbsp)/gi;
const QUOTED_PRINTABLE = /=[0-9a-f]{2}|=\r?\n/gi;
/** Characters around a rare form that are looked at with it: what lies further off stands in the plain view. */
const AROUND = 128;
/** Parts that a text is cut into to find those that change. */
const PART = 512;
/** Stands between two parts: no text has it, and it says nothing. */
const CUT = "\uffff";
/** Shortest runs of base64 worth reading backwards, in characters. */
const SHORTEST_REVERSED = 16;
/** An escape inside of an escape (JSON in JSON) is undone so often. */
const ESCAPE_DEPTH = 3;

/** What our tools and others put before each line: `12\t`, `src/a.ts:12:`, `12: `. Without it short lines are one text. */
const NUMBERED = /^[ \t]*(?:[^\s:]{1,300}[:-])?\d{1,9}[\t:|-]/gm;

/** Every view of `text`, the likeliest first. The work of a view is done when it is asked for. */
export function* viewsOf(text: string): Generator<View> {
  yield* formsIn(text);
  const bare = text.includes("\n") ? text.replace(NUMBERED, "") : text;
  if (bare !== text) yield* formsIn(bare);
}

function* formsIn(text: string): Generator<View> {
  const raw = new TextEncoder().encode(text);
  const plain = normalizeBytes(raw);
  yield { form: "plain", bytes: plain };
  yield { form: "separated", bytes: separatedRuns(plain) };
  const alike = normalizedText(alikeParts(text));
  yield { form: "plain", bytes: alike };
  yield { form: "separated", bytes: separatedRuns(alike) };
  const signs = partsWith(text, SIGNS_BETWEEN).replace(SIGNS, "-");
  yield { form: "separated", bytes: separatedRuns(normalizedText(signs)) };
  let unescaped = text;
  for (let depth = 0; depth < ESCAPE_DEPTH && unescaped.includes("\\"); depth++) {
    const next = unescape(unescaped);
    if (next === unescaped) break;
    unescaped = next;
    yield { form: "escaped", bytes: normalizedText(unescaped) };
  }
  yield { form: "escaped", bytes: normalizedText(withoutEntities(partsWith(unescaped, ENTITY))) };
  if (/%[0-9a-f]{2}/i.test(text)) yield { form: "percent", bytes: normalizeBytes(pairsDecoded(raw, PERCENT)) };
  const printable = new TextEncoder().encode(partsWith(text, QUOTED_PRINTABLE));
  yield { form: "quoted-printable", bytes: normalizeBytes(pairsDecoded(printable, EQUALS)) };
  yield { form: "reversed", bytes: reversed(plain) };
  for (const bytes of hexRuns(raw)) yield { form: "hex", bytes: normalizeBytes(bytes) };
  for (const [form, base, digits] of NUMBERS) {
    yield { form, bytes: normalizeBytes(numbersDecoded(raw, { base, digits })) };
  }
  for (const bytes of base64Runs(raw)) yield { form: "base64", bytes: normalizeBytes(bytes) };
  for (const bytes of base64Runs(longRuns(raw).reverse())) {
    yield { form: "reversed base64", bytes: normalizeBytes(bytes) };
  }
}

function normalizedText(text: string): Uint8Array {
  return normalizeBytes(new TextEncoder().encode(text));
}

/** The surroundings of everything that matches; the whole text where that is most of it. */
function partsWith(text: string, pattern: RegExp): string {
  const parts: string[] = [];
  let [start, end] = [0, 0];
  for (const { index } of text.matchAll(pattern)) {
    if (index - AROUND > end) {
      if (end > 0) parts.push(text.slice(start, end));
      start = index - AROUND;
    }
    end = index + AROUND;
  }
  if (end > 0) parts.push(text.slice(start, end));
  return parts.join(CUT);
}

/** The parts of a text that {@link compatible} changes, changed; they overlap, so that nothing is cut. */
function alikeParts(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += PART) {
    const part = compatible(text.slice(Math.max(0, at - AROUND), at + PART + AROUND));
    if (part !== null) parts.push(part);
  }
  return parts.join(CUT);
}

/** Undoes the escapes of JSON and of C-like strings that stand for white space or for a character by number. */
function unescape(text: string): string {
  return text.replace(
    /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|([\\nrtfbv]))/gi,
    (whole, braced?: string, four?: string, two?: string, letter?: string) => {
      if (letter !== undefined) return letter === "\\" ? "\\" : " ";
      const code = parseInt(braced ?? four ?? two ?? "", 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** Entities of HTML that stand for ASCII, and all by number. */
function withoutEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos|nbsp));?/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const code = hex === undefined ? parseInt(decimal ?? "", 10) : parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** Whether an ASCII byte is neither a letter nor a digit: what people put between letters. */
function isSign(byte: number): boolean {
  const lower = byte | 0x20;
  return byte > 0x20 && byte < 0x7f && !(byte >= 0x30 && byte <= 0x39) && !(lower >= 0x61 && lower <= 0x7a);
}

/** Runs with the same sign behind each letter (`s-e-c-r-e-t`), without it; parted by a byte that no text has. */
function separatedRuns(bytes: Uint8Array): Uint8Array {
  const out: number[] = [];
  for (let at = 0; at + 3 < bytes.length;) {
    const sign = bytes[at + 1] ?? 0;
    if (bytes[at + 3] !== sign || !isSign(sign)) {
      at += 1;
      continue;
    }
    let end = at;
    while (bytes[end + 1] === sign && end + 2 < bytes.length) end += 2;
    const letters = (end - at) / 2 + 1;
    if (letters < SHORTEST_SEPARATED) {
      at += 1;
      continue;
    }
    for (let from = at; from <= end; from += 2) out.push(bytes[from] ?? 0);
    out.push(0xff);
    at = end;
  }
  return Uint8Array.from(out);
}

/** The value of a hexadecimal digit; -1 for other bytes. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

const [PERCENT, EQUALS, LINE_FEED, CARRIAGE_RETURN, FULL_STOP] = [0x25, 0x3d, 0x0a, 0x0d, 0x2e];

/** `%41` or `=41` as bytes; an equals sign at the end of a line joins it with the next. */
function pairsDecoded(raw: Uint8Array, mark: number): Uint8Array {
  const out = new Uint8Array(raw.length);
  let length = 0;
  for (let at = 0; at < raw.length; at++) {
    const next = raw[at + 1];
    if (mark === EQUALS && raw[at] === mark && (next === LINE_FEED || next === CARRIAGE_RETURN)) {
      at += next === CARRIAGE_RETURN && raw[at + 2] === LINE_FEED ? 2 : 1;
      continue;
    }
    const high = raw[at] === mark ? hexDigit(next ?? 0) : -1;
    const low = high < 0 ? -1 : hexDigit(raw[at + 2] ?? 0);
    out[length++] = low < 0 ? raw[at] ?? 0 : high << 4 | low;
    if (low >= 0) at += 2;
  }
  return out.subarray(0, length);
}

/** White space, quotes, backslashes, and what people put between bytes: `:` `,` `-` `;`, brackets excluded. */
function isBetween(byte: number): boolean {
  return byte <= 0x20 || byte === 0x22 || byte === 0x27 || byte === 0x5c || byte === 0x3a || byte === 0x2c ||
    byte === 0x2d || byte === 0x3b;
}

/** Runs of hexadecimal digits (`414243`, `41:42`, `\x41`, `0x41,0x42`), decoded at both alignments. */
function* hexRuns(raw: Uint8Array): Generator<Uint8Array> {
  const digits = new Uint8Array(raw.length);
  let length = 0;
  for (let at = 0; at <= raw.length; at++) {
    const byte = raw[at] ?? 0x7d;
    // `x` after a backslash or a zero only introduces a byte.
    const marks = (byte | 0x20) === 0x78 && (raw[at - 1] === 0x5c || raw[at - 1] === 0x30);
    const digit = hexDigit(byte);
    if (digit >= 0) digits[length++] = digit;
    else if (marks) length -= raw[at - 1] === 0x30 && length > 0 ? 1 : 0;
    else if (at === raw.length || !isBetween(byte)) {
      if (length >= SHORTEST_HEX) { for (const offset of [0, 1]) yield paired(digits.subarray(offset, length)); }
      length = 0;
    }
  }
}

function paired(digits: Uint8Array): Uint8Array {
  return Uint8Array.from(
    { length: digits.length >> 1 },
    (_, index) => (digits[index * 2] ?? 0) << 4 | (digits[index * 2 + 1] ?? 0),
  );
}

/** Numbers as the bytes that they are, whatever stands between them; longer ones, of other bases and addresses, left out. */
function numbersDecoded(raw: Uint8Array, { base, digits }: { base: number; digits: number }): Uint8Array {
  const out = new Uint8Array(raw.length + 1);
  let [length, value, count, end] = [0, 0, 0, 0];
  for (let at = 0; at <= raw.length; at++) {
    const digit = (raw[at] ?? 0) - 0x30;
    if (digit >= 0 && digit <= 9) {
      if (count === 0 && at - end > NUMBER_GAP) out[length++] = 0xff;
      value = digit < base ? value * base + digit : Infinity;
      count += 1;
    } else if (count > 0) {
      if (count <= digits && value <= 0xff) out[length++] = value;
      [value, count, end] = [0, 0, at];
    }
  }
  return out.subarray(0, length);
}

/**
 * Runs of the signs of base64, parted by a sign that is none. Byte by byte: a pattern that matches a run of megabytes, as
 * an image is one, runs out of stack.
 */
function longRuns(raw: Uint8Array): Uint8Array {
  const out = new Uint8Array(raw.length + 1);
  let [length, start] = [0, 0];
  for (let at = 0; at <= raw.length; at++) {
    if ((SIX_BITS[raw[at] ?? 0] ?? 65) < 64) {
      out[length++] = raw[at] ?? 0;
      continue;
    }
    if (length - start < SHORTEST_REVERSED) length = start;
    else out[length++] = FULL_STOP;
    start = length;
  }
  return out.subarray(0, length);
}

/** Byte → its six bits in base64, plain or for URLs; 64 for white space and quoting in between, 65 for the rest. */
const SIX_BITS: Readonly<Uint8Array> = sixBitTable();

function sixBitTable(): Uint8Array {
  const table = new Uint8Array(256).fill(65);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let index = 0; index < alphabet.length; index++) table[alphabet.charCodeAt(index)] = index;
  table[0x2d] = 62;
  table[0x5f] = 63;
  for (const between of " \t\n\r\"'\\") table[between.charCodeAt(0)] = 64;
  return table;
}

/**
 * Runs of base64, decoded at all four alignments: where a run began says nothing, since words before it look the same.
 * All runs of an alignment come as one view, parted by a byte that no text has.
 */
function* base64Runs(raw: Uint8Array): Generator<Uint8Array> {
  for (let alignment = 0; alignment < 4; alignment++) {
    const out = new Uint8Array(raw.length + 8);
    let length = 0;
    let runStart = 0;
    let [bits, held, skipped, taken] = [0, 0, 0, 0];
    for (let at = 0; at <= raw.length; at++) {
      const value = at < raw.length ? SIX_BITS[raw[at] ?? 0] ?? 65 : 65;
      if (value === 64) continue;
      if (value === 65) {
        // Too short to hold anything: taken back.
        if (taken < SHORTEST_BASE64) length = runStart;
        else out[length++] = 0xff;
        runStart = length;
        [bits, held, skipped, taken] = [0, 0, 0, 0];
        continue;
      }
      taken += 1;
      if (skipped < alignment) {
        skipped += 1;
        continue;
      }
      bits = (bits << 6 | value) & 0xffffff;
      held += 6;
      if (held >= 8) {
        held -= 8;
        out[length++] = (bits >> held) & 0xff;
      }
    }
    yield out.subarray(0, length);
  }
}
