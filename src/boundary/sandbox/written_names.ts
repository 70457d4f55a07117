/**
 * The names in the places that a command can write. After it could see a protected path every name that is new can hold it,
 * in a form that no scan finds: of files, of directories, of what links lead to.
 */
import { entriesSync, lstatSync } from "../../platform/files_sync.ts";
import type { FileStatus } from "../../platform/files.ts";
import { quietly } from "../../platform/real_path.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import { outermost } from "../../platform/real_path.ts";

/** As long as for other listings: a change shortly after another may leave the times of a directory as they were. */
const RACY_MS = 60_000;

/** By name, which link it is; empty for what is none. */
type Names = ReadonlyMap<string, string>;

interface Listed {
  status: FileStatus | null;
  settled: boolean;
  names: Names;
  directories: readonly string[];
}

/** Looks at names again and again; directories that have not changed are not listed anew. */
export class WrittenNames {
  #known = new Map<string, Listed>();

  /** Returns the names below the places, by directory. Links are not followed, and what git keeps is not entered. */
  take(places: readonly string[]): ReadonlyMap<string, Names> {
    const known = new Map<string, Listed>();
    const waiting = [...places];
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (known.has(directory)) continue;
      const listed = this.#list(directory);
      known.set(directory, listed);
      waiting.push(...listed.directories);
    }
    this.#known = known;
    return new Map([...known].map(([directory, { names }]) => [directory, names]));
  }

  #list(directory: string): Listed {
    const status = quietly(() => lstatSync(directory));
    const last = this.#known.get(directory);
    if (last?.settled && isSame(last.status, status)) return last;
    const settled = status !== null && Date.now() - Math.max(status.modified, status.changed) >= RACY_MS;
    const names = new Map<string, string>();
    const directories: string[] = [];
    for (const { name, isDirectory, isSymlink } of quietly(() => entriesSync(directory)) ?? []) {
      const path = `${directory === "/" ? "" : directory}/${name}`;
      const link = isSymlink ? quietly(() => lstatSync(path)) : null;
      names.set(name, link === null ? "" : lastingIdentityOf(link));
      if (isDirectory && name !== ".git") directories.push(path);
    }
    return { status, settled, names, directories };
  }
}

/** Returns the paths that are new, or another link now; those inside of others are left out. */
export function newNames(before: ReadonlyMap<string, Names>, after: ReadonlyMap<string, Names>): string[] {
  return outermost([...after].flatMap(([directory, names]) => {
    const last = before.get(directory);
    if (last === names) return [];
    return [...names].filter(([name, link]) => last?.get(name) !== link).map(([name]) => `${directory}/${name}`);
  }));
}

function isSame(one: FileStatus | null, other: FileStatus | null): boolean {
  return one !== null && other !== null && one.modified === other.modified && one.changed === other.changed &&
    one.inode === other.inode && one.device === other.device;
}
