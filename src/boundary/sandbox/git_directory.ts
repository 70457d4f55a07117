/** Where git keeps a repository: `.git` in the working tree, or what a file or a link of that name leads to. */
import { lstatInPlace, openInPlace, realPathInPlace } from "../../platform/files_in_place.ts";
import { dirname, join, normalize, resolve } from "../../platform/path.ts";
import { quietly } from "../real_path.ts";

/** Characters of a file that leads elsewhere. */
const POINTER_LIMIT = 8192;

/** A repository, real paths. */
export interface GitDirectory {
  /** The working tree; of a bare repository the directory that holds it. */
  top: string;
  directory: string;
  /** What all worktrees share: settings, hooks, objects. */
  common: string;
}

/** Returns the repository of a place named `.git`, or of a bare one; null for what leads nowhere. */
export function gitDirectory(place: string): GitDirectory | null {
  return quietly(() => {
    const status = lstatInPlace(place);
    const target = status?.kind === "file" ? /^gitdir:\s*(.+)$/m.exec(head(place))?.[1]?.trim() : undefined;
    if (status?.kind === "file" && target === undefined) return null;
    const directory = realPathInPlace(target === undefined ? place : resolve(dirname(place), target));
    if (directory === null || lstatInPlace(directory)?.kind !== "directory") return null;
    const shared = head(join(directory, "commondir")).trim();
    const common = shared === "" ? directory : realPathInPlace(resolve(directory, shared));
    if (common === null) return null;
    return { top: dirname(place), directory: normalize(directory), common: normalize(common) };
  });
}

function head(path: string): string {
  if (lstatInPlace(path)?.kind !== "file") return "";
  const handle = openInPlace(path);
  if (handle === null) return "";
  try {
    return new TextDecoder().decode(handle.read(POINTER_LIMIT, 0));
  } finally {
    handle.close();
  }
}
