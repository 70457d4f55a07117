/** Reads what the entries of a directory tell by their names and kinds, before any rule is asked. */
import { presentOrForbidden, systemReason } from "../../platform/disk_failure.ts";
import { entriesSync, lstatSync, type PlainEntry } from "../../platform/files_sync.ts";
import { dirname } from "../../platform/path.ts";
import { foldedName } from "../case_folded.ts";
import { MARKER_NAME } from "./marker.ts";

/** File systems whose files are doors, not content: reading them could show keys of other processes. Projects lie in `/dev/shm`. */
const SYSTEM_DIRECTORY = /^\/(?:proc|sys)(?:\/|$)/;

/** Whether a real path lies in one of them. Asked for every directory of a tree: one look at the beginning of the path. */
export function isOfSystem(real: string): boolean {
  return SYSTEM_DIRECTORY.test(real);
}

/** A place that nobody can say what lies in, and why: a view leaves it out as a whole. */
export interface UnjudgedPlace {
  directory: string;
  /** A few words, to stand behind the path. */
  reason: string;
}

/** What the listing of a directory tells of it: it saves two looks at the disk. */
export interface Standing {
  marker: boolean;
  git: boolean;
}

/** What stands among the entries of a directory; absolute paths. */
export interface Named {
  standing: Standing;
  /** Sockets, FIFOs and devices. */
  special: string[];
  /** What version control keeps; the directory itself where it is that. */
  repositories: string[];
  /** Entries that are named as settings of other programs are. */
  settings: string[];
  /** What tells searches what to leave out. */
  ignoreFiles: PlainEntry[];
  unjudged: UnjudgedPlace[];
  /** Another directory in it has no name to look into it by: any rule may cover something there. */
  blind: boolean;
}

/** Not only git's: some programs have one of their own, or one for all. */
const IGNORE_NAME = /^\.\w*ignore$/;
/** Other letters can fold to those of a name. */
const NOT_PLAIN = /[^\x20-\x7e]/;
/** What the runtime shows in place of bytes that are no UTF-8: no name leads back to such an entry. */
export const NO_UTF8 = "\ufffd";
/** Where version control keeps what was. */
const VERSION_CONTROL = new Set([".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "_darcs"]);
/** Packs and bundles of git; what they really are is seen when they are looked into. */
export const ARCHIVE_NAME = /\.(?:pack|bundle)$/i;
/** Beside what begins with a dot, or lies in a directory that does: names that some editor or assistant looks for. */
const SETTINGS_NAME =
  /^(?:hooks|mcp|mcp_config|opencode|crush|mise|lefthook)(?:[.-]|$)|\.(?:code-workspace|sublime-project)$/i;
/** UTF-8 bytes of a directory's path that a view can still be made of; the system's own limit is 4,096. */
const LONGEST_PATH = 3_500;

export const UNNAMED = "holds a name that is not UTF-8";
export const TOO_LONG = "holds paths that are too long";

/** Returns whether paths below the directory are too long for a view. */
export function isTooLong(directory: string): boolean {
  return directory.length * 3 > LONGEST_PATH && new TextEncoder().encode(directory).length + 256 > LONGEST_PATH;
}

/** Returns what stands among entries; a marker and what git keeps by any name that some file system takes for theirs. */
export function namedIn(directory: string, entries: readonly PlainEntry[]): Named {
  const named: Named = {
    standing: { marker: false, git: false },
    ...{ special: [], repositories: [], settings: [], ignoreFiles: [], unjudged: [], blind: false },
  };
  const { standing } = named;
  const dotted = /\/\.[^/]+$/.test(directory);
  let unnamed = false;
  for (const entry of entries) {
    const { name, isDirectory } = entry;
    const plain = !NOT_PLAIN.test(name);
    if (!plain && name.includes(NO_UTF8)) {
      unnamed = true;
      named.blind ||= isDirectory;
      continue;
    }
    if (!isDirectory && !entry.isFile && !entry.isSymlink) named.special.push(within(directory, name));
    else if (entry.isFile && ARCHIVE_NAME.test(name)) named.repositories.push(within(directory, name));
    if (!dotted && plain && !name.startsWith(".") && !name.startsWith("_") && !SETTINGS_NAME.test(name)) continue;
    const folded = foldedName(name);
    standing.marker ||= folded === MARKER_NAME;
    standing.git ||= folded === ".git";
    if (VERSION_CONTROL.has(folded)) named.repositories.push(within(directory, name));
    else if (dotted || folded.startsWith(".") || SETTINGS_NAME.test(folded)) {
      named.settings.push(within(directory, name));
    }
    if (IGNORE_NAME.test(name)) named.ignoreFiles.push(entry);
  }
  if (isRepository(entries)) named.repositories = [directory];
  if (unnamed) named.unjudged.push({ directory, reason: UNNAMED });
  if (isTooLong(directory) && entries.some(({ isDirectory }) => isDirectory)) {
    named.unjudged.push({ directory, reason: TOO_LONG });
  }
  return named;
}

/** Returns the path of an entry. */
export function within(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Whether the entries of a directory are those of a bare repository, or of git's objects alone. */
function isRepository(entries: readonly PlainEntry[]): boolean {
  const holds = (names: RegExp) => entries.some(({ name, isDirectory }) => isDirectory && names.test(name));
  const isBare = holds(/^objects$/) && holds(/^refs$/) && entries.some(({ name }) => name === "HEAD");
  return isBare || (holds(/^(?:pack|info)$/) && holds(/^[0-9a-f]{2}$/));
}

/**
 * Returns the entries; none for a directory that is gone. Of one that may not be listed, the place to leave out: itself,
 * or the one above, which is then the nearest that can be named.
 */
export function listEntries(directory: string): PlainEntry[] | UnjudgedPlace {
  try {
    return entriesSync(directory) ?? [];
  } catch (error) {
    systemReason(error);
    const status = presentOrForbidden(() => lstatSync(directory));
    return status !== null && status !== "forbidden"
      ? { directory, reason: "cannot be listed" }
      : { directory: dirname(directory), reason: "holds a directory that cannot be reached" };
  }
}
