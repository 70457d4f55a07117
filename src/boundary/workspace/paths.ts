/** From the path as a model wrote it to a place inside the roots, and writing there: never through a link, all or nothing. */
import { systemReason } from "../../platform/disk_failure.ts";
import { lstat, realPath, stat } from "../../platform/files.ts";
import { basename, dirname, isAbsolute, isWithin, join, normalize, relativeTo, resolve } from "../../platform/path.ts";
import type { Refusal, ResolvedPath, Workspace } from "./workspace.ts";

/** Where paths may lead. All are real paths. */
type Roots = Pick<Workspace, "root" | "additional" | "cwd" | "lent">;

/** Returns the root that a real path lies in: the project's first; null when it lies in none. */
export function rootOf(real: string, roots: Pick<Roots, "root" | "additional">): string | null {
  return [roots.root, ...roots.additional].find((root) => isWithin(root, real)) ?? null;
}

/** Returns why the text is no path here, before the disk is asked; null when it may be one. */
function textProblem(path: string, roots: Roots): Refusal | null {
  if (path.trim() === "") return { refused: "absent", message: "the path is empty; give a path in the project" };
  if (path.includes("\0")) return { refused: "absent", message: "the path holds a NUL byte; give a plain path" };
  if (/^file:/i.test(path)) {
    return { refused: "outside", message: "file: URLs are not paths; give the plain path, relative to the project" };
  }
  if (path === "~" || /^~[/\\]/.test(path)) {
    return { refused: "outside", message: `~ is not the home here; give a path relative to ${roots.cwd}` };
  }
  return null;
}

/** Returns the absolute path with links resolved, also of what does not exist yet below an existing directory. */
async function realOf(path: string, given: string): Promise<string | Refusal> {
  const missing: string[] = [];
  for (let at = path;;) {
    if (await lstat(at) !== null) {
      const real = await realPath(at);
      if (real !== null) return join(normalize(real), ...missing);
      return { refused: "absent", message: `${given} is a link that leads nowhere; choose another path` };
    }
    const up = dirname(at);
    if (up === at) return path;
    missing.unshift(basename(at));
    at = up;
  }
}

/** Returns whether nothing is at the first or second name of a path. No further: a model shall not learn what lies outside. */
async function isUnknown(path: string): Promise<boolean> {
  const [, first = "", second] = path.split("/");
  return await lstat(`/${first}`) === null || (second !== undefined && await lstat(`/${first}/${second}`) === null);
}

/** Relative paths start at the cwd; one that names nothing there but something at the root is taken from the root. */
async function absolute(path: string, roots: Roots): Promise<string> {
  const fromCwd = resolve(roots.cwd, path);
  if (isAbsolute(path) || roots.cwd === roots.root || await lstat(fromCwd) !== null) return fromCwd;
  const fromRoot = resolve(roots.root, path);
  return await lstat(fromRoot) === null ? fromCwd : fromRoot;
}

/**
 * Returns the place a path means, inside one of the roots after links are resolved. Refused with the way on: NUL bytes, `file:`
 * URLs, `~`, what lies outside, links that leave or lead nowhere, and a trailing slash after what is no directory.
 */
export async function resolvePath(given: string, roots: Roots): Promise<ResolvedPath | Refusal> {
  const problem = textProblem(given, roots);
  if (problem !== null) return problem;
  try {
    const path = await absolute(given, roots);
    const real = await realOf(path, given);
    if (typeof real !== "string") return real;
    if (roots.lent.has(real) && real === path) return { path, real, display: real };
    const root = rootOf(real, roots);
    if (root === null) {
      const places = [roots.root, ...roots.additional].join(", ");
      const way = isWithin(roots.root, path) ? "is a link that leads out of" : "is outside of";
      const message = `${given} ${way} the project; give a path below ${places}`;
      return { refused: "outside", message, unknown: await isUnknown(path) };
    }
    if (/[/\\]$/.test(given) && (await stat(real))?.kind !== "directory") {
      const message = `${given} ends in a slash but is no directory; leave the slash out`;
      return { refused: "not_a_directory", message };
    }
    // A path that was addressed through a link above the root is shown by where it really lies.
    const shown = isWithin(root, path) ? path : real;
    return { path, real, display: root === roots.root ? relativeTo(root, shown) : shown };
  } catch (error) {
    return { refused: "unreadable", message: `${given} cannot be used: ${systemReason(error)}; choose another path` };
  }
}

/** Returns the refusal of a write. */
export function refuse(display: string, reason: string): Refusal {
  return { refused: "write_protected", message: `${display} may not be written: ${reason}` };
}

/**
 * Returns why no tool may write there; null when one may. The caller has checked that `real` lies inside the roots, and that it is
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
    if (found.mode !== null && (found.mode & 0o222) === 0) {
      return refuse(path.display, "the file is read-only; write to another path, or tell the user");
    }
    return null;
  } catch (error) {
    return refuse(path.display, `${systemReason(error)}; write to another path, or tell the user`);
  }
}
