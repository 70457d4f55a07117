/**
 * Recognizes protected files under any name, by inode and creation time: a hard link, a bind mount or a renamed file is
 * the same file under a path that no rule names. Within a session the set only grows. Source: specification of the
 * boundary, "Reading".
 */
import { type FileStatus, lstatSync, statSync } from "../../platform/files.ts";
import { quietly } from "../../platform/real_path.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

export interface ProtectedFile {
  path: string;
  rule: ProtectionRule;
}

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

/** Returns a key of a file that survives renames and deletion: a later file with the same inode has another creation time. */
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

/** The identities of one session. */
export class InodeIndex {
  /** By lasting identity, for every protected file seen in this session. */
  readonly #rules = new Map<string, ProtectionRule>();
  #present = new Set<string>();
  /** Covers every file with several names while some protected file cannot be examined, since it may be that one. */
  #blind: ProtectionRule | null = null;

  /** Adds a file that this or another session saw. */
  add(status: Identity, rule: ProtectionRule): void {
    // Without inode numbers all files would look the same.
    if (status.inode === 0) return;
    const identity = lastingIdentityOf(status);
    this.#rules.set(identity, stricter(this.#rules.get(identity) ?? null, rule) ?? rule);
  }

  /** Lasting identities of files that were seen, but not at a protected path by the last look. */
  get nameless(): string[] {
    return [...this.#rules.keys()].filter((identity) => !this.#present.has(identity));
  }

  /** Returns the rule of an open file by its identity, or null. */
  ruleOf(status: FileStatus): ProtectionRule | null {
    return stricter(this.#rules.get(lastingIdentityOf(status)) ?? null, status.links > 1 ? this.#blind : null);
  }

  /** Takes the identities of the protected files. `blind` is the rule of files that cannot be examined, or null. */
  look(files: readonly ProtectedFile[], blind: ProtectionRule | null): void {
    this.#blind = stricter(this.#blind, blind);
    this.#present = new Set();
    for (const { path, rule } of files) {
      const status = quietly(() => lstatSync(path));
      if (status?.kind !== "file") continue;
      this.#present.add(lastingIdentityOf(status));
      this.add(status, rule);
    }
  }
}
