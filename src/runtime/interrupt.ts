/** Ends a turn from outside: signals such as Ctrl-C, and the time limit. */
import { AgentcliError } from "../errors.ts";
import type { Clock, Io } from "../platform/io.ts";
import { orAborted } from "../platform/sleep.ts";

/**
 * Aborts `controller` with a `timeout` error after `seconds`, or never without a number. Returns a function that
 * cancels the deadline, to be called when the turn is over.
 */
export function startDeadline(
  seconds: number | undefined,
  { clock, controller }: { clock: Pick<Clock, "sleep">; controller: AbortController },
): () => void {
  if (seconds === undefined) return () => {};
  const over = new AbortController();
  const late = new AgentcliError("timeout", `the turn was ended after ${seconds} s (--timeout)`, {
    hint: "raise --timeout, or leave it out",
  });
  clock.sleep(seconds * 1000, over.signal).then(() => controller.abort(late), () => {});
  return () => over.abort();
}

/** How long the turn still has to end in good order after a second signal, in milliseconds. */
const LEAVE_MS = 1500;

/**
 * Listens for stop signals: `signal` is aborted with an {@link AgentcliError} by the first, and after `timeoutSeconds`;
 * `forced` resolves with an exit code soon after the second, at once at the third.
 */
export function listenForInterrupt(io: Pick<Io, "onSignal" | "clock">, timeoutSeconds?: number) {
  const controller = new AbortController();
  const forced = Promise.withResolvers<number>();
  let signals = 0;
  const remove = io.onSignal((signal) => {
    const reason = signal === "SIGINT"
      ? new AgentcliError("interrupted", "interrupted")
      : new AgentcliError("terminated", "terminated by a signal");
    signals++;
    if (signals === 1) controller.abort(reason);
    else if (signals > 2) forced.resolve(reason.exitCode);
    // Ending the children and writing the last line takes a moment.
    else io.clock.sleep(LEAVE_MS).then(() => forced.resolve(reason.exitCode));
  });
  const endDeadline = startDeadline(timeoutSeconds, { clock: io.clock, controller });
  return {
    signal: controller.signal,
    forced: forced.promise,
    end() {
      remove();
      endDeadline();
    },
  };
}

/** Does work until it ends, or returns the exit code of a repeated signal. */
export async function interruptible(
  { io, seconds }: { io: Pick<Io, "onSignal" | "clock">; seconds?: number | undefined },
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const { signal, forced, end } = listenForInterrupt(io, seconds);
  try {
    return await Promise.race([work(signal), forced]);
  } finally {
    end();
  }
}

/** Returns what was opened, or throws the signal's reason at once; what opens after that is dropped. */
export async function untilAborted<T>(
  opening: Promise<T>,
  { signal, drop }: { signal: AbortSignal; drop(late: T): Promise<unknown> },
): Promise<T> {
  try {
    return await orAborted(opening, signal);
  } catch (error) {
    if (signal.aborted) opening.then(drop, () => {});
    throw error;
  }
}
