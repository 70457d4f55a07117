/** The first and the last words of a chat on a terminal. */
import { clean } from "../../terminal/clean.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";
import type { Prepared } from "../run/prepare.ts";
import { selectorOf } from "./chat_session.ts";

/** Which model answers and where it runs, and how to go on. */
export function greetingRows(prepared: Prepared, width: number): Row[] {
  const { model, items } = prepared.session;
  const place = model.local ? "local" : "remote";
  const held = items.length === 0 ? "" : `, ${items.length} items`;
  return [
    [span(clean(selectorOf(prepared)), "bold"), span(`  ${place}${held}`, "dim")],
    row(fit("/help for commands, @ for paths, Ctrl-C stops, Ctrl-D leaves", width), "dim"),
    [],
  ];
}

/** The command that goes on with the session; null where there is nothing to go on with. */
export function farewell({ session, transcriptFile }: Prepared): string | null {
  if (transcriptFile === null || session.items.length === 0) return null;
  return `go on with: agentcli chat --resume ${session.id.slice(0, 8)}\n`;
}
