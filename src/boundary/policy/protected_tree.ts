/** Walks what is protected: the trees below the roots, and of what lies elsewhere that to which the rules lead. */
import { realPathSync } from "../../platform/files_sync.ts";
import type { Clock } from "../../platform/io.ts";
import { isWithin, normalize } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { after } from "../../platform/sleep.ts";
import type { ProtectedFile } from "./inode_index.ts";
import { isOfSystem, isTooLong, type Listing, Listings, NO_UTF8, type UnjudgedPlace, within } from "./listing.ts";
import { MARKER_NAME } from "./marker.ts";
import type { PathRules } from "./path_rules.ts";
import { type Coverage, ruleBelow } from "./patterns.ts";
import type { ProtectionRule } from "./protection_rule.ts";

/** Holds what walks found: places that a view must not show as they are, and open directories. Absolute paths; links are not followed. */
export class ProtectedPlaces {
  /** Protected, inside of the roots, and what the rules name elsewhere; those in covered directories may be left out. */
  readonly files: string[] = [];
  /** Covered as a whole. */
  readonly directories: string[] = [];
  /** All protected files, with those in covered directories. */
  readonly protected: ProtectedFile[] = [];
  /** Lasting identities of protected files that no path names: their other names are hidden. */
  readonly nameless: string[] = [];
  readonly unjudged: UnjudgedPlace[] = [];
  /** Sockets, FIFOs and devices: what listens there is no part of the project. */
  readonly special: string[] = [];
  /** Content of version control: `.git` and its kind, bare repositories, and files named like packs and bundles. */
  readonly repositories: string[] = [];
  /** Open directories inside of the roots. */
  readonly listings: Listing[] = [];
  /** Some protected file cannot be looked at: its name is not UTF-8, or what holds it may not be listed. */
  blind = false;

  /** Adds what is given. Returns itself. */
  add({ blind = false, ...lists }: Partial<Readonly<ProtectedPlaces>>): this {
    this.blind ||= blind;
    for (const [kind, items] of Object.entries(lists) as [keyof typeof lists, readonly unknown[]][]) {
      // One by one: a call takes only so many arguments.
      for (const item of items) (this[kind] as unknown[]).push(item);
    }
    return this;
  }
}

type TreeRules = Pick<PathRules, "version" | "patterns" | "rule" | "rulesIn" | "follow">;

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Told once when it takes long. */
  onSlow?: ((message: string) => void) | undefined;
  /** It goes on for so long at once, in milliseconds, and is slow from then on; tests set them. */
  sliceMs?: number;
  slowMs?: number;
}

/** Walks until the rules stay the same: each link or marker that is found can bring new ones. */
const MOST_WALKS = 20;
/** Most entries of directories outside of the roots that one walk looks at, and most files that it gives. */
const ENTRY_LIMIT = 200_000;
const FILE_LIMIT = 20_000;
/** That walk is done again after this many times what it took: a pattern below a home must not cost each request a walk. */
const REUSED_FOR = 20;

/** The entries of a directory, by what the rules say of them; absolute paths. */
interface Sorted {
  /** Of the rules. */
  version: number;
  /** Directories that are entered, and those of them that are covered as a whole. */
  open: readonly string[];
  covered: readonly string[];
  files: readonly ProtectedFile[];
  /** Covered ones: where they lead is covered too, and may change without a trace here. */
  links: readonly ProtectedFile[];
  blind: boolean;
}

/** Walks for one session. */
export class ProtectedTree {
  readonly #roots: readonly string[];
  readonly #rules: TreeRules;
  readonly listings: Listings;
  readonly #sorted = new WeakMap<Listing, Sorted>();
  /** It holds as long as the rules stay as they are. */
  #found: { places: ProtectedPlaces; version: number } | null = null;
  /** A search that has not come to its end. */
  #search: Iterator<void> | null = null;
  #outside: { found: ProtectedPlaces; version: number; until: number } | null = null;

