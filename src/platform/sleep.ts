/** Waiting. */
import type { Clock } from "./io.ts";

/**
 * Calls `over` after a number of milliseconds, unless the returned function is called before; then the timer keeps no
 * process alive.
 *
 * By `AbortSignal.timeout`, not `setTimeout`: the first use of the latter costs a start 5 to 9 ms, of the former half a
 * millisecond. Such a timer cannot be canceled and takes 4 KB until it is due (all measured with Deno 2.9.6).
 */
export function after(milliseconds: number, over: () => void): () => void {
  const timer = AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)));
  timer.addEventListener("abort", over, { once: true });
  return () => timer.removeEventListener("abort", over);
}

/** Returns a function that starts `work` with its first call, and returns the same promise from then on. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => started ??= work();
}

/** Resolves with `work` or after `milliseconds`. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const enough = after(milliseconds, resolve);
  await Promise.race([work, promise]);
  enough();
}

/** Rejects with the signal's reason as soon as it is aborted, whatever becomes of the work. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  promise.catch(() => {});
  work.catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Returns a function that yields after each slice of work and throws the signal's reason: signals, timers
 * and the terminal wait for synchronous work.
 */
export function pacer(signal: AbortSignal | undefined, sliceMs = 50): () => Promise<void> {
  let pauseAt = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < pauseAt) return;
    await new Promise<void>((resolve) => void after(0, resolve));
    signal?.throwIfAborted();
    pauseAt = performance.now() + sliceMs;
  };
}

/** The timers that waiting uses. */
interface SleepParts {
  /** Milliseconds that only grow. */
  now(): number;
  /** A signal that is aborted after a whole number of milliseconds. */
  timer(milliseconds: number): AbortSignal;
}

/**
 * Makes a `sleep`: it resolves after `milliseconds`, or rejects with the signal's reason. A session makes waits of
 * minutes for each request and cuts them short, so timers, which cost memory ({@link after}), are shared. One that is
 * due before a wait serves that wait, too.
 */
export function createSleep(parts: SleepParts): Clock["sleep"] {
  const waits = new Waits(parts);
  return (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = waits.add(milliseconds, () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
      const stop = () => {
        end();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
    });
}

/** Waits and the timers under them. While nothing waits, no timer keeps the process alive. */
class Waits {
  readonly #parts: SleepParts;
  readonly #waits = new Set<{ due: number; over(): void }>();
  #timers: { due: number; signal: AbortSignal }[] = [];
  readonly #onTimer = () => this.#look();

  constructor(parts: SleepParts) {
    this.#parts = parts;
  }

  /** Calls `over` when the time is up; the returned function cancels the wait. */
  add(milliseconds: number, over: () => void): () => void {
    const wait = { due: this.#parts.now() + Math.max(0, milliseconds), over };
    if (this.#waits.size === 0) this.#listen();
    this.#waits.add(wait);
    this.#cover(wait.due);
    return () => {
      this.#waits.delete(wait);
      if (this.#waits.size === 0) this.#rest();
    };
  }

  /** Makes sure that a timer fires in time. */
  #cover(due: number): void {
    if (this.#timers.some((timer) => timer.due <= due)) return;
    const left = Math.max(0, Math.ceil(due - this.#parts.now()));
    const signal = this.#parts.timer(left);
    this.#timers.push({ due, signal });
    signal.addEventListener("abort", this.#onTimer, { once: true });
  }

  #look(): void {
    this.#timers = this.#timers.filter(({ signal }) => !signal.aborted);
    const now = this.#parts.now();
    let next = Infinity;
    for (const wait of [...this.#waits].sort((one, other) => one.due - other.due)) {
      if (wait.due > now) {
        next = wait.due;
        break;
      }
      this.#waits.delete(wait);
      wait.over();
    }
    if (this.#waits.size === 0) this.#rest();
    else if (next < Infinity) this.#cover(next);
  }

  #listen(): void {
    this.#timers = this.#timers.filter(({ signal }) => !signal.aborted);
    for (const { signal } of this.#timers) signal.addEventListener("abort", this.#onTimer, { once: true });
  }

  /** A timer that somebody listens to keeps the process alive. */
  #rest(): void {
    for (const { signal } of this.#timers) signal.removeEventListener("abort", this.#onTimer);
  }
}
