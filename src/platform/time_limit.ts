/** Work that ends with a signal, or when its time is up. */
import type { Clock } from "./io.ts";

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * Does work under a signal that is aborted with `late` when the time is up. That, or the reason of the outer signal, is thrown
 * unless the work, told so, still gives something.
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

/** Does work under a signal that is aborted after `milliseconds`, too; null where that ended it. */
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
