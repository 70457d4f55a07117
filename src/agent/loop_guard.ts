/** Guards against models that loop (specification, session engine: the same call for 50 minutes). */
import { AgentcliError } from "../errors.ts";
import type { SessionItem } from "../session/item.ts";

/** Identical calls in a row that are answered with a notice, and that end the turn. */
const SAME = { noticed: 3, stopped: 5 };
/** How many failed calls in a row cause a notice for the model, and how many end the turn. */
const FAILED = { warned: 5, stopped: 8 };
/** A model that makes many wrong calls at once has not seen one of the messages yet. */
const FAILED_RESPONSES = 3;
/** Summaries in a row that stood for nothing but repeated calls: the model no longer knows what it did. */
const REPEATED_SUMMARIES = 3;

const FAILURES_NOTICE =
  "Five calls in a row failed. Stop and think: read the messages, try something else, or answer with what you know.";

/** Counts what a session repeats, and ends the turn with `loop_detected` where it gets nowhere. */
export class LoopGuard {
  #lastCall = "";
  #same = 0;
  #isCounted = false;
  #failed = 0;
  #failedResponses = 0;
  readonly #called = new Set<string>();
  #repeatedSummaries = 0;

  /** A new turn, or new words of the user: what was called, failed or was summarized before does not count. */
  reset(): void {
    this.#lastCall = "";
    this.#same = 0;
    this.#forgetFailures();
    this.#called.clear();
    this.#repeatedSummaries = 0;
  }

  /** A new response with calls: the same call counts once for it, since the model sees no result in between. */
  countResponse(): void {
    this.#isCounted = false;
    this.#failedResponses++;
  }

  /** Returns whether a call may run: one that was made twice in a row is answered instead. */
  mayRun(name: string, input: Record<string, unknown>): boolean {
    const call = keyOf(name, input);
    if (call !== this.#lastCall) this.#same = 1;
    else if (!this.#isCounted) this.#same++;
    this.#lastCall = call;
    this.#isCounted = true;
    if (this.#same >= SAME.stopped) {
      throw loopDetected(`the model made the same call of ${name} five times in a row`);
    }
    return this.#same < SAME.noticed;
  }

  /** Counts a result. Returns a notice for the model at the fifth failure in a row, otherwise null. */
  countResult(isError: boolean): string | null {
    if (isError) this.#failed++;
    else this.#forgetFailures();
    return this.#failed === FAILED.warned ? FAILURES_NOTICE : null;
  }

  /** Asked after the results of a response. */
  checkFailures(): void {
    if (this.#failed < FAILED.stopped || this.#failedResponses < FAILED_RESPONSES) return;
    throw loopDetected(`${FAILED.stopped} tool calls in a row failed`);
  }

  /** Records what is about to be summarized: a session that is summarized again and again has to make progress. */
  checkSummarized(items: readonly SessionItem[]): void {
    const before = this.#called.size;
    const calls = items.flatMap((item) => item.kind === "assistant" ? item.calls : []);
    for (const { name, input } of calls) this.#called.add(keyOf(name, input));
    this.#repeatedSummaries = calls.length > 0 && this.#called.size === before ? this.#repeatedSummaries + 1 : 0;
    if (this.#repeatedSummaries < REPEATED_SUMMARIES) return;
    throw loopDetected(
      `the model only repeated earlier calls while the session was summarized ${REPEATED_SUMMARIES} times`,
      "give the model a larger window on the server, or ask for less at once",
    );
  }

  #forgetFailures(): void {
    this.#failed = 0;
    this.#failedResponses = 0;
  }
}

function keyOf(name: string, input: unknown): string {
  return `${name} ${JSON.stringify(input)}`;
}

function loopDetected(message: string, hint = "ask in smaller steps, or try another model"): AgentcliError {
  return new AgentcliError("loop_detected", message, { hint });
}
