/** Work that may take so long and no longer, by the clock that is passed in. */
import { AgentcliError } from "../../errors.ts";
import type { Clock } from "../../platform/io.ts";

/** How long, and what else ends the work. */
export interface Limits {
  clock: Clock;
  milliseconds: number;
  /** Who is waited for, for the message. */
  provider: string;
  signal: AbortSignal;
}

/**
 * Gives what `work` gives. After the time its signal is aborted with a `timeout`, which is thrown unless the work, told
 * so, still gives something. The outer signal is passed on.
 */
export async function withinTime<T>(limits: Limits, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, milliseconds, provider } = limits;
  limits.signal.throwIfAborted();
  const late = new AbortController();
  const watch = new AbortController();
  const seconds = Math.round(milliseconds / 1000);
  const error = new AgentcliError("timeout", `${provider} was not done after ${seconds} s`, {
    hint: "raise --timeout",
  });
  clock.sleep(milliseconds, watch.signal).then(() => late.abort(error), () => {});
  const signal = AbortSignal.any([limits.signal, late.signal]);
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    watch.abort();
  }
}
