/**
 * Which files are protected, whatever they are called: the (device, inode) of each that was seen. A hard link, a bind mount
 * and a file that was renamed are the same file under a path that no rule names. Source: specification of the boundary,
 * "Reading". Within a session the set only grows.
 */
import type { FileStatus } from "../../platform/files.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import type { ProtectedGroup } from "./protected_tree.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";
import { systemReason } from "../system_error.ts";

/** A protected file that stands at a path. */
export interface ProtectedFile {
  path: string;
  rule: ProtectionRule;
}

/** A protected file that no hidden path names: it lies outside of the roots, or is not where it was. */
export interface NamelessFile {
  /** `device:inode`, and for one that is gone from its path also when it came to be: the system uses numbers again. */
  identity: string;
  /** Names that it may have where nothing hides them. */
  names: number;
}

/** Which file it is, whatever its name. */
export function identityOf(status: Pick<FileStatus, "device" | "inode">): string {
  return `${status.device}:${status.inode}`;
}

/** The same for a file that may be gone: another one with its number came to be at another time. */
export function lastingIdentityOf(status: Pick<FileStatus, "device" | "inode" | "born">): string {
  return `${status.device}:${status.inode}:${status.born}`;
}

interface Identified {
  identity: string;
  lasting: string;
  /** Names of the file besides this one. */
  names: number;
}

/** Files that were looked at. */
interface Seen {
  /** By identity. */
  present: Map<string, ProtectionRule>;
  lasting: Set<string>;
}

/** The identities of one session. */
export class InodeIndex {
  #groups: readonly ProtectedGroup[] = [];
  #inRoots: Seen = { present: new Map(), lasting: new Set() };
  #elsewhere: Seen & { nameless: readonly NamelessFile[] } = { present: new Map(), lasting: new Set(), nameless: [] };
  /** Lasting identities of all that was ever seen. */
  readonly #ever = new Map<string, ProtectionRule>();
  readonly #ofGroup = new WeakMap<ProtectedGroup, readonly (Identified | null)[]>();
  /** Covers every file with several names while some protected file cannot be looked at: it may be that one. */
  #blind: ProtectionRule | null = null;

  /** Takes a file that another session saw. */
  recall(status: Pick<FileStatus, "device" | "inode" | "born">, rule: ProtectionRule): void {
    if (status.inode !== 0) this.#ever.set(lastingIdentityOf(status), rule);
  }

  /** Of what was seen last and hidden paths do not name. */
  get nameless(): readonly NamelessFile[] {
    const nameless = [...this.#elsewhere.nameless];
    for (const identity of this.#ever.keys()) {
      const present = this.#inRoots.lasting.has(identity) || this.#elsewhere.lasting.has(identity);
      if (!present) nameless.push({ identity, names: 1 });
    }
    return nameless;
  }

  /** The rule of an open file by what it is or was; null when it is none that was seen. */
  ruleOf(status: FileStatus): ProtectionRule | null {
    if (this.#ever.size === 0 && this.#blind === null) return null;
    const identity = identityOf(status);
    const present = stricter(
      this.#inRoots.present.get(identity) ?? null,
      this.#elsewhere.present.get(identity) ?? null,
    );
    const known = stricter(present, this.#ever.get(lastingIdentityOf(status)) ?? null);
    return known ?? (status.links > 1 ? this.#blind : null);
  }

  /** Whether a file has the number of one that was seen and came to be at another time: it is time to look again. */
  doubts(status: FileStatus): boolean {
    const identity = identityOf(status);
    return (this.#inRoots.present.has(identity) || this.#elsewhere.present.has(identity)) &&
      !this.#ever.has(lastingIdentityOf(status));
  }

  /**
   * Looks at the protected files inside of the roots. A group that was looked at is not looked at again: a directory
   * changes, and is another group, when another file takes a name in it. `blind` stands for files that cannot be looked at.
   */
  takeInRoots(groups: readonly ProtectedGroup[], blind: () => ProtectionRule | null): void {
    if (groups === this.#groups) return;
    this.#blind ??= groups.some((group) => group.blind) ? blind() : null;
    const seen: Seen = { present: new Map(), lasting: new Set() };
    for (const group of groups) {
      let identified = this.#ofGroup.get(group);
      if (identified === undefined) {
        identified = group.files.map(({ path }) => identify(path));
        this.#ofGroup.set(group, identified);
      }
      group.files.forEach(({ rule }, index) => this.#note(seen, { found: identified[index] ?? null, rule }));
    }
    this.#groups = groups;
    this.#inRoots = seen;
  }

  /** Looks at the protected files outside of the roots, each time: how many names a file has leaves no trace elsewhere. */
  takeElsewhere(files: readonly ProtectedFile[]): void {
    const seen: Seen = { present: new Map(), lasting: new Set() };
    const nameless: NamelessFile[] = [];
    for (const { path, rule } of files) {
      const found = identify(path);
      this.#note(seen, { found, rule });
      if (found !== null) nameless.push({ identity: found.identity, names: found.names });
    }
    this.#elsewhere = { ...seen, nameless };
  }

  #note({ present, lasting }: Seen, { found, rule }: { found: Identified | null; rule: ProtectionRule }): void {
    if (found === null) return;
    present.set(found.identity, stricter(present.get(found.identity) ?? null, rule) ?? rule);
    lasting.add(found.lasting);
    this.#ever.set(found.lasting, stricter(this.#ever.get(found.lasting) ?? null, rule) ?? rule);
  }
}

function identify(path: string): Identified | null {
  const status = lstatQuietly(path);
  // Without a number every file would be the same one.
  if (status?.kind !== "file" || status.inode === 0) return null;
  return { identity: identityOf(status), lasting: lastingIdentityOf(status), names: status.links - 1 };
}

function lstatQuietly(path: string): FileStatus | null {
  try {
    return lstatSync(path);
  } catch (error) {
    systemReason(error);
    return null;
  }
}
