/** Reading a small response whole, within a limit of bytes. */

/** What was read: all of it, or the start of something longer. */
export interface BoundedText {
  text: string;
  complete: boolean;
}

/** Reads at most about `limitBytes` (after decompression) as UTF-8, then lets go of the rest. */
export async function readBounded(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  limitBytes: number,
): Promise<BoundedText> {
  if (body === null) return { text: "", complete: true };
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let length = 0;
  const reader = body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > limitBytes) {
      parts.push(decoder.decode(value.subarray(0, value.byteLength - (length - limitBytes))));
      await reader.cancel();
      return { text: parts.join(""), complete: false };
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
  parts.push(decoder.decode());
  return { text: parts.join(""), complete: true };
}
