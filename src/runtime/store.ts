/** The stored side of a session: a new transcript, one to continue, a copy of one, or none. */
import { currentBranch } from "../boundary/policy/git_directory.ts";
import type { Home } from "../platform/home.ts";
import { projectDirectory, projectSlug, transcriptName } from "../session/paths.ts";
import type { SessionContext } from "../session/line.ts";
import type { StoredSession } from "../session/load.ts";
import type { Transcript, TranscriptOptions } from "../session/transcript.ts";
import { checkStoreOptions, sessionToResume, type StoreOptions } from "./session_options.ts";

/** Where a session is stored and what is said of it. */
export interface StorePlace
  extends Pick<TranscriptOptions, "projectRoot" | "cwd" | "model" | "provider" | "clock" | "version" | "onTrouble"> {
  home: Home;
  /** The real paths of the project root and additional directories. */
  roots: readonly string[];
  /** The project has protected paths: then files of git are as protected, and no branch is named. */
  isProtected: boolean;
  /** Whether the model's provider is. */
  local: boolean;
}

export interface SessionStore {
  id: string;
  /** Null where nothing is stored. */
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
  // A project's first session makes a directory: an unusable home is found there, before anything is asked.
  const canWait = late && options.sessionId === undefined && await home.status(projectDirectory(slug)) !== null;
  const transcript = canWait ? lateTranscript(home.file(transcriptName(slug, id)), open) : await open();
  return { id, transcript, stored: null };
}

function branchOf({ isProtected, projectRoot }: StorePlace): string | undefined {
  return isProtected ? undefined : currentBranch(projectRoot);
}

/**
 * Returns the transcript of a new session, which `open` opens with the first record; `file` is its future path. Every
 * record throws what `open` throws.
 */
export function lateTranscript(file: string, open: () => Promise<Transcript>): Transcript {
  let context: SessionContext | null = null;
  let title: string | null = null;
  let opening: Promise<Transcript> | null = null;
  let transcript: Transcript | null = null;
  const start = async () => {
    transcript = await open();
    if (context !== null) transcript.setContext(context);
    if (title !== null) await transcript.rename(title);
    return transcript;
  };
  return {
    file,
    get turns() {
      return transcript?.turns ?? 0;
    },
    async record(items, facts) {
      const now = [...items];
      await (await (opening ??= start())).record(now, facts);
    },
    setContext(next) {
      context = next;
      transcript?.setContext(next);
    },
    // A session without a prompt is not stored.
    note: async (fields) => await (await opening)?.note(fields),
    async rename(next) {
      title = next;
      await (await opening)?.rename(next);
    },
    // A transcript that was not opened holds no lock.
    close: async () => await (await opening?.catch(() => null))?.close(),
  };
}
