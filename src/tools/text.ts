/** Bytes of a text file as text and back, so that what was not changed stays byte for byte what it was. */
import { quietly } from "../platform/real_path.ts";

/** The text of a file's bytes. Bytes that are not UTF-8 are Latin-1: every byte is one character. */
type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin-1";

export interface DecodedText {
  /** Without the byte order mark. */
  text: string;
  encoding: Encoding;
  /** True if the file begins with a byte order mark. */
  marked: boolean;
}

/** Bytes at the start in which a NUL means that the file is not text. */
const BINARY_PROBE = 8192;

function decodeStrictly(bytes: Uint8Array, encoding: "utf-8" | "utf-16le" | "utf-16be"): string | null {
  return quietly(() => new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes));
}

function decodeLatin1(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return pieces.join("");
}

/** Returns whether a file that begins with these bytes is not text: a NUL byte early on, and no UTF-16 mark. */
export function looksBinary(head: Uint8Array): boolean {
  return !isUtf16(head) && head.subarray(0, BINARY_PROBE).includes(0);
}

/** Returns whether the bytes begin with a UTF-16 byte order mark. */
export function isUtf16(head: Uint8Array): boolean {
  return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
}

/** The text of a whole file; null when it is not text. */
export function decodeText(bytes: Uint8Array): DecodedText | null {
  if (isUtf16(bytes)) {
    const encoding = bytes[0] === 0xff ? "utf-16le" : "utf-16be";
    const text = bytes.length % 2 === 0 ? decodeStrictly(bytes.subarray(2), encoding) : null;
    return text === null || text.includes("\0") ? null : { text, encoding, marked: true };
  }
  if (looksBinary(bytes)) return null;
  const text = decodeStrictly(bytes, "utf-8");
  if (text === null) return { text: decodeLatin1(bytes), encoding: "latin-1", marked: false };
  const marked = text.startsWith("\ufeff");
  return { text: marked ? text.slice(1) : text, encoding: "utf-8", marked };
}

/** The bytes of a file with the same encoding and mark; null when Latin-1 has no such character. */
export function encodeText(
  text: string,
  like: Pick<DecodedText, "encoding" | "marked">,
): Uint8Array<ArrayBuffer> | null {
  const whole = like.marked ? `\ufeff${text}` : text;
  if (like.encoding === "utf-8") return new TextEncoder().encode(whole);
  if (like.encoding === "latin-1") {
    const bytes = new Uint8Array(whole.length);
    for (let at = 0; at < whole.length; at++) {
      const code = whole.charCodeAt(at);
      if (code > 0xff) return null;
      bytes[at] = code;
    }
    return bytes;
  }
  const view = new DataView(new ArrayBuffer(whole.length * 2));
  for (let at = 0; at < whole.length; at++) view.setUint16(at * 2, whole.charCodeAt(at), like.encoding === "utf-16le");
  return new Uint8Array(view.buffer);
}

/** The number of lines as a reader counts them: a final line end begins no further line. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let ends = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) ends += 1;
  return text.endsWith("\n") ? ends : ends + 1;
}

/** Where the line of a position starts. */
export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** Where each line starts; after a final line end one that is empty. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
