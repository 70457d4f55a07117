/**
 * What protected files were when they were met: a file that was moved away, or holds what one held before it was changed,
 * is known by that in later sessions too. The home keeps numbers and salted digests, never content.
 */
import type { FileStatus } from "../../platform/files.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { quietly } from "../../platform/real_path.ts";
import { readRegularFile } from "../reader.ts";
import { lastingIdentityOf } from "./inode_index.ts";
import type { Identity } from "./project_record_files.ts";

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
export const MOST_MET = 500;
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

export function isAsMet(file: MetFile, status: FileStatus | null): boolean {
  return status !== null && status.inode === file.inode && status.device === file.device &&
    status.size === file.size && status.modified === file.modified;
}

async function digestOf(path: string, salt: string): Promise<string | null> {
  const read = readRegularFile(path, { display: path, limit: LONGEST });
  if ("refused" in read) return null;
  const encoded = new TextEncoder().encode(salt);
  const key = await crypto.subtle.importKey("raw", encoded, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, read.bytes)).toHex();
}

/** Files that are not at their place any more as they were met: somewhere else they may be. */
export class FormerFiles {
  readonly #files: readonly SaltedFile[];
  readonly #sizes: ReadonlySet<number>;
  readonly #identities: ReadonlyMap<string, SaltedFile>;
  readonly #inodes: ReadonlySet<number>;
  /** Compared in vain: path, identity and time. */
  readonly #strangers = new Set<string>();

  constructor(files: readonly SaltedFile[]) {
    this.#files = files;
    this.#sizes = new Set(files.filter(({ digest }) => digest !== "").map(({ size }) => size));
    // Without the time when it came to be, another file may have the number of one that is gone.
    const lasting = files.filter(({ inode, born }) => inode !== 0 && born !== 0);
    this.#inodes = new Set(lasting.map(({ inode }) => inode));
    this.#identities = new Map(lasting.map((file) => [lastingIdentityOf(file), file]));
  }

  /** Those of the files that have changed, or are gone. */
  static of(met: readonly SaltedFile[]): readonly SaltedFile[] {
    return met.filter((file) => !isAsMet(file, quietly(() => lstatSync(file.path))));
  }

  isOf(files: readonly SaltedFile[]): boolean {
    return files.length === this.#files.length && files.every((file, index) => file === this.#files[index]);
  }

  /** Whether a file may be one of them: worth a closer look. Asked for every file of a tree. */
  mayBe(status: FileStatus): boolean {
    return this.#sizes.has(status.size) || this.#inodes.has(status.inode);
  }

  /** Returns which of them a file is, or holds the content of; null for none. */
  async find({ path, status }: SeenFile): Promise<SaltedFile | null> {
    const same = this.#identities.get(lastingIdentityOf(status));
    const seen = `${path} ${lastingIdentityOf(status)} ${status.modified}`;
    if (same !== undefined || this.#strangers.has(seen)) return same ?? null;
    for (const file of this.#files) {
      if (file.size === status.size && file.digest !== "" && await digestOf(path, file.salt) === file.digest) {
        return file;
      }
    }
    this.#strangers.add(seen);
    return null;
  }
}
