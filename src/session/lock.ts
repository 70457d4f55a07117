/** The lock of a session: one process writes it. */
import { AgentcliError } from "../errors.ts";
import { diskAdvice, isFull } from "../platform/disk_failure.ts";
import type { Home } from "../platform/home.ts";
import { type HeldLock, holdLock } from "../platform/journal.ts";
import { lockName } from "./place.ts";
import { reasonOf } from "./store_error.ts";

/** The lock of a session, or `session_in_use`; null on a full disk, where nothing will be written either. */
export async function takeLock(home: Home, place: { slug: string; id: string }): Promise<HeldLock | null> {
  let lock: HeldLock | null;
  try {
    lock = await holdLock(home, lockName(place.slug, place.id));
  } catch (error) {
    if (isFull(error)) return null;
    throw new AgentcliError("home_unusable", `cannot use the home ${home.path}: ${reasonOf(error)}`, {
      hint: `${
        diskAdvice(error) ?? "check the owner and the permissions of that directory"
      }, set AGENTCLI_HOME, or use --no-session-persistence`,
      cause: error,
    });
  }
  if (lock !== null) return lock;
  throw new AgentcliError("session_in_use", `the session ${place.id} is in use by another process`, {
    hint: "end that process, or go on in a copy: --resume with --fork-session",
  });
}
