/** The result of a run that failed before its turn, for machine formats. */
import { failureFields } from "../../agent/result.ts";
import type { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import type { TurnResult } from "../../protocol/turn_event.ts";
import { jsonOutput } from "./machine_output.ts";

/** The result of a turn that could not begin. */
export function failedResult(error: AgentcliError, sessionId: string): TurnResult {
  return {
    sessionId,
    answer: "",
    durationMs: 0,
    apiMs: 0,
    turns: 0,
    usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
    model: "none",
    contextWindow: 0,
    maxTokens: 0,
    denials: [],
    label: "open",
    ...failureFields(error),
  };
}

/** Prints the result event for `error` and gives the exit code. */
export async function tellFailure(
  error: AgentcliError,
  io: Pick<Io, "stdout">,
  sessionId: string = crypto.randomUUID(),
): Promise<number> {
  await jsonOutput(io).result(failedResult(error, sessionId));
  return error.exitCode;
}
