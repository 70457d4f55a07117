/** Taking stored sessions away. */
import type { Home } from "../platform/home.ts";
import { removeTree } from "../platform/journal.ts";
import { takeLock } from "./lock.ts";
import { transcriptName, undoName } from "./place.ts";

/** Removes a session with all that was kept for it. Throws `session_in_use` while a process writes it. */
export async function deleteSession(home: Home, place: { slug: string; id: string }): Promise<void> {
  const lock = await takeLock(home, place);
  try {
    await removeTree(home, undoName(place.id));
    await home.remove(transcriptName(place.slug, place.id));
  } finally {
    await lock?.release();
  }
}
