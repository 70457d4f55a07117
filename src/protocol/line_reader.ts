/** Bytes into lines: they end at LF and nowhere else, whatever characters they hold. */

/** Longest line, in bytes; a longer one is dropped and told. */
const LINE_LIMIT = 64 * 1024 * 1024;

/** Takes bytes, gives complete lines. */
export interface LineReader {
  /** The lines that `bytes` complete; null stands for one that was too long. */
  push(bytes: Uint8Array): (string | null)[];
  /** What is left at the end of input without its LF; undefined for nothing. */
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
