/** Writing files of the user: never through a link, never to what is write-protected, all or nothing. */
import { type FileStatus, lstat, makeDirectory, realPath, writeAtomically } from "../../platform/files.ts";
import { dirname, normalize } from "../../platform/path.ts";
import { systemReason } from "../system_error.ts";
import type { Refusal, ResolvedPath } from "./workspace.ts";
import { writeProtection } from "../policy/write_protected.ts";

/** Permission bits of a new file: the umask cannot be asked without changing it for other threads. */
const NEW_FILE_MODE = 0o644;

function refuse(display: string, reason: string): Refusal {
  return { refused: "write_protected", message: `${display} may not be written: ${reason}` };
}

/**
 * Whether a tool may write there; null means yes. The caller has checked that `real` lies inside the roots. Refuses
 * protected names, links, what is no regular file, and files without a write bit.
 */
export async function checkWritable(
  path: ResolvedPath,
  options: { userHome: string | null },
): Promise<Refusal | null> {
  const protection = writeProtection(path.path, options.userHome) ?? writeProtection(path.real, options.userHome);
  if (protection !== null) return refuse(path.display, `${protection}; only the user changes it`);
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
 * Replaces or creates the file with its parents. The mode of an existing file is kept. Call {@link checkWritable} right
 * before. The name is taken below the real directory, and that is looked at again after parents were made.
 */
export async function replaceFile(path: ResolvedPath, bytes: Uint8Array<ArrayBuffer>): Promise<FileStatus | Refusal> {
  try {
    const directory = dirname(path.real);
    await makeDirectory(directory);
    const real = await realPath(directory);
    const found = await lstat(path.real);
    if (real === null || normalize(real) !== directory || (found !== null && found.kind !== "file")) {
      return refuse(path.display, "it was replaced meanwhile; look at it again");
    }
    await writeAtomically(path.real, bytes, { mode: found?.mode ?? NEW_FILE_MODE });
    return await lstat(path.real) ?? refuse(path.display, "it was removed meanwhile");
  } catch (error) {
    return refuse(path.display, systemReason(error));
  }
}
