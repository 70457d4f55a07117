/** Finds protected files: walks the trees below the roots, and follows rules to places outside them. */
import type { Clock } from "../../platform/io.ts";
import { isWithin } from "../../platform/path.ts";
import { realOrNull } from "../../platform/real_path.ts";
import { pacer } from "../../platform/sleep.ts";
import { isOfSystem, isTooLong, leadsToSystem, Listings, NO_UTF8, within } from "./listing.ts";
import type { Listing, UnjudgedPlace } from "./listing.ts";
import { MARKER_NAME } from "./marker.ts";
import type { PathRules } from "./path_rules.ts";
import { restBelow, ruleBelow, type Scope } from "./patterns.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

interface ProtectedFile {
  path: string;
  rule: ProtectionRule;
}

/** The result of walks: places that a view must hide or omit, and open directories. Absolute; no links followed. */
export class ProtectedPlaces {
  /** Protected files inside the roots and those that rules name elsewhere. Can omit files in covered directories. */
  readonly files: string[] = [];
  /** Covered as a whole. */
  readonly directories: string[] = [];
  /** All protected files, including those in covered directories. */
  readonly protected: ProtectedFile[] = [];
  /** Identities of protected files that no known path leads to; their other names are hidden. */
  readonly nameless: string[] = [];
  readonly unjudged: UnjudgedPlace[] = [];
  /** Sockets, FIFOs and devices: what listens there is not part of the project. */
  readonly special: string[] = [];
  /** Version control data: `.git` and the like, bare repositories, and files named like packs and bundles. */
  readonly repositories: string[] = [];
  /** Open directories inside the roots, and covered ones. */
  readonly listings: Listing[] = [];
  readonly closed: Listing[] = [];
  /** True if some protected file cannot be examined: its name is not UTF-8, or its directory cannot be listed. */
  blind = false;

  /** Adds the given places and returns itself. */
  add({ blind = false, ...lists }: Partial<Readonly<ProtectedPlaces>>): this {
    this.blind ||= blind;
    for (const [kind, items] of Object.entries(lists) as [keyof typeof lists, readonly unknown[]][]) {
      // One by one, since a call takes a limited number of arguments.
      for (const item of items) (this[kind] as unknown[]).push(item);
    }
    return this;
  }
}

type TreeRules = Pick<
  PathRules,
  "version" | "patterns" | "named" | "rulesIn" | "follow" | "followInto" | "restBehind" | "giveUp"
>;

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Called once if the walk takes long. */
  onSlow?: ((message: string) => void) | undefined;
  /** Milliseconds between pauses, and until the walk counts as slow; set by tests. */
  sliceMs?: number;
  slowMs?: number;
}

/** Walks repeat until no new rule appears, because each new link or marker can add rules. This is the limit. */
const MOST_WALKS = 20;
/** The most directory entries that one walk outside the roots reads. */
const ENTRY_LIMIT = 200_000;
/** That walk is reused for so many times its duration: a pattern below a home must not cost each request a walk. */
const REUSED_FOR = 20;

/** A directory that a walk comes to. */
interface Visit {
  directory: string;
  /** The rule that covers all of it. */
  covered: ProtectionRule | null;
  /** Outside of the roots: the patterns that lead there, which alone are followed. Within them: null. */
  scopes: readonly Scope[] | null;
}

/** A link whose target is covered, or something below it. The target can change without a trace in the directory. */
interface Link {
  path: string;
  rule: ProtectionRule | null;
  /** The patterns that lead on behind it. */
  rest: readonly Scope[];
}

/** The entries of a directory, sorted by the rules. */
interface Sorted {
  /** The version of the rules. */
  version: number;
  /** Subdirectories. */
  open: readonly Visit[];
  covered: readonly Visit[];
  files: readonly ProtectedFile[];
  links: readonly Link[];
  blind: boolean;
}

/** The walks of one session. */
export class ProtectedTree {
  readonly #roots: readonly string[];
  readonly #rules: TreeRules;
  readonly #listings: Listings;
  readonly #sorted = new WeakMap<Listing, Sorted>();
  /** The last result, valid for one version of the rules. */
  #found: { places: ProtectedPlaces; version: number } | null = null;
  /** An unfinished search. */
  #search: Iterator<void> | null = null;
  #outside: { found: ProtectedPlaces; version: number; until: number } | null = null;

