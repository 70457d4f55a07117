/** What fills the window, as bars. */
import { baseBytes, estimateOf } from "../../agent/chat_request.ts";
import { byteLength, limitsOf } from "../../agent/context/tokens.ts";
import type { Session } from "../../agent/session.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";
import { tokensText } from "./status.ts";

const LONGEST_BAR = 40;
const NAME_WIDTH = 14;

/** One bar a kind, then the total against the window. */
export function contextRows(session: Session, width: number): Row[] {
  const { context, model } = session;
  const base = baseBytes(session);
  const system = Math.min(byteLength(JSON.stringify(session.system.text)), base);
  const bytesOf = (kind: Session["items"][number]["kind"]) =>
    session.items.filter((item) => item.kind === kind).reduce((sum, item) => sum + context.sizeOf(item), 0);
  const parts = [
    { name: "system prompt", bytes: system },
    { name: "tools", bytes: base - system },
    { name: "you", bytes: bytesOf("user") },
    { name: "model", bytes: bytesOf("assistant") },
    { name: "tool results", bytes: bytesOf("tool_result") },
  ].map(({ name, bytes }) => ({ name, tokens: Math.ceil(bytes / context.bytesPerToken) }));
  const room = Math.max(4, Math.min(LONGEST_BAR, width - NAME_WIDTH - 10));
  const most = Math.max(1, ...parts.map(({ tokens }) => tokens));
  const bars = parts.map(({ name, tokens }): Row => {
    const length = tokens === 0 ? 0 : Math.max(1, Math.round((tokens / most) * room));
    return [
      span(name.padEnd(NAME_WIDTH)),
      span(tokensText(tokens).padStart(6) + "  "),
      span("#".repeat(length), "accent"),
    ];
  });
  const used = estimateOf(session);
  const { threshold } = limitsOf(model);
  const total =
    `about ${tokensText(used)} of ${tokensText(model.contextWindow)} tokens (window ${model.windowSource}); ` +
    `shortened from ${tokensText(threshold)} on`;
  return [...bars, row(fit(total, width), "dim")];
}
