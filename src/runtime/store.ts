/** The stored side of a session: a new transcript, one to go on with, a copy of one, or none. */
import { currentBranch } from "../boundary/policy/git_directory.ts";
import type { Home } from "../platform/home.ts";
import { lateTranscript, projectDirectory, projectSlug, transcriptName } from "../session/place.ts";
import type { StoredSession } from "../session/load.ts";
import type { Transcript, TranscriptOptions } from "../session/transcript.ts";
import { checkStoreOptions, sessionToResume, type StoreOptions } from "./host.ts";

/** Where a session is stored and what is said of it. */
export interface StorePlace
  extends Pick<TranscriptOptions, "projectRoot" | "cwd" | "model" | "provider" | "clock" | "version" | "onTrouble"> {
  home: Home;
  /** The project has protected paths: then files of git are as protected, and no branch is named. */
  isProtected: boolean;
  /** Returns which absolute paths are protected now, by whatever project. */
  protection(): Promise<(path: string) => boolean>;
  /** Whether the model's provider is. */
  local: boolean;
}

export interface SessionStore {
  id: string;
  /** Null where nothing shall be stored. */
  transcript: Transcript | null;
  /** The session that is resumed; null for a new one. */
  stored: StoredSession | null;
}

/**
 * Opens what the options name. Throws `unknown_session`, `session_in_use`, `usage` for an id that is taken, and
 * `home_unusable`; nothing is open then. With `late`, a new session whose id nobody else can have is opened with its
 * first record instead, which then throws `home_unusable`.
 */
export async function openStore(
  options: StoreOptions,
  place: StorePlace,
  { late }: { late: boolean },
): Promise<SessionStore> {
  checkStoreOptions(options);
  const wanted = sessionToResume(options);
  if (wanted !== undefined) {
    const { reopenStore } = await import("./reopen_store.ts");
    return await reopenStore(wanted, options, { ...place, gitBranch: branchOf(place) });
  }
  const id = options.sessionId?.toLowerCase() ?? crypto.randomUUID();
  if (options.noSessionPersistence) return { id, transcript: null, stored: null };
  const { home, projectRoot } = place;
  const open = async () => {
    const { openTranscript } = await import("../session/open_transcript.ts");
    return await openTranscript(home, { ...place, gitBranch: branchOf(place), sessionId: id });
  };
  const slug = projectSlug(projectRoot);
  // A project's first session makes a directory: a home that cannot be used is found out there, before anything is asked.
  const canWait = late && options.sessionId === undefined && await home.status(projectDirectory(slug)) !== null;
  const transcript = canWait ? lateTranscript(home.file(transcriptName(slug, id)), open) : await open();
  return { id, transcript, stored: null };
}

function branchOf({ isProtected, projectRoot }: StorePlace): string | undefined {
  return isProtected ? undefined : currentBranch(projectRoot);
}
