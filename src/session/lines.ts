/** The lines of a file of the home, one after the other, however long the file is. */
import type { Home } from "../platform/home.ts";
import { readPieces } from "../platform/journal.ts";

/** Longest line that is read, in bytes; a longer one is passed over and reported. */
const LINE_LIMIT = 128 * 1024 * 1024;

/** One line. `text` is null when it is no UTF-8 or too long. */
export interface FileLine {
  /** From 1. */
  number: number;
  text: string | null;
  /** Whether a line feed ends it: the last line of a writer that was killed has none. */
  ended: boolean;
  /** Bytes of the file up to the end of this line, its line feed included. */
  end: number;
}

const LF = 10;

/** The lines of a file, which end at line feeds alone; none when it is absent. */
export async function* fileLines(home: Home, name: string): AsyncGenerator<FileLine> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let parts: Uint8Array[] = [];
  let [length, end, number] = [0, 0, 0];
  const take = (ended: boolean): FileLine => {
    end += length + (ended ? 1 : 0);
    const line = { number: ++number, text: decode(decoder, parts, length), ended, end };
    parts = [];
    length = 0;
    return line;
  };
  const keep = (bytes: Uint8Array) => {
    length += bytes.length;
    // What is too long is counted, not held.
    if (length > LINE_LIMIT) parts = [];
    else parts.push(bytes);
  };
  for await (const piece of readPieces(home, name)) {
    let start = 0;
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, start)) {
      keep(piece.subarray(start, at));
      yield take(true);
      start = at + 1;
    }
    if (start < piece.length) keep(piece.subarray(start));
  }
  if (length > 0) yield take(false);
}

function decode(decoder: TextDecoder, parts: readonly Uint8Array[], length: number): string | null {
  if (length > LINE_LIMIT) return null;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  try {
    return decoder.decode(whole);
  } catch {
    return null;
  }
}
