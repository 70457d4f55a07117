/**
 * Recognizes protected files under any name, by (device, inode): a hard link, a bind mount or a renamed file is the
 * same file under a path that no rule names. Within a session the set only grows. For later sessions the home keeps
 * identities and salted digests, never content. Source: specification of the boundary, "Reading".
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

/** The identity of a file or directory; zeros if it is unknown. */
export interface Identity {
  device: number;
  inode: number;
  /** Creation time in milliseconds since 1970; 0 if the system does not report it. */
  born: number;
}

/** Returns only the identity of something with more fields. */
export function identityIn({ device, inode, born }: Identity): Identity {
  return { device, inode, born };
}

/** Returns the identity of the file or directory at a path, with links followed. */
export function identityAt(path: string): Identity {
  return identityIn(quietly(() => statSync(path)) ?? { device: 0, inode: 0, born: 0 });
}

/** Returns a key of a file that survives renames and deletion: a later file with the same inode has another creation time. */
export function lastingIdentityOf({ device, inode, born }: Identity): string {
  return `${device}:${inode}:${born}`;
}

/** Returns whether both are the same file. Inode numbers are reused, so without a creation time the answer is no. */
export function isSameFile(one: Identity, other: Identity): boolean {
  return one.inode !== 0 && one.born !== 0 && lastingIdentityOf(one) === lastingIdentityOf(other);
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
  /** The first files found at their paths by the last {@link look}. */
  seen: SeenFile[] = [];
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
  get nameless(): readonly string[] {
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

/** A protected file as the home remembers it. */
export interface MetFile extends Identity {
  path: string;
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** HMAC of the content with the record's salt; empty for content that is too long or too short to tell. */
  digest: string;
}

/** The same with the salt of its digest. */
export interface SaltedFile extends MetFile {
  salt: string;
}

/** A file and its status. */
export interface SeenFile {
  path: string;
  status: FileStatus;
}

/** Limits: files noted by a session, and files kept by a record, including files that are gone. */
const MOST_MET = 500;
export const MOST_KEPT = 1_500;
/** Limits of a file's size for a digest, in bytes: shorter content can be in any file. */
const SHORTEST = 8;
const LONGEST = 1024 * 1024;

/** Returns a file as a record keeps it, or null if it cannot be read. */
export async function metFile({ path, status }: SeenFile, salt: string): Promise<MetFile | null> {
  const { device, inode, born, size, modified } = status;
  const digest = size < SHORTEST || size > LONGEST ? "" : await digestOf(path, salt);
  return digest === null ? null : { path, device, inode, born, size, modified, digest };
}

/** Returns a key of a file in one state. */
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

/** Finds former protected files: a recorded file stays protected whatever it is called and whatever the rules say by now. */
export class FormerFiles {
  #lost: ReadonlySet<SaltedFile> = new Set();
  /** Listings already searched in vain for the same lost files. */
  #searched = new WeakSet<Listing>();

  /**
   * Returns the files that no rule covers and that are a recorded file, or have the content of one. Looks in these
   * directories, and where the files were.
   */
  async find(
    met: readonly SaltedFile[],
    { listings, isCovered }: { listings: readonly Listing[]; isCovered: (path: string) => boolean },
  ): Promise<DerivedFile[]> {
    const lost = new Set(met.filter((file) => {
      const status = quietly(() => lstatSync(file.path));
      return status === null || stateOf(file.path, status) !== stateOf(file.path, file) || !isCovered(file.path);
    }));
    if (lost.size === 0) return [];
    if (!lost.isSubsetOf(this.#lost)) this.#searched = new WeakSet();
    this.#lost = lost;
    const identities = new Map([...lost].map((file) => [lastingIdentityOf(file), file]));
    const sizes = new Set([...lost].filter(({ digest }) => digest !== "").map(({ size }) => size));
    const paths = new Set([...lost].map(({ path }) => path));
    for (const listing of listings) {
      if (this.#searched.has(listing)) continue;
      this.#searched.add(listing);
      for (const { name, isFile } of listing.entries ?? []) if (isFile) paths.add(within(listing.directory, name));
    }
    const found: DerivedFile[] = [];
    for (const path of paths) {
      const status = quietly(() => lstatSync(path));
      if (status?.kind !== "file" || isCovered(path)) continue;
      const same = identities.get(lastingIdentityOf(status));
      const known = same !== undefined && isSameFile(same, status)
        ? same
        : (sizes.has(status.size) ? await this.#contentOf(path, status) : undefined);
      if (known === undefined) continue;
      found.push({ path, ...identityIn(status), source: known.path, at: 0, digest: known.digest });
    }
    return found;
  }

  async #contentOf(path: string, { size }: FileStatus): Promise<SaltedFile | undefined> {
    for (const file of this.#lost) {
      if (file.size === size && file.digest !== "" && await digestOf(path, file.salt) === file.digest) return file;
    }
    return undefined;
  }
}
