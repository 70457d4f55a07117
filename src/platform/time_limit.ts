/** Time limits for work that can be aborted. */
import type { Clock } from "./io.ts";

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * Runs work with a signal that is aborted with `late` when the time is up, or when the outer signal is. Throws the
 * reason of the abort, unless the work returns a result after it.
 */
export async function inTime<T>(
  milliseconds: number,
  { clock, signal, late }: { clock: Pick<Clock, "sleep">; signal: AbortSignal; late: Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const [over, due] = [new AbortController(), new AbortController()];
  clock.sleep(milliseconds, over.signal).then(() => due.abort(late), () => {});
  const either = AbortSignal.any([signal, due.signal]);
  try {
    return await work(either);
  } catch (error) {
    throw either.aborted ? either.reason : error;
  } finally {
    over.abort();
  }
}

/** Runs work with a signal that is also aborted after `milliseconds`; returns null if that ended it. */
export async function orLate<T>(
  milliseconds: number,
  waiting: { clock: Pick<Clock, "sleep">; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const late = new Error("late");
  return await inTime(milliseconds, { ...waiting, late }, work).catch((error) => {
    if (error !== late) throw error;
    return null;
  });
}
