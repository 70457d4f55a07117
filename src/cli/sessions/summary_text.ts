/** Facts about a stored session, for people and for programs. */
import type { SessionSummary } from "../../session/list.ts";

/** Milliseconds since 1970 as `2026-01-31 23:59`, in UTC. */
export function minute(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 16).replace("T", " ");
}

/** Bytes in the largest unit that leaves a figure before the point. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** The session as a value for JSON. */
export function summaryJson(session: SessionSummary): Record<string, unknown> {
  return {
    id: session.id,
    project: session.projectRoot,
    first_prompt: session.firstPrompt,
    created: session.created === "" ? null : session.created,
    updated: new Date(session.updated).toISOString(),
    turns: session.turns,
    provider: session.provider ?? null,
    model: session.model,
    label: session.label,
    size: session.size,
  };
}
