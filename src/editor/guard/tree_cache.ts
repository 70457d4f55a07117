/**
 * What an earlier call of a hook saw of the project's directories, kept below the home: each call is a process of its own,
 * and listing twenty thousand files would take longer than all the rest. Only names and times of directories and names of
 * covered entries are kept; a directory that is not as it was is listed again.
 */
import { readTreeCache, type TreeCache, treeCacheText } from "../../boundary/policy/tree_cache.ts";
import type { ProtectedSet } from "../../boundary/policy/protected.ts";
import { listInPlace, lstatInPlace, mounts } from "../../platform/files_in_place.ts";
import { type Home, openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { dirname, isWithin } from "../../platform/path.ts";
import { sha256 } from "../disk.ts";

const PLACE = "cache/trees";
/** Fewer directories are listed faster than the file is written. */
const WORTH_KEEPING = 8;
const KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;

/** File systems of Linux that note every change of a directory; others may keep no time of it, or let it be set. */
const NOTING_CHANGES = /^(?:ext[234]|xfs|btrfs|f2fs|bcachefs|zfs|overlay|tmpfs)$/;

/** Walks the tree of `set`; the function that is given keeps what was seen. Neither fails where nothing can be kept. */
export async function walkTree(
  set: ProtectedSet,
  { roots, io }: { roots: readonly string[]; io: Pick<Io, "env" | "os" | "clock"> },
): Promise<() => Promise<void>> {
  const now = io.clock.now();
  const home = await usableHome(roots, io);
  const name = `${PLACE}/${(await sha256(roots.join("\0"))).slice(0, 32)}.json`;
  const known = home === null ? null : readTreeCache(await home.read(name).catch(() => null) ?? "");
  if (known !== null) set.recall(known);
  const seen = set.memory(now, { least: WORTH_KEEPING });
  return async () => {
    if (home === null || seen === null || !hasNew(seen, known)) return;
    await home.write(name, treeCacheText(onDisksOf(roots, seen))).catch(() => {});
    await removeOld(home, now).catch(() => {});
  };
}

/** Whether enough of it is not known already. Directories that change all the time are listed anew each time. */
function hasNew(seen: TreeCache, known: TreeCache | null): boolean {
  let listed = 0;
  for (const [path, one] of seen.directories) if (known?.directories.get(path) !== one) listed += 1;
  return listed >= WORTH_KEEPING;
}

/** Without directories of other disks that are mounted in the project: what was found out is true of its own. */
function onDisksOf(roots: readonly string[], memory: TreeCache): TreeCache {
  const disks = roots.map(deviceOf);
  return {
    ...memory,
    directories: new Map([...memory.directories].filter(([, { device }]) => disks.includes(device))),
  };
}

function deviceOf(path: string): number | undefined {
  return lstatInPlace(path)?.device;
}

/** The home, where it can be used and the times of the roots' directories can be relied on; else null. */
async function usableHome(roots: readonly string[], io: Pick<Io, "env" | "os">): Promise<Home | null> {
  if (io.os === "windows" || (io.os === "linux" && !roots.every(notesChanges(mounts())))) return null;
  const home = await openHome(io).catch(() => null);
  if (home === null || io.os === "linux") return home;
  // The system's own disk notes changes; of other ones there it cannot be told.
  const disk = deviceOf(dirname(home.path));
  return disk !== undefined && roots.every((root) => deviceOf(root) === disk) ? home : null;
}

function notesChanges(mounted: ReturnType<typeof mounts>): (root: string) => boolean {
  return (root) => {
    const below = mounted.filter(({ point }) => point !== root && isWithin(root, point));
    const nearest = mounted.filter(({ point }) => isWithin(point, root))
      .reduce((found, one) => one.point.length >= found.point.length ? one : found, { point: "", type: "" });
    return [...below, nearest].every(({ type }) => NOTING_CHANGES.test(type));
  };
}

async function removeOld(home: Home, now: number): Promise<void> {
  for (const { name } of listInPlace(home.file(PLACE)) ?? []) {
    const status = lstatInPlace(home.file(`${PLACE}/${name}`));
    if (status !== null && status.modified < now - KEPT_FOR_MS) await home.remove(`${PLACE}/${name}`);
  }
}
