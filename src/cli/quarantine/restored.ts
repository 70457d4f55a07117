/** Protects what comes back from quarantine: a command of a protected session can have made it. */
import type { Home } from "../../platform/home.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { dirname } from "../../platform/path.ts";
import { openProject } from "../../boundary/policy/project.ts";
import { ProtectedSet } from "../../boundary/policy/protected.ts";
import type { QuarantineEntry } from "../../boundary/sandbox/sandbox.ts";
import { UNKNOWN_PATH } from "../../boundary/sandbox/watched_run.ts";
import { protectCopies } from "../../boundary/scan/copies.ts";
import { LeakScanner } from "../../boundary/scan/leak_scanner.ts";

/**
 * Looks through what was put back as through what a command changes; where that command could see a protected path, all of
 * it is protected. Returns the notice for a person; null where there is nothing to tell.
 */
export async function protectRestored(
  home: Home,
  { root, isSecret }: QuarantineEntry,
  restored: readonly string[],
): Promise<string | null> {
  const since = Date.now();
  const { records } = await openProject(home, root, { create: false });
  const protection = new ProtectedSet([root], { remembered: records });
  await protection.settle();
  if (!protection.any) return null;
  const scanner = new LeakScanner(protection, { root });
  const exposed = isSecret ? UNKNOWN_PATH : undefined;
  const notices: string[] = [];
  for (const path of restored) {
    // Files in a directory that was moved have their old times.
    const place = lstatSync(path)?.kind === "directory"
      ? { roots: [path], since: 0 }
      : { roots: [dirname(path)], since };
    const notice = await protectCopies({ ...place, protection, scanner, exposed }, records[0]);
    if (notice !== null) notices.push(notice);
  }
  return notices.length === 0 ? null : notices.join("; ");
}
