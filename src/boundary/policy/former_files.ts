/** Protected files of earlier sessions: how the home keeps them, and finds them again. Loaded when it keeps some. */
import { type FileStatus, lstatSync } from "../../platform/files.ts";
import { dirname, isWithin } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { readRegularFile } from "../reader.ts";
import {
  identityIn,
  isSameFile,
  lastingIdentityOf,
  type MetFile,
  type SaltedFile,
  type SeenFile,
  stateOf,
} from "./inode_index.ts";
import { type Listing, within } from "./listing.ts";
import type { DerivedFile } from "./project_record_files.ts";

/** Limits of a file's size for a digest, in bytes: shorter content can be in any file. */
const SHORTEST = 8;
const LONGEST = 1024 * 1024;

/** Returns a file as a record keeps it, or null if it cannot be read. */
export async function metFile({ path, status, tier }: SeenFile, salt: string): Promise<MetFile | null> {
  const { device, inode, born, size, modified } = status;
  const digest = size < SHORTEST || size > LONGEST ? "" : await digestOf(path, salt);
  return digest === null ? null : { path, tier, device, inode, born, size, modified, digest };
}

/** Returns the digest of a file's content, or null if it cannot be read. */
export async function digestOf(path: string, salt: string): Promise<string | null> {
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
      found.push({ path, ...identityIn(status), source: known.path, tier: known.tier });
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

/** The most characters of derived files in a record; more of them are recorded by their directories. */
const DERIVED_LIMIT = 2 * 1024 * 1024;

/**
 * Returns derived files as a record has room for them: if there are too many, without their open lines, then the
 * directories of the deepest ones in their place, and the root at last. A command can change any number of files.
 */
export function gathered(files: readonly DerivedFile[], root: string): readonly DerivedFile[] {
  if (JSON.stringify(files).length <= DERIVED_LIMIT) return files;
  if (files.some(({ openLines }) => openLines !== undefined)) {
    return gathered(files.map(({ openLines: _, ...file }) => file), root);
  }
  const depthOf = (path: string) => path.split("/").length;
  const deepest = files.reduce((depth, { path }) => isWithin(root, path) ? Math.max(depth, depthOf(path)) : depth, 0);
  if (deepest <= depthOf(root)) return files;
  const above = files.map((file) =>
    isWithin(root, file.path) && depthOf(file.path) === deepest
      ? { ...file, device: 0, inode: 0, born: 0, path: dirname(file.path) }
      : file
  );
  // Of those that have one directory now, the strictest counts.
  above.sort((one, other) => Number(one.tier === "list-only") - Number(other.tier === "list-only"));
  return gathered([...new Map(above.map((file) => [file.path, file])).values()], root);
}
