/** Newline-delimited streams: bytes into lines of bounded length, and writes that keep their order. */

/** Longest line, in bytes; a longer one is dropped and reported. */
export const LINE_LIMIT = 64 * 1024 * 1024;

/** Takes bytes, gives complete lines. */
export interface LineReader {
  /** The lines that `bytes` complete; null stands for one that was too long. */
  push(bytes: Uint8Array): (string | null)[];
  /** Returns the last line where it has no LF; undefined for none. */
  end(): string | undefined;
}

/** A reader with nothing read. Time is proportional to the bytes, however they are cut. */
export function createLineReader(limit: number = LINE_LIMIT): LineReader {
  const decoder = new TextDecoder();
  let parts: Uint8Array[] = [];
  let size = 0;
  const take = (): string | null => {
    const length = size;
    const bytes = new Uint8Array(length > limit ? 0 : length);
    let at = 0;
    if (length <= limit) {
      for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
      }
    }
    parts = [];
    size = 0;
    return length > limit ? null : decoder.decode(bytes);
  };
  const keep = (part: Uint8Array) => {
    size += part.length;
    if (size > limit) parts = [];
    else if (part.length > 0) parts.push(part.slice());
  };
  return {
    push(bytes) {
      const lines: (string | null)[] = [];
      let from = 0;
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
        keep(bytes.subarray(from, at));
        lines.push(take());
        from = at + 1;
      }
      keep(bytes.subarray(from));
      return lines;
    },
    end() {
      return size === 0 ? undefined : take() ?? undefined;
    },
  };
}

/** Yields the lines of a stream until it ends; null stands for one that was too long. */
export async function* readLines(
  read: () => Promise<Uint8Array | null>,
  limit: number = LINE_LIMIT,
): AsyncGenerator<string | null> {
  const reader = createLineReader(limit);
  for (let bytes = await read(); bytes !== null; bytes = await read()) yield* reader.push(bytes);
  const rest = reader.end();
  if (rest !== undefined) yield rest;
}

/** Writes one after the other, in the order of the calls. After a failure every further write fails the same way. */
export function createOrderedWrite(write: (text: string) => Promise<void>): (text: string) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (text) => {
    last = last.then(() => write(text));
    // Whoever wrote hears of the failure; the chain itself is nobody's.
    last.catch(() => {});
    return last;
  };
}
