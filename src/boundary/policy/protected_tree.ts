/** What of a tree is protected now. Looks at each directory's times alone where nothing has changed since the last look. */
import { type FileKind, kindOf } from "../../platform/files.ts";
import { type PlainEntry, realPathInPlace } from "../../platform/files_in_place.ts";
import { normalize } from "../../platform/path.ts";
import { DirectoryCache, type DirectoryClock, type DirectoryFacts } from "./directory_cache.ts";
import {
  isTooLong,
  listEntries,
  namedIn,
  NO_UTF8,
  type Standing,
  type UnjudgedPlace,
  unjudgedPlace,
  UNNAMED_DIRECTORY,
} from "./listing.ts";
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

/** One directory as it was listed: the open ones below it, and what is covered. Names joined by slashes, which none holds. */
export interface Listed extends DirectoryFacts {
  version: number;
  directories: string;
  files: string;
  hidden: string;
  /** Covered links: where they lead is covered too, and may change without a trace here. */
  links: string;
  /** Further entries of note, each behind the letter of what it is: see {@link namedIn}. */
  others: string;
}

/** A directory that is covered as a whole; absolute paths. */
interface Covered extends DirectoryFacts, ProtectedGroup {
  version: number;
  directories: readonly string[];
}

/** What a listed directory comes to, absolute paths; worked out once. */
interface Placed extends ProtectedGroup, SettingsGroup, More {
  open: readonly string[];
  directories: readonly string[];
  hiddenFiles: readonly string[];
  unjudged: readonly UnjudgedPlace[];
  special: readonly string[];
  repositories: readonly string[];
}

/** What is known of a directory that was listed by ourselves. */
interface More {
  /** Where no rule had a say: it makes no difference then what the rules are elsewhere. */
  unruled: Standing | null;
  /** What tells searches what to leave out; null where nobody looked. */
  ignoreFiles: readonly IgnoreFile[] | null;
}

interface Walked extends HiddenPaths {
  groups: readonly ProtectedGroup[];
  /** Null where some directory was not asked for them. */
  ignoreFiles: readonly IgnoreFile[] | null;
}

const NOTHING = { directories: "", files: "", hidden: "", links: "", others: "" };
const NOTHING_MORE: More = { unruled: null, ignoreFiles: null };

