/** How much a session is told before the user's words. */
import type { Profile } from "../tools/registry.ts";

/** Largest window, in tokens, that gets the small profile. */
const SMALL_WINDOW = 8192;

/**
 * The small profile for a window that is known to be small. A window that nobody knows is most often a larger one, and
 * the default profile fits into the assumed 8,192 tokens with room to spare: it gets the default profile.
 */
export function profileFor(window: number | undefined): Profile {
  return window !== undefined && window <= SMALL_WINDOW ? "small" : "default";
}
