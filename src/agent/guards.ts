/** Guards against models that go round in circles (specification, session engine: the same call for 50 minutes). */
import { AgentcliError } from "../errors.ts";

/** What to do with a call that came again. */
export type GuardVerdict = "run" | "notice" | "stop";

/** Counts calls that are identical to the one before. */
export interface CallGuard {
  /** `run` for the first two in a row, `notice` for the third and fourth, `stop` for the fifth. */
  check(name: string, input: Record<string, unknown>): GuardVerdict;
}

/** A guard with nothing counted. */
export function createCallGuard(): CallGuard {
  let last = "";
  let count = 0;
  return {
    check(name, input) {
      const key = `${name} ${JSON.stringify(input)}`;
      count = key === last ? count + 1 : 1;
      last = key;
      return count >= 5 ? "stop" : count >= 3 ? "notice" : "run";
    },
  };
}

/** Ends the turn: five identical calls in a row. */
export class LoopDetected extends AgentcliError {
  constructor(toolName: string) {
    super("loop_detected", `the model made the same call of ${toolName} five times in a row`, {
      hint: "ask in smaller steps, or try another model",
    });
  }
}