  constructor(
    roots: readonly string[],
    { rules, clock }: { rules: TreeRules; clock?: Pick<Clock, "now"> | undefined },
  ) {
    this.#roots = roots;
    this.#rules = rules;
    this.listings = new Listings(clock);
  }

  /** Looks again when it is next asked. */
  expire(): void {
    this.#found = null;
    this.#search = null;
  }

  /** Looks at one more directory; false when all is known. */
  step(): boolean {
    if (this.#found?.version === this.#rules.version) return false;
    this.#found = null;
    this.#search ??= this.#searchAll();
    if (this.#search.next().done !== true) return true;
    this.#search = null;
    return false;
  }

  /** Looks at all directories, with pauses: a large tree keeps neither signals nor the terminal waiting. */
  async walk({ signal, onSlow, sliceMs = 50, slowMs = 3_000 }: WalkOptions): Promise<void> {
    const start = performance.now();
    let [pauseAt, warn] = [start + sliceMs, onSlow];
    while (this.step()) {
      if (performance.now() < pauseAt) continue;
      if (pauseAt - start > slowMs) {
        warn?.(`still looking for protected paths below ${this.#roots.join(", ")}`);
        warn = undefined;
      }
      await new Promise<void>((resolve) => void after(0, resolve));
      signal?.throwIfAborted();
      pauseAt = performance.now() + sliceMs;
    }
  }

  /** Everything that is protected; walks at most once after {@link expire}. */
  get found(): ProtectedPlaces {
    while (this.step());
    if (this.#found === null) throw new Error("a walk ended without a result");
    return this.#found.places;
  }

  *#searchAll(): Generator<void> {
    for (let walk = 1;; walk++) {
      const { version } = this.#rules;
      const places = yield* this.#walkRoots();
      const outside = yield* this.#walkOutside();
      places.add(outside);
      const isEndless = walk >= MOST_WALKS;
      if (this.#rules.version !== version && !isEndless) continue;
      const reason = "its protected links lead on without an end";
      if (isEndless) { for (const directory of this.#roots) places.unjudged.push({ directory, reason }); }
      this.#found = { places, version: this.#rules.version };
      return;
    }
  }

  *#walkRoots(): Generator<void, ProtectedPlaces> {
    const found = new ProtectedPlaces();
    const waiting: { directory: string; isCovered: boolean }[] = [];
    for (const root of this.#roots) {
      if (isOfSystem(root)) {
        found.unjudged.push({ directory: root, reason: "belongs to the system" });
        continue;
      }
      const isCovered = this.#rules.rule(root) !== null;
      if (isCovered) found.directories.push(root);
      waiting.push({ directory: root, isCovered });
    }
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const { directory, isCovered } = at;
      const listing = this.listings.of(directory);
      const sorted = this.#sort(listing, { isCovered });
      found.blind ||= sorted.blind;
      for (const file of sorted.files) found.protected.push(file);
      for (const below of sorted.covered) waiting.push({ directory: below, isCovered: true });
      yield;
      if (isCovered) continue;
      found.listings.push(listing);
      found.special.push(...listing.special);
      found.repositories.push(...listing.repositories);
      found.unjudged.push(...listing.unjudged);
      for (const { path } of sorted.files) found.files.push(path);
      for (const below of sorted.covered) found.directories.push(below);
      for (const below of sorted.open) waiting.push({ directory: below, isCovered: false });
      for (const { path, rule } of sorted.links) followLink(path, rule, this.#rules);
    }
    return found;
  }

  #sort(listing: Listing, { isCovered }: { isCovered: boolean }): Sorted {
    const known = this.#sorted.get(listing);
    // What is met from here on can cover what was sorted before it: then the directory is sorted again.
    const { version } = this.#rules;
    if (known?.version === version) return known;
    const { directory, entries, mayRule } = listing;
    const [open, covered, files, links]: [string[], string[], ProtectedFile[], ProtectedFile[]] = [[], [], [], []];
    let blind = entries === null && isCovered;
    const ruleOf = entries === null ? null : this.#rules.rulesIn(directory, mayRule);
    const isLong = isTooLong(directory);
    for (const entry of entries ?? []) {
      const { name, isDirectory, isFile, isSymlink } = entry;
      // Most of a tree: nothing that lies here is covered.
      if (ruleOf === null && !isDirectory) continue;
      const path = within(directory, name);
      const rule = ruleOf?.(path) ?? null;
      // A name that nobody can say leads nowhere; any rule may cover something in a directory of such a name.
      if (name.includes(NO_UTF8)) blind ||= rule !== null || isDirectory;
      else if (rule === null || (name === MARKER_NAME && !isCovered)) {
        // What git keeps is not the user's tree, and what cannot be named is not there: views leave both out as a whole.
        if (!isDirectory || name === ".git" || isOfSystem(path)) continue;
        if (isLong) blind = true;
        else open.push(path);
      } else if (isDirectory) covered.push(path);
      else if (isSymlink) links.push({ path, rule });
      else if (isFile || !isCovered) files.push({ path, rule });
    }
    const sorted = { version, open, covered, files, links, blind };
    this.#sorted.set(listing, sorted);
    return sorted;
  }

  /**
   * What markers above the roots name elsewhere, and what covered links lead to. Tools do not read it by those paths, but
   * a view may show it, and another name of it, or its content, may lie in a root. Only what the patterns lead to is
   * walked, and no more than a limit; the roots are not entered again.
   */
  *#walkOutside(): Generator<void, ProtectedPlaces> {
    const { version } = this.#rules;
    const start = performance.now();
    const last = this.#outside;
    if (last !== null && last.version === version && start < last.until) return last.found;
    const found = new ProtectedPlaces();
    const isInRoots = (path: string) => this.#roots.some((root) => isWithin(root, path));
    const waiting: (Coverage & { directory: string })[] = [];
    for (const [directory, { start: scope }] of this.#rules.patterns) {
      if (isInRoots(directory)) continue;
      waiting.push({ directory, scopes: [scope], covered: scope.rule });
      if (scope.rule !== null) found.directories.push(directory);
    }
    let entries = 0;
    // Nearest things first: a limit that is reached must not leave out what is named plainly. It grows on the way.
    for (const { directory, scopes, covered } of waiting) {
      if (entries > ENTRY_LIMIT || found.files.length >= FILE_LIMIT) {
        const reason = "was not reached by the search for protected files";
        if (covered === null) found.unjudged.push({ directory, reason });
        continue;
      }
      const listing = this.listings.of(directory);
      // A link, and what is no directory, has no entries.
      if (listing.status !== null && listing.status.kind !== "directory") continue;
      if (covered === null || listing.entries === null) found.unjudged.push(...listing.unjudged);
      entries += listing.entries?.length ?? 0;
      for (const { name, isDirectory, isFile, isSymlink } of listing.entries ?? []) {
        const path = within(directory, name);
        if (isDirectory && (isOfSystem(path) || isInRoots(path))) continue;
        const rule = ruleBelow({ scopes, covered }, name);
        if (isDirectory && rule !== null) {
          if (covered === null) found.directories.push(path);
          waiting.push({ directory: path, scopes: [], covered: rule });
        } else if (isDirectory && name !== ".git" && !isTooLong(directory)) {
          const below = scopes.map((scope) => scope.below(name)).filter(({ leadsOn }) => leadsOn);
          if (below.length > 0) waiting.push({ directory: path, scopes: below, covered: null });
        } else if (isFile && rule !== null) {
          found.files.push(path);
          found.protected.push({ path, rule });
        } else if (isSymlink && rule !== null && covered === null) followLink(path, rule, this.#rules);
      }
      yield;
    }
    const end = performance.now();
    this.#outside = { found, version, until: end + REUSED_FOR * (end - start) };
    return found;
  }
}

/** Tells the rules where a covered link leads. Links in a circle, and places that may not be looked at, lead nobody to content. */
function followLink(link: string, rule: ProtectionRule, rules: Pick<TreeRules, "follow">): void {
  const real = quietly(() => realPathSync(link));
  if (real !== null) rules.follow(normalize(real), rule);
}
