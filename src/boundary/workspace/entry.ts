/**
 * Writes and restores entries of the project: files, links and directories, always below directories that are not
 * links. Loaded with the first change.
 */
import { systemReason } from "../../platform/disk_failure.ts";
import { type FileStatus, lstatSync, readLinkSync } from "../../platform/files.ts";
import {
  type HoldOptions,
  placeDirectory,
  removeEntry,
  ReplacedError,
  replaceLink,
  replaceRegularFile,
} from "../../platform/held_directory.ts";
import { dirname, normalize, relativeTo } from "../../platform/path.ts";
import { realOrNamed } from "../../platform/real_path.ts";
import type { Label } from "../policy/label.ts";
import { refuse, rootOf } from "./paths.ts";
import type { Refusal, ResolvedPath, Workspace } from "./workspace.ts";

/** An entry with its content; `mode` is null if the system has none or it does not matter. */
export type Entry =
  | { kind: "absent" }
  | { kind: "file"; bytes: Uint8Array<ArrayBuffer>; mode: number | null }
  | { kind: "link"; target: string }
  | { kind: "directory"; mode: number | null };

/** The change of an entry: its current and its wanted state. */
export interface EntryChange {
  now: Entry;
  to: Entry;
}

/** Permission bits of new entries: reading the umask would change it for other threads. */
const [NEW_FILE_MODE, NEW_DIRECTORY_MODE] = [0o644, 0o755];

/**
 * Returns the place of an entry by its absolute path. No directory above it may be a link; missing ones are created
 * later. If the entry is a link, it is not followed.
 */
export function entryPath(path: string, roots: Pick<Workspace, "root" | "additional">): ResolvedPath | Refusal {
  const root = rootOf(path, roots);
  if (root === null || normalize(path) !== path) {
    return { refused: "outside", message: `${path} lies outside of the project` };
  }
  const display = root === roots.root ? relativeTo(root, path) : path;
  const above = dirname(path);
  return realOrNamed(above) === above
    ? { path, real: path, display }
    : refuse(display, `${above} is behind a link now`);
}

/** Returns the entry at a path from {@link entryPath}, with its label. Refuses files over `limit` bytes. */
export function readEntry(
  path: ResolvedPath,
  { workspace, limit }: { workspace: Pick<Workspace, "peek">; limit: number },
): { entry: Entry; label: Label } | Refusal {
  try {
    const status = lstatSync(path.path);
    if (status?.kind === "file") {
      // Only for comparison: no item will hold the content.
      const read = workspace.peek(path, { limit });
      if ("refused" in read) return read;
      if (read.more) return { refused: "unreadable", message: `${path.display} is too large` };
      return { entry: { kind: "file", bytes: read.bytes, mode: read.status.mode }, label: read.label };
    }
    const entry = plainEntry(path.path, status);
    if (entry !== null) return { entry, label: "open" };
    return { refused: "not_a_file", message: `${path.display} is a device, pipe or socket` };
  } catch (error) {
    return { refused: "unreadable", message: `${path.display} cannot be read: ${systemReason(error)}` };
  }
}

/** Returns an entry without content (absent, directory, link); null for a file, a device, a pipe or a socket. */
export function plainEntry(path: string, status: FileStatus | null): Entry | null {
  if (status === null) return { kind: "absent" };
  if (status.kind === "directory") return { kind: "directory", mode: status.mode };
  const target = status.kind === "symlink" ? readLinkSync(path) : null;
  return target === null ? null : { kind: "link", target };
}

/** Restores an entry. Files and links replace one another atomically; a directory is removed only if it is empty. */
export function restoreEntry(
  path: ResolvedPath,
  { now, to }: EntryChange,
  { ownProcess = false }: Partial<HoldOptions>,
): Refusal | null {
  const kind = now.kind === "link" ? "symlink" : now.kind;
  try {
    const isReplaced = now.kind === to.kind ||
      ![now.kind, to.kind].some((one) => one === "absent" || one === "directory");
    if (kind !== "absent" && !isReplaced) removeEntry(path.real, { kind, ownProcess });
    const over = kind === "symlink" ? kind : "file";
    if (to.kind === "file") {
      const mode = to.mode ?? undefined;
      replaceRegularFile(path.real, to.bytes, { over, mode, newMode: NEW_FILE_MODE, ownProcess });
    } else if (to.kind === "link") replaceLink(path.real, to.target, { over, ownProcess });
    else if (to.kind === "directory") {
      placeDirectory(path.real, { mode: to.mode ?? NEW_DIRECTORY_MODE, ownProcess });
    }
    return null;
  } catch (error) {
    return refuse(path.display, replacedReason(error) ?? systemReason(error));
  }
}

/**
 * Creates or replaces a file and its parent directories, in exactly the directory that was resolved. Keeps the mode of
 * an existing file. Call {@link checkWritable} right before.
 */
export function replaceFile(
  path: ResolvedPath,
  bytes: Uint8Array<ArrayBuffer>,
  { ownProcess = false }: Partial<HoldOptions>,
): FileStatus | Refusal {
  try {
    return replaceRegularFile(path.real, bytes, { ownProcess, newMode: NEW_FILE_MODE });
  } catch (error) {
    const reason = replacedReason(error) ?? `${systemReason(error)}; write to another path, or tell the user`;
    return refuse(path.display, reason);
  }
}

/** Returns the reason if the directory of an entry was replaced meanwhile; null for other errors. */
function replacedReason(error: unknown): string | null {
  if (!(error instanceof ReplacedError)) return null;
  return error.strayed
    ? "its directory was replaced meanwhile, and something may have been left where that leads to; tell the user"
    : "it was replaced meanwhile; look at it again";
}
