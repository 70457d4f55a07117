/**
 * The one function that opens files of the user. Links, hard links, replaced files and races all end here: what is read
 * is what was checked, because it is read from the handle that was checked. Source: specification of the boundary, "Reading".
 *
 * Everything is synchronous (15 µs a small file instead of 150). A deadline for opening would need a thread: only what
 * `lstat` calls a regular file is opened, and opening that does not wait. Who swaps it for a FIFO between the two calls
 * can stop the program, but learns nothing.
 */
import { systemReason } from "../platform/disk_failure.ts";
import type { FileStatus } from "../platform/files.ts";
import { lstatSync, openSync, realPathSync, type SyncFile } from "../platform/files_sync.ts";
import { normalize } from "../platform/path.ts";
import type { ByteRange, Refusal } from "./workspace/workspace.ts";

/** Most bytes that one read gives when no limit is named: 64 MiB. */
export const READ_LIMIT = 64 * 1024 * 1024;

/** The options of {@link readRegularFile}. */
export interface ReadOptions extends ByteRange {
  /** How messages name the file. */
  display: string;
  /** Asked about the open file before any byte is read, with its real path; a refusal ends it. */
  precheck?(real: string, status: FileStatus): Refusal | null;
}

/** Bytes of a regular file, and the file they came from. */
export interface FileBytes {
  bytes: Uint8Array<ArrayBuffer>;
  /** True when the file goes on after them. */
  more: boolean;
  status: FileStatus;
  /** Where it lay, links resolved, after it had been opened. */
  real: string;
}

/** A regular file that was checked and is held open: whoever has it closes it. */
type CheckedFile = Pick<FileBytes, "status" | "real"> & { handle: SyncFile };

function unreadable(display: string, error: unknown): Refusal {
  return { refused: "unreadable", message: `${display} cannot be read: ${systemReason(error)}` };
}

/** Whether both name one regular file. */
function sameFile(one: FileStatus, other: FileStatus | null): boolean {
  return other !== null && other.kind === "file" && one.device === other.device && one.inode === other.inode;
}

/**
 * Reads a regular file by its absolute path, links followed. Gives a refusal for what is absent, not a regular file, or
 * not readable; throws only for programming errors.
 */
export function readRegularFile(path: string, options: ReadOptions): FileBytes | Refusal {
  const file = openChecked(path, options.display);
  if ("refused" in file) return file;
  const { handle, status, real } = file;
  try {
    const refused = options.precheck?.(real, status) ?? null;
    if (refused !== null) return refused;
    const offset = options.offset ?? 0;
    // Never a buffer longer than the file: a limit of gigabytes must not cost gigabytes.
    const length = Math.min(options.limit ?? READ_LIMIT, Math.max(0, status.size - offset));
    const bytes = length === 0 ? new Uint8Array() : handle.read(length, offset);
    return { bytes, more: offset + bytes.length < status.size && bytes.length === length, status, real };
  } catch (error) {
    return unreadable(options.display, error);
  } finally {
    handle.close();
  }
}

/**
 * Opens a regular file. The order is the rule: `lstat`, open only a regular file, and then the handle, and the real path
 * that the path leads to now, must name the same (device, inode).
 */
function openChecked(path: string, display: string): CheckedFile | Refusal {
  const absent: Refusal = { refused: "absent", message: `${display} does not exist` };
  try {
    let place = path;
    let before = lstatSync(place);
    if (before?.kind === "symlink") {
      place = realPathSync(path) ?? "";
      before = place === "" ? null : lstatSync(place);
    }
    if (before === null) return absent;
    if (before.kind !== "file") {
      const what = before.kind === "directory" ? "directory" : "device, pipe or socket; only regular files are opened";
      return { refused: "not_a_file", message: `${display} is a ${what}` };
    }
    const handle = openSync(place);
    if (handle === null) return absent;
    let file: CheckedFile | null = null;
    try {
      const status = handle.status();
      const now = realPathSync(path);
      if (now !== null && sameFile(before, status) && sameFile(status, lstatSync(now))) {
        file = { handle, status, real: normalize(now) };
      }
    } finally {
      if (file === null) handle.close();
    }
    return file ?? { refused: "unreadable", message: `${display} was replaced while it was being opened; try again` };
  } catch (error) {
    return unreadable(display, error);
  }
}
