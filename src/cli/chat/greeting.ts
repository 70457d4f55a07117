/** The first and the last words of a chat on a terminal. */
import { shownCommand } from "../../engine/quote.ts";
import { clean } from "../../terminal/clean.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";
import type { OpenSession } from "../../runtime/open_session.ts";
import { selectorOf } from "../../runtime/agent_session.ts";

/** Which model answers and where it runs, and how to go on. */
export function greetingRows(prepared: OpenSession, width: number): Row[] {
  const { model, items } = prepared.session;
  const place = model.local ? "local" : "remote";
  const held = items.length === 0 ? "" : `, ${items.length} items`;
  return [
    [span(clean(selectorOf(prepared)), "bold"), span(`  ${place}${held}`, "dim")],
    row(fit("/help for commands, @ for paths, Ctrl-C stops, Ctrl-D leaves", width), "dim"),
    [],
  ];
}

/**
 * The command that goes on with the session; null where there is nothing to go on with. A model that was `chosen` is
 * named, since nothing else says it the next time.
 */
export function farewell(prepared: OpenSession, { chosen }: { chosen: boolean }): string | null {
  const { session, transcriptFile } = prepared;
  if (transcriptFile === null || session.items.length === 0) return null;
  const model = chosen ? ["--model", clean(selectorOf(prepared))] : [];
  const argv = ["agentcli", "chat", "--resume", session.id.slice(0, 8), ...model];
  return `go on with: ${shownCommand({ argv, variables: [] }, "linux")}\n`;
}
