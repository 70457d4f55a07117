/** Paths as the system finds them: links resolved, and `..` after a link taken from where the link leads. */
import { lstatSync, realPathSync, statSync } from "./files.ts";
import { basename, dirname, isAbsolute, join, normalize } from "./path.ts";

/** Returns the result of a look at the disk; null where it fails: an unreadable entry counts by its name alone. */
export function quietly<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Whether there is a file at the end of a path's links. */
export function isFile(path: string): boolean {
  return quietly(() => statSync(path))?.kind === "file";
}

/** Whether there is something at a path. */
export function exists(path: string): boolean {
  return quietly(() => lstatSync(path)) !== null;
}

/** The real path; null if it leads nowhere or cannot be read. */
export function realOrNull(path: string): string | null {
  const real = quietly(() => realPathSync(path));
  return real === null ? null : normalize(real);
}

/** The real path; of what does not exist yet, its existing part is resolved. */
export function realOrNamed(path: string): string {
  const real = realOrNull(path);
  if (real !== null) return real;
  const up = dirname(path);
  return up === path ? path : join(realOrNamed(up), basename(path));
}

/** Returns a directory and those above it, nearest first. */
export function ancestors(start: string): string[] {
  const found = [start];
  for (let at = start, up = dirname(at); up !== at; at = up, up = dirname(at)) found.push(up);
  return found;
}

/** Returns the paths that are not inside another of them. */
export function outermost(paths: Iterable<string>): string[] {
  const all = new Set(paths);
  return [...all].filter((path) => !ancestors(path).slice(1).some((up) => all.has(up)));
}

/** The working directory of a process, as Linux names it. */
const WORKING_DIRECTORY = /^\/proc\/(?:[^/]+\/)+cwd$/;

/**
 * The path that the system finds by `path` (relative: from `cwd`, which also stands for the working directory below
 * `/proc`); null where that is what the text alone says.
 */
export function walkedPath(path: string, cwd: string): string | null {
  if (!/(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\](?:proc|dev)[/\\]/.test(path)) return null;
  const absolute = isAbsolute(path);
  const root = absolute ? normalize(path.slice(0, /^[A-Za-z]:/.test(path) ? 3 : 1)) : cwd;
  let at = root;
  for (const name of (absolute ? path.slice(root.length) : path).split("/")) {
    if (name === "" || name === ".") continue;
    at = name === ".." ? dirname(realOrNamed(at)) : join(at, name);
    if (WORKING_DIRECTORY.test(at)) at = cwd;
  }
  return at;
}
