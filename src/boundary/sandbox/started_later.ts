/**
 * Watches files in the roots that decide what other programs run. A command must neither change nor create them:
 * existing ones are mounted read-only, and new ones are found by comparing.
 */
import { entriesSync, lstatSync, realPathSync, statSync } from "../../platform/files.ts";
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
    return { present: outermost(present), known };
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

/** File system clocks are coarse, and change times come in whole seconds (measured with Deno 2.9.6). */
const SLACK_MS = 2_000;

/**
 * Returns the outermost paths that came to be, or were changed last, in a time, in milliseconds since 1970. The change
 * time of a directory tells only of what is in it.
 */
export function madeWithin(
  { known }: Pick<WatchedFiles, "known">,
  { since, until }: { since: number; until: number },
): string[] {
  const isThen = (time: number) => time >= since - SLACK_MS && time <= until + SLACK_MS;
  return outermost([...known.keys()]).filter((path) => {
    const status = quietly(() => lstatSync(path));
    if (status === null) return false;
    const { kind, born, changed } = status;
    if (born === 0) return changed >= since - SLACK_MS;
    // Behind a link that stood there, settings can have come to be.
    const end = kind === "symlink" ? quietly(() => statSync(path)) : null;
    return isThen(born) || kind !== "directory" && isThen(changed) || end !== null && isThen(end.changed);
  });
}

/** Returns the outermost paths that are new or are another link now. */
export function madeSince(before: Pick<WatchedFiles, "known">, after: Pick<WatchedFiles, "known">): string[] {
  return outermost([...after.known].filter(([path, link]) => before.known.get(path) !== link).map(([path]) => path));
}
