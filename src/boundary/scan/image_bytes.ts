/** What is an image, as far as the scan treats one in its own way. */

/** How an image stands in a request: the whole text is its address, and the address its content. */
export const IMAGE_URL = /^data:image\/[a-z]+;base64,/;

/** PNG, JPEG, GIF, WebP (behind the length of the file). */
const SIGNATURES: readonly (readonly [offset: number, bytes: readonly number[]])[] = [
  [0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  [0, [0xff, 0xd8, 0xff]],
  [0, [0x47, 0x49, 0x46, 0x38]],
  [8, [0x57, 0x45, 0x42, 0x50]],
];

/** Whether a file that begins with these bytes is an image. */
export function beginsAnImage(bytes: Uint8Array): boolean {
  return SIGNATURES.some(([offset, signature]) => signature.every((byte, at) => bytes[offset + at] === byte));
}
