/** Guards against models that go round in circles (specification, session engine: the same call for 50 minutes). */
import { AgentcliError } from "../errors.ts";
import type { SessionItem } from "../session/item.ts";

/** The decision on a repeated tool call. */
export type GuardVerdict = "run" | "notice" | "stop";

/** Counts calls that are identical to the one before, once for each response: the model sees no result in between. */
export interface CallGuard {
  /** A new response with calls. */
  countResponse(): void;
  /** `run` for the first two in a row, `notice` for the third and fourth, `stop` for the fifth. */
  check(name: string, input: Record<string, unknown>): GuardVerdict;
}

/** A guard with nothing counted. */
export function createCallGuard(): CallGuard {
  let last = "";
  let count = 0;
  let isCounted = false;
  return {
    countResponse: () => void (isCounted = false),
    check(name, input) {
      const key = `${name} ${JSON.stringify(input)}`;
      if (key !== last) count = 1;
      else if (!isCounted) count++;
      last = key;
      isCounted = true;
      return count >= 5 ? "stop" : count >= 3 ? "notice" : "run";
    },
  };
}

/** Failed calls in a row after which the model is told. */
const TOLD_AT = 5;
/** Failed calls in a row that end the turn, when they came with at least {@link STOP_RESPONSES} responses. */
const STOP_AT = 8;
/** A model that makes many wrong calls at once has not seen one of the messages yet. */
const STOP_RESPONSES = 3;

/** Counts results that are errors, in a row. */
export interface FailureGuard {
  /** A new turn: nothing is counted. */
  reset(): void;
  /** A new response with calls. */
  countResponse(): void;
  /** Counts a result; `tell` once at the fifth failure in a row. */
  count(isError: boolean): "go" | "tell";
  /** Whether the turn shall end. Asked after the results of a response. */
  exceeded(): boolean;
}

/** A guard with nothing counted. */
export function createFailureGuard(): FailureGuard {
  let failed = 0;
  let responses = 0;
  const reset = () => {
    failed = 0;
    responses = 0;
  };
  return {
    reset,
    countResponse: () => void responses++,
    count(isError) {
      if (!isError) {
        reset();
        return "go";
      }
      failed++;
      return failed === TOLD_AT ? "tell" : "go";
    },
    exceeded: () => failed >= STOP_AT && responses >= STOP_RESPONSES,
  };
}

/** Summaries in a row that stood for nothing but repeated calls: the model no longer knows what it did. */
const REPEATS_LIMIT = 3;

/** Watches what summaries stand for: a session that is summarized again and again has to get on all the same. */
export interface RepeatGuard {
  /** A new turn: nothing was called yet. */
  reset(): void;
  /** Takes what is about to be summarized; false when the turn shall end. */
  check(items: readonly SessionItem[]): boolean;
}

/** A guard with nothing counted. */
export function createRepeatGuard(): RepeatGuard {
  const known = new Set<string>();
  let repeated = 0;
  return {
    reset() {
      known.clear();
      repeated = 0;
    },
    check(items) {
      const before = known.size;
      const calls = items.flatMap((item) => item.kind === "assistant" ? item.calls : []);
      for (const call of calls) known.add(`${call.name} ${JSON.stringify(call.input)}`);
      repeated = calls.length > 0 && known.size === before ? repeated + 1 : 0;
      return repeated < REPEATS_LIMIT;
    },
  };
}

/** The error that ends a turn which only repeats what it has forgotten. */
export function repeatsDetected(): AgentcliError {
  return new AgentcliError(
    "loop_detected",
    `the model only repeated earlier calls while the session was summarized ${REPEATS_LIMIT} times`,
    { hint: "give the model a larger window on the server, or ask for less at once" },
  );
}

/** Added to the fifth failed result in a row. */
export const FAILURES_NOTICE =
  "Five calls in a row failed. Stop and think: read the messages, try something else, or answer with what you know.";

/** Ends the turn: five identical calls in a row. */
export class LoopDetected extends AgentcliError {
  constructor(toolName: string) {
    super("loop_detected", `the model made the same call of ${toolName} five times in a row`, {
      hint: "ask in smaller steps, or try another model",
    });
  }
}

/** The error that ends a turn in which every call fails. */
export function failuresDetected(): AgentcliError {
  return new AgentcliError("loop_detected", `${STOP_AT} tool calls in a row failed`, {
    hint: "ask in smaller steps, or try another model",
  });
}
