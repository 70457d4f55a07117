/**
 * What in the roots decides what other programs run: a command must neither change nor make it. What exists is mounted
 * read-only; what a command makes is found when it has ended.
 */
import { listSync, lstatSync, realPathSync } from "../../platform/files_sync.ts";
import { basename, isWithin, join } from "../../platform/path.ts";
import { foldedName } from "../case_folded.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import { MARKER_NAME } from "../policy/marker.ts";
import type { ProtectedPlaces, SettingsGroup } from "../policy/protected_tree.ts";
import { commandProtection } from "../policy/write_protected.ts";
import { outermost, quietly } from "../real_path.ts";

/** What of a walk can decide what other programs run. */
export type FoundPlaces = Pick<ProtectedPlaces, "settings" | "repositories">;

/** What stood in the roots before a command. */
export interface WatchedFiles {
  /** Paths that can be mounted read-only, absolute. */
  present: readonly string[];
  /** By path: the link that it is or lies behind, and which one that was; empty where there is none. */
  known: ReadonlyMap<string, { link: string; identity: string }>;
  /** The links that may lead to more, by path. */
  links: ReadonlyMap<string, string>;
}

/** What a group of settings comes to; links that may lead to more are looked at each time. */
interface JudgedGroup {
  settings: readonly string[];
  links: readonly string[];
}

/** Looks at what was found in the roots, again and again; directories that have not changed are not judged anew. */
export class TamperCheck {
  readonly #judged = new WeakMap<SettingsGroup, JudgedGroup>();
  readonly #userHome: string | null;

  /** `userHome` as for `commandProtection`. */
  constructor(userHome: string | null) {
    this.#userHome = userHome;
  }

  /** What is watched in the roots, from what a walk found there; `programs` are what git says it would run. */
  watch(
    { settings, repositories }: FoundPlaces,
    { roots, programs }: { roots: readonly string[]; programs: readonly string[] },
  ): WatchedFiles {
    const present: string[] = [];
    const known = new Map<string, { link: string; identity: string }>();
    const links = new Map<string, string>();
    for (const group of settings) {
      const judged = this.#judge(group);
      for (const path of judged.settings) {
        const status = quietly(() => lstatSync(path));
        if (status === null) continue;
        const isLink = status.kind === "symlink";
        known.set(path, isLink ? { link: path, identity: lastingIdentityOf(status) } : NO_LINK);
        const real = isLink ? realIn(path, roots) : path;
        if (real !== null) present.push(real);
      }
      for (const link of judged.links) {
        const directory = realIn(link, roots);
        const status = quietly(() => lstatSync(link));
        if (directory === null || status === null) continue;
        const identity = lastingIdentityOf(status);
        links.set(link, identity);
        for (const { name } of quietly(() => listSync(directory)) ?? []) {
          if (!this.#decides(join(link, name))) continue;
          known.set(join(link, name), { link, identity });
          present.push(join(directory, name));
        }
      }
    }
    for (const path of repositories) {
      // Objects alone make git run nothing.
      if (!/\.(?:pack|bundle)$/i.test(path)) known.set(path, NO_LINK);
    }
    for (const path of programs) {
      if (quietly(() => lstatSync(path)) === null) continue;
      known.set(path, NO_LINK);
      const real = realIn(path, roots);
      if (real !== null) present.push(real);
    }
    return { present: outermost(present), known, links };
  }

  #judge(group: SettingsGroup): JudgedGroup {
    let judged = this.#judged.get(group);
    if (judged === undefined) {
      const settings = group.settings.filter((path) => this.#decides(path));
      // An editor follows a directory of settings that is a link.
      const links = group.settings.filter((path) =>
        quietly(() => lstatSync(path))?.kind === "symlink" && !settings.includes(path)
      );
      this.#judged.set(group, judged = { settings, links });
    }
    return judged;
  }

  /** A marker can only tighten, whoever makes it; what packages bring is run by nobody's editor. */
  #decides(path: string): boolean {
    const name = foldedName(basename(path));
    if (name === MARKER_NAME || path.includes("/node_modules/")) return false;
    return commandProtection(path, this.#userHome) !== null;
  }
}

const NO_LINK = { link: "", identity: "" };

/** The paths to move away: what was made since, or the link that leads to it now. Those inside of others are left out. */
export function madeSince(before: WatchedFiles, after: WatchedFiles): string[] {
  const made = new Set<string>();
  for (const [path, { link, identity }] of after.known) {
    if (before.known.get(path)?.identity === identity) continue;
    const isOldLink = link !== path && before.links.get(link) === identity;
    made.add(link === "" || isOldLink ? path : link);
  }
  return outermost(made);
}

function realIn(path: string, roots: readonly string[]): string | null {
  const real = quietly(() => realPathSync(path));
  return real !== null && roots.some((root) => real !== root && isWithin(root, real)) ? real : null;
}
