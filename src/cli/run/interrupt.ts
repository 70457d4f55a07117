/** Ctrl-C and its kind: the first ends the turn in good order, the second leaves at once. */
import { AgentcliError } from "../../errors.ts";
import type { Io, StopSignal } from "../../platform/io.ts";

/** The stop of one run. */
export interface Interrupt {
  /** Aborted with an {@link AgentcliError} by a signal, `--timeout`, or {@link Interrupt.end}. */
  readonly signal: AbortSignal;
  /** Resolves with an exit code at the second signal. */
  readonly forced: Promise<number>;
  /** Stops listening and waiting. */
  end(): void;
}

function reasonOf(signal: StopSignal): AgentcliError {
  return signal === "SIGINT"
    ? new AgentcliError("interrupted", "interrupted")
    : new AgentcliError("terminated", "terminated by a signal");
}

/** Listens for stop signals, and ends the work after `timeoutSeconds` when given. */
export function listenForInterrupt(io: Pick<Io, "onSignal" | "clock">, timeoutSeconds: number | undefined): Interrupt {
  const controller = new AbortController();
  const waiting = new AbortController();
  const forced = Promise.withResolvers<number>();
  const remove = io.onSignal((signal) => {
    const reason = reasonOf(signal);
    if (controller.signal.aborted) forced.resolve(reason.exitCode);
    else controller.abort(reason);
  });
  if (timeoutSeconds !== undefined) {
    const late = new AgentcliError("timeout", `the turn was ended after ${timeoutSeconds} s (--timeout)`, {
      hint: "raise --timeout, or leave it out",
    });
    io.clock.sleep(timeoutSeconds * 1000, waiting.signal).then(() => controller.abort(late), () => {});
  }
  return {
    signal: controller.signal,
    forced: forced.promise,
    end() {
      remove();
      waiting.abort();
    },
  };
}
