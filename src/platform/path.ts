/**
 * Paths as text, for the system the program runs on. Nothing here touches the disk.
 * Windows paths are read with either separator and written with `/`, which every API there takes.
 */

const windows = Deno.build.os === "windows";

function forward(path: string): string {
  return windows ? path.replaceAll("\\", "/") : path;
}

/** Length of the part that names the root: 1 for `/`, 3 for `C:/`, 0 for a relative path. */
function rootLength(path: string): number {
  if (windows && /^[A-Za-z]:\//.test(path)) return 3;
  return path.startsWith("/") ? 1 : 0;
}

/** Returns whether `path` starts at a root. `C:x` (relative to a drive) does not. */
export function isAbsolute(path: string): boolean {
  return rootLength(forward(path)) > 0;
}

/** A part that {@link normalize} takes away: empty, `.` or `..`. */
const NEEDLESS = /(?:^|\/)\.{0,2}(?:\/|$)/;

/** `path` without `.`, `..`, doubled or trailing separators. `..` above a root stays at the root. */
export function normalize(path: string): string {
  const text = forward(path);
  const root = text.slice(0, rootLength(text));
  const rest = text.slice(root.length);
  // Nearly always, and it is asked a hundred times before the first request.
  if (!NEEDLESS.test(rest)) return text;
  const parts: string[] = [];
  for (const part of rest.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts[parts.length - 1] !== "..") parts.pop();
    else if (root === "") parts.push("..");
  }
  return root + parts.join("/") || ".";
}

/** Returns the parts joined by separators and normalized; an absolute part does not restart the path. */
export function join(...parts: string[]): string {
  // Without lists in between: every path of a start comes by here.
  let text = "";
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    if (part !== "") text = text === "" ? part : `${text}/${part}`;
  }
  return normalize(text);
}

/** `path` as an absolute, normalized path; a relative one is taken from `base`. */
export function resolve(base: string, path: string): string {
  return isAbsolute(path) ? normalize(path) : join(base, path);
}

/** Returns the directory that holds `path`; the root is its own. */
export function dirname(path: string): string {
  const text = normalize(path);
  const root = rootLength(text);
  const end = text.lastIndexOf("/");
  if (end < root) return root > 0 ? text.slice(0, root) : ".";
  return text.slice(0, end);
}

/** Returns the last part of `path`. */
export function basename(path: string): string {
  const text = normalize(path);
  return text.slice(text.lastIndexOf("/") + 1);
}

/** Returns whether `path` is `directory` or lies below it, compared as text part by part. Both absolute. */
export function isWithin(directory: string, path: string): boolean {
  const above = normalize(directory);
  const below = normalize(path);
  return below === above || below.startsWith(above.endsWith("/") ? above : above + "/");
}

/** `path` seen from `base`, both absolute: `a/b` below it, `.` for itself, else the absolute path. */
export function relativeTo(base: string, path: string): string {
  const from = normalize(base);
  const to = normalize(path);
  if (to === from) return ".";
  if (!isWithin(from, to)) return to;
  return to.slice(from.endsWith("/") ? from.length : from.length + 1);
}
