/** When the Git tool is offered. */
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import { lstat } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";

/**
 * Whether the session gets the tool: the project has a marker and is a repository, so that commands may not see `.git`.
 * Whether they really do not is known only by looking at the whole history, which must not hold up the first request.
 */
export async function offersGit({ root, protection }: Pick<Workspace, "root" | "protection">): Promise<boolean> {
  if (protection.markers.length === 0) return false;
  return await lstat(join(root, ".git")) !== null;
}
