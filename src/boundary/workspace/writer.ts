/** Writing and removing files of the user: never through a link, never to what is write-protected, all or nothing. */
import { type FileStatus, lstat } from "../../platform/files.ts";
import {
  type HoldOptions,
  removeRegularFile,
  ReplacedError,
  replaceRegularFile,
} from "../../platform/held_directory.ts";
import { systemReason } from "../system_error.ts";
import type { Refusal, ResolvedPath } from "./workspace.ts";

/** Permission bits of a new file: the umask cannot be asked without changing it for other threads. */
const NEW_FILE_MODE = 0o644;

/** Returns the refusal of a write. */
export function refuse(display: string, reason: string): Refusal {
  return { refused: "write_protected", message: `${display} may not be written: ${reason}` };
}

/**
 * Whether a tool may write there; null means yes. The caller has checked that `real` lies inside the roots, and that it is
 * not write-protected. Refuses links, what is no regular file, and files without a write bit.
 */
export async function checkWritable(path: ResolvedPath): Promise<Refusal | null> {
  try {
    const found = await lstat(path.path);
    if (found === null) return null;
    if (found.kind === "symlink") return refuse(path.display, "it is a link; write to the file it leads to");
    if (found.kind !== "file") {
      return { refused: "not_a_file", message: `${path.display} is not a regular file; choose another path` };
    }
    if (found.mode !== null && (found.mode & 0o222) === 0) return refuse(path.display, "the file is read-only");
    return null;
  } catch (error) {
    return refuse(path.display, systemReason(error));
  }
}

/**
 * Replaces or creates the file with its parents, in exactly the directory it was resolved in. The mode of an existing
 * file is kept. Call {@link checkWritable} right before.
 */
export function replaceFile(
  path: ResolvedPath,
  bytes: Uint8Array<ArrayBuffer>,
  options: HoldOptions,
): FileStatus | Refusal {
  try {
    return replaceRegularFile(path.real, bytes, { ...options, newMode: NEW_FILE_MODE });
  } catch (error) {
    return refuse(path.display, replacedReason(error) ?? systemReason(error));
  }
}

/** Removes a regular file; null when it is gone, or was not there. Call {@link checkWritable} right before. */
export function removeFile(path: ResolvedPath, options: HoldOptions): Refusal | null {
  try {
    removeRegularFile(path.real, options);
    return null;
  } catch (error) {
    const reason = replacedReason(error) ?? systemReason(error);
    return { refused: "unreadable", message: `${path.display} cannot be removed: ${reason}` };
  }
}

function replacedReason(error: unknown): string | null {
  if (!(error instanceof ReplacedError)) return null;
  return error.strayed
    ? "its directory was replaced meanwhile, and something may have been left where that leads to; tell the user"
    : "it was replaced meanwhile; look at it again";
}
