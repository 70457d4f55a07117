/** Output that arrives over time: the answer as it streams, and a line about the current wait. */
import type { Io, Output } from "../platform/io.ts";

/** Characters that may wait; beyond that the writer waits for the reader of the output. */
const WAITING_LIMIT = 256 * 1024;

/**
 * An output for pieces, which go out in the order given. A write through the runtime costs as much as reading forty
 * tokens, and the caller waits for it: a server that sends faster than that is then read on, and its text written in
 * larger pieces. The first text goes out at once.
 */
export function createPacedOutput(output: Output) {
  let waiting = "";
  /** A failure is permanent: a reader that has gone does not come back. */
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
    /** Takes a text. Returns a promise only when the caller has to wait: too much is pending, or writing failed. */
    write(text: string): void | Promise<void> {
      waiting += text;
      if (writing === null && waiting !== "") {
        writing = drain();
        // Whoever writes or waits next gets the error.
        writing.catch(() => failed = true);
      }
      if (failed || waiting.length > WAITING_LIMIT) return writing ?? undefined;
    },
    /** Resolves when the system has taken everything; rejects with the write error, each time. */
    async settled(): Promise<void> {
      while (writing !== null) await writing;
    },
  };
}

/** A line that may be shown. Both functions may be called at any time. */
interface Progress {
  /** Shows `label` with the seconds since this call, after the first second. */
  start(label: string): void;
  /** Adds to the label, for instance how much is done. */
  note(text: string): void;
  /** Removes the line, if there is one. Must be called before anything else is written to the terminal. */
  stop(): Promise<void> | undefined;
}

/** Why a wait ends: without an explicit reason the runtime creates an error, with a stack. */
const OVER = "over";

/**
 * Shows nothing where stderr is no terminal or quiet was asked for. A dumb terminal cannot remove a line: it gets one
 * for each wait, which stays.
 */
export function createProgress(io: Pick<Io, "stderr" | "env" | "clock">, options: { quiet: boolean }): Progress {
  if (options.quiet || !io.stderr.isTerminal) {
    return { start: () => {}, note: () => {}, stop: () => undefined };
  }
  const dumb = io.env("TERM") === "dumb";
  /** Until the signal is aborted. */
  const everySecond = async (act: () => void, signal: AbortSignal) => {
    for (;;) {
      await io.clock.sleep(1000, signal);
      act();
    }
  };
  let waiting: AbortController | null = null;
  let drawn = false;
  let note = "";
  return {
    start(label) {
      if (waiting !== null) return;
      const started = io.clock.monotonic();
      note = "";
      const draw = () => {
        if (dumb) {
          if (!drawn) void io.stderr.write(`${label} ...\n`).catch(() => {});
          drawn = true;
          return;
        }
        const seconds = Math.round((io.clock.monotonic() - started) / 1000);
        drawn = true;
        const line = `${label}, ${seconds} s${note}`.slice(0, io.stderr.columns() - 1);
        void io.stderr.write(`\r\x1b[K${line}`).catch(() => {});
      };
      waiting = new AbortController();
      everySecond(draw, waiting.signal).catch(() => {});
    },
    note: (text) => void (note = ` ${text}`),
    stop() {
      waiting?.abort(OVER);
      waiting = null;
      const isThere = drawn && !dumb;
      drawn = false;
      return isThere ? io.stderr.write("\r\x1b[K") : undefined;
    },
  };
}
