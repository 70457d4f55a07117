/** How the transcript of a session begins: anew, as a copy of another one, or where a stored one ended. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { loadTranscript, type StoredSession } from "./load.ts";
import { takeLock } from "./lock.ts";
import { isSessionId, projectSlug, transcriptName } from "./place.ts";
import { FileTranscript, type Transcript, type TranscriptOptions, type TranscriptParts } from "./transcript.ts";

/**
 * Starts the transcript of a new session and takes its lock. The file is made with the first item. Throws
 * `session_in_use` when another process has the session, `usage` when the id is taken.
 */
export async function openTranscript(home: Home, options: TranscriptOptions): Promise<Transcript> {
  return await startTranscript(home, options, { removed: 0 });
}

/** {@link openTranscript} for a session that begins with what another one left. */
export async function startTranscript(
  home: Home,
  options: TranscriptOptions,
  origin: TranscriptParts["origin"],
): Promise<Transcript> {
  const slug = projectSlug(options.projectRoot);
  const id = options.sessionId.toLowerCase();
  if (!isSessionId(id)) throw new AgentcliError("usage", "the id of a session is a UUID");
  const lock = await takeLock(home, { slug, id });
  try {
    if (await home.status(transcriptName(slug, id)) !== null) {
      throw new AgentcliError("usage", `the session ${id} exists already`, { hint: `go on with it: --resume ${id}` });
    }
    return new FileTranscript(home, { ...options, sessionId: id, slug, lock, origin, stored: null });
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

/**
 * Goes on with a stored session: takes its lock first, reads it, takes away what a killed writer left torn. The items
 * to go on with are `stored.items`, the same objects. Throws `session_in_use` and `unknown_session`.
 */
export async function resumeTranscript(
  home: Home,
  options: Omit<TranscriptOptions, "sessionId" | "model"> & { slug: string; id: string; model?: string | undefined },
): Promise<{ stored: StoredSession; transcript: Transcript }> {
  const { slug, id } = options;
  const lock = await takeLock(home, { slug, id });
  try {
    const stored = await loadTranscript(home, { slug, id });
    const { model, provider } = options.model === undefined ? stored : { ...options, model: options.model };
    const parts = { ...options, sessionId: id, model, provider, lock, stored, origin: { removed: 0 } };
    const transcript = new FileTranscript(home, parts);
    await transcript.record(stored.items);
    return { stored, transcript };
  } catch (error) {
    await lock?.release();
    throw error;
  }
}
