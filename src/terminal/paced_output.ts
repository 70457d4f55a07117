/** Writes what streams while the next of it is read: one write at a time, and what comes meanwhile goes out together. */
import type { Output } from "../platform/io.ts";

/** Characters that may wait; beyond that the writer waits for the reader of the output. */
const WAITING_LIMIT = 256 * 1024;

/** An output for pieces. Texts go out in the order given. */
export interface PacedOutput {
  /** Takes a text. Gives a promise only when the caller shall wait: too much is under way, or writing failed. */
  write(text: string): void | Promise<void>;
  /** Resolves when all has been taken by the system; rejects with what writing failed with, each time. */
  settled(): Promise<void>;
}

/**
 * A write through the runtime costs as much as reading forty tokens, and the caller waits for it: a server that sends
 * faster than that is then read on, and its text written in larger pieces. The first text goes out at once.
 */
export function createPacedOutput(output: Output): PacedOutput {
  let waiting = "";
  /** After a failure it stays: a reader that has gone does not come back. */
  let writing: Promise<void> | null = null;
  let failed = false;

  async function drain(): Promise<void> {
    while (waiting !== "") {
      const text = waiting;
      waiting = "";
      await output.write(text);
    }
    writing = null;
  }

  return {
    write(text) {
      waiting += text;
      if (writing === null && waiting !== "") {
        writing = drain();
        // It is told to whoever writes or waits next.
        writing.catch(() => failed = true);
      }
      if (failed || waiting.length > WAITING_LIMIT) return writing ?? undefined;
    },
    async settled() {
      while (writing !== null) await writing;
    },
  };
}
