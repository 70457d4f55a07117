/**
 * Which files are protected, whatever they are called: the (device, inode) of each that was seen. A hard link, a bind mount
 * and a file that was renamed are the same file under a path that no rule names. Within a session the set only grows.
 * For later sessions the home keeps numbers and salted digests of them, never content. Source: specification of the
 * boundary, "Reading".
 */
import type { FileStatus } from "../../platform/files.ts";
import { readRegularFile } from "../reader.ts";
import { lstatSync, statSync } from "../../platform/files_sync.ts";
import { quietly } from "../../platform/real_path.ts";
import { type Listing, within } from "./listing.ts";
import type { DerivedFile } from "./project_record_files.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

export interface ProtectedFile {
  path: string;
  rule: ProtectionRule;
}

/** Which file or directory it was; zeros where that cannot be told. */
export interface Identity {
  device: number;
  inode: number;
  /** Milliseconds since 1970 when it came to be; 0 where the system does not say. */
  born: number;
}

/** Returns the identity alone, of something with more facts. */
export function identityIn({ device, inode, born }: Identity): Identity {
  return { device, inode, born };
}

/** Which file or directory stands at the end of a path's links. */
export function identityAt(path: string): Identity {
  return identityIn(quietly(() => statSync(path)) ?? { device: 0, inode: 0, born: 0 });
}

/** Which file it is, whatever its name, also once it is gone: another one with its number came to be at another time. */
export function lastingIdentityOf({ device, inode, born }: Identity): string {
  return `${device}:${inode}:${born}`;
}

/** Numbers are used again: without the time when it came to be, another one could have that of one that is gone. */
export function isSameFile(one: Identity, other: Identity): boolean {
  return one.inode !== 0 && one.born !== 0 && lastingIdentityOf(one) === lastingIdentityOf(other);
}

/** Returns whether a file or directory is as it was at an earlier look; never for what could not be looked at. */
export function isUnchanged(before: FileStatus | null, now: FileStatus | null): boolean {
  return before !== null && now !== null && before.device === now.device && before.inode === now.inode &&
    before.size === now.size && before.modified === now.modified && before.changed === now.changed;
}

/** Keeps the identities for one session. */
export class InodeIndex {
  /** By lasting identity, of all that was ever seen. */
  readonly #rules = new Map<string, ProtectionRule>();
  /** The first of the files that stood at their paths when they were last looked at. */
  seen: SeenFile[] = [];
  #present = new Set<string>();
  /** Covers every file with several names while some protected file cannot be looked at: it may be that one. */
  #blind: ProtectionRule | null = null;

  /** Takes a file that another session saw, or that is seen now. */
  add(status: Identity, rule: ProtectionRule): void {
    // Without a number every file would be the same one.
    if (status.inode === 0) return;
    const identity = lastingIdentityOf(status);
    this.#rules.set(identity, stricter(this.#rules.get(identity) ?? null, rule) ?? rule);
  }

