/** Other names of protected files: a hard link is the same bytes under a path that no rule names. */
import { type FileStatus, listDirectory, lstat } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import type { HiddenPaths } from "./request.ts";

/** Which file it is, whatever its name. */
export function identity(status: Pick<FileStatus, "device" | "inode">): string {
  return `${status.device}:${status.inode}`;
}

/** Times the length of a search in which its answer is used again. */
const REUSED_FOR = 20;

/** Searches for other names, again and again, at a bounded share of the time. */
export interface HardLinkSearch {
  /**
   * The paths below `roots` that are other names of hidden files. An answer to the same question is given again for
   * twenty times as long as the search took: no command behind a mask can make such a name, and with ten thousand
   * protected files every search costs a tenth of a second.
   */
  find(hide: HiddenPaths, roots: readonly string[]): Promise<string[]>;
}

/** A search of its own memory; `now` in milliseconds. */
export function createHardLinkSearch(now: () => number = () => performance.now()): HardLinkSearch {
  let last = { question: "", until: 0, answer: [] as string[] };
  return {
    async find(hide, roots) {
      const question = JSON.stringify([hide, roots]);
      const start = now();
      if (question === last.question && start < last.until && await allThere(last.answer)) return last.answer;
      const answer = await hardLinksTo(hide, roots);
      const end = now();
      last = { question, until: end + REUSED_FOR * (end - start), answer };
      return answer;
    },
  };
}

async function allThere(paths: readonly string[]): Promise<boolean> {
  const found = await Promise.all(paths.map((path) => quietly(() => lstat(path))));
  return found.every((status) => status !== null);
}

/**
 * The paths below `roots` that are other names of hidden files, links not followed. Looks only where some hidden file has
 * more names than are hidden; costs one `lstat` for each hidden file, and then one for each file of the roots.
 */
export async function hardLinksTo(hide: HiddenPaths, roots: readonly string[]): Promise<string[]> {
  const wanted = new Map<string, number>();
  const note = async (path: string) => {
    const found = await quietly(() => lstat(path));
    if (found?.kind !== "file" || found.links < 2) return;
    const key = identity(found);
    wanted.set(key, (wanted.get(key) ?? found.links) - 1);
  };
  for (const path of hide.files) await note(path);
  for (const directory of hide.directories) await eachFile(directory, { enter: () => true, visit: note });
  if (![...wanted.values()].some((missing) => missing > 0)) return [];
  const hidden = new Set([...hide.files, ...hide.directories]);
  const found: string[] = [];
  const visit = async (path: string) => {
    if (hidden.has(path)) return;
    const status = await quietly(() => lstat(path));
    if (status?.kind === "file" && status.links > 1 && wanted.has(identity(status))) found.push(path);
  };
  for (const root of roots) await eachFile(root, { enter: (path) => !hidden.has(path), visit });
  return [...new Set(found)];
}

/** Visits every file below a directory, links not followed; what may not be looked into is passed over. */
export async function eachFile(
  directory: string,
  walk: { enter(path: string): boolean; visit(path: string): Promise<void> },
): Promise<void> {
  for (const entry of await quietly(() => listDirectory(directory)) ?? []) {
    const path = join(directory, entry.name);
    if (entry.kind === "file") await walk.visit(path);
    else if (entry.kind === "directory" && walk.enter(path)) await eachFile(path, walk);
  }
}

/** What may not be looked at cannot be read by a command of the same user either. */
async function quietly<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch {
    return null;
  }
}
