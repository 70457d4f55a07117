/** Texts: of bytes, of addresses, and cut to a number of bytes without breaking a character. */
import type { Input } from "./io.ts";
import { quietly } from "./real_path.ts";

/** Returns the text of UTF-8, without its byte order mark unless that `stays`; null for other bytes. */
export function utf8Text(bytes: Uint8Array, { stays = false }: { stays?: boolean } = {}): string | null {
  return quietly(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: stays }).decode(bytes));
}

/** Marks, and the two other characters that normalize to nothing but one. */
const MARKS = /[\p{M}\uff9e\uff9f]{30}/gu;

/**
 * Returns a normalized text. More than 30 marks in a row are split, since normalizing sorts each run in quadratic time:
 * the Stream-Safe Text Format of Unicode Standard Annex 15.
 */
export function normalized(text: string, form: "NFC" | "NFKC" | "NFKD"): string {
  return text.replace(MARKS, "$&\u034f").normalize(form);
}

/** Returns a text with its percent escapes decoded; as it is where they are invalid. */
export function percentDecoded(text: string): string {
  return quietly(() => decodeURIComponent(text)) ?? text;
}

/** Returns the path of an address; null where it has none. */
export function pathOfAddress(address: string): string | null {
  const path = quietly(() => decodeURIComponent(new URL(address).pathname));
  // Drives: `/C:/…`.
  return Deno.build.os === "windows" && path !== null ? path.replace(/^\/(?=[A-Za-z]:)/, "") : path;
}

/** Returns the port of an address, even if it is the default of its scheme. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Returns whether two contents are the same. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** The pieces joined. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Reads to the end of an input; null where it is longer than `limit` bytes. */
export async function readWhole(input: Pick<Input, "read">, limit: number): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let bytes = await input.read(); bytes !== null; bytes = await input.read()) {
    size += bytes.length;
    if (size > limit) return null;
    parts.push(bytes);
  }
  return joined(parts);
}

/** Returns the front matter of a markdown text, and what follows it; null where there is none. */
export function frontMatter(text: string): { matter: string; body: string } | null {
  const [whole = "", matter] = /^\ufeff?---[ \t]*\r?\n((?:[^\n]*\n)*?)---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  return matter === undefined ? null : { matter, body: text.slice(whole.length) };
}

/** UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The first `length` UTF-16 units, without cutting a character in two. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** At most `length` UTF-16 units of a text, the last of them `…` where something is left out. */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${cutText(text, length - 1)}…`;
}

/** The longest beginning of `text` of at most `bytes` UTF-8 bytes. */
export function headOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  // No character takes less than a byte: what cannot fit is not encoded.
  const piece = text.slice(0, bytes);
  const { read } = new TextEncoder().encodeInto(piece, new Uint8Array(bytes));
  return whole(piece.slice(0, read));
}

/** The longest end of `text` of at most `bytes` UTF-8 bytes. */
export function tailOf(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  const encoded = new TextEncoder().encode(text.slice(-bytes));
  if (encoded.length <= bytes) return whole(text.slice(-bytes));
  let from = encoded.length - bytes;
  // Bytes of the form 10xxxxxx continue a character.
  while (from < encoded.length && ((encoded[from] ?? 0) & 0xc0) === 0x80) from++;
  return new TextDecoder().decode(encoded.subarray(from));
}

/** Halves of surrogate pairs at the ends are left out. */
function whole(text: string): string {
  const from = /^[\udc00-\udfff]/.test(text) ? 1 : 0;
  const to = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
  return text.slice(from, Math.max(from, to));
}

/** The rows from the beginning that have at most `bytes` together, one at least, and how many are left. */
export function rowsWithin(rows: readonly string[], bytes: number): { kept: string[]; left: number } {
  let room = bytes;
  let end = 0;
  for (const row of rows) {
    room -= byteLength(row) + 1;
    if (room < 0 && end > 0) break;
    end += 1;
  }
  return { kept: rows.slice(0, end), left: rows.length - end };
}

/** Returns a text in a fence of Markdown that nothing in the text ends. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([fence]) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}
