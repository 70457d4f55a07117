/** `json`: the result object, alone. `stream-json`: one event a line, the result last. */
import { createProtocolWriter, resultEvent } from "../../protocol/writer.ts";
import type { Io } from "../../platform/io.ts";
import { escapedJson, jsonText } from "../../terminal/json_text.ts";
import { VERSION } from "../version.ts";
import type { TurnOutput } from "./output.ts";

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
