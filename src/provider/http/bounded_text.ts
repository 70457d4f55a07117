/** Reading a small response whole, within a limit of bytes. */
import type { ByteSource } from "./byte_source.ts";

/** What was read: all of it, or the start of something longer. */
export interface BoundedText {
  text: string;
  complete: boolean;
}

/** Reads at most about `limitBytes` (after decompression) as UTF-8, then lets go of the rest. */
export async function readBounded(source: ByteSource | null, limitBytes: number): Promise<BoundedText> {
  if (source === null) return { text: "", complete: true };
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let length = 0;
  for (let bytes = await source.read(); bytes !== null; bytes = await source.read()) {
    length += bytes.length;
    if (length > limitBytes) {
      parts.push(decoder.decode(bytes.subarray(0, bytes.length - (length - limitBytes))));
      await source.cancel();
      return { text: parts.join(""), complete: false };
    }
    parts.push(decoder.decode(bytes, { stream: true }));
  }
  parts.push(decoder.decode());
  return { text: parts.join(""), complete: true };
}
