/** The stored side of a session that goes on: what was stored, and where the rest of it goes. */
import { forkSession, resumeTranscript } from "../session/open_transcript.ts";
import { findSession } from "../session/list.ts";
import { resolve } from "../platform/path.ts";
import type { ToolCall } from "../session/item.ts";
import { loadTranscript, openPart, type StoredSession } from "../session/load.ts";
import type { SessionStore, StorePlace } from "./store.ts";
import type { StoreOptions } from "./host.ts";

/** Opens the session `wanted`, or a copy of it. Throws as {@link openStore} does. */
export async function reopenStore(
  wanted: string,
  options: StoreOptions,
  parts: StorePlace & { gitBranch: string | undefined },
): Promise<SessionStore> {
  const { home, projectRoot } = parts;
  const found = await findSession(home, wanted, { projectRoot });
  if (options.forkSession) {
    const id = options.sessionId?.toLowerCase() ?? crypto.randomUUID();
    const whole = judged(await loadTranscript(home, found), parts);
    // A session that met protected content goes elsewhere only as it was before that (specification of the boundary,
    // "Letting out").
    const stored = parts.local ? whole : openPart(whole);
    if (options.noSessionPersistence) return { id, transcript: null, stored };
    const { items, removed, transcript } = await forkSession(home, stored, { ...parts, sessionId: id });
    return { id, transcript, stored: { ...stored, items, removed } };
  }
  if (options.noSessionPersistence) {
    return { id: found.id, transcript: null, stored: judged(await loadTranscript(home, found), parts) };
  }
  const { stored, transcript } = await resumeTranscript(home, { ...parts, slug: found.slug, id: found.id });
  return { id: found.id, transcript, stored: judged(stored, parts) };
}

/**
 * A session as it counts now. What it read of a file may be from before the file was protected, and the file may have
 * changed since: no scan finds that. From that call on it is for local models alone.
 */
function judged(stored: StoredSession, { cwd, isProtected, protects }: StorePlace): StoredSession {
  if (!isProtected) return stored;
  const failed = new Set(
    stored.items.flatMap((item) => item.kind === "tool_result" && item.isError ? [item.callId] : []),
  );
  const names = ({ id, input }: ToolCall) => {
    const path = input?.["file_path"];
    return typeof path === "string" && !failed.has(id) && protects(resolve(cwd, path));
  };
  const call = stored.items.findIndex((item) => item.kind === "assistant" && item.calls.some(names));
  if (call < 0) return stored;
  const items = stored.items.map((item, at) => at > call ? { ...item, label: "no-cloud" as const } : item);
  return { ...stored, items, label: "no-cloud" };
}
