/** Cutting text to a number of bytes without breaking a character. */

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
