/**
 * Watches files in the roots that decide what other programs run. A command must neither change nor create them:
 * existing ones are mounted read-only, and new ones are found by comparing.
 */
import { entriesSync, lstatSync } from "../../platform/files.ts";
import { basename, isWithin, join } from "../../platform/path.ts";
import { outermost, quietly, realOrNull } from "../../platform/real_path.ts";
import { foldedName } from "../../platform/case_folded.ts";
import { lastingIdentityOf } from "../policy/identity.ts";
import { ARCHIVE_NAME } from "../policy/listing.ts";
import { MARKER_NAME } from "../policy/marker.ts";
import type { ProtectedPlaces } from "../policy/protected_tree.ts";
import { commandProtection } from "../policy/write_protected.ts";

/** The watched files in the roots at one time. Absolute paths. */
export interface WatchedFiles {
  roots: readonly string[];
  /** Files that programs outside the roots run, or read settings from: git, and the user's shells and assistants. */
  programs: readonly string[];
  /** Existing ones, to mount read-only. */
  present: readonly string[];
  /** Path → for a link its identity, target and the settings behind it; otherwise empty. */
  known: ReadonlyMap<string, string>;
}

/** Finds the watched files. Judges each name once. */
export class StartedLater {
  readonly #judged = new Map<string, boolean>();
  readonly #userHome: string | null;

  /** `userHome` as for `commandProtection`. */
  constructor(userHome: string | null) {
    this.#userHome = userHome;
  }

  /** Returns the watched files, given the result of a walk. */
  watch(
    { listings, repositories }: ProtectedPlaces,
    { roots, programs }: Pick<WatchedFiles, "roots" | "programs">,
  ): WatchedFiles {
    const isIn = (path: string) => roots.some((root) => isWithin(root, path));
    // No editor runs settings inside packages. A root can be one.
    const isOwn = (directory: string) =>
      roots.some((root) => isWithin(root, directory) && !/\/node_modules(?:\/|$)/.test(directory.slice(root.length)));
    const present: string[] = [];
    const known = new Map<string, string>();
    const add = (path: string, behind: readonly string[] = []) => {
      const status = quietly(() => lstatSync(path));
      if (status === null) return;
      const real = realOrNull(path);
      // Inode numbers can be reused within one tick of the clock, so the target is part of a link's identity.
      known.set(path, status.kind === "symlink" ? [lastingIdentityOf(status), real, ...behind].join("/") : "");
      if (real !== null && !roots.includes(real) && isIn(real)) present.push(real);
    };
    for (const listing of listings) {
      if (listing.settings.length === 0 || !isOwn(listing.directory)) continue;
      const settings = listing.settings.filter((path) => this.#decides(path));
      for (const path of settings) add(path);
      for (const path of listing.dotLinks) {
        const behind = settings.includes(path) ? [] : this.#settingsBehind(path);
        if (behind.length > 0) add(path, behind);
      }
    }
    // Packs alone make git run nothing, and commands do not see the rest of a repository.
    for (const path of repositories) if (!ARCHIVE_NAME.test(path) && isIn(path)) known.set(path, "");
    for (const path of programs) if (isIn(path)) add(path);
    return { roots, programs, present: outermost(present), known };
  }

  /** Returns the outermost paths that are new or are another link now. */
  madeSince(before: Omit<WatchedFiles, "present">, found: ProtectedPlaces): string[] {
    const now = [...this.watch(found, before).known];
    return outermost(now.filter(([path, link]) => before.known.get(path) !== link).map(([path]) => path));
  }

  /** Returns the names of settings in a directory that a link leads to: an editor follows it. */
  #settingsBehind(link: string): string[] {
    const names = (quietly(() => entriesSync(link)) ?? []).map(({ name }) => name);
    return names.filter((name) => this.#decides(join(link, name))).sort();
  }

  /** A marker can only tighten the rules. */
  #decides(path: string): boolean {
    const isMarker = foldedName(basename(path)) === MARKER_NAME;
    const decides = this.#judged.get(path) ?? (!isMarker && commandProtection(path, this.#userHome) !== null);
    this.#judged.set(path, decides);
    return decides;
  }
}
