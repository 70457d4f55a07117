/** Small image files for tests: a PNG that any reader takes, and the headers of other formats. */
import { joined } from "../../src/platform/text.ts";
import { deflateSync } from "node:zlib";

/** What an image file of a test holds. */
export interface TestImage {
  width: number;
  height: number;
  /** Kept in the file as words beside the picture. */
  comment?: string;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0) ^ crc >>> 8;
  return ~crc >>> 0;
}

function inOne(...parts: (Uint8Array | string | readonly number[])[]): Uint8Array<ArrayBuffer> {
  return joined(parts.map((part) => typeof part === "string" ? new TextEncoder().encode(part) : Uint8Array.from(part)));
}

function big(value: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, at) => Math.floor(value / 256 ** (bytes - 1 - at)) & 0xff);
}

function little(value: number, bytes: number): number[] {
  return big(value, bytes).reverse();
}

function chunk(name: string, content: Uint8Array | readonly number[]): Uint8Array {
  const body = inOne(name, content);
  return inOne(big(content.length, 4), body, big(crcOf(body), 4));
}

/** A grey PNG of one bit a pixel. The size may be anything: the picture is only as long as 64 KiB. */
export function pngFile({ width, height, comment }: TestImage): Uint8Array<ArrayBuffer> {
  const row = Math.ceil(width / 8) + 1;
  const rows = new Uint8Array(Math.min(row * height, 65_536));
  return inOne(
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    chunk("IHDR", [...big(width, 4), ...big(height, 4), 1, 0, 0, 0, 0]),
    ...(comment === undefined ? [] : [chunk("tEXt", inOne(`Comment\0${comment}`))]),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", []),
  );
}

/** The beginning of a JPEG, up to where its size stands and a little further. */
export function jpegFile({ width, height, comment }: TestImage): Uint8Array<ArrayBuffer> {
  const words = new TextEncoder().encode(comment ?? "");
  return inOne(
    [0xff, 0xd8, 0xff, 0xe0, 0, 16],
    "JFIF\0",
    [1, 1, 0, 0, 1, 0, 1, 0, 0],
    ...(comment === undefined ? [] : [inOne([0xff, 0xfe], big(words.length + 2, 2), words)]),
    // A table of quantisation, then filling before the start of the frame.
    [0xff, 0xdb, 0, 67, 0, ...Array.from({ length: 64 }, (_, at) => at + 1)],
    [0xff, 0xff, 0xff, 0xc2, 0, 17, 8, ...big(height, 2), ...big(width, 2), 3, 1, 34, 0, 2, 17, 1, 3, 17, 1],
    [0xff, 0xd9],
  );
}

/** The header of a WebP in one of its forms, with some bytes after it. */
export function webpFile(form: "VP8 " | "VP8L" | "VP8X", { width, height }: TestImage): Uint8Array<ArrayBuffer> {
  const content = {
    "VP8 ": [0, 0, 0, 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)],
    "VP8L": [0x2f, ...little((width - 1) + (height - 1) * 2 ** 14, 4)],
    "VP8X": [0, 0, 0, 0, ...little(width - 1, 3), ...little(height - 1, 3)],
  }[form];
  const body = inOne("WEBP", form, little(content.length, 4), content, new Array<number>(12).fill(0));
  return inOne("RIFF", little(body.length, 4), body);
}

/** The address under which a request holds an image file. */
export function dataUrl(mediaType: string, bytes: Uint8Array): string {
  return `data:${mediaType};base64,${bytes.toBase64()}`;
}