  constructor(
    roots: readonly string[],
    { rules, clock }: { rules: TreeRules; clock?: Pick<Clock, "now"> | undefined },
  ) {
    this.#roots = roots;
    this.#rules = rules;
    this.#listings = new Listings(clock);
  }

  /** Makes the next question start a new walk. */
  expire(): void {
    this.#found = null;
    this.#search = null;
  }

  /** Visits one more directory. Returns false when the walk is complete. */
  step(): boolean {
    if (this.#found?.version === this.#rules.version) return false;
    this.#found = null;
    this.#search ??= this.#searchAll();
    if (this.#search.next().done !== true) return true;
    this.#search = null;
    return false;
  }

  /** Visits all directories, with pauses for signals and the terminal. */
  async walk({ signal, onSlow, sliceMs = 50, slowMs = 3_000 }: WalkOptions): Promise<void> {
    const start = performance.now();
    const pause = pacer(signal, sliceMs);
    let warn = onSlow;
    while (this.step()) {
      if (performance.now() - start > slowMs) {
        warn?.(`still looking for protected paths below ${this.#roots.join(", ")}`);
        warn = undefined;
      }
      await pause();
    }
  }

  /** The result; walks at most once after {@link expire}. */
  get found(): ProtectedPlaces {
    while (this.step());
    if (this.#found === null) throw new Error("a walk ended without a result");
    return this.#found.places;
  }

  *#searchAll(): Generator<void> {
    for (let walk = 1;; walk++) {
      const { version } = this.#rules;
      const places = (yield* this.#walkRoots()).add(yield* this.#walkOutside());
      if (this.#rules.version !== version) {
        if (walk < MOST_WALKS) continue;
        this.#rules.giveUp("the links that its lines cover lead on without an end");
      }
      this.#found = { places, version: this.#rules.version };
      return;
    }
  }

  *#walkRoots(): Generator<void, ProtectedPlaces> {
    const unjudged = this.#roots.filter(isOfSystem).map((root) => ({
      directory: root,
      reason: "belongs to the system",
    }));
    const roots = this.#roots.filter((root) => !isOfSystem(root));
    const visits = roots.map((root) => ({ directory: root, covered: this.#rules.named(root), scopes: null }));
    return (yield* this.#walk(visits)).add({ unjudged });
  }

  /** Goes through directories and what is below them. `waiting` grows on the way. */
  *#walk(waiting: Visit[]): Generator<void, ProtectedPlaces> {
    const found = new ProtectedPlaces();
    for (const { directory, covered } of waiting) if (covered !== null) found.directories.push(directory);
    let entries = 0;
    // Breadth first, so that the limit does not cut off what a pattern names directly.
    for (const visit of waiting) {
      const { directory, covered, scopes } = visit;
      const isInside = scopes === null;
      if (!isInside && entries > ENTRY_LIMIT) {
        const reason = "was not reached by the search for protected files";
        if (covered === null) found.unjudged.push({ directory, reason });
        continue;
      }
      const listing = this.#listings.of(directory);
      entries += listing.entries?.length ?? 0;
      const sorted = this.#sort(listing, visit);
      found.blind ||= sorted.blind;
      for (const file of sorted.files) found.protected.push(file);
      for (const link of sorted.links) {
        const led = this.#follow(link, visit);
        if (led !== null) waiting.push(led);
      }
      for (const below of [...sorted.covered, ...sorted.open]) waiting.push(below);
      yield;
      if (isInside) (covered === null ? found.listings : found.closed).push(listing);
      if (covered !== null) continue;
      for (const { path } of sorted.files) found.files.push(path);
      for (const below of sorted.covered) found.directories.push(below.directory);
      found.add({ unjudged: listing.unjudged });
      if (isInside) found.add({ special: listing.special, repositories: listing.repositories });
    }
    return found;
  }

  /**
   * Covers what a link leads to. Circular links and unreachable targets lead to no content. Of the system, only what a
   * line names counts: a virtual environment links to the interpreter of all projects. Returns a directory with new
   * rules: there will be another walk, and this one already comes to what links lead to from there.
   */
  #follow({ path, rule, rest }: Link, { covered }: Visit): Visit | null {
    const real = realOrNull(path);
    if (real === null) return null;
    const { version } = this.#rules;
    const isInside = this.#isInRoots(real);
    if (covered !== null && !isInside && leadsToSystem(real)) return null;
    if (rest.length > 0) this.#rules.followInto(real, rest, path);
    // A covered directory can have thousands of links within itself. Only in the roots: the question reads markers.
    const known = rule !== null && isInside ? this.#rules.named(real) : null;
    if (rule !== null && (known === null || stricter(known, rule) !== known)) this.#rules.follow(real, rule, path);
    if (this.#rules.version === version || this.#listings.of(real).status?.kind !== "directory") return null;
    return { directory: real, covered: rule, scopes: isInside ? null : rest };
  }

  #isInRoots(path: string): boolean {
    return this.#roots.some((root) => isWithin(root, path));
  }

  #sort(listing: Listing, { covered, scopes }: Visit): Sorted {
    const known = this.#sorted.get(listing);
    // A rule found while sorting can cover earlier entries: the old version makes the directory be sorted again.
    const { version } = this.#rules;
    if (known?.version === version) return known;
    const { directory, entries, mayRule } = listing;
    const sorted = { open: [] as Visit[], covered: [] as Visit[] };
    const [files, links]: [ProtectedFile[], Link[]] = [[], []];
    const [isInside, isCovered, isLong] = [scopes === null, covered !== null, isTooLong(directory)];
    let blind = isInside && isCovered && entries === null;
    const rulesIn = isInside && entries !== null ? this.#rules.rulesIn(directory, mayRule) : null;
    for (const { name, isDirectory, isFile, isSymlink } of entries ?? []) {
      // The usual case: no entry here can be covered.
      if (isInside && rulesIn === null && !isDirectory) continue;
      const path = within(directory, name);
      if (!isInside && isDirectory && (isOfSystem(path) || this.#isInRoots(path))) continue;
      const named = scopes === null ? rulesIn?.(path) ?? null : ruleBelow({ covered, scopes }, name);
      const rule = name === MARKER_NAME && !isCovered ? null : named;
      // A name that is not UTF-8 cannot be followed, and any rule may cover something below such a directory.
      if (name.includes(NO_UTF8)) blind ||= isInside && (named !== null || isDirectory);
      else if (isSymlink) {
        const rest = scopes === null ? this.#rules.restBehind(path) : restBelow(scopes, name);
        if (rule !== null || rest.length > 0) links.push({ path, rule, rest });
      } else if (!isDirectory) {
        if (rule !== null && (isFile || !isCovered)) files.push({ path, rule });
      } else if (rule !== null) sorted.covered.push({ directory: path, covered: rule, scopes: scopes && [] });
      // Views leave out `.git` and system directories as a whole.
      else if (name !== ".git" && !isOfSystem(path)) {
        const below = scopes?.map((scope) => scope.below(name)).filter(({ leadsOn }) => leadsOn) ?? null;
        if (isLong) blind ||= isInside;
        else if (below?.length !== 0) sorted.open.push({ directory: path, covered: null, scopes: below });
      }
    }
    const result = { version, ...sorted, files, links, blind };
    if (isInside) this.#sorted.set(listing, result);
    return result;
  }

  /**
   * Finds what markers above the roots name elsewhere, and the targets of covered links. Tools cannot read those paths,
   * but a view may show them, and another name or a copy may lie in a root. Does not enter the roots again.
   */
  *#walkOutside(): Generator<void, ProtectedPlaces> {
    const { version } = this.#rules;
    const start = performance.now();
    if (this.#outside?.version === version && start < this.#outside.until) return this.#outside.found;
    const visits: Visit[] = [];
    for (const [directory, { start: scope }] of this.#rules.patterns) {
      const isDirectory = this.#listings.of(directory).status?.kind === "directory";
      if (isDirectory && !this.#isInRoots(directory)) visits.push({ directory, covered: scope.rule, scopes: [scope] });
    }
    const found = yield* this.#walk(visits);
    const end = performance.now();
    this.#outside = { found, version, until: end + REUSED_FOR * (end - start) };
    return found;
  }
}