  /** Lasting identities of files that were seen, and stand at no path that is known to be protected. */
  get nameless(): readonly string[] {
    return [...this.#rules.keys()].filter((identity) => !this.#present.has(identity));
  }

  /** The rule of an open file by what it is or was; null when it is none that was seen. */
  ruleOf(status: FileStatus): ProtectionRule | null {
    return stricter(this.#rules.get(lastingIdentityOf(status)) ?? null, status.links > 1 ? this.#blind : null);
  }

  /** Looks at the protected files. `blind` stands for those that cannot be looked at; null when there are none. */
  look(files: readonly ProtectedFile[], blind: ProtectionRule | null): void {
    this.#blind = stricter(this.#blind, blind);
    this.#present = new Set();
    this.seen = [];
    for (const { path, rule } of files) {
      const status = quietly(() => lstatSync(path));
      if (status?.kind !== "file") continue;
      if (this.seen.length < MOST_MET) this.seen.push({ path, status });
      this.#present.add(lastingIdentityOf(status));
      this.add(status, rule);
    }
  }
}

export interface MetFile extends Identity {
  path: string;
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** HMAC of the content with the record's salt; empty for content that is too much, or tells nothing. */
  digest: string;
}

/** The same with the key of its digest. */
export interface SaltedFile extends MetFile {
  salt: string;
}

/** A file, and what it was when it was looked at. */
export interface SeenFile {
  path: string;
  status: FileStatus;
}

/** Most files of a session that are noted, and most that a record keeps: with those that have gone since. */
const MOST_MET = 500;
export const MOST_KEPT = 1_500;
/** Bytes of a file whose content is told: less may be in any file. */
const SHORTEST = 8;
const LONGEST = 1024 * 1024;

/** Returns a file as a record keeps it; null for one that cannot be read. */
export async function metFile({ path, status }: SeenFile, salt: string): Promise<MetFile | null> {
  const { device, inode, born, size, modified } = status;
  const digest = size < SHORTEST || size > LONGEST ? "" : await digestOf(path, salt);
  return digest === null ? null : { path, device, inode, born, size, modified, digest };
}

/** Returns the key of a file as it was at one time. */
export function stateOf(path: string, status: Identity & Pick<FileStatus, "size" | "modified">): string {
  return `${path} ${lastingIdentityOf(status)} ${status.size} ${status.modified}`;
}

async function digestOf(path: string, salt: string): Promise<string | null> {
  const read = readRegularFile(path, { display: path, limit: LONGEST });
  if ("refused" in read) return null;
  const encoded = new TextEncoder().encode(salt);
  const key = await crypto.subtle.importKey("raw", encoded, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, read.bytes)).toHex();
}

/** Finds what protected files were: files that are not at their place any more as they were met may be somewhere else. */
export class FormerFiles {
  #gone: readonly SaltedFile[] = [];
  /** Searched in vain, as long as they and what is gone stay as they are. */
  #searched = new WeakSet<Listing>();

  /**
   * Returns the files of directories that are one of the met ones that have changed or gone, or hold the content of one,
   * and that no rule covers yet.
   */
  async find(
    met: readonly SaltedFile[],
    { listings, isCovered }: { listings: readonly Listing[]; isCovered: (path: string) => boolean },
  ): Promise<DerivedFile[]> {
    const gone = met.filter((file) => {
      const status = quietly(() => lstatSync(file.path));
      return status === null || stateOf(file.path, status) !== stateOf(file.path, file);
    });
    if (gone.length !== this.#gone.length || gone.some((file, at) => file !== this.#gone[at])) {
      this.#gone = gone;
      this.#searched = new WeakSet();
    }
    const identities = new Map(gone.map((file) => [lastingIdentityOf(file), file]));
    const sizes = new Set(gone.filter(({ digest }) => digest !== "").map(({ size }) => size));
    const found: DerivedFile[] = [];
    for (const listing of gone.length === 0 ? [] : listings) {
      if (this.#searched.has(listing)) continue;
      this.#searched.add(listing);
      for (const { name, isFile } of listing.entries ?? []) {
        const path = within(listing.directory, name);
        const status = isFile ? quietly(() => lstatSync(path)) : null;
        if (status === null || isCovered(path)) continue;
        const same = identities.get(lastingIdentityOf(status));
        const known = same !== undefined && isSameFile(same, status)
          ? same
          : (sizes.has(status.size) ? await this.#contentOf(path, status) : undefined);
        if (known === undefined) continue;
        const { device, inode, born } = status;
        found.push({ path, device, inode, born, source: known.path, at: 0, digest: known.digest });
      }
    }
    return found;
  }

  async #contentOf(path: string, { size }: FileStatus): Promise<SaltedFile | undefined> {
    for (const file of this.#gone) {
      if (file.size === size && file.digest !== "" && await digestOf(path, file.salt) === file.digest) return file;
    }
    return undefined;
  }
}
