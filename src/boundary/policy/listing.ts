/**
 * Cached directory listings, with the facts that names and kinds of entries give before any rule is asked. A
 * directory's times change when a name in it appears, disappears or moves to another file, so one `lstat` tells whether
 * to list it again. Changes inside files are not seen this way.
 */
import { byteLength } from "../../platform/text.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import { entriesSync, type FileStatus, lstatSync, type PlainEntry } from "../../platform/files.ts";
import type { Clock } from "../../platform/io.ts";
import { dirname, isWithin } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { foldedName } from "../../platform/case_folded.ts";
import { isUnchanged } from "./identity.ts";
import { MARKER_NAME } from "./marker.ts";

/**
 * File systems of the kernel: reading their files could reveal keys of other processes. `/dev` is not here: projects
 * can lie in `/dev/shm`.
 */
const SYSTEM_DIRECTORY = /^\/(?:proc|sys)(?:\/|$)/;

/** Returns whether a real path lies in one of them. Cheap, because it is called for every directory of a tree. */
export function isOfSystem(real: string): boolean {
  return SYSTEM_DIRECTORY.test(real);
}

/**
 * Directories of programs and libraries; links among them (`/bin` to `/usr/bin`) stay links. Others hold daemons'
 * sockets.
 */
export const SYSTEM: readonly string[] =
  "/usr /bin /sbin /lib /lib64 /lib32 /libx32 /nix/store /gnu/store /run/current-system".split(" ");
export const DEVICES: readonly string[] = ["/proc", "/sys", "/dev"];

/** Returns whether a link to this real path leads to files of the system. Those in `/dev/shm` are the user's. */
export function leadsToSystem(real: string): boolean {
  return [...SYSTEM, ...DEVICES].some((place) => isWithin(place, real)) && !isWithin("/dev/shm", real);
}

/** A directory whose content cannot be judged, and why. A view leaves all of it out. */
export interface UnjudgedPlace {
  directory: string;
  /** A few words that follow the path in a message. */
  reason: string;
}

/** Facts from the names and kinds of a directory's entries, independent of any rule. Paths are absolute. */
interface Facts {
  /** Null if the directory cannot be listed. */
  entries: readonly PlainEntry[] | null;
  /** Symbolic links with a leading dot. */
  dotLinks: string[];
  /** True if rules can start here: some file system would take one of the names for a marker or `.git`. */
  mayRule: boolean;
  /** Sockets, FIFOs and devices. */
  special: string[];
  /** Directories and archives of version control; or the directory itself. */
  repositories: string[];
  /** Entries named like settings of other programs. */
  settings: string[];
  unjudged: UnjudgedPlace[];
}

/** A listed directory. The same object is returned until the directory shows a change. */
export interface Listing extends Readonly<Facts> {
  directory: string;
  /** Status of the directory itself; null if it cannot be read. */
  status: FileStatus | null;
  /** True if it was listed long enough after its last change that its times will show the next one. */
  settled: boolean;
}

