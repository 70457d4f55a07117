/**
 * The one function that opens the user's files. Links, hard links, replaced files and races all end here: the bytes are
 * read from the same handle that was checked. Source: specification of the boundary, "Reading".
 *
 * Everything is synchronous (15 µs for a small file instead of 150). Only regular files are opened, because opening
 * them never blocks. Someone who swaps in a FIFO between the two calls can hang the program, but learns nothing.
 */
import { systemReason } from "../platform/disk_failure.ts";
import { type FileStatus, lstatSync, openSync, realPathSync, type SyncFile } from "../platform/files.ts";
import { normalize } from "../platform/path.ts";
import type { ByteRange, Refusal } from "./workspace/workspace.ts";

/** Most bytes that one read gives when no limit is named: 64 MiB. */
export const READ_LIMIT = 64 * 1024 * 1024;

/** Bytes of a regular file and where they came from. */
export interface FileBytes {
  bytes: Uint8Array<ArrayBuffer>;
  /** True when the file has more bytes after these. */
  more: boolean;
  status: FileStatus;
  /** The real path of the file, resolved after it was opened. */
  real: string;
}

/** Returns whether both are the same regular file. */
function sameFile(one: FileStatus, other: FileStatus | null): boolean {
  return other !== null && other.kind === "file" && one.device === other.device && one.inode === other.inode;
}

/**
 * Reads a regular file by its absolute path and follows links. Returns a refusal if the file is absent, not regular, or
 * not readable; messages name it by `display`. A refusal of `precheck`, which is asked about the open file and its real
 * path before any byte is read, is returned, too. Throws only for programming errors.
 */
export function readRegularFile(
  path: string,
  { display, precheck, ...range }: ByteRange & {
    display: string;
    precheck?(real: string, status: FileStatus): Refusal | null;
  },
): FileBytes | Refusal {
  const absent: Refusal = { refused: "absent", message: `${display} does not exist` };
  let handle: SyncFile | null = null;
  try {
    // The order matters: `lstat` first, then open, then the handle and the path's current target must both have the
    // (device, inode) that `lstat` saw.
    let place: string | null = path;
    let before = lstatSync(path);
    if (before?.kind === "symlink") {
      place = realPathSync(path);
      before = place === null ? null : lstatSync(place);
    }
    if (place === null || before === null) return absent;
    if (before.kind !== "file") {
      const what = before.kind === "directory" ? "directory" : "device, pipe or socket; only regular files are opened";
      return { refused: "not_a_file", message: `${display} is a ${what}` };
    }
    handle = openSync(place);
    if (handle === null) return absent;
    const status = handle.status();
    const now = realPathSync(path);
    if (now === null || !sameFile(before, status) || !sameFile(status, lstatSync(now))) {
      return { refused: "unreadable", message: `${display} was replaced while it was being opened; try again` };
    }
    const real = normalize(now);
    const refused = precheck?.(real, status) ?? null;
    if (refused !== null) return refused;
    const { offset = 0, limit = READ_LIMIT } = range;
    // The buffer is never longer than the file, whatever the limit.
    const length = Math.min(limit, Math.max(0, status.size - offset));
    const bytes = length === 0 ? new Uint8Array() : handle.read(length, offset);
    return { bytes, more: offset + bytes.length < status.size && bytes.length === length, status, real };
  } catch (error) {
    return { refused: "unreadable", message: `${display} cannot be read: ${systemReason(error)}` };
  } finally {
    handle?.close();
  }
}
