/** Newline-delimited streams: bytes into lines of bounded length, and writes that keep their order. */

/** Longest line, in bytes; a longer one is dropped and reported. */
export const LINE_LIMIT = 64 * 1024 * 1024;

/**
 * Yields the lines of a stream until it ends; null stands for one that was too long. Time is proportional to the bytes,
 * however they are cut.
 */
export async function* readLines(
  read: () => Promise<Uint8Array | null>,
  limit: number = LINE_LIMIT,
): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let line = "";
  let size = 0;
  const keep = (part: Uint8Array, options: TextDecodeOptions) => {
    size += part.length;
    const text = decoder.decode(part, options);
    line = size > limit ? "" : line + text;
  };
  for (let bytes = await read(); bytes !== null; bytes = await read()) {
    let from = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      keep(bytes.subarray(from, at), { stream: false });
      yield size > limit ? null : line;
      line = "";
      size = 0;
      from = at + 1;
    }
    keep(bytes.subarray(from), { stream: true });
  }
  if (size > 0 && size <= limit) yield line + decoder.decode();
}

/** Writes one after the other, in the order of the calls. After a failure every further write fails the same way. */
export function createOrderedWrite(write: (text: string) => Promise<void>): (text: string) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (text) => {
    last = last.then(() => write(text));
    // Whoever wrote gets the failure; nobody awaits the chain itself.
    last.catch(() => {});
    return last;
  };
}
