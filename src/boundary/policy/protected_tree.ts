/** What of a tree is protected now. Looks at each directory's times alone where nothing has changed since the last look. */
import { type FileKind, kindOf } from "../../platform/files.ts";
import { type PlainEntry, realPathSync } from "../../platform/files_sync.ts";
import { normalize } from "../../platform/path.ts";
import { DirectoryCache, type DirectoryClock, type DirectoryFacts } from "./directory_cache.ts";
import { isTooLong, listEntries, namedIn, NO_UTF8, type Standing, type UnjudgedPlace, within } from "./listing.ts";
import type { ExternalFound } from "./external_paths.ts";
import type { NamelessFile } from "./inode_index.ts";
import { MARKER_NAME } from "./marker.ts";
import { isOfSystem } from "./system_directories.ts";
import type { ProtectionRule } from "./protection_rule.ts";

/** What a walk found that a view of the roots must not show as it is. Absolute paths; links are not followed. */
export interface HiddenPaths {
  /** Protected files that exist. */
  files: readonly string[];
  /** Directories that are protected as a whole. */
  directories: readonly string[];
  unjudged: readonly UnjudgedPlace[];
  /** Sockets, FIFOs and devices: what listens there is no part of the project. */
  special: readonly string[];
  /** What version control keeps: `.git` and its kind, bare repositories, and files named like packs and bundles. */
  repositories: readonly string[];
  /** Entries that may decide what other programs run, by directory: the same objects while a directory stays as it is. */
  settings: readonly SettingsGroup[];
}

/** The same, and what is protected without a path in the roots. */
export interface ProtectedPlaces extends HiddenPaths {
  /** Protected files that no path names: their other names are hidden. */
  nameless: readonly NamelessFile[];
  /** Outside of the roots. */
  external: ExternalFound;
}

/** Entries of one directory that are named as settings of other programs are. */
export interface SettingsGroup {
  settings: readonly string[];
}

/** The protected files of one directory, links left out. The same object for as long as the directory stays as it is. */
export interface ProtectedGroup {
  files: readonly { path: string; rule: ProtectionRule }[];
  /** Some of them cannot be looked at: their names are not UTF-8, or what holds them may not be listed. */
  blind: boolean;
}

/** Something named as files are that tell searches what to leave out. */
export interface IgnoreFile {
  path: string;
  kind: FileKind;
}

/** The rules that a tree is walked with. */
export interface TreeRules {
  /** Changes when there are new rules. */
  readonly version: number;
  rule(real: string): ProtectionRule | null;
  /** Meets a directory, its marker included; whether any rule can cover what lies right in it. */
  covers(directory: string, standing: Standing): boolean;
  /** A covered link leads to `real`. */
  follow(real: string, rule: ProtectionRule): void;
}

/** Walks until the rules stay the same: each link or marker that is found can bring new ones. */
export const MOST_WALKS = 20;

/** One open directory as it was listed; absolute paths. */
interface Listed extends DirectoryFacts, ProtectedGroup, SettingsGroup {
  version: number;
  /** Where no rule had a say: it makes no difference then what the rules are elsewhere. */
  unruled: Standing | null;
  open: readonly string[];
  /** Covered as a whole. */
  directories: readonly string[];
  /** Covered ones: where they lead is covered too, and may change without a trace here. */
  links: readonly string[];
  unjudged: readonly UnjudgedPlace[];
  special: readonly string[];
  repositories: readonly string[];
  /** What tells searches what to leave out; null where nobody could look. */
  ignoreFiles: readonly IgnoreFile[] | null;
}

/** A directory that is covered as a whole; absolute paths. */
interface Covered extends DirectoryFacts, ProtectedGroup {
  version: number;
  directories: readonly string[];
}

interface Walked extends HiddenPaths {
  groups: readonly ProtectedGroup[];
  /** Null where some directory could not be looked into. */
  ignoreFiles: readonly IgnoreFile[] | null;
}

/** Of a directory that cannot be listed. */
const NOTHING = {
  ...{ unruled: null, ignoreFiles: null, blind: false, open: [], directories: [], files: [], links: [] },
  ...{ special: [], repositories: [], settings: [] },
};

