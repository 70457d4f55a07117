/** Waits of commands that serve somebody: for the end, for a signal, for an answer in time. */
import { AgentcliError } from "../errors.ts";
import type { Clock, Io } from "../platform/io.ts";
import { interruptible } from "../runtime/interrupt.ts";

/** Serves until the work ends or a signal comes, then closes what was served; returns the exit code. */
export async function serveUntilStopped(
  io: Pick<Io, "onSignal" | "clock">,
  serving: (stopped: Promise<void>) => Promise<unknown>,
): Promise<number> {
  return await interruptible({ io }, async (signal) => {
    await serving(aborted(signal));
    return signal.reason instanceof AgentcliError ? signal.reason.exitCode : 0;
  });
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Does work under a signal that is aborted after `milliseconds`, too; null where that ended it. */
export async function orLate<T>(
  milliseconds: number,
  { clock, signal }: { clock: Pick<Clock, "sleep">; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const late = new AbortController();
  const over = new AbortController();
  clock.sleep(milliseconds, over.signal).then(() => late.abort(), () => {});
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return null;
    throw error;
  } finally {
    over.abort();
  }
}
