/** Events that are told in a line or two, and how a turn failed. */
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import { clean } from "../../terminal/clean.ts";
import { type Row, span, type Style } from "../../terminal/style.ts";
import { wrap } from "../../terminal/wrap.ts";
import { retryText } from "../run/text_output.ts";
import { echoRows } from "./echo_rows.ts";

const BREAKS = {
  shortened: "old tool results were shortened; the server reads the session anew",
  compacted: "the session starts from a summary",
  images_left_out: "without those images; the server reads the session anew",
  one_call_a_message: "one call a message from here on",
  tool_calls_as_text: "tools are described as text from here on",
  no_system_message: "the system message stands before the first prompt from here on",
} as const;

/** The rows of an event; none for those that are shown in other ways. */
export function eventRows(event: TurnEvent, width: number): Row[] {
  const text = (line: string, style: Style = "dim") => textRows(line, { width, style });
  switch (event.kind) {
    case "retry": {
      const said = retryText(event.notice);
      return said === null ? [] : text(said, "warning");
    }
    case "steered":
      return [[], ...echoRows(event.text, width), []];
    case "recovered":
      return text(`calls found in the text (${event.family}): ${event.toolNames.join(", ")}`);
    case "truncated": {
      const { promptTokens, estimatedTokens, hint } = event;
      const words =
        `the server dropped a part of the prompt: it read ${promptTokens} of about ${estimatedTokens} tokens`;
      return [...text(words, "error"), ...text(hint, "warning")];
    }
    case "prefix_break":
      return event.reason === "compacted" ? [] : text(BREAKS[event.reason]);
    case "compacted":
      return text(`summarised the older part: ${event.preTokens} tokens before, ${event.postTokens} now`);
    case "notice":
      return text(event.text);
    default:
      return [];
  }
}

/** What failed, and what to do. What was interrupted is no failure. */
export function failureRows(result: TurnResult, width: number): Row[] {
  if (result.errorCode === "interrupted") return textRows("stopped", { width, style: "warning" });
  const rows = textRows(result.errors.join("; "), { width, style: "error" });
  return result.hint === null ? rows : [...rows, ...textRows(result.hint, { width, style: "dim" })];
}

/** Text from anywhere as indented rows. */
export function textRows(text: string, { width, style }: { width: number; style: Style }): Row[] {
  const indent = [span("  ")];
  return clean(text, { multiline: true }).split("\n").flatMap((line) =>
    wrap([span(line.replaceAll("\t", "    "), style)], { width, first: indent, indent })
  );
}
