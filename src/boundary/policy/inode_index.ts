/**
 * Which files are protected, whatever they are called: the (device, inode) of each that was seen. A hard link, a bind mount
 * and a file that was renamed are the same file under a path that no rule names. Source: specification of the boundary,
 * "Reading". Within a session the set only grows.
 */
import type { FileStatus } from "../../platform/files.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { quietly } from "../../platform/real_path.ts";
import { MOST_MET, type SeenFile } from "./met_files.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

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

/** Returns whether a file or directory is as it was at an earlier look; never for what could not be looked at. */
export function isUnchanged(before: FileStatus | null, now: FileStatus | null): boolean {
  return before !== null && now !== null && before.device === now.device && before.inode === now.inode &&
    before.size === now.size && before.modified === now.modified && before.changed === now.changed;
}

export class InodeIndex {
  /** By identity, of the files that stood at their paths when they were last looked at. */
  #present = new Map<string, ProtectionRule>();
  /** Lasting identities of the same files. */
  #lasting = new Set<string>();
  #external: NamelessFile[] = [];
  /** The first of the files that were looked at last. */
  seen: SeenFile[] = [];
  /** Lasting identities of all that was ever seen. */
  readonly #ever = new Map<string, ProtectionRule>();
  /** Covers every file with several names while some protected file cannot be looked at: it may be that one. */
  #blind: ProtectionRule | null = null;

  /** Takes a file that another session saw. */
  recall(status: Pick<FileStatus, "device" | "inode" | "born">, rule: ProtectionRule): void {
    if (status.inode !== 0) this.#ever.set(lastingIdentityOf(status), rule);
  }

  /** Of what was seen last and hidden paths do not name. */
  get nameless(): readonly NamelessFile[] {
    const gone = [...this.#ever.keys()].filter((identity) => !this.#lasting.has(identity));
    return [...this.#external, ...gone.map((identity) => ({ identity, names: 1 }))];
  }

  /** The rule of an open file by what it is or was; null when it is none that was seen. */
  ruleOf(status: FileStatus): ProtectionRule | null {
    const present = this.#present.get(identityOf(status)) ?? null;
    const known = stricter(present, this.#ever.get(lastingIdentityOf(status)) ?? null);
    return known ?? (status.links > 1 ? this.#blind : null);
  }

  /** Whether a file has the number of one that was seen and came to be at another time: it is time to look again. */
  doubts(status: FileStatus): boolean {
    return this.#present.has(identityOf(status)) && !this.#ever.has(lastingIdentityOf(status));
  }

  /** Looks at the protected files. `blind` stands for those that cannot be looked at; null when there are none. */
  take(
    { inRoots, external, blind }: {
      inRoots: readonly ProtectedFile[];
      external: readonly ProtectedFile[];
      blind: ProtectionRule | null;
    },
  ): void {
    this.#blind ??= blind;
    this.#present = new Map();
    this.#lasting = new Set();
    this.seen = [];
    for (const file of inRoots) this.#note(file);
    this.#external = external.map((file) => this.#note(file)).filter((file) => file !== null);
  }

  #note({ path, rule }: ProtectedFile): NamelessFile | null {
    const status = quietly(() => lstatSync(path));
    // Without a number every file would be the same one.
    if (status?.kind !== "file" || status.inode === 0) return null;
    const [identity, lasting] = [identityOf(status), lastingIdentityOf(status)];
    if (this.seen.length < MOST_MET) this.seen.push({ path, status });
    this.#present.set(identity, stricter(this.#present.get(identity) ?? null, rule) ?? rule);
    this.#lasting.add(lasting);
    this.#ever.set(lasting, stricter(this.#ever.get(lasting) ?? null, rule) ?? rule);
    return { identity, names: status.links - 1 };
  }
}
