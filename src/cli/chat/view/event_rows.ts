/** Rows that stay on the screen: the greeting, what was sent, and events that take a line or two. */
import { shownCommand } from "../../../engine/quote.ts";
import { asAgentcliError } from "../../../errors.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span, type Style } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { selectorOf } from "../../../runtime/agent_session.ts";
import { wrap } from "../../../terminal/wrap.ts";
import type { TurnEvent, TurnResult } from "../../../protocol/turn_event.ts";
import { noteOf } from "../../run/text_output.ts";

/**
 * The command that continues the session; null where there is nothing to continue. A model that was `chosen` is
 * named, since nothing else says it the next time.
 */
export function farewell(prepared: OpenSession, { chosen }: { chosen: boolean }): string | null {
  const { session, transcriptFile } = prepared;
  if (transcriptFile === null || session.items.length === 0) return null;
  const model = chosen ? ["--model", clean(selectorOf(prepared))] : [];
  const argv = ["agentcli", "chat", "--resume", session.id.slice(0, 8), ...model];
  return `continue with: ${shownCommand({ argv, variables: [] }, "linux")}\n`;
}

/** Longest echo, in rows and in characters. */
const ECHO_ROWS = 12;
const ECHO_CHARACTERS = 4000;

/** The text after a prompt sign; of a large paste its beginning and its size. */
export function echoRows(text: string, width: number): Row[] {
  // No more of a large paste is prepared than is shown.
  const lines = clean(text.slice(0, ECHO_CHARACTERS), { multiline: true }).replaceAll("\t", "    ").split("\n");
  const echoed = lines.slice(0, ECHO_ROWS).flatMap((line, index) =>
    wrap([span(line, "bold")], {
      width,
      first: [span(index === 0 ? "> " : "  ", "accent")],
      indent: [span("  ")],
    })
  );
  const isCut = lines.length > ECHO_ROWS || echoed.length > ECHO_ROWS || text.length > ECHO_CHARACTERS;
  if (!isCut) return echoed;
  const size = `  ... ${text.split("\n").length} lines, ${text.length} characters in all`;
  return [...echoed.slice(0, ECHO_ROWS), row(fit(size, width), "dim")];
}

/** The rows of an event; none for those that are shown in other ways. */
export function eventRows(event: TurnEvent, width: number): Row[] {
  if (event.kind === "steered") return [[], ...echoRows(event.text, width), []];
  const note = noteOf(event);
  // A summary has its own event.
  if (note === null || event.kind === "cache_invalidated" && event.reason === "compacted") return [];
  const rows = textRows(note, { width, style: noteStyle(event) });
  return event.kind === "truncated" ? [...rows, ...textRows(event.hint, { width, style: "warning" })] : rows;
}

function noteStyle(event: TurnEvent): Style {
  switch (event.kind) {
    case "truncated":
      return "error";
    case "retry":
      return "warning";
    case "check":
      return event.state === "passed" || event.state === "running" ? "dim" : "warning";
    default:
      return "dim";
  }
}

/** Returns the error and its hint. An interrupt is no failure. */
export function failureRows(result: TurnResult, width: number): Row[] {
  if (result.errorCode === "interrupted") return textRows("stopped", { width, style: "warning" });
  return messageRows(result.errors.join("; "), result.hint, width);
}

/** Text from anywhere as indented rows; `first` comes before it. */
export function textRows(text: string, { width, style, first }: { width: number; style: Style; first?: Row }): Row[] {
  const indent = [span("  ")];
  return clean(text, { multiline: true }).split("\n").flatMap((line, index) =>
    wrap([span(line.replaceAll("\t", "    "), style)], { width, first: index === 0 ? first ?? indent : indent, indent })
  );
}

/**
 * Returns a name and its description in two columns, or below each other where the second would be too narrow to read.
 */
export function entryRows(name: string, text: string, { column, width }: { column: number; width: number }): Row[] {
  const isNarrow = width - column < 28;
  const indent = [span(" ".repeat(isNarrow ? 4 : column + 4))];
  const first = isNarrow ? indent : [span(`  ${name.padEnd(column)}  `, "bold")];
  const rows = wrap([span(text)], { width, first, indent });
  return isNarrow ? [[span(`  ${name}`, "bold")], ...rows] : rows;
}

/** Returns the rows of a failure outside of a turn: what it is, and what to do. */
export function errorRows(error: unknown, width: number): Row[] {
  const { message, hint = null } = asAgentcliError(error);
  return messageRows(message, hint, width);
}

function messageRows(message: string, hint: string | null, width: number): Row[] {
  const rows = textRows(message, { width, style: "error" });
  return hint === null ? rows : [...rows, ...textRows(hint, { width, style: "dim" })];
}
