/**
 * A snapshot of the project, in memory only: the difference of two is what changed in between. A file is read once, and
 * again when its times, size or inode have changed.
 */
import { pacer } from "../platform/sleep.ts";
import { sameBytes } from "../platform/text.ts";
import { isUnchanged } from "../boundary/policy/identity.ts";
import { Listings } from "../boundary/policy/listing.ts";
import { plainEntry } from "../boundary/workspace/entry.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { type FileStatus, lstatSync } from "../platform/files.ts";
import { grouped } from "../platform/number.ts";
import { dirname } from "../platform/path.ts";
import { quietly } from "../platform/real_path.ts";
import type { Content, EntryChange } from "../session/undo.ts";
import { MOST_ENTRIES, RACY_MS, type WalkedProject, walkProject } from "./project_walk.ts";

/** Bytes of one file, and of all together: the small ones come first. */
const FILE_LIMIT = 16 * 1024 * 1024;
const TOTAL_LIMIT = 128 * 1024 * 1024;

const TOO_LARGE: Content = { kind: "unread", reason: "it is larger than 16 MiB" };
const TOO_MUCH: Content = { kind: "unread", reason: "the project holds more than 128 MiB" };
const SPECIAL: Content = { kind: "unread", reason: "it is a device, pipe or socket" };
const UNREADABLE: Content = { kind: "unread", reason: "it cannot be read" };
const PROTECTED: Content = { kind: "unread", reason: "it is protected" };

/** Why there is no snapshot of a project. */
export const TOO_MANY: Content = {
  kind: "unread",
  reason: `it holds more than ${grouped(MOST_ENTRIES)} files that are not ignored: what commands change stays`,
};

export type SeenChange = Pick<EntryChange, "path" | "before" | "after">;

interface Seen {
  status: FileStatus;
  /** The time of the snapshot, milliseconds since 1970. */
  at: number;
  content: Content;
}

/** Takes snapshots of one project. */
export class Snapshot {
  readonly #workspace: Workspace;
  readonly #home: string;
  readonly #listings = new Listings();
  #seen: Map<string, Seen> | null = null;
  #leftOut: WalkedProject["leftOut"] = new Map();
  /** Bytes of all contents. */
  #size = 0;
  isOff = false;

  /** `home` is the tool's own, a real path. */
  constructor(workspace: Workspace, home: string) {
    this.#workspace = workspace;
    this.#home = home;
  }

  /** Takes a snapshot, and returns what changed since the last one. Throws the signal's reason. */
  async look(signal?: AbortSignal): Promise<SeenChange[]> {
    if (this.isOff) return [];
    const at = Date.now();
    const walked = await walkProject(this.#workspace, { home: this.#home, listings: this.#listings, signal });
    if (walked === null) {
      this.isOff = true;
      this.#seen = null;
      return [];
    }
    const before = this.#seen;
    const now = new Map<string, Seen>();
    const fresh: { path: string; status: FileStatus }[] = [];
    this.#size = 0;
    for (const [path, status] of walked.entries) {
      const seen = before?.get(path);
      if (seen === undefined || !isSame(seen, status)) fresh.push({ path, status });
      else {
        now.set(path, seen);
        this.#size += sizeOf(seen.content);
      }
    }
    const changes: SeenChange[] = [];
    let read = 0;
    const pause = pacer(signal);
    for (const { path, status } of fresh.sort((one, other) => one.status.size - other.status.size)) {
      const seen = before?.get(path);
      const content = status.kind !== "file"
        ? quietly(() => plainEntry(path, status)) ?? SPECIAL
        : (before === null ? this.#size : read) + status.size > TOTAL_LIMIT
        ? TOO_MUCH
        : this.#contentOf(path, status);
      read += sizeOf(content);
      const isKept = this.#size + sizeOf(content) <= TOTAL_LIMIT;
      now.set(path, { status, at, content: isKept ? content : TOO_MUCH });
      if (isKept) this.#size += sizeOf(content);
      if (before !== null && (seen !== undefined || !isBelow(path, this.#leftOut))) {
        const was = seen?.content ?? { kind: "absent" };
        if (!sameContent(was, content)) changes.push({ path, before: was, after: content });
      }
      await pause();
    }
    for (const [path, { content }] of before ?? []) {
      if (now.has(path) || isBelow(path, walked.leftOut) || quietly(() => lstatSync(path)) !== null) continue;
      changes.push({ path, before: content, after: { kind: "absent" } });
    }
    if (before !== null) changes.push(...newlyProtected(walked, { seen: before, leftOut: this.#leftOut }));
    this.#seen = now;
    this.#leftOut = walked.leftOut;
    return changes.sort((one, other) => one.path < other.path ? -1 : 1);
  }

  #contentOf(path: string, { size }: FileStatus): Content {
    if (size > FILE_LIMIT) return TOO_LARGE;
    const read = this.#workspace.peek({ path, real: path, display: path }, { limit: FILE_LIMIT });
    if ("refused" in read) return UNREADABLE;
    if (read.label !== "open") return PROTECTED;
    return read.more ? TOO_LARGE : { kind: "file", bytes: read.bytes, mode: read.status.mode };
  }
}

/** Returns the paths that became protected, or are new and protected: of their change only the fact is known. */
function newlyProtected(
  { leftOut }: WalkedProject,
  before: { seen: ReadonlyMap<string, Seen>; leftOut: WalkedProject["leftOut"] },
): SeenChange[] {
  return [...leftOut].flatMap(([path, why]) => {
    if (why !== "protected" || isBelow(path, before.leftOut)) return [];
    const seen = before.seen.get(path);
    const status = quietly(() => lstatSync(path));
    const isChanged = status?.kind === "file" && (seen === undefined || !isSame(seen, status));
    return isChanged ? [{ path, before: PROTECTED, after: PROTECTED }] : [];
  });
}

/** Returns whether an entry is unchanged by its metadata. */
function isSame({ status, at, content }: Seen, now: FileStatus): boolean {
  if (now.kind === "directory") return content.kind === "directory" && now.mode === content.mode;
  return isUnchanged(status, now) && Math.max(status.modified, status.changed) + RACY_MS < at;
}

function sizeOf(content: Content): number {
  return content.kind === "file" ? content.bytes.length : 0;
}

function sameContent(one: Content, other: Content): boolean {
  if (one.kind === "file" && other.kind === "file") return one.mode === other.mode && sameBytes(one.bytes, other.bytes);
  if (one.kind === "directory" && other.kind === "directory") return one.mode === other.mode;
  return one.kind === "link" && other.kind === "link" && one.target === other.target;
}

/** Returns whether a path, or a directory above it, is one of these. */
function isBelow(path: string, places: ReadonlyMap<string, unknown>): boolean {
  for (let at = path;; at = dirname(at)) {
    if (places.has(at)) return true;
    if (dirname(at) === at) return false;
  }
}
