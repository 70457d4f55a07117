/**
 * What in the roots decides what other programs run: a command must neither change nor make it. What exists is mounted
 * read-only; what a command makes is found when it has ended.
 */
import { listSync, lstatSync, realPathSync } from "../../platform/files_sync.ts";
import { basename, isWithin, join } from "../../platform/path.ts";
import { outermost, quietly } from "../../platform/real_path.ts";
import { foldedName } from "../../platform/case_folded.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import { ARCHIVE_NAME, type Listing, Listings, within } from "../policy/listing.ts";
import { MARKER_NAME } from "../policy/marker.ts";
import type { ProtectedPlaces } from "../policy/protected_tree.ts";
import { commandProtection } from "../policy/write_protected.ts";

/** The files that stood in the roots at one time. */
export interface WatchedFiles {
  /** Paths that can be mounted read-only, absolute. */
  present: readonly string[];
  /** By path, which link it is, where it leads, and the settings behind it; empty for what is none. */
  known: ReadonlyMap<string, string>;
}

/** Looks at what was found in the roots, again and again; directories that have not changed are not judged anew. */
export class StartedLater {
  readonly #judged = new WeakMap<Listing, readonly string[]>();
  readonly #userHome: string | null;

  /** `userHome` as for `commandProtection`. */
  constructor(userHome: string | null) {
    this.#userHome = userHome;
  }

  /** Returns what is watched in the roots, from what a walk found there; `programs` are what git says it would run. */
  watch(
    { listings, repositories }: Pick<ProtectedPlaces, "listings" | "repositories">,
    { roots, programs }: { roots: readonly string[]; programs: readonly string[] },
  ): WatchedFiles {
    const isIn = (path: string) => roots.some((root) => isWithin(root, path));
    const present: string[] = [];
    const known = new Map<string, string>();
    const add = (path: string, behind: readonly string[] = []) => {
      const status = quietly(() => lstatSync(path));
      if (status === null) return;
      const real = quietly(() => realPathSync(path));
      // The system uses numbers again, within a tick of its clock: where a link leads tells it from another one.
      known.set(path, status.kind === "symlink" ? [lastingIdentityOf(status), real, ...behind].join("/") : "");
      if (real !== null && !roots.includes(real) && isIn(real)) present.push(real);
    };
    for (const listing of listings) {
      if (listing.settings.length === 0) continue;
      const settings = this.#settingsOf(listing);
      for (const path of settings) add(path);
      // An editor follows a directory of settings that is a link.
      for (const path of listing.links.size === 0 ? [] : listing.settings) {
        const behind = listing.links.has(basename(path)) && !settings.includes(path) ? this.#settingsBehind(path) : [];
        if (behind.length > 0) add(path, behind);
      }
    }
    // Objects alone make git run nothing, and the rest of a repository is not there for commands.
    for (const path of repositories) if (!ARCHIVE_NAME.test(path) && isIn(path)) known.set(path, "");
    for (const path of programs) add(path);
    return { present: outermost(present), known };
  }

  #settingsOf(listing: Listing): readonly string[] {
    let settings = this.#judged.get(listing);
    if (settings === undefined) {
      this.#judged.set(listing, settings = listing.settings.filter((path) => this.#decides(path)));
    }
    return settings;
  }

  /** A directory that an editor follows a link to decides as a whole: a command makes nothing there. */
  #settingsBehind(link: string): string[] {
    const entries = quietly(() => listSync(link)) ?? [];
    return entries.map(({ name }) => name).filter((name) => this.#decides(join(link, name))).sort();
  }

  /** A marker can only tighten, whoever makes it; what packages bring is run by nobody's editor. */
  #decides(path: string): boolean {
    const name = foldedName(basename(path));
    if (name === MARKER_NAME || path.includes("/node_modules/")) return false;
    return commandProtection(path, this.#userHome) !== null;
  }
}

/** Returns the paths to move away: what was made since, or is another link now. Those inside of others are left out. */
export function madeSince(before: Pick<WatchedFiles, "known">, after: Pick<WatchedFiles, "known">): string[] {
  return outermost([...after.known].filter(([path, link]) => before.known.get(path) !== link).map(([path]) => path));
}

/**
 * Returns the paths that are new in directories, or another link now; those inside of others are left out. After a command
 * could see a protected path every such name can hold it, in a form that no scan finds: of files, of directories, of what
 * links lead to.
 */
export function newNames(before: readonly Listing[]): string[] {
  const now = new Listings();
  return outermost(before.flatMap(({ directory, entries, links }) => {
    const known = new Set(entries?.map(({ name }) => name));
    const after = now.of(directory);
    const isNew = (name: string) => !known.has(name) || links.get(name) !== after.links.get(name);
    return (after.entries ?? []).filter(({ name }) => isNew(name)).map(({ name }) => within(directory, name));
  }));
}