/** Some other letters case-fold to ASCII. */
export const NOT_PLAIN = /[^\x20-\x7e]/;
/** Replaces bytes in names that are not UTF-8. Such a name does not lead back to its entry. */
export const NO_UTF8 = "\ufffd";
/** Directories in which version control keeps history. */
const VERSION_CONTROL = new Set([".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "_darcs"]);
/** Names of git's packs and bundles; their first bytes decide later. */
export const ARCHIVE_NAME = /\.(?:pack|bundle)$/i;
/** Names that some editor or assistant reads, besides names with a leading dot and entries of such directories. */
const SETTINGS_NAME =
  /^(?:hooks|mcp|mcp_config|opencode|crush|mise|lefthook)(?:[.-]|$)|\.(?:code-workspace|sublime-project)$/i;
/** Matches every name that can be any of these. One test rules out most names of a tree. */
const NOTABLE_NAME = new RegExp(
  String.raw`^[._]|${NOT_PLAIN.source}|${ARCHIVE_NAME.source}|${SETTINGS_NAME.source}`,
  "i",
);
/** The longest directory path that a view can hold, in UTF-8 bytes; the system's limit is 4,096. */
const LONGEST_PATH = 3_500;

/**
 * A listing is trusted if the directory was at rest for this long before, in milliseconds: a second change right after
 * the first can leave the times as they are. The coarsest clock of a file system has steps of two seconds (FAT), the
 * runtime reports change times in whole seconds (measured with Deno 2.9.6), and network disks have a clock of their
 * own.
 */
const AT_REST_MS = 10_000;

/** Returns whether paths below the directory are too long for a view. */
export function isTooLong(directory: string): boolean {
  return directory.length * 3 > LONGEST_PATH && byteLength(directory) + 256 > LONGEST_PATH;
}

/** Returns whether no walk looks at a path: one of its names need not be its own, or it is too long. */
export function isUnjudged(path: string): boolean {
  return path.includes(NO_UTF8) || isTooLong(dirname(path));
}

/** A cache of directory listings. An unchanged directory is not listed again. */
export class Listings {
  readonly #clock: Pick<Clock, "now">;
  readonly #known = new Map<string, Listing>();

  constructor(clock: Pick<Clock, "now"> = Date) {
    this.#clock = clock;
  }

  of(directory: string): Listing {
    const status = quietly(() => lstatSync(directory));
    const known = this.#known.get(directory);
    if (known?.settled && isUnchanged(known.status, status)) return known;
    // The clock is read between `lstat` and the listing.
    const atRest = status === null ? 0 : this.#clock.now() - Math.max(status.modified, status.changed);
    const listing = { directory, status, settled: atRest >= AT_REST_MS, ...factsOf(directory, status) };
    this.#known.set(directory, listing);
    return listing;
  }
}

function factsOf(directory: string, status: FileStatus | null): Facts {
  const facts: Facts = {
    ...{ entries: null, dotLinks: [], mayRule: false },
    ...{ special: [], repositories: [], settings: [], unjudged: [] },
  };
  let entries: readonly PlainEntry[];
  try {
    entries = entriesSync(directory) ?? [];
  } catch (error) {
    systemReason(error);
    // Without a listing nothing is known, not even that there is no marker: the directory is left out, or its parent if
    // it cannot be reached at all.
    const place = status !== null
      ? { directory, reason: "cannot be listed" }
      : { directory: dirname(directory), reason: "holds a directory that cannot be reached" };
    return { ...facts, unjudged: [place] };
  }
  const isDotted = /\/\.[^/]+$/.test(directory);
  let isUnnamed = false;
  const below: string[] = [];
  for (const entry of entries) {
    const { name, isDirectory, isFile } = entry;
    if (isDirectory) below.push(name);
    if ((isFile || isDirectory) && !isDotted && !NOTABLE_NAME.test(name)) continue;
    if (name.includes(NO_UTF8)) {
      isUnnamed = true;
      continue;
    }
    if (entry.isSymlink && name.startsWith(".")) facts.dotLinks.push(within(directory, name));
    if (!isDirectory && !isFile && !entry.isSymlink) facts.special.push(within(directory, name));
    else if (isFile && ARCHIVE_NAME.test(name)) facts.repositories.push(within(directory, name));
    const folded = foldedName(name);
    facts.mayRule ||= folded === MARKER_NAME || folded === ".git";
    if (VERSION_CONTROL.has(folded)) facts.repositories.push(within(directory, name));
    else if (isDotted || folded.startsWith(".") || SETTINGS_NAME.test(folded)) {
      facts.settings.push(within(directory, name));
    }
  }
  if (isRepository(below, entries)) facts.repositories = [directory];
  if (isUnnamed) facts.unjudged.push({ directory, reason: "holds a name that is not UTF-8" });
  if (isTooLong(directory) && below.length > 0) {
    facts.unjudged.push({ directory, reason: "holds paths that are too long" });
  }
  return { ...facts, entries };
}

/** Returns the path of an entry. */
export function within(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Returns whether these subdirectories and entries are those of a bare repository or a git object store. */
function isRepository(below: readonly string[], entries: readonly PlainEntry[]): boolean {
  const holds = (...names: string[]) => names.every((name) => below.includes(name));
  return holds("pack", "info") && below.some((name) => /^[0-9a-f]{2}$/.test(name)) ||
    holds("objects", "refs") && entries.some(({ name }) => name === "HEAD");
}
