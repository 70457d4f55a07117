/**
 * Recognizes files and directories under any name: a hard link, a bind mount or a renamed file is the same file
 * under a path that no rule names. Source: specification of the boundary, "Reading".
 */
import { type FileStatus, statSync } from "../../platform/files.ts";
import { quietly } from "../../platform/real_path.ts";

/**
 * The identity of a file or directory; zeros if it is unknown. Not its device: those numbers change with a restart, and
 * the home keeps identities.
 */
export interface Identity {
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

/** Returns whether a file or directory is unchanged since an earlier status; false if either is unknown. */
export function isUnchanged(before: FileStatus | null, now: FileStatus | null): boolean {
  return before !== null && now !== null && before.device === now.device && before.inode === now.inode &&
    before.size === now.size && before.modified === now.modified && before.changed === now.changed;
}
