/**
 * What of the trees below the roots is protected now. A directory's times change when a name in it comes, goes or is given
 * to another file: one look at them tells whether it has to be listed again. What is inside of files is not seen this way.
 */
import { type FileKind, type FileStatus, kindOf } from "../../platform/files.ts";
import { lstatSync, type PlainEntry, realPathSync } from "../../platform/files_sync.ts";
import type { Clock } from "../../platform/io.ts";
import { normalize } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { after } from "../../platform/sleep.ts";
import {
  isOfSystem,
  isTooLong,
  listEntries,
  namedIn,
  NO_UTF8,
  type Standing,
  type UnjudgedPlace,
  within,
} from "./listing.ts";
import type { ExternalFound } from "./external_paths.ts";
import { type FormerFiles, isUnchanged, type NamelessFile, type ProtectedFile, type SeenFile } from "./inode_index.ts";
import { MARKER_NAME } from "./marker.ts";
import type { ProtectionRule } from "./protection_rule.ts";

/** What a walk found that a view of the roots must not show as it is. Absolute paths; links are not followed. */
interface HiddenPaths {
  files: readonly string[];
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
  external: ExternalFound;
}

/** Entries of one directory that are named as settings of other programs are. */
export interface SettingsGroup {
  settings: readonly string[];
}

/** Something named as files are that tell searches what to leave out. */
export interface IgnoreFile {
  path: string;
  kind: FileKind;
}

export interface TreeRules {
  readonly version: number;
  rule(real: string): ProtectionRule | null;
  /** What is looked for by what it was, wherever it lies now; null where nothing is. */
  readonly former: Pick<FormerFiles, "mayBe"> | null;
  /** Meets a directory, its marker included; whether any rule can cover what lies right in it. */
  covers(directory: string, standing: Standing): boolean;
  follow(real: string, rule: ProtectionRule): void;
}

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Told once when it takes long. */
  onSlow?: ((message: string) => void) | undefined;
  /** It goes on for so long at once, in milliseconds, and is slow from then on; tests set them. */
  sliceMs?: number;
  slowMs?: number;
}

/** Walks until the rules stay the same: each link or marker that is found can bring new ones. */
export const MOST_WALKS = 20;

/**
 * How long a directory must have stayed as it is until its listing is trusted, in milliseconds: a second change shortly
 * after the first may leave its times as they were. The coarsest clock of a file system goes in steps of two seconds (FAT),
 * the runtime gives the time of a change of any kind in whole seconds (measured with Deno 2.9.6), and a disk on the network
 * has a clock of its own.
 */
const RACY_MS = 60_000;

/** One directory as it was listed; absolute paths. */
interface Listed extends SettingsGroup {
  /** The directory itself; null where it cannot be looked at. */
  status: FileStatus | null;
  /** It was listed long after its last change: its times show the next one. */
  settled: boolean;
  /** Of the rules that it was listed with. */
  version: number;
  /** Where no rule had a say: it makes no difference then what the rules are elsewhere. */
  unruled: Standing | null;
  /** Directories in it that are entered, and those of them that are covered as a whole. */
  open: readonly string[];
  covered: readonly string[];
  files: readonly ProtectedFile[];
  /** Covered ones: where they lead is covered too, and may change without a trace here. */
  links: readonly ProtectedFile[];
  /** What was looked for when it was listed, and the open files that may be it. */
  former: TreeRules["former"];
  candidates: readonly SeenFile[];
  /** Some protected file cannot be looked at: its name is not UTF-8, or what holds it may not be listed. */
  blind: boolean;
  unjudged: readonly UnjudgedPlace[];
  special: readonly string[];
  repositories: readonly string[];
  /** What tells searches what to leave out; null where nobody could look. */
  ignoreFiles: readonly IgnoreFile[] | null;
}

const NOTHING = {
  ...{ unruled: null, ignoreFiles: [], blind: false, open: [], covered: [], files: [], links: [] },
  ...{ former: null, candidates: [] },
  ...{ unjudged: [], special: [], repositories: [], settings: [] },
};

interface Walked extends HiddenPaths {
  /** With those in covered directories; links are not followed. */
  protected: readonly ProtectedFile[];
  /** Open files that may be what is looked for. */
  candidates: readonly SeenFile[];
  blind: boolean;
  /** Null where some directory could not be looked into. */
  ignoreFiles: readonly IgnoreFile[] | null;
}

