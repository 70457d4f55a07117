/** A clock that stands still until a test moves it. */
import type { Clock } from "../../src/platform/io.ts";

interface Sleeper {
  due: number;
  wake: () => void;
}

/** Time as the test says. */
export interface ManualClock extends Clock {
  /** Moves the time on and wakes who is due, in order; what they start runs before it resolves. */
  advance(milliseconds: number): Promise<void>;
  /** From now on, sleeps shorter than this are over at once and move the time on by their length. */
  skipBelow(milliseconds: number): void;
  /** How long was asked for, each time. */
  readonly slept: readonly number[];
  /** Resolves when somebody sleeps for this long. */
  sleeping(milliseconds: number): Promise<void>;
}

/** Makes a clock that starts at 0. */
export function manualClock(): ManualClock {
  let time = 0;
  let skipped = 0;
  const slept: number[] = [];
  const sleepers = new Set<Sleeper>();
  const waiting = new Set<{ milliseconds: number; found: () => void }>();
  return {
    slept,
    now: () => time,
    monotonic: () => time,
    skipBelow: (milliseconds) => void (skipped = milliseconds),
    sleeping(milliseconds) {
      if (slept.includes(milliseconds)) return Promise.resolve();
      return new Promise((found) => waiting.add({ milliseconds, found }));
    },
    sleep(milliseconds, signal) {
      slept.push(milliseconds);
      for (const each of waiting) if (each.milliseconds === milliseconds) each.found();
      if (milliseconds < skipped) {
        signal?.throwIfAborted();
        time += milliseconds;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { due: time + milliseconds, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        }, { once: true });
      });
    },
    async advance(milliseconds) {
      time += milliseconds;
      for (const sleeper of [...sleepers].sort((a, b) => a.due - b.due)) {
        if (sleeper.due > time) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await Promise.resolve();
    },
  };
}
