/**
 * Directories as they were listed, and what the names and kinds of their entries say, before any rule is asked. The times of
 * a directory change when a name in it comes, goes or is given to another file: one look at them tells whether it has to
 * be listed again. Changes inside of files are not seen this way.
 */
import { presentOrForbidden, systemReason } from "../../platform/disk_failure.ts";
import type { FileStatus } from "../../platform/files.ts";
import { entriesSync, lstatSync, type PlainEntry } from "../../platform/files_sync.ts";
import type { Clock } from "../../platform/io.ts";
import { dirname } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { foldedName } from "../../platform/case_folded.ts";
import { isUnchanged, lastingIdentityOf } from "./inode_index.ts";
import { MARKER_NAME } from "./marker.ts";

/** File systems whose files are no content: reading them could show keys of other processes. Projects lie in `/dev/shm`. */
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

/** Facts that the names and kinds of a directory's entries tell, whatever the rules are; absolute paths. */
interface Facts {
  /** Null for a directory that may not be listed. */
  entries: readonly PlainEntry[] | null;
  /** By name, which link it is: one can be given to another while it keeps its name. */
  links: Map<string, string>;
  /** Rules can begin here: it holds something that some file system takes for a marker or a repository by its name. */
  mayRule: boolean;
  /** Sockets, FIFOs and devices. */
  special: string[];
  /** Directories of version control; the directory itself where it is one. */
  repositories: string[];
  /** Entries that are named as settings of other programs are. */
  settings: string[];
  unjudged: UnjudgedPlace[];
}

/** A directory as it was listed. The same object stands for it as long as nothing shows that it changed. */
export interface Listing extends Readonly<Facts> {
  directory: string;
  /** Of the directory itself; null where it cannot be looked at. */
  status: FileStatus | null;
  /** When it was first seen with this status. */
  seen: number;
  /** It was listed long after its last change: its times show the next one. */
  settled: boolean;
}

/** Other letters can fold to those of a name. */
const NOT_PLAIN = /[^\x20-\x7e]/;
/** Stands in names for bytes that are no UTF-8: no such name leads back to such an entry. */
export const NO_UTF8 = "\ufffd";
/** Where version control keeps what was. */
const VERSION_CONTROL = new Set([".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "_darcs"]);
/** Packs and bundles of git; what they really are is seen when they are looked into. */
export const ARCHIVE_NAME = /\.(?:pack|bundle)$/i;
/** Beside what begins with a dot, or lies in a directory that does: names that some editor or assistant looks for. */
const SETTINGS_NAME =
  /^(?:hooks|mcp|mcp_config|opencode|crush|mise|lefthook)(?:[.-]|$)|\.(?:code-workspace|sublime-project)$/i;
/** A name that may be any of these. Most of a tree are none, and asked one question. */
const NOTABLE_NAME = new RegExp(
  String.raw`^[._]|${NOT_PLAIN.source}|${ARCHIVE_NAME.source}|${SETTINGS_NAME.source}`,
  "i",
);
/** UTF-8 bytes of a directory's path that a view can still be made of; the system's own limit is 4,096. */
const LONGEST_PATH = 3_500;

/**
 * How long a directory must have been seen as it is until its listing is trusted, in milliseconds: a second change shortly
 * after the first may leave its times as they were. The coarsest clock of a file system goes in steps of two seconds (FAT),
 * and the runtime gives the time of a change of any kind in whole seconds (measured with Deno 2.9.6).
 */
const SEEN_MS = 3_000;
/** The same by its own times, for one that was not seen before. A disk on the network has a clock of its own. */
const RACY_MS = 60_000;

/** Returns whether paths below the directory are too long for a view. */
export function isTooLong(directory: string): boolean {
  return directory.length * 3 > LONGEST_PATH && new TextEncoder().encode(directory).length + 256 > LONGEST_PATH;
}

/** Lists directories again and again; one that has not changed is not listed anew. */
export class Listings {
  readonly #clock: Pick<Clock, "now">;
  readonly #known = new Map<string, Listing>();
  /** How many times a directory was listed. */
  count = 0;

  constructor(clock: Pick<Clock, "now"> = Date) {
    this.#clock = clock;
  }

  of(directory: string): Listing {
    const status = quietly(() => lstatSync(directory));
    const known = this.#known.get(directory);
    const same = known !== undefined && isUnchanged(known.status, status) ? known : null;
    if (same?.settled) return same;
    // The clock is asked after the look at the directory, and before its listing.
    const now = this.#clock.now();
    const seen = same?.seen ?? now;
    const settled = status !== null &&
      (now - seen >= SEEN_MS || now - Math.max(status.modified, status.changed) >= RACY_MS);
    const listing = { directory, status, seen, settled, ...factsOf(directory) };
    this.#known.set(directory, listing);
    this.count++;
    return listing;
  }
}

function factsOf(directory: string): Facts {
  const facts: Facts = {
    ...{ entries: null, links: new Map(), mayRule: false },
    ...{ special: [], repositories: [], settings: [], unjudged: [] },
  };
  const entries = listEntries(directory);
  // Without a listing nothing is known of it, not even that no marker stands there.
  if (!Array.isArray(entries)) return { ...facts, unjudged: [entries] };
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
    const link = entry.isSymlink ? quietly(() => lstatSync(within(directory, name))) : null;
    if (link !== null) facts.links.set(name, lastingIdentityOf(link));
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

/** Whether the directories in one, and its entries, are those of a bare repository, or of git's objects alone. */
function isRepository(below: readonly string[], entries: readonly PlainEntry[]): boolean {
  const isBare = below.includes("objects") && below.includes("refs") && entries.some(({ name }) => name === "HEAD");
  return isBare ||
    ((below.includes("pack") || below.includes("info")) && below.some((name) => /^[0-9a-f]{2}$/.test(name)));
}

/**
 * Returns the entries; none for a directory that is gone. Of one that may not be listed, the place to leave out: itself,
 * or the one above, which is then the nearest that can be named.
 */
function listEntries(directory: string): PlainEntry[] | UnjudgedPlace {
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
