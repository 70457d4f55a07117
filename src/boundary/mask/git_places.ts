/** Where the repositories are that can hold what is hidden. */
import { lstat } from "../../platform/files.ts";
import { dirname, isWithin, join } from "../../platform/path.ts";
import type { HiddenPaths } from "./request.ts";

/** The `.git` of the roots and of every repository between a root and a hidden path; absolute, files and directories. */
export async function gitPlaces(roots: readonly string[], hide: HiddenPaths): Promise<string[]> {
  const holders = new Set(roots);
  for (const path of [...hide.files, ...hide.directories]) {
    for (let at = path; roots.some((root) => isWithin(root, at)) && dirname(at) !== at; at = dirname(at)) {
      if (holders.has(at) && !roots.includes(at)) break;
      holders.add(at);
    }
  }
  const found: string[] = [];
  for (const holder of holders) {
    const place = join(holder, ".git");
    if (await lstat(place).catch(() => null) !== null) found.push(place);
  }
  return found;
}
