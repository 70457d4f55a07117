/** Other names of protected files: a hard link or a bind mount is the same bytes under a path that no rule names. */
import { listDirectory, lstat } from "../../platform/files.ts";
import { mountPoints } from "../../platform/files_in_place.ts";
import { isWithin, join } from "../../platform/path.ts";
import { identityOf as identity, lastingIdentityOf } from "../policy/inode_index.ts";
import type { HiddenPaths } from "./request.ts";

export { identity };

/** Times the length of a search in which its answer is used again. */
const REUSED_FOR = 20;

/** Searches for other names, again and again, at a bounded share of the time. */
export interface HardLinkSearch {
  /**
   * The paths below `roots` that are other names of hidden files. An answer to the same question is given again for
   * twenty times as long as the search took, as long as every path of it is still the file that it was: no command behind
   * a sandbox can make such a name, and with ten thousand protected files every search costs a tenth of a second.
   */
  find(hide: HiddenPaths, roots: readonly string[]): Promise<string[]>;
}

/** A search of its own memory; `now` in milliseconds. */
export function createHardLinkSearch(now: () => number = () => performance.now()): HardLinkSearch {
  let last = { question: "", until: 0, answer: [] as string[], files: [] as (string | null)[] };
  return {
    async find(hide, roots) {
      const question = JSON.stringify([hide, roots, mountsBelow(roots)]);
      const start = now();
      if (question === last.question && start < last.until && areSame(await filesAt(last.answer), last.files)) {
        return last.answer;
      }
      const answer = await hardLinksTo(hide, roots);
      const files = await filesAt(answer);
      const end = now();
      last = { question, until: end + REUSED_FOR * (end - start), answer, files };
      return answer;
    },
  };
}

/** Which file stands at each path; null where none does. */
function filesAt(paths: readonly string[]): Promise<(string | null)[]> {
  return Promise.all(paths.map(async (path) => {
    const found = await quietly(() => lstat(path));
    return found?.kind === "file" ? lastingIdentityOf(found) : null;
  }));
}

function areSame(files: readonly (string | null)[], before: readonly (string | null)[]): boolean {
  return files.every((file, index) => file !== null && file === before[index]);
}

/**
 * The paths below `roots` that are other names of hidden files, links not followed. Looks everywhere only where some hidden
 * file has more names than are hidden, or is gone from its path; costs one `lstat` for each hidden file, and then one for
 * each file of the roots. A bind mount is no name more, so what is mounted below the roots is always looked into.
 */
async function hardLinksTo(hide: HiddenPaths, roots: readonly string[]): Promise<string[]> {
  const wanted = new Map((hide.nameless ?? []).map(({ identity, names }) => [identity, names]));
  const note = async (path: string) => {
    const found = await quietly(() => lstat(path));
    if (found?.kind !== "file") return;
    const key = identity(found);
    wanted.set(key, (wanted.get(key) ?? found.links) - 1);
  };
  for (const path of hide.files) await note(path);
  for (const directory of hide.directories) await eachFile(directory, { enter: () => true, visit: note });
  const hidden = new Set([...hide.files, ...hide.directories]);
  const found = new Set<string>();
  const visit = async (path: string) => {
    if (hidden.has(path)) return;
    const status = await quietly(() => lstat(path));
    if (status?.kind !== "file") return;
    if (wanted.has(identity(status)) || wanted.has(lastingIdentityOf(status))) found.add(path);
  };
  const places = [...wanted.values()].some((missing) => missing > 0) ? roots : mountsBelow(roots);
  for (const place of wanted.size === 0 ? [] : places) {
    if (hide.directories.some((directory) => isWithin(directory, place))) continue;
    // What is mounted may be one file.
    await visit(place);
    await eachFile(place, { enter: (path) => !hidden.has(path), visit });
  }
  return [...found];
}

function mountsBelow(roots: readonly string[]): string[] {
  return mountPoints().filter((point) => roots.some((root) => point !== root && isWithin(root, point)));
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