/** The trees below the roots. */
export class ProtectedTree {
  readonly #roots: readonly string[];
  readonly #rules: TreeRules;
  readonly #listed: DirectoryCache<Listed>;
  readonly #covered: DirectoryCache<Covered>;
  #now: Walked | null = null;
  #last: { walked: Walked; changes: number; version: number } | null = null;
  #lastGroups: { of: Walked; groups: readonly ProtectedGroup[]; changes: number; version: number } | null = null;

  constructor(roots: readonly string[], { rules, clock }: { rules: TreeRules; clock?: DirectoryClock | undefined }) {
    this.#roots = roots;
    this.#rules = rules;
    this.#listed = new DirectoryCache(clock);
    this.#covered = new DirectoryCache(clock);
  }

  /** How many times an open directory was listed. */
  get listings(): number {
    return this.#listed.listings;
  }

  /** What was found is looked at again when it is next asked for. */
  expire(): void {
    this.#now = null;
  }

  /** What a view must not show; walks at most once after {@link expire}. */
  hidden(): HiddenPaths {
    return this.#walked();
  }

  /** What tells searches what to leave out, in open directories; null when that is not known. */
  get ignoreFiles(): readonly IgnoreFile[] | null {
    return this.#walked().ignoreFiles;
  }

  /** Every protected file, links not followed, in groups: the same array for as long as nothing has changed. */
  groups(): readonly ProtectedGroup[] {
    const of = this.#walked();
    const groups = [...of.groups];
    const waiting = [...of.directories];
    this.#covered.begin();
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      const covered = this.#lookCovered(directory);
      for (const below of covered.directories) waiting.push(below);
      if (covered.files.length > 0 || covered.blind) groups.push(covered);
    }
    this.#covered.end();
    const { changes } = this.#covered;
    const { version } = this.#rules;
    const last = this.#lastGroups;
    if (last?.of === of && last.changes === changes && last.version === version) return last.groups;
    this.#lastGroups = { of, groups, changes, version };
    return groups;
  }

  /** Walks for at most so many milliseconds; false when there is more. What was listed need not be listed again. */
  tryWalk(milliseconds: number): boolean {
    const { version } = this.#rules;
    const walked = this.#now ?? this.#walk(performance.now() + milliseconds);
    if (walked !== null && this.#rules.version === version) this.#now = walked;
    return walked !== null;
  }

  #walked(): Walked {
    for (let walk = 1; this.#now === null; walk++) {
      const { version } = this.#rules;
      const walked = this.#walk(Infinity);
      if (walked === null) continue;
      if (this.#rules.version === version) this.#now = walked;
      else if (walk >= MOST_WALKS) this.#now = { ...walked, unjudged: [...walked.unjudged, ...this.#endless()] };
    }
    return this.#now;
  }

  #endless(): UnjudgedPlace[] {
    return this.#roots.map((directory) => ({ directory, reason: "its protected links lead on without an end" }));
  }

  /** Null when `until` comes first. */
  #walk(until: number): Walked | null {
    const { version } = this.#rules;
    const directories: string[] = [];
    const waiting: string[] = [];
    for (const root of this.#roots) {
      if (isOfSystem(root)) continue;
      if (this.#rules.rule(root) === null) waiting.push(root);
      else directories.push(root);
    }
    const found: Listed[] = [];
    this.#listed.begin();
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (performance.now() > until) return null;
      const listed = this.#look(directory);
      for (const below of listed.open) waiting.push(below);
      found.push(listed);
    }
    this.#listed.end();
    const { changes } = this.#listed;
    if (this.#last?.changes === changes && this.#last.version === version) return this.#last.walked;
    const walked = joined(directories, found);
    this.#last = { walked, changes, version };
    return walked;
  }

  #look(directory: string): Listed {
    const listed = this.#listed.look(directory, {
      current: (found) => this.#isCurrent(directory, found),
      list: (facts) => this.#list(directory, facts),
    });
    for (const link of listed.links) this.#followLink(link);
    return listed;
  }

  #isCurrent(directory: string, listed: Listed): boolean {
    const { version } = this.#rules;
    if (listed.version === version) return true;
    if (listed.unruled === null || this.#rules.covers(directory, listed.unruled)) return false;
    listed.version = version;
    return true;
  }

  #lookCovered(directory: string): Covered {
    return this.#covered.look(directory, {
      current: (found) => found.version === this.#rules.version,
      list: (facts) => {
        const { version } = this.#rules;
        const listed = listEntries(directory);
        const all = Array.isArray(listed) ? listed : [];
        const entries = all.filter(({ name }) => !name.includes(NO_UTF8));
        const blind = entries.length < all.length || all !== listed;
        const of = (wanted: FileKind) =>
          entries.filter((entry) => kindOf(entry) === wanted).map(({ name }) => within(directory, name));
        return { ...facts, version, blind, directories: of("directory"), files: this.#ruled(of("file")) };
      },
    });
  }

  #list(directory: string, facts: DirectoryFacts): Listed {
    const entries = listEntries(directory);
    // What is met from here on can cover what was sorted before it: then the directory is listed again.
    const { version } = this.#rules;
    // Without a listing nothing is known of it, not even that no marker stands there.
    if (!Array.isArray(entries)) return { ...facts, version, ...NOTHING, unjudged: [entries] };
    const { standing, ignoreFiles, ...named } = namedIn(directory, entries);
    const ruled = this.#rules.covers(directory, standing);
    const sorted = this.#sort(directory, { entries, ruled });
    return {
      ...facts,
      ...named,
      ...sorted,
      version,
      blind: named.blind || sorted.files.some(({ path }) => path.includes(NO_UTF8)),
      unruled: ruled ? null : standing,
      ignoreFiles: ignoreFiles.map((entry) => ({ path: within(directory, entry.name), kind: kindOf(entry) })),
    };
  }

  #sort(
    directory: string,
    { entries, ruled }: { entries: readonly PlainEntry[]; ruled: boolean },
  ): Pick<Listed, "open" | "directories" | "files" | "links"> {
    const long = isTooLong(directory);
    const sorted = {
      open: [] as string[],
      directories: [] as string[],
      links: [] as string[],
      files: [] as { path: string; rule: ProtectionRule }[],
    };
    // Most of a tree: nothing that lies here is covered.
    for (const entry of ruled ? entries : entries.filter(({ isDirectory }) => isDirectory)) {
      const { name, isDirectory, isSymlink } = entry;
      const path = within(directory, name);
      const rule = ruled ? this.#rules.rule(path) : null;
      if (rule === null || name === MARKER_NAME) {
        // What git keeps is not the user's tree, and what cannot be named is not there: views leave both out as a whole.
        if (!isDirectory || name === ".git" || isOfSystem(path)) continue;
        if (!long && !name.includes(NO_UTF8)) sorted.open.push(path);
      } else if (isDirectory) sorted.directories.push(path);
      else if (isSymlink) sorted.links.push(path);
      else sorted.files.push({ path, rule });
    }
    return sorted;
  }

  #ruled(paths: readonly string[]): ProtectedGroup["files"] {
    return paths.flatMap((path) => {
      const rule = this.#rules.rule(path);
      return rule === null ? [] : [{ path, rule }];
    });
  }

  /** Notes where a covered link leads. */
  #followLink(link: string): void {
    const rule = this.#rules.rule(link);
    if (rule === null) return;
    try {
      const real = realPathSync(link);
      if (real !== null) this.#rules.follow(normalize(real), rule);
    } catch {
      // Links in a circle, and places that may not be looked at, lead nobody to content either.
    }
  }
}

/** What a walk comes to; `directories` are covered roots. */
function joined(directories: readonly string[], listed: readonly Listed[]): Walked {
  const groups = listed.filter(({ files, blind }) => files.length > 0 || blind);
  return {
    files: groups.flatMap(({ files }) => files.map(({ path }) => path)),
    directories: [...directories, ...listed.flatMap((one) => one.directories)],
    unjudged: listed.flatMap(({ unjudged }) => unjudged),
    special: listed.flatMap(({ special }) => special),
    repositories: listed.flatMap(({ repositories }) => repositories),
    settings: listed.filter(({ settings }) => settings.length > 0),
    groups,
    ignoreFiles: listed.some(({ ignoreFiles }) => ignoreFiles === null)
      ? null
      : listed.flatMap(({ ignoreFiles }) => ignoreFiles ?? []),
  };
}
