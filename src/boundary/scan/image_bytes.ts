/** What is an image, as far as the scan treats one in its own way. */

const ADDRESS = /^data:image\/[a-z]+;base64,/;

/** PNG, JPEG, GIF, WebP (the length of the file stands in the middle). */
const SIGNATURES: readonly (readonly (number | null)[])[] = [
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  [0xff, 0xd8, 0xff],
  [0x47, 0x49, 0x46, 0x38],
  [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50],
];

/** Base64 of so many characters holds every signature. */
const SIGNED = 16;

/** Whether a text is an image as requests hold it, and nothing else: other words behind such a beginning are a text. */
export function isImageAddress(text: string): boolean {
  const begin = ADDRESS.exec(text)?.[0].length ?? text.length;
  if (begin + SIGNED > text.length || /[^A-Za-z0-9+/]/.test(text.slice(begin, begin + SIGNED))) return false;
  if (!beginsAnImage(Uint8Array.fromBase64(text.slice(begin, begin + SIGNED)))) return false;
  return !/[^A-Za-z0-9+/=]/.test(text.slice(begin));
}

/** Whether a file that begins with these bytes is an image. */
export function beginsAnImage(bytes: Uint8Array): boolean {
  return SIGNATURES.some((signature) => signature.every((byte, at) => byte === null || bytes[at] === byte));
}
