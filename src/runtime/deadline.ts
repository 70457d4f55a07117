/** `--timeout`: how long one turn may take. */
import { AgentcliError } from "../errors.ts";
import type { Clock } from "../platform/io.ts";

/**
 * Aborts `controller` with a `timeout` error after `seconds`; without a number it never does. Gives what ends the
 * waiting, to be called when the turn is over.
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
