/** Removing files of the user: only what a tool may write, and only regular files. */
import { lstat, removeFile } from "../../platform/files.ts";
import { systemReason } from "../system_error.ts";
import type { Refusal, ResolvedPath, Workspace } from "./workspace.ts";

/** Removes a file that was resolved in the workspace; null when it is gone, or was not there. Never through a link. */
export async function removeRegularFile(path: ResolvedPath, workspace: Workspace): Promise<Refusal | null> {
  const refusal = await workspace.writable(path);
  if (refusal !== null) return refusal;
  try {
    const found = await lstat(path.real);
    if (found !== null && found.kind !== "file") {
      return { refused: "not_a_file", message: `${path.display} is not a regular file` };
    }
    await removeFile(path.real);
    return null;
  } catch (error) {
    return { refused: "unreadable", message: `${path.display} cannot be removed: ${systemReason(error)}` };
  }
}
