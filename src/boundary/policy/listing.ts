/** What the entries of a directory tell by their names and kinds, before any rule is asked. */
import { entriesInPlace, lstatInPlace, type PlainEntry } from "../../platform/files_in_place.ts";
import { dirname } from "../../platform/path.ts";
import { foldedName } from "../case_folded.ts";
import { MARKER_NAME } from "./marker.ts";
import { systemReason } from "../system_error.ts";

/** A place that nobody can say what lies in, and why: a view leaves it out as a whole. */
export interface UnjudgedPlace {
  /** An absolute path. */
  directory: string;
  /** A few words, to stand behind the path. */
  reason: string;
}

/** What the listing of a directory tells of it: it saves two looks at the disk. */
export interface Standing {
  marker: boolean;
  git: boolean;
}

/** What stands among the entries of a directory. */
export interface Named {
  standing: Standing;
  ignoreFiles: readonly PlainEntry[];
  /** See {@link namedIn}. */
  others: string;
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
const ARCHIVE_NAME = /\.(?:pack|bundle)$/i;
/** Beside what begins with a dot, or lies in a directory that does: names that some editor or assistant looks for. */
const SETTINGS_NAME = /^(?:hooks|mcp|mcp_config|opencode|crush)(?:\.|$)|\.code-workspace$/i;
/** UTF-8 bytes of a directory's path that a view can still be made of; the system's own limit is 4,096. */
const LONGEST_PATH = 3_500;

/** Why a directory is not judged, by the letter that a listing keeps of it. */
const REASONS: Readonly<Record<string, string>> = {
  n: "holds a name that is not UTF-8",
  d: "holds a directory whose name is not UTF-8",
  l: "cannot be listed",
  u: "cannot be reached",
  p: "holds paths that are too long",
};

/** Of a directory in which another has no name to look into it by: any rule may cover something there. */
export const UNNAMED_DIRECTORY = "?d";

/** Returns the place to leave out: of a directory that cannot be reached the one above, which is the nearest that can be named. */
export function unjudgedPlace(directory: string, other: string): UnjudgedPlace {
  const letter = other.slice(1);
  const reason = REASONS[letter] ?? "cannot be judged";
  return letter === "u"
    ? { directory: dirname(directory), reason: `holds a directory that ${reason}` }
    : { directory, reason };
}

/** Returns whether paths below the directory are too long for a view. */
export function isTooLong(directory: string): boolean {
  return directory.length * 3 > LONGEST_PATH && new TextEncoder().encode(directory).length + 256 > LONGEST_PATH;
}

/**
 * Returns what stands among entries; a marker and what git keeps by any name that some file system takes for theirs.
 * `others` are joined by slashes: `s` before sockets and their kind, `r` before what version control keeps, `d` before
 * settings of other programs, `R` alone for a directory that is itself what git keeps, `?` before the letter of why the
 * directory is not judged.
 */
export function namedIn(directory: string, entries: readonly PlainEntry[]): Named {
  const standing = { marker: false, git: false };
  const ignoreFiles: PlainEntry[] = [];
  const others: string[] = [];
  const git = new GitLayout();
  const dotted = /\/\.[^/]+$/.test(directory);
  let unnamed = "";
  for (const entry of entries) {
    const { name, isDirectory } = entry;
    const plain = !NOT_PLAIN.test(name);
    if (!plain && name.includes(NO_UTF8)) {
      if (unnamed !== UNNAMED_DIRECTORY) unnamed = isDirectory ? UNNAMED_DIRECTORY : "?n";
      continue;
    }
    git.add(name, isDirectory);
    if (!isDirectory && !entry.isFile && !entry.isSymlink) others.push(`s${name}`);
    else if (entry.isFile && ARCHIVE_NAME.test(name)) others.push(`r${name}`);
    if (!dotted && plain && !name.startsWith(".") && !name.startsWith("_") && !SETTINGS_NAME.test(name)) continue;
    const folded = foldedName(name);
    standing.marker ||= folded === MARKER_NAME;
    standing.git ||= folded === ".git";
    if (VERSION_CONTROL.has(folded)) others.push(`r${name}`);
    else if (dotted || folded.startsWith(".") || SETTINGS_NAME.test(folded)) others.push(`d${name}`);
    if (IGNORE_NAME.test(name)) ignoreFiles.push(entry);
  }
  if (git.isRepository) others.push("R");
  if (unnamed !== "") others.push(unnamed);
  if (isTooLong(directory) && entries.some(({ isDirectory }) => isDirectory)) others.push("?p");
  return { standing, ignoreFiles, others: others.join("/") };
}

/** Whether the entries of a directory are those of a bare repository, or of git's objects alone. */
class GitLayout {
  #head = false;
  #refs = false;
  #objects = false;
  #packs = false;
  #fanOut = false;

  add(name: string, isDirectory: boolean): void {
    if (name === "HEAD") this.#head = true;
    else if (isDirectory && name === "refs") this.#refs = true;
    else if (isDirectory && name === "objects") this.#objects = true;
    else if (isDirectory && (name === "pack" || name === "info")) this.#packs = true;
    else if (isDirectory && name.length === 2 && /^[0-9a-f]{2}$/.test(name)) this.#fanOut = true;
  }

  get isRepository(): boolean {
    return (this.#head && this.#refs && this.#objects) || (this.#packs && this.#fanOut);
  }
}

/** Returns the entries; none for a directory that is gone; of one that may not be listed the letters of why. */
export function listEntries(directory: string): PlainEntry[] | "?l" | "?u" {
  try {
    return entriesInPlace(directory) ?? [];
  } catch (error) {
    systemReason(error);
    return canBeReached(directory) ? "?l" : "?u";
  }
}

function canBeReached(directory: string): boolean {
  try {
    return lstatInPlace(directory) !== null;
  } catch (error) {
    systemReason(error);
    return false;
  }
}
