/** Which directory is the project. */
import { isForbidden, lstat, realPath } from "../../platform/files.ts";
import { dirname, isAbsolute, isWithin, join, normalize } from "../../platform/path.ts";
import { AgentcliError } from "../../errors.ts";
import { MARKER_NAME } from "./marker.ts";

/** Whether something of that name stands in the directory; a directory that may not be looked into has nothing. */
async function holds(directory: string, name: string): Promise<boolean> {
  try {
    return await lstat(join(directory, name)) !== null;
  } catch (error) {
    if (isForbidden(error)) return false;
    throw error;
  }
}

/** The directories from `start` to the root of the disk, nearest first. */
function ancestors(start: string): string[] {
  const found = [start];
  for (let at = start, up = dirname(at); up !== at; at = up, up = dirname(at)) found.push(up);
  return found;
}

/**
 * The project root as a real path: the nearest ancestor of `cwd` with `.git`, else with `.agentclisecret`, else `cwd`.
 * The user's home, anything that holds it, and the root of the disk count only when they are `cwd` itself: a stray
 * `.git` there would make everything the user owns the project.
 * Throws `usage` when `cwd` is no directory that can be reached.
 */
export async function findProjectRoot(cwd: string, userHome: string | undefined): Promise<string> {
  const found = await realPath(cwd);
  if (found === null) {
    throw new AgentcliError("usage", `${cwd} does not exist`, { hint: "start in an existing directory" });
  }
  const start = normalize(found);
  const home = userHome === undefined || !isAbsolute(userHome) ? null : await realPath(userHome);
  const candidates = ancestors(start).filter((directory) =>
    directory === start || (dirname(directory) !== directory && (home === null || !isWithin(directory, home)))
  );
  for (const name of [".git", MARKER_NAME]) {
    for (const candidate of candidates) {
      if (await holds(candidate, name)) return candidate;
    }
  }
  return start;
}
