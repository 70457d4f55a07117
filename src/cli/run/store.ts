/** The stored side of a session: a new transcript, one to go on with, a copy of one, or none. */
import { currentBranch } from "../../boundary/git_branch.ts";
import type { Home } from "../../platform/home.ts";
import type { Clock } from "../../platform/io.ts";
import { forkSession } from "../../session/fork.ts";
import { findSession } from "../../session/list.ts";
import { loadTranscript, type StoredSession } from "../../session/load.ts";
import { openTranscript, resumeTranscript } from "../../session/open_transcript.ts";
import type { Transcript } from "../../session/transcript.ts";
import { VERSION } from "../version.ts";
import { checkStoreOptions, sessionToGoOn, type StoreOptions } from "./store_options.ts";

/** Where it is stored and what is said of it. */
export interface StorePlace {
  home: Home;
  projectRoot: string;
  /** The project has protected paths: then files of git are as protected, and no branch is named. */
  isProtected: boolean;
  cwd: string;
  /** Id of the session's model. */
  model: string;
  clock: Pick<Clock, "now">;
  /** Told once when the session cannot be stored any more. */
  onTrouble(text: string): void;
}

/** The stored side of a session. */
export interface SessionStore {
  id: string;
  /** Null where nothing shall be stored. */
  transcript: Transcript | null;
  /** What to go on with; null for a new session. */
  stored: StoredSession | null;
}

/**
 * Opens what the options name. Throws `unknown_session`, `session_in_use`, `usage` for an id that is taken, and
 * `home_unusable`; nothing is open then.
 */
export async function openStore(options: StoreOptions, place: StorePlace): Promise<SessionStore> {
  checkStoreOptions(options);
  const { home, projectRoot } = place;
  const wanted = sessionToGoOn(options);
  const newId = options.sessionId?.toLowerCase() ?? crypto.randomUUID();
  const gitBranch = place.isProtected ? undefined : currentBranch(projectRoot);
  const parts = { ...place, version: VERSION, gitBranch };
  if (wanted === undefined) {
    if (options.noSessionPersistence) return { id: newId, transcript: null, stored: null };
    return { id: newId, transcript: await openTranscript(home, { ...parts, sessionId: newId }), stored: null };
  }
  const found = await findSession(home, wanted, { projectRoot });
  if (options.forkSession) {
    const stored = await loadTranscript(home, found);
    if (options.noSessionPersistence) return { id: newId, transcript: null, stored };
    const { items, removed, transcript } = await forkSession(home, stored, { ...parts, sessionId: newId });
    return { id: newId, transcript, stored: { ...stored, items, removed } };
  }
  if (options.noSessionPersistence) {
    return { id: found.id, transcript: null, stored: await loadTranscript(home, found) };
  }
  return { id: found.id, ...await resumeTranscript(home, { ...parts, slug: found.slug, id: found.id }) };
}