/** The trees below the roots. */
export class ProtectedTree {
  readonly #roots: readonly string[];
  readonly #rules: TreeRules;
  readonly #listed: DirectoryCache<Listed>;
  readonly #placed = new WeakMap<Listed, Placed>();
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
    const found: Placed[] = [];
    this.#listed.begin();
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (performance.now() > until) return null;
      const placed = this.#look(directory);
      for (const below of placed.open) waiting.push(below);
      found.push(placed);
    }
    this.#listed.end();
    const { changes } = this.#listed;
    if (this.#last?.changes === changes && this.#last.version === version) return this.#last.walked;
    const walked = joined(directories, found);
    this.#last = { walked, changes, version };
    return walked;
  }

  #look(directory: string): Placed {
    const listed = this.#listed.look(directory, {
      current: (found) => this.#isCurrent(directory, found),
      list: (facts) => this.#list(directory, facts),
    });
    for (const name of namesIn(listed.links)) this.followLink(within(directory, name));
    return this.#placed.get(listed) ?? this.#place(directory, { listed, more: NOTHING_MORE });
  }

  #isCurrent(directory: string, listed: Listed): boolean {
    const { version } = this.#rules;
    if (listed.version === version) return true;
    const unruled = this.#placed.get(listed)?.unruled ?? null;
    if (unruled === null || this.#rules.covers(directory, unruled)) return false;
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
    if (!Array.isArray(entries)) return { ...facts, version, ...NOTHING, others: entries };
    const { standing, ignoreFiles, others } = namedIn(directory, entries);
    const ruled = this.#rules.covers(directory, standing);
    const listed = { ...facts, version, others, ...this.#sort(directory, { entries, ruled }) };
    const above = ignoreFiles.map((entry) => ({ path: within(directory, entry.name), kind: kindOf(entry) }));
    this.#place(directory, { listed, more: { unruled: ruled ? null : standing, ignoreFiles: above } });
    return listed;
  }

  #sort(
    directory: string,
    { entries, ruled }: { entries: readonly PlainEntry[]; ruled: boolean },
  ): Omit<Listed, keyof DirectoryFacts | "version" | "others"> {
    const long = isTooLong(directory);
    const directories: string[] = [];
    const files: string[] = [];
    const hidden: string[] = [];
    const links: string[] = [];
    // Most of a tree: nothing that lies here is covered.
    for (const entry of ruled ? entries : entries.filter(({ isDirectory }) => isDirectory)) {
      const { name } = entry;
      const kind = kindOf(entry);
      const path = within(directory, name);
      const rule = ruled ? this.#rules.rule(path) : null;
      if (rule === null || name === MARKER_NAME) {
        // What git keeps is not the user's tree, and what cannot be named is not there: views leave both out as a whole.
        if (kind !== "directory" || name === ".git" || isOfSystem(path)) continue;
        if (!long && !name.includes(NO_UTF8)) directories.push(name);
      } else if (kind === "directory") hidden.push(name);
      else if (kind === "symlink") links.push(name);
      else files.push(name);
    }
    return {
      directories: directories.join("/"),
      files: files.join("/"),
      hidden: hidden.join("/"),
      links: links.join("/"),
    };
  }

  #place(directory: string, { listed, more }: { listed: Listed; more: More }): Placed {
    const paths = (joined: string) => namesIn(joined).map((name) => within(directory, name));
    const hiddenFiles = paths(listed.files);
    const others = namesIn(listed.others);
    const of = (letter: string) =>
      others.filter((other) => other.startsWith(letter)).map((other) => within(directory, other.slice(1)));
    const placed = {
      open: paths(listed.directories),
      directories: paths(listed.hidden),
      files: this.#ruled(hiddenFiles),
      blind: listed.files.includes(NO_UTF8) || others.includes(UNNAMED_DIRECTORY),
      hiddenFiles,
      unjudged: others.filter((other) => other.startsWith("?")).map((other) => unjudgedPlace(directory, other)),
      special: of("s"),
      repositories: others.includes("R") ? [directory] : of("r"),
      settings: of("d"),
      ...more,
    };
    this.#placed.set(listed, placed);
    return placed;
  }

  #ruled(paths: readonly string[]): ProtectedGroup["files"] {
    return paths.flatMap((path) => {
      const rule = this.#rules.rule(path);
      return rule === null ? [] : [{ path, rule }];
    });
  }

  /** Notes where a link leads, if a rule covers it. */
  followLink(link: string): void {
    const rule = this.#rules.rule(link);
    if (rule === null) return;
    try {
      const real = realPathInPlace(link);
      if (real !== null) this.#rules.follow(normalize(real), rule);
    } catch {
      // Links in a circle, and places that may not be looked at, lead nobody to content either.
    }
  }
}

/** The names that are joined in a {@link Listed}. */
export function namesIn(joined: string): readonly string[] {
  return joined === "" ? NONE : joined.split("/");
}

const NONE: readonly string[] = [];

function within(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** What a walk comes to; `directories` are covered roots. */
function joined(directories: readonly string[], placed: readonly Placed[]): Walked {
  const groups = placed.filter(({ files, blind }) => files.length > 0 || blind);
  return {
    files: groups.flatMap(({ hiddenFiles }) => hiddenFiles),
    directories: [...directories, ...placed.flatMap((one) => one.directories)],
    unjudged: placed.flatMap(({ unjudged }) => unjudged),
    special: placed.flatMap(({ special }) => special),
    repositories: placed.flatMap(({ repositories }) => repositories),
    settings: placed.filter(({ settings }) => settings.length > 0),
    groups,
    ignoreFiles: placed.some(({ ignoreFiles }) => ignoreFiles === null)
      ? null
      : placed.flatMap(({ ignoreFiles }) => ignoreFiles ?? []),
  };
}
