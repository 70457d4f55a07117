/**
 * Files of an editor on the disk: read through the boundary's reader, written whole or not at all, never through links.
 */
import { sameBytes, utf8Text } from "../../platform/text.ts";
import { readRegularFile } from "../../boundary/reader.ts";
import { AgentcliError } from "../../errors.ts";
import { lstatSync, makeDirectory, removeFile, writeAtomically } from "../../platform/files.ts";
import { dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import type { Change } from "./plan.ts";

/** Largest file that is read, in bytes: no file of an editor comes near it. */
export const FILE_LIMIT = 4 * 1024 * 1024;

/** Bytes of a file and its permission bits (null on Windows). */
export interface FoundFile {
  bytes: Uint8Array<ArrayBuffer>;
  mode: number | null;
}

/**
 * Returns the file, or null when nothing is there. Throws `usage` for anything but a readable regular file, and for one
 * that is too large.
 */
export function readFound(path: string): FoundFile | null {
  const read = readRegularFile(path, { display: path, limit: FILE_LIMIT });
  if ("refused" in read) {
    if (read.refused === "absent") return null;
    throw new AgentcliError("usage", read.message, { hint: "repair or move it, then run again" });
  }
  if (read.more) throw new AgentcliError("usage", `${path} is larger than 4 MiB and is left alone`);
  return { bytes: read.bytes, mode: read.status.mode };
}

/** Returns whether a file may be run. */
export function isExecutable(file: FoundFile | null): boolean {
  return ((file?.mode ?? 0) & 0o111) !== 0;
}

/** Returns the text of a file, or null when it is missing or unreadable: for inspection, never before writing. */
export function lookAt(path: string): string | null {
  const read = readRegularFile(path, { display: path, limit: FILE_LIMIT });
  return "refused" in read || read.more ? null : utf8Text(read.bytes, { stays: true });
}

/** Returns whether two files have the same bytes; null: there is none. */
export function sameFile(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null ? one === other : sameBytes(one, other);
}

/**
 * Returns the link between `base` and `path`, or at `path` itself; null when there is none. Nothing is written
 * through one: it could lead out of the place that was shown. A `path` that is not below `base` is checked by itself
 * alone.
 */
export function linkOnTheWay(base: string, path: string): string | null {
  const names = isWithin(base, path) ? relativeTo(base, path).split("/") : [];
  const places = names.length === 0
    ? [dirname(path), path]
    : names.map((_, at) => join(base, ...names.slice(0, at + 1)));
  for (const place of places) {
    const found = lstatSync(place);
    if (found === null) return null;
    if (found.kind === "symlink") return place;
  }
  return null;
}

/** Changes the files of a project. Tests pass one that stops halfway. */
export interface DiskAccess {
  makeDirectory(path: string): Promise<void>;
  /** Whole or not at all; `lastLook` is called just before, and stops it by throwing. */
  write(path: string, bytes: Uint8Array, options: { mode: number; lastLook: () => void }): Promise<void>;
  /** A file, or an empty directory. */
  remove(path: string): Promise<void>;
}

export const DISK: DiskAccess = { makeDirectory, write: writeAtomically, remove: removeFile };

const WRITABLE = 0o200;

/**
 * Makes one change. Throws `usage` when the file is not as the plan found it, is read-only, or lies behind a link:
 * nothing is written then.
 */
export async function perform({ path, base, before, after, mode }: Change, disk: DiskAccess): Promise<void> {
  const link = linkOnTheWay(base, path);
  if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
  if (before !== null && before.mode !== null && (before.mode & WRITABLE) === 0) {
    throw new AgentcliError("usage", `${path} is read-only`, { hint: "make it writable, or leave it as it is" });
  }
  const lastLook = () => {
    if (!sameFile(readFound(path)?.bytes ?? null, before?.bytes ?? null)) {
      throw new AgentcliError("usage", `${path} was changed by something else just now`, { hint: "run it again" });
    }
  };
  lastLook();
  try {
    if (after === null) return await disk.remove(path);
    await disk.makeDirectory(dirname(path));
    await disk.write(path, after, { mode, lastLook });
  } catch (error) {
    if (error instanceof AgentcliError) throw error;
    throw new AgentcliError("config_write_failed", `${path} cannot be written`, {
      hint: "check owner, permissions and free space",
      cause: error,
    });
  }
}

/** Undoes changes, the last first. Returns those that stay: somebody else has changed the file, or the disk refuses. */
export async function takeBack(done: readonly Change[], disk: DiskAccess): Promise<Change[]> {
  const stay: Change[] = [];
  for (const change of done.toReversed()) {
    const { path, base, before, after } = change;
    const back: Change = {
      path,
      base,
      before: after === null ? null : { bytes: after, mode: null },
      after: before?.bytes ?? null,
      mode: before?.mode ?? change.mode,
    };
    await perform(back, disk).catch(() => stay.push(change));
  }
  return stay;
}
