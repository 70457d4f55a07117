/** The stored side of a session that goes on: what was stored, and where the rest of it goes. */
import { forkSession, resumeTranscript } from "../session/open_transcript.ts";
import { findSession } from "../session/list.ts";
import { loadTranscript, openPart } from "../session/load.ts";
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
    const whole = await loadTranscript(home, found);
    // A session that met protected content goes elsewhere only as it was before that (specification of the boundary,
    // "Letting out").
    const stored = parts.local ? whole : openPart(whole);
    if (options.noSessionPersistence) return { id, transcript: null, stored };
    const { items, removed, transcript } = await forkSession(home, stored, { ...parts, sessionId: id });
    return { id, transcript, stored: { ...stored, items, removed } };
  }
  if (options.noSessionPersistence) {
    return { id: found.id, transcript: null, stored: await loadTranscript(home, found) };
  }
  return { id: found.id, ...await resumeTranscript(home, { ...parts, slug: found.slug, id: found.id }) };
}