/** Walks the trees below the roots. */
export class ProtectedTree {
  readonly #roots: readonly string[];
  readonly #rules: TreeRules;
  readonly #clock: Pick<Clock, "now">;
  readonly #known = new Map<string, Listed>();
  #listings = 0;
  #found: Walked | null = null;
  /** A search that has not come to its end. */
  #search: Iterator<void> | null = null;

  constructor(
    roots: readonly string[],
    { rules, clock }: { rules: TreeRules; clock?: Pick<Clock, "now"> | undefined },
  ) {
    this.#roots = roots;
    this.#rules = rules;
    this.#clock = clock ?? Date;
  }

  /** How many times a directory was listed. */
  get listings(): number {
    return this.#listings;
  }

  /** What was found is looked at again when it is next asked for. */
  expire(): void {
    this.#found = null;
    this.#search = null;
  }

  /** Looks at one more directory; false when all is known. */
  step(): boolean {
    if (this.#found !== null) return false;
    this.#search ??= this.#searchAll();
    return this.#search.next().done !== true;
  }

  /** Looks at all directories, with pauses: a large tree keeps neither signals nor the terminal waiting. */
  async walk({ signal, onSlow, sliceMs = 50, slowMs = 3_000 }: WalkOptions): Promise<void> {
    const start = performance.now();
    let [pauseAt, tell] = [start + sliceMs, onSlow];
    while (this.step()) {
      if (performance.now() < pauseAt) continue;
      if (pauseAt - start > slowMs) {
        tell?.(`still looking for protected paths below ${this.#roots.join(", ")}`);
        tell = undefined;
      }
      await new Promise<void>((resolve) => void after(0, resolve));
      signal?.throwIfAborted();
      pauseAt = performance.now() + sliceMs;
    }
  }

  /** What is protected, and what else a view must not show; walks at most once after {@link expire}. */
  get found(): Walked {
    while (this.#found === null) this.step();
    return this.#found;
  }

  *#searchAll(): Generator<void> {
    for (let walk = 1;; walk++) {
      const { version } = this.#rules;
      const walked = yield* this.#walk();
      const isEndless = walk >= MOST_WALKS;
      if (this.#rules.version !== version && !isEndless) continue;
      const reason = "its protected links lead on without an end";
      const endless = isEndless ? this.#roots.map((directory) => ({ directory, reason })) : [];
      this.#found = { ...walked, unjudged: [...walked.unjudged, ...endless] };
      return;
    }
  }

  *#walk(): Generator<void, Walked> {
    const [open, covered]: [Listed[], Listed[]] = [[], []];
    const roots = this.#roots.filter((root) => !isOfSystem(root));
    const ofSystem = this.#roots.filter(isOfSystem).map((directory) => ({
      directory,
      reason: "belongs to the system",
    }));
    const directories = roots.filter((root) => this.#rules.rule(root) !== null);
    const waiting = roots.filter((root) => !directories.includes(root));
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      const listed = this.#look(directory, (facts) => this.#listOpen(directory, facts));
      open.push(listed);
      for (const below of listed.open) waiting.push(below);
      for (const below of listed.covered) directories.push(below);
      for (const { path, rule } of listed.links) followLink(path, rule, this.#rules);
      yield;
    }
    const inside = [...directories];
    for (let directory = inside.pop(); directory !== undefined; directory = inside.pop()) {
      const listed = this.#look(directory, (facts) => this.#listCovered(directory, facts));
      covered.push(listed);
      for (const below of listed.covered) inside.push(below);
      yield;
    }
    const files = open.flatMap((listed) => listed.files);
    return {
      files: files.map(({ path }) => path),
      directories,
      unjudged: [...ofSystem, ...open.flatMap(({ unjudged }) => unjudged)],
      special: open.flatMap(({ special }) => special),
      repositories: open.flatMap(({ repositories }) => repositories),
      settings: open.filter(({ settings }) => settings.length > 0),
      candidates: open.flatMap(({ candidates }) => candidates),
      protected: [...files, ...covered.flatMap((listed) => listed.files)],
      blind: [...open, ...covered].some(({ blind }) => blind),
      ignoreFiles: open.some(({ ignoreFiles }) => ignoreFiles === null)
        ? null
        : open.flatMap(({ ignoreFiles }) => ignoreFiles ?? []),
    };
  }

  /** What was found in a directory, if it and the rules for it are as they were; else what `list` finds now. */
  #look(directory: string, list: (facts: Pick<Listed, "status" | "settled">) => Listed): Listed {
    const status = quietly(() => lstatSync(directory));
    const known = this.#known.get(directory);
    if (known?.settled && isUnchanged(known.status, status) && this.#isCurrent(directory, known)) return known;
    // The clock is asked after the look at the directory, and before its listing.
    const settled = status !== null && this.#clock.now() - Math.max(status.modified, status.changed) >= RACY_MS;
    const listed = list({ status, settled });
    this.#listings++;
    this.#known.set(directory, listed);
    return listed;
  }

  #isCurrent(directory: string, listed: Listed): boolean {
    const { version, former } = this.#rules;
    if (listed.former !== former) return false;
    if (listed.version === version) return true;
    if (listed.unruled === null || this.#rules.covers(directory, listed.unruled)) return false;
    listed.version = version;
    return true;
  }

  #listOpen(directory: string, facts: Pick<Listed, "status" | "settled">): Listed {
    const entries = listEntries(directory);
    // What is met from here on can cover what was sorted before it: then the directory is listed again.
    const { version, former } = this.#rules;
    // Without a listing nothing is known of it, not even that no marker stands there.
    if (!Array.isArray(entries)) {
      return { ...NOTHING, ...facts, version, former, unjudged: [entries], ignoreFiles: null };
    }
    const { standing, ignoreFiles, ...named } = namedIn(directory, entries);
    const ruled = this.#rules.covers(directory, standing);
    const sorted = this.#sort(directory, { entries, ruled });
    return {
      ...facts,
      ...named,
      ...sorted,
      version,
      former,
      candidates: former === null ? [] : candidatesIn(directory, { entries, former }),
      blind: named.blind || sorted.files.some(({ path }) => path.includes(NO_UTF8)),
      unruled: ruled ? null : standing,
      ignoreFiles: ignoreFiles.map((entry) => ({ path: within(directory, entry.name), kind: kindOf(entry) })),
    };
  }

  #sort(
    directory: string,
    { entries, ruled }: { entries: readonly PlainEntry[]; ruled: boolean },
  ): Pick<Listed, "open" | "covered" | "files" | "links"> {
    const long = isTooLong(directory);
    const [open, covered]: [string[], string[]] = [[], []];
    const [files, links]: [ProtectedFile[], ProtectedFile[]] = [[], []];
    // Most of a tree: nothing that lies here is covered.
    for (const entry of ruled ? entries : entries.filter(({ isDirectory }) => isDirectory)) {
      const { name, isDirectory, isSymlink } = entry;
      const path = within(directory, name);
      const rule = ruled ? this.#rules.rule(path) : null;
      if (rule === null || name === MARKER_NAME) {
        // What git keeps is not the user's tree, and what cannot be named is not there: views leave both out as a whole.
        if (!isDirectory || name === ".git" || isOfSystem(path)) continue;
        if (!long && !name.includes(NO_UTF8)) open.push(path);
      } else if (isDirectory) covered.push(path);
      else (isSymlink ? links : files).push({ path, rule });
    }
    return { open, covered, files, links };
  }

  #listCovered(directory: string, facts: Pick<Listed, "status" | "settled">): Listed {
    const { version, former } = this.#rules;
    const entries = listEntries(directory);
    if (!Array.isArray(entries)) return { ...NOTHING, ...facts, version, former, blind: true };
    const covered: string[] = [];
    const files: ProtectedFile[] = [];
    for (const { name, isDirectory, isFile } of entries) {
      const path = within(directory, name);
      if (name.includes(NO_UTF8)) continue;
      // Asked of all: a marker that is met beside them may cover what lies elsewhere.
      const rule = this.#rules.rule(path);
      if (isDirectory) covered.push(path);
      else if (rule !== null && isFile) files.push({ path, rule });
    }
    const blind = entries.some(({ name }) => name.includes(NO_UTF8));
    return { ...NOTHING, ...facts, version, former, covered, files, blind };
  }
}

/** The files right in a directory that may be what is looked for; covered ones among them. */
function candidatesIn(
  directory: string,
  { entries, former }: { entries: readonly PlainEntry[]; former: Pick<FormerFiles, "mayBe"> },
): SeenFile[] {
  const found: SeenFile[] = [];
  for (const { name, isFile } of entries) {
    const path = within(directory, name);
    const status = isFile ? quietly(() => lstatSync(path)) : null;
    if (status !== null && former.mayBe(status)) found.push({ path, status });
  }
  return found;
}

/** Tells the rules where a covered link leads. Links in a circle, and places that may not be looked at, lead nobody to content. */
export function followLink(link: string, rule: ProtectionRule, rules: Pick<TreeRules, "follow">): void {
  const real = quietly(() => realPathSync(link));
  if (real !== null) rules.follow(normalize(real), rule);
}
