/** Opens, copies, renames and deletes the transcript of a session under its lock: one process writes it. */
import { AgentcliError } from "../errors.ts";
import { isFull } from "../platform/disk_failure.ts";
import { removeDirectory } from "../platform/files.ts";
import { type Home, homeUnusable } from "../platform/home.ts";
import { type HeldLock, holdLock } from "../platform/journal.ts";
import { isSessionId, lockName, projectSlug, transcriptName, undoName } from "./paths.ts";
import type { StoredSession } from "./load.ts";
import { FileTranscript, type Transcript, type TranscriptOptions, type TranscriptParts } from "./transcript.ts";

/**
 * Takes the lock of a session. Throws `session_in_use`; returns null on a full disk, where nothing can be written
 * either.
 */
async function takeLock(home: Home, place: { slug: string; id: string }): Promise<HeldLock | null> {
  let lock: HeldLock | null;
  try {
    lock = await holdLock(home, lockName(place.slug, place.id));
  } catch (error) {
    if (isFull(error)) return null;
    throw homeUnusable(home.path, error, "set AGENTCLI_HOME, or use --no-session-persistence");
  }
  if (lock !== null) return lock;
  throw new AgentcliError("session_in_use", `the session ${place.id} is in use by another process`, {
    hint: "end that process first, or prompt a copy of the session with --fork-session",
  });
}

/**
 * Starts the transcript of a new session and takes its lock. The file is made with the first item. Throws
 * `session_in_use` when another process has the session, `usage` when the id is taken.
 */
export async function openTranscript(
  home: Home,
  options: TranscriptOptions,
  origin: TranscriptParts["origin"] = { removed: 0 },
): Promise<Transcript> {
  const slug = projectSlug(options.projectRoot);
  const id = options.sessionId.toLowerCase();
  if (!isSessionId(id)) throw new AgentcliError("usage", "the id of a session is a UUID");
  const lock = await takeLock(home, { slug, id });
  try {
    if (await home.status(transcriptName(slug, id)) !== null) {
      throw new AgentcliError("usage", `the session ${id} exists already`, { hint: `continue it with --resume ${id}` });
    }
    return new FileTranscript(home, { ...options, sessionId: id, slug, lock, origin, stored: null });
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

/**
 * Resumes a stored session: takes its lock, reads it, and removes a torn last line. The session continues with the same
 * objects of `stored.items`. Throws `session_in_use` and `unknown_session`.
 */
export async function resumeTranscript(
  home: Home,
  options: Omit<TranscriptOptions, "sessionId" | "model"> & { slug: string; id: string; model?: string | undefined },
): Promise<{ stored: StoredSession; transcript: Transcript }> {
  const { slug, id } = options;
  const lock = await takeLock(home, { slug, id });
  try {
    const { loadTranscript } = await import("./load.ts");
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

/**
 * Copies `source` into a new session with the id in `options`, and opens that for writing. Throws what `openTranscript`
 * throws.
 */
export async function forkSession(
  home: Home,
  source: Pick<StoredSession, "id" | "items" | "removed" | "context" | "meta" | "isRefused">,
  options: TranscriptOptions,
): Promise<Transcript> {
  const context = options.context ?? source.context ?? undefined;
  const transcript = await openTranscript(home, { ...options, context }, {
    removed: source.removed,
    forkedFrom: source.id,
  });
  await transcript.record(source.items, { isRefused: source.isRefused });
  return transcript;
}

/**
 * Names a stored session; empty for no name. Throws `session_in_use`, and `home_unusable` where it cannot be written.
 */
export async function renameSession(
  home: Home,
  place: { slug: string; id: string },
  { title, ...options }: { title: string } & Pick<TranscriptOptions, "version" | "clock">,
): Promise<void> {
  const onTrouble = (message: string) => {
    throw new AgentcliError("home_unusable", message);
  };
  const { transcript } = await resumeTranscript(home, { ...place, ...options, projectRoot: "/", cwd: "/", onTrouble });
  try {
    await transcript.rename(title);
  } finally {
    await transcript.close();
  }
}

/** Removes a session with all that was kept for it. Throws `session_in_use` while a process writes it. */
export async function deleteSession(home: Home, place: { slug: string; id: string }): Promise<void> {
  const lock = await takeLock(home, place);
  try {
    await removeDirectory(home.file(undoName(place.id)));
    await home.remove(transcriptName(place.slug, place.id));
  } finally {
    await lock?.release();
  }
}
