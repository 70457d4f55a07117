/** A new session that begins with what another one left; the other stays as it is. */
import type { Home } from "../platform/home.ts";
import type { SessionItem } from "./item.ts";
import type { StoredSession } from "./load.ts";
import { startTranscript } from "./open_transcript.ts";
import type { Transcript, TranscriptOptions } from "./transcript.ts";

/**
 * Copies the items of `source`, or the first `count` of them, into a new session of the id in `options`, and goes on
 * writing that. A fork from before protected content was met is open. Throws what `openTranscript` throws.
 */
export async function forkSession(
  home: Home,
  source: Pick<StoredSession, "id" | "items" | "removed" | "context">,
  options: TranscriptOptions & { count?: number },
): Promise<{ items: SessionItem[]; removed: number; transcript: Transcript }> {
  const items = source.items.slice(0, options.count ?? source.items.length);
  const context = options.context ?? source.context ?? undefined;
  const { removed } = source;
  const transcript = await startTranscript(home, { ...options, context }, { removed, forkedFrom: source.id });
  await transcript.record(items);
  return { items, removed, transcript };
}

/**
 * How many items of a session come before the turn in which protected content was met: what an open fork may hold. All
 * of them when there is none.
 */
export function itemsBeforeProtected(items: readonly SessionItem[]): number {
  const first = items.findIndex((item) => item.label !== "open");
  if (first < 0) return items.length;
  return Math.max(
    0,
    items.slice(0, first + 1).findLastIndex((item) => item.kind === "user" && item.origin === undefined),
  );
}

/** A stored session as far as a provider elsewhere may have it, and a sentence on what did not come along. */
export function openPart(stored: StoredSession): StoredSession {
  const items = stored.items.slice(0, itemsBeforeProtected(stored.items));
  if (items.length === stored.items.length) return stored;
  const said = `a copy from before protected content was met: ${items.length} of ${stored.items.length} parts go along`;
  return { ...stored, items, withheld: 0, problems: [...stored.problems, said] };
}
