/** Machine output. `json`: the result object alone. `stream-json`: one event per line, the result last. */
import { createProtocolWriter, resultEvent } from "../../protocol/writer.ts";
import type { Io } from "../../platform/io.ts";
import { escapedJson, jsonText } from "../../terminal/clean.ts";
import { VERSION } from "../version.ts";
import type { TurnOutput } from "./text_output.ts";
import { failureFields } from "../../agent/turn_result.ts";
import type { AgentcliError } from "../../errors.ts";
import type { TurnResult } from "../../protocol/turn_event.ts";

/** Prints the result object and nothing else. */
export function jsonOutput(io: Pick<Io, "stdout">): TurnOutput {
  return {
    event: () => {},
    result: (result) => io.stdout.write(jsonText(resultEvent(result))),
  };
}

/** Prints every event as it comes. */
export function streamJsonOutput(
  io: Pick<Io, "stdout">,
  options: { sessionId: string; partial: boolean; model: string },
): TurnOutput {
  const writer = createProtocolWriter({ ...options, version: VERSION });
  return {
    event(event) {
      const lines = writer.lines(event);
      return lines === "" ? undefined : io.stdout.write(escapedJson(lines));
    },
    result: (result) => io.stdout.write(escapedJson(writer.result(result))),
  };
}

/** The result of a turn that could not begin. */
export function failedResult(error: AgentcliError, sessionId: string): TurnResult {
  return {
    sessionId,
    answer: "",
    durationMs: 0,
    apiMs: 0,
    turns: 0,
    usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
    reread: { tokens: 0, ms: 0 },
    model: "none",
    contextWindow: 0,
    maxTokens: 0,
    denials: [],
    label: "open",
    ...failureFields(error),
  };
}

/** Prints the result event for `error` and returns the exit code. */
export async function printFailure(
  error: AgentcliError,
  io: Pick<Io, "stdout">,
  sessionId: string = crypto.randomUUID(),
): Promise<number> {
  await jsonOutput(io).result(failedResult(error, sessionId));
  return error.exitCode;
}
