/**
 * The one function that opens files of the user. Links, hard links, replaced files and races all end here: what is read
 * is what was checked, because it is read from the handle that was checked. Source: specification of the boundary, "Reading".
 */
import { sleep } from "../platform/sleep.ts";
import { type FileStatus, lstat, type OpenFile, openFile, realPath, stat } from "../platform/files.ts";
import { normalise } from "../platform/path.ts";
import { systemReason } from "./system_error.ts";
import type { Refusal } from "./workspace.ts";

/** Most bytes that one read gives when no limit is named: 64 MiB. */
export const READ_LIMIT = 64 * 1024 * 1024;

/** Longest wait for opening, in milliseconds: a file that is swapped for a FIFO after the check would wait forever. */
const OPEN_DEADLINE = 5_000;

/** What to read, and who may object. */
export interface ReadOptions {
  /** How messages name the file. */
  display: string;
  /** First byte; 0 when absent. */
  offset?: number;
  /** Most bytes; {@link READ_LIMIT} when absent. */
  limit?: number;
  /** Asked with the real path of the open file before any byte is read; a refusal ends it. */
  object?(real: string): Refusal | null | Promise<Refusal | null>;
}

/** Bytes of a regular file, and the file they came from. */
export interface FileBytes {
  bytes: Uint8Array<ArrayBuffer>;
  /** True when the file goes on after them. */
  more: boolean;
  status: FileStatus;
  real: string;
}

function notAFile(status: FileStatus, display: string): Refusal {
  return status.kind === "directory"
    ? { refused: "not_a_file", message: `${display} is a directory` }
    : { refused: "not_a_file", message: `${display} is a device, pipe or socket; only regular files are opened` };
}

function absent(display: string): Refusal {
  return { refused: "absent", message: `${display} does not exist` };
}

function changed(display: string): Refusal {
  return { refused: "unreadable", message: `${display} was replaced while it was being opened; try again` };
}

function sameFile(one: FileStatus, other: FileStatus | null): boolean {
  return other !== null && other.kind === "file" && one.device === other.device && one.inode === other.inode;
}

/** Opens within the deadline; a handle that arrives later is closed. Null when nothing is there. */
async function openInTime(path: string): Promise<OpenFile | null | "late"> {
  const opening = openFile(path);
  const first = await Promise.race([opening, sleep(OPEN_DEADLINE).then(() => "late" as const)]);
  if (first === "late") opening.then((handle) => handle?.close(), () => {});
  return first;
}

async function readHandle(handle: OpenFile, path: string, options: ReadOptions): Promise<FileBytes | Refusal> {
  const status = await handle.status();
  const now = await realPath(path);
  if (now === null || !sameFile(status, await stat(now))) return changed(options.display);
  const real = normalise(now);
  const objection = await options.object?.(real) ?? null;
  if (objection !== null) return objection;
  const offset = options.offset ?? 0;
  // Never a buffer longer than the file: a limit of gigabytes must not cost gigabytes.
  const length = Math.min(options.limit ?? READ_LIMIT, Math.max(0, status.size - offset));
  if (offset > 0) await handle.seek(offset);
  const bytes = length === 0 ? new Uint8Array() : await handle.read(length);
  return { bytes, more: offset + bytes.length < status.size && bytes.length === length, status, real };
}

/**
 * Reads a regular file by its absolute path, links followed. The order is the rule: `lstat` of the real path, open only
 * a regular file, and then handle, path and real path must name the same (device, inode).
 * Gives a refusal for what is absent, not a regular file, or not readable; throws only for programming errors.
 */
export async function readRegularFile(path: string, options: ReadOptions): Promise<FileBytes | Refusal> {
  try {
    const real = await realPath(path);
    const before = real === null ? null : await lstat(real);
    if (real === null || before === null) return absent(options.display);
    if (before.kind !== "file") return notAFile(before, options.display);
    const handle = await openInTime(real);
    if (handle === null) return absent(options.display);
    if (handle === "late") {
      return { refused: "unreadable", message: `${options.display} could not be opened within 5 s` };
    }
    try {
      if (!sameFile(before, await handle.status())) return changed(options.display);
      return await readHandle(handle, path, options);
    } finally {
      handle.close();
    }
  } catch (error) {
    return { refused: "unreadable", message: `${options.display} cannot be read: ${systemReason(error)}` };
  }
}
