/** The undo of a running session: what its changes to files replaced. */
import type { Session } from "../agent/session.ts";
import type { Home } from "../platform/home.ts";
import type { SessionItem } from "../session/item.ts";
import type { Transcript } from "../session/transcript.ts";
import type { UndoStore } from "../session/undo.ts";
import type { Host } from "./host.ts";
import type { SessionStore } from "./store.ts";

/** Gives the undo of the session, opened when it is first needed; without a home it lasts as long as the process. */
export function createUndo(
  home: Home | null,
  store: SessionStore,
  { warn }: Pick<Host, "warn">,
): () => Promise<UndoStore> {
  let opened: Promise<UndoStore> | null = null;
  const open = async () => {
    const { openUndoStore } = await import("../session/undo.ts");
    return await openUndoStore(home, {
      sessionId: store.id,
      onTrouble: warn,
    });
  };
  return () => opened ??= open();
}

/** The turn that runs. Without a transcript any number that grows from turn to turn. */
export function turnOf(
  { items, context }: Pick<Session, "items" | "context">,
  { transcript }: { transcript: Pick<Transcript, "turns"> | null },
): number {
  const isPrompt = (item: SessionItem) => item.kind === "user" && item.origin === undefined;
  if (transcript === null) return context.removed + items.findLastIndex(isPrompt) + 1;
  // The transcript counts those that were summarised, too, but none after a turn that may not be stored.
  return Math.max(transcript.turns, items.filter(isPrompt).length);
}
