/**
 * Watches files in the roots that decide what other programs run. A command must neither change nor create them:
 * existing ones are mounted read-only, and new ones are found by comparing.
 */
import { entriesSync, lstatSync, realPathSync } from "../../platform/files.ts";
import { basename, isWithin, join } from "../../platform/path.ts";
import { outermost, quietly } from "../../platform/real_path.ts";
import { foldedName } from "../../platform/case_folded.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import { ARCHIVE_NAME, type Listing } from "../policy/listing.ts";
import { MARKER_NAME } from "../policy/marker.ts";
import type { ProtectedPlaces } from "../policy/protected_tree.ts";
import { commandProtection } from "../policy/write_protected.ts";

/** The watched files in the roots at one time. */
export interface WatchedFiles {
  /** The programs that they were looked for with. */
  programs: readonly string[];
  /** Existing absolute paths to mount read-only. */
  present: readonly string[];
  /** Path → for a link its identity, target and the settings behind it; otherwise empty. */
  known: ReadonlyMap<string, string>;
}

/** Finds the watched files. Unchanged directories are not judged again. */
export class StartedLater {
  readonly #judged = new WeakMap<Listing, readonly string[]>();
  readonly #userHome: string | null;

  /** `userHome` as for `commandProtection`. */
  constructor(userHome: string | null) {
    this.#userHome = userHome;
  }

  /** Returns the watched files in the roots, given the places of a walk and the `programs` that git's settings name. */
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
      // Inode numbers can be reused within one tick of the clock, so the target is part of a link's identity.
      known.set(path, status.kind === "symlink" ? [lastingIdentityOf(status), real, ...behind].join("/") : "");
      if (real !== null && !roots.includes(real) && isIn(real)) present.push(real);
    };
    for (const listing of listings) {
      if (listing.settings.length === 0 || !isIn(listing.directory)) continue;
      const settings = this.#settingsOf(listing);
      for (const path of settings) add(path);
      for (const path of listing.dotLinks) {
        const behind = settings.includes(path) ? [] : this.#settingsBehind(path);
        if (behind.length > 0) add(path, behind);
      }
    }
    // Packs alone make git run nothing, and commands do not see the rest of a repository.
    for (const path of repositories) if (!ARCHIVE_NAME.test(path) && isIn(path)) known.set(path, "");
    for (const path of programs) add(path);
    return { programs, present: outermost(present), known };
  }

  #settingsOf(listing: Listing): readonly string[] {
    let settings = this.#judged.get(listing);
    if (settings === undefined) {
      this.#judged.set(listing, settings = listing.settings.filter((path) => this.#decides(path)));
    }
    return settings;
  }

  /** Returns the names of settings in a directory that a link leads to: an editor follows it. */
  #settingsBehind(link: string): string[] {
    const names = (quietly(() => entriesSync(link)) ?? []).map(({ name }) => name);
    return names.filter((name) => this.#decides(join(link, name))).sort();
  }

  /** A marker can only tighten the rules, and no editor runs settings inside packages. */
  #decides(path: string): boolean {
    const name = foldedName(basename(path));
    if (name === MARKER_NAME || path.includes("/node_modules/")) return false;
    return commandProtection(path, this.#userHome) !== null;
  }
}

/** Returns the outermost paths that are new or are another link now. */
export function madeSince(before: Pick<WatchedFiles, "known">, after: Pick<WatchedFiles, "known">): string[] {
  return outermost([...after.known].filter(([path, link]) => before.known.get(path) !== link).map(([path]) => path));
}
