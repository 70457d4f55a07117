/** Reads the quarantine, and puts back what a person wants back. */
import { QUARANTINE, readEntry } from "../../boundary/sandbox/quarantine.ts";
import type { QuarantineEntry } from "../../boundary/sandbox/sandbox.ts";
import { listDirectory, lstat, movePath, realPath, removeDirectory } from "../../platform/files.ts";
import { dirname, isWithin, join } from "../../platform/path.ts";

/** Returns what lies in quarantine, the oldest first. */
export async function listQuarantine(home: string): Promise<QuarantineEntry[]> {
  const names = (await listDirectory(join(home, QUARANTINE)) ?? []).map(({ name }) => name);
  const entries = names.map((name) => readEntry(home, name)).filter((entry) => entry !== null);
  return entries.sort((one, other) => one.time - other.time || (one.id < other.id ? -1 : 1));
}

/**
 * Puts an entry back where it was. Where something stands by now, or the directory is gone, the file stays in quarantine.
 * Null when there is no such entry.
 */
export async function restoreQuarantined(
  home: string,
  id: string,
): Promise<{ entry: QuarantineEntry; restored: string[]; blocked: string[] } | null> {
  const entry = readEntry(home, id);
  if (entry === null) return null;
  const directory = join(home, QUARANTINE, id);
  const [restored, blocked] = [[] as string[], [] as string[]];
  for (const [index, path] of entry.paths.entries()) {
    const kept = join(directory, String(index));
    if (await lstat(kept) === null) continue;
    // A directory that is a link by now must not lead the file elsewhere; `sandbox.write` lies beside the project.
    const parent = await realPath(dirname(path)).catch(() => null);
    const stays = parent !== null && (parent === dirname(path) || isWithin(entry.root, parent));
    const free = stays && await lstat(path).catch(() => null) === null;
    if (free) await movePath(kept, path);
    (free ? restored : blocked).push(path);
  }
  if (blocked.length === 0) await removeDirectory(directory);
  return { entry, restored, blocked };
}
