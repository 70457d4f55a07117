/** The status line: where the model runs, what the session holds, how full its window is. */
import { estimateOf } from "../../agent/chat_request.ts";
import { type Session, sessionLabel } from "../../agent/session.ts";
import type { PermissionMode } from "../../config/types.ts";
import { clean } from "../../terminal/clean.ts";
import { type Row, row, rowWidth, type Span, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";

/** Tokens as people say them: 940, 3.1k, 128k. */
export function tokensText(tokens: number): string {
  if (tokens < 1000) return `${Math.round(tokens)}`;
  return tokens < 10_000 ? `${(tokens / 1000).toFixed(1)}k` : `${Math.round(tokens / 1000)}k`;
}

/** What the line tells. `session` is null before one is ready; `rate` in tokens a second. */
export interface Status {
  session: Session | null;
  mode: PermissionMode;
  rate: number | null;
}

const GAP = " · ";

/** The line, at most `width` cells. Where the model runs comes first, so that a narrow terminal shows it too. */
export function statusRow({ session, mode, rate }: Status, width: number): Row {
  if (session === null) return row(fit("no model yet", width), "dim");
  const { model } = session;
  const place: Span = model.local ? span("local", "good") : span("remote", "warning");
  const label: Span = sessionLabel(session) === "open" ? span("open", "dim") : span("no-cloud", "accent");
  const used = estimateOf(session);
  const share = Math.round((used / model.contextWindow) * 100);
  const context = `${tokensText(used)} of ${tokensText(model.contextWindow)} (${share} %)`;
  const parts: Span[] = [
    place,
    span(fit(clean(`${model.provider}:${model.entry.id}`), Math.max(8, width - 30)), "dim"),
    label,
    ...mode === "default" ? [] : [span(mode, mode === "bypassPermissions" ? "warning" : "accent")],
    span(context, share >= 75 ? "warning" : "dim"),
    ...rate === null ? [] : [span(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)} tokens/s`, "dim")],
  ];
  const shown: Span[] = [];
  for (const part of parts) {
    const next = shown.length === 0 ? [part] : [span(GAP, "dim"), part];
    if (rowWidth([...shown, ...next]) > width) continue;
    shown.push(...next);
  }
  return shown;
}
