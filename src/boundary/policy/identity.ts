/**
 * Recognizes files and directories under any name: a hard link, a bind mount or a renamed file is the same file
 * under a path that no rule names. Source: specification of the boundary, "Reading".
 */
import { type FileStatus, statSync } from "../../platform/files.ts";
import { fieldsOf, membersOf } from "../../platform/record.ts";
import { ancestors, exists, quietly } from "../../platform/real_path.ts";

/** The identity of a file or directory, as the home keeps it: devices have other numbers after a restart. */
export interface Identity {
  /** 0 if it is unknown. */
  inode: number;
  /** Creation time in milliseconds since 1970; 0 if the system does not report it. */
  born: number;
}

/** Returns the identity of the file or directory at a path, with links followed. */
export function identityAt(path: string): Identity {
  const { inode, born } = quietly(() => statSync(path)) ?? { inode: 0, born: 0 };
  return { inode, born };
}

/** Returns a key of a file that survives renames and deletion: a later file of this inode has another creation time. */
export function lastingIdentityOf({ inode, born }: Identity): string {
  return `${inode}:${born}`;
}

/** Returns a key of the directory that is at a project's path now: another one that comes there has another key. */
export function rootKey(root: string): string {
  return lastingIdentityOf(identityAt(root));
}

/** A root of a session as the home keeps it, for those who judge later what the session left behind. */
export interface KeptRoot extends Identity {
  path: string;
}

/** Returns the roots (real paths) as the home keeps them: another directory can come to their paths. */
export function keptRoots(roots: readonly string[]): KeptRoot[] {
  return roots.map((path) => ({ path, ...identityAt(path) }));
}

/** Reads kept roots; of those that were kept as paths alone (version 0.2.0), the identity is unknown. */
export function readRoots(value: unknown): KeptRoot[] {
  return membersOf(value).map((root) => ({ path: String(root), inode: 0, born: 0, ...fieldsOf(root) }));
}

/** Returns where a kept root is: at its path, or as `near` or around it after a move; null if it is gone. */
export function findRoot(kept: KeptRoot, near = kept.path): string | null {
  const { path, inode } = kept;
  if (inode === 0) return exists(path) ? path : null;
  // At its own path the number is enough: on an overlay, the first write changes the creation time.
  if (identityAt(path).inode === inode) return path;
  return ancestors(near).find((at) => rootKey(at) === lastingIdentityOf(kept)) ?? null;
}

/** Returns whether a file or directory is unchanged since an earlier status; false if either is unknown. */
export function isUnchanged(before: FileStatus | null, now: FileStatus | null): boolean {
  return before !== null && now !== null && before.device === now.device && before.inode === now.inode &&
    before.size === now.size && before.modified === now.modified && before.changed === now.changed;
}
