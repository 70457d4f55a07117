/** Image files: what the first bytes say they are, how large the picture is, and whether a server may get it. */
import { quietly } from "../../platform/real_path.ts";
import type { ImageType, ShownImage } from "./content.ts";

/** Most bytes of an image: the lowest limit of any service is 5 MB, and base64 adds a third. */
export const IMAGE_BYTES = 5 * 1024 * 1024;
const LARGEST = `${IMAGE_BYTES / 1024 / 1024} MiB`;
/**
 * Longest side in pixels. A file of some kilobytes can claim to be larger than any memory (a server unpacks it whole,
 * four bytes a pixel), and models see it scaled down to a fraction of this.
 */
export const LONGEST_SIDE = 8000;

interface Size {
  width: number;
  height: number;
}

interface Format {
  /** For people. */
  label: string;
  /** Null where servers do not take it. */
  mediaType: ImageType | null;
  begins(bytes: Uint8Array): boolean;
  /** Null where the header is damaged. */
  size(bytes: Uint8Array): Size | null;
}

/** An image that may be sent; or why not, as a clause; or no image at all. */
type ReadImage =
  | { kind: "image"; image: ShownImage; label: string }
  | { kind: "unusable"; problem: string }
  | { kind: "other" };

const FORMATS: readonly Format[] = [
  {
    label: "PNG",
    mediaType: "image/png",
    begins: (bytes) => startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    size: pngSize,
  },
  { label: "JPEG", mediaType: "image/jpeg", begins: (bytes) => startsWith(bytes, [0xff, 0xd8, 0xff]), size: jpegSize },
  {
    label: "WebP",
    mediaType: "image/webp",
    begins: (bytes) => wordAt(bytes, 0) === "RIFF" && wordAt(bytes, 8) === "WEBP",
    size: webpSize,
  },
  {
    label: "GIF",
    mediaType: null,
    begins: (bytes) => wordAt(bytes, 0) === "GIF8",
    size: () => null,
  },
];

/**
 * Reads an image file. Its type is what its first bytes say; a name or a declared type decides nothing. `size` is that
 * of the whole file, where `bytes` are only its beginning.
 */
export function readImage(
  bytes: Uint8Array,
  { name, size = bytes.length }: { name: string; size?: number },
): ReadImage {
  const format = FORMATS.find((candidate) => candidate.begins(bytes));
  if (format === undefined) return { kind: "other" };
  const { label, mediaType } = format;
  if (mediaType === null) {
    return unusable(`model servers take no ${label} images: make it a PNG, JPEG or WebP`);
  }
  if (size > IMAGE_BYTES) {
    return unusable(`it is larger than ${LARGEST}: make it smaller, or save it as JPEG`);
  }
  const pixels = format.size(bytes);
  if (pixels === null || pixels.width < 1 || pixels.height < 1) {
    return unusable(`it begins like a ${label} image, and its header is damaged`);
  }
  if (pixels.width > LONGEST_SIDE || pixels.height > LONGEST_SIDE) {
    const { width, height } = pixels;
    return unusable(`it has ${width}x${height} pixels: make each side ${LONGEST_SIDE} or less`);
  }
  return { kind: "image", image: { mediaType, data: bytes.toBase64(), ...pixels, name }, label };
}

/** The same for an image in base64, as clients send it. */
export function readEncodedImage(data: string, { name }: { name: string }): ReadImage {
  // Four characters are three bytes; what is far too long is not decoded.
  if (data.length > IMAGE_BYTES * 2) return unusable(`it is larger than ${LARGEST}: make it smaller`);
  const bytes = quietly(() => Uint8Array.fromBase64(data));
  return bytes === null ? unusable("its data is no base64") : readImage(bytes, { name });
}

function unusable(problem: string): ReadImage {
  return { kind: "unusable", problem };
}

function startsWith(bytes: Uint8Array, signature: readonly number[]): boolean {
  return signature.every((byte, at) => bytes[at] === byte);
}

/** Four bytes as the letters they are. */
function wordAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The first chunk of a PNG is its header. Source: PNG specification, §11.2.2. */
function pngSize(bytes: Uint8Array): Size | null {
  if (bytes.length < 24 || wordAt(bytes, 12) !== "IHDR") return null;
  const view = viewOf(bytes);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** Markers without a length: 0x01, the restarts, start and end of the image. */
function standsAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
}

/**
 * Start of frame, of any kind of compression: C0 to CF without the three that hold tables. Source: ITU-T T.81, table
 * B.1.
 */
function startsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function jpegSize(bytes: Uint8Array): Size | null {
  const view = viewOf(bytes);
  for (let at = 2; at + 9 <= bytes.length;) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    // 0xff before a marker is padding.
    if (marker === 0xff) at += 1;
    else if (startsFrame(marker)) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    else if (marker === 0xda) return null;
    else at += standsAlone(marker) ? 2 : 2 + view.getUint16(at + 2);
  }
  return null;
}

/** The three forms of WebP. Source: WebP container specification; RFC 6386, §9.1, for the lossy one. */
function webpSize(bytes: Uint8Array): Size | null {
  if (bytes.length < 30) return null;
  const view = viewOf(bytes);
  switch (wordAt(bytes, 12)) {
    case "VP8 ":
      if (!startsWith(bytes.subarray(23), [0x9d, 0x01, 0x2a])) return null;
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case "VP8L": {
      if (bytes[20] !== 0x2f) return null;
      const packed = view.getUint32(21, true);
      return { width: (packed & 0x3fff) + 1, height: (packed >>> 14 & 0x3fff) + 1 };
    }
    case "VP8X":
      return {
        width: (view.getUint32(24, true) & 0xffffff) + 1,
        height: (view.getUint32(26, true) >>> 8) + 1,
      };
    default:
      return null;
  }
}
