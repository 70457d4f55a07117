/** One line on stderr that says what is being waited for, redrawn once a second, gone when the wait is over. */
import type { Io } from "../platform/io.ts";

/** A line that may be shown. Both functions may be called at any time. */
export interface Progress {
  /** Shows `label` with the seconds since this call, after the first second. */
  start(label: string): void;
  /** Adds to the label, for instance how much is done. */
  note(text: string): void;
  /** Takes the line away. Must be called before anything else is written to the terminal. */
  stop(): Promise<void>;
}

/**
 * Shows nothing where stderr is no terminal or quiet was asked for. A dumb terminal cannot take a line away: it gets one
 * for each wait, which stays.
 */
export function createProgress(io: Pick<Io, "stderr" | "env" | "clock">, options: { quiet: boolean }): Progress {
  if (options.quiet || !io.stderr.isTerminal) {
    return { start: () => {}, note: () => {}, stop: () => Promise.resolve() };
  }
  const dumb = io.env("TERM") === "dumb";
  let timer: ReturnType<typeof setInterval> | undefined;
  let drawn = false;
  let note = "";
  return {
    start(label) {
      if (timer !== undefined) return;
      const started = io.clock.monotonic();
      note = "";
      timer = setInterval(() => {
        if (dumb) {
          if (!drawn) void io.stderr.write(`${label} ...\n`).catch(() => {});
          drawn = true;
          return;
        }
        const seconds = Math.round((io.clock.monotonic() - started) / 1000);
        drawn = true;
        const line = `${label}, ${seconds} s${note}`.slice(0, io.stderr.columns() - 1);
        void io.stderr.write(`\r\x1b[K${line}`).catch(() => {});
      }, 1000);
    },
    note: (text) => void (note = ` ${text}`),
    async stop() {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      if (drawn && !dumb) await io.stderr.write("\r\x1b[K");
      drawn = false;
    },
  };
}
