/** Resolves paths as models write them to places inside the roots, and checks whether a place can be written. */
import { systemReason } from "../../platform/disk_failure.ts";
import { lstatSync, realPathSync, statSync } from "../../platform/files.ts";
import { isAbsolute, isWithin, join, normalize, relativeTo, resolve } from "../../platform/path.ts";
import { ancestors } from "../../platform/real_path.ts";
import type { Refusal, ResolvedPath, Workspace } from "./workspace.ts";

/** Where paths may lead. All paths are real. */
type Roots = Pick<Workspace, "root" | "additional" | "cwd" | "lent">;

/** Returns the root that a real path lies in (the project's root first), or null. */
export function rootOf(real: string, roots: Pick<Roots, "root" | "additional">): string | null {
  return [roots.root, ...roots.additional].find((root) => isWithin(root, real)) ?? null;
}

/** Returns why a text cannot be a path here, without reading the disk, or null. */
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

/** Returns the path with links resolved. The end of the path need not exist. */
function realOf(path: string, given: string): string | Refusal {
  const at = ancestors(path).find((place) => lstatSync(place) !== null);
  if (at === undefined) return path;
  const real = realPathSync(at);
  if (real !== null) return join(normalize(real), path.slice(at.length));
  return { refused: "absent", message: `${given} is a link that leads nowhere; choose another path` };
}

/** Returns whether the first or second name of a path does not exist. Looks no deeper: a model learns nothing more. */
function isUnknown(path: string): boolean {
  const [, first = "", second] = path.split("/");
  return lstatSync(`/${first}`) === null || (second !== undefined && lstatSync(`/${first}/${second}`) === null);
}

/** Resolves a relative path against the cwd, or against the root if it exists only there. */
function absolute(path: string, roots: Roots): string {
  const fromCwd = resolve(roots.cwd, path);
  if (isAbsolute(path) || roots.cwd === roots.root || lstatSync(fromCwd) !== null) return fromCwd;
  const fromRoot = resolve(roots.root, path);
  return lstatSync(fromRoot) === null ? fromCwd : fromRoot;
}

/**
 * Returns the place inside one of the roots that a path means. Refuses, with advice, NUL bytes, `file:` URLs, `~`,
 * paths outside, links that lead out or nowhere, and a trailing slash after a file.
 */
export function resolvePath(given: string, roots: Roots): ResolvedPath | Refusal {
  const problem = textProblem(given, roots);
  if (problem !== null) return problem;
  try {
    const path = absolute(given, roots);
    const real = realOf(path, given);
    if (typeof real !== "string") return real;
    if (roots.lent.has(real) && real === path) return { path, real, display: real };
    const root = rootOf(real, roots);
    if (root === null) {
      const places = [roots.root, ...roots.additional].join(", ");
      const way = isWithin(roots.root, path) ? "is a link that leads out of" : "is outside of";
      const message = `${given} ${way} the project; give a path below ${places}`;
      return { refused: "outside", message, unknown: isUnknown(path) };
    }
    if (/[/\\]$/.test(given) && statSync(real)?.kind !== "directory") {
      const message = `${given} ends in a slash but is no directory; leave the slash out`;
      return { refused: "not_a_directory", message };
    }
    // A path through a link above the root is shown by its real path.
    const shown = isWithin(root, path) ? path : real;
    return { path, real, display: root === roots.root ? relativeTo(root, shown) : shown };
  } catch (error) {
    return { refused: "unreadable", message: `${given} cannot be used: ${systemReason(error)}; choose another path` };
  }
}

/** Returns a refusal to write. */
export function refuse(display: string, reason: string): Refusal {
  return { refused: "write_protected", message: `${display} may not be written: ${reason}` };
}

/**
 * Returns why a tool cannot write there, or null. Refuses links, anything but regular files, and files without a write
 * bit. The caller has checked that `real` lies inside the roots and is not write-protected.
 */
export function checkWritable(path: ResolvedPath): Refusal | null {
  try {
    const found = lstatSync(path.path);
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
