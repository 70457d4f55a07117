/** Reads an input as a whole. Separate from `io.ts`, which every start loads. */
import { joined } from "./text.ts";
import type { Input } from "./io.ts";

/** Reads to the end of the input; null where it is longer than `limit` bytes. */
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
