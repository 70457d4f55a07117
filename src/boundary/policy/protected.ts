/**
 * The protected set: which paths the markers cover, and by which line. Markers count from the file's real path upward,
 * add up, and count in linked worktrees of git too. Within a session the set only grows. Source: specification of the
 * boundary, "The marker" and "Reading".
 */
import type { FileStatus } from "../../platform/files.ts";
import type { Clock } from "../../platform/io.ts";
import { lstatSync, statSync } from "../../platform/files_sync.ts";
import { basename, dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { mainTree } from "./git_directory.ts";
import { MARKER_NAME, type MarkerEntry, readMarker } from "./marker.ts";
import { compilePatterns, type Coverage, isWild, Patterns, ruleBelow } from "./patterns.ts";
import { type ExternalFound, ExternalPaths, type ExternalSource } from "./external_paths.ts";
import { InodeIndex } from "./inode_index.ts";
import {
  type IgnoreFile,
  MOST_WALKS,
  type ProtectedPlaces,
  ProtectedTree,
  type WalkOptions,
} from "./protected_tree.ts";
import type { DerivedFile, RecordedMarker, SeenMarker } from "./project_record_files.ts";
import type { Standing } from "./listing.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";
import { realOrNamed } from "../real_path.ts";
import { systemReason } from "../system_error.ts";

/** What holds in one directory. */
interface Place extends Coverage {
  /** The linked worktree that it lies in, and the main tree whose rules hold there too. */
  worktree: { at: string; main: string } | null;
}

/** What was learnt of one marker. */
interface KnownMarker {
  patterns: Patterns;
  /** By `tier path`. */
  rules: Map<string, ProtectionRule>;
}

/** What the home remembers: rules that hold whatever the markers say now, and copies of protected files. */
export interface Remembered {
  readonly markers: readonly RecordedMarker[];
  readonly derived: readonly DerivedFile[];
}

function presentOrForbidden<T>(look: () => T): T | null | "forbidden" {
  try {
    return look();
  } catch (error) {
    // Whatever the system objects to, a marker may stand there; but not where no path can lead.
    systemReason(error);
    return error instanceof Error && "code" in error && error.code === "ENAMETOOLONG" ? null : "forbidden";
  }
}

/** Lines of all markers together. */
const LINE_LIMIT = 10_000;
const WILD_LIMIT = 1_000;

/** Longest walk for a model that runs here, in milliseconds: about 60,000 files; a home or a disk has more. */
const LOCAL_WALK_MS = 100;

/** The set of one session. Nothing is read before something is asked. */
export class ProtectedSet {
  readonly #roots: readonly string[];
  readonly #tree: ProtectedTree;
  readonly #markers = new Map<string, KnownMarker>();
  /** Patterns that hold below a directory because a link of a marker's line leads there. */
  readonly #moved = new Map<string, KnownMarker>();
  readonly #warnings = new Set<string>();
  #damaged: ProtectionRule | null = null;
  #lines = 0;
  #wildLines = 0;
  /** Counts what was learnt: what was worked out before is worked out again. */
  #version = 0;
  #places = new Map<string, Place>();
  #placesVersion = 0;
  /** Markers read since the last refresh. */
  readonly #read = new Set<string>();
  readonly #elsewhere: ExternalPaths;
  readonly #identities = new InodeIndex();
  /** The version that the identities were taken at; null when they are to be taken again. */
  #identified: number | null = null;

  /** `roots` are real paths: the project root and the additional ones. */
  constructor(
    roots: readonly string[],
    { clock, remembered = [] }: { clock?: Pick<Clock, "now">; remembered?: readonly Remembered[] } = {},
  ) {
    this.#roots = roots;
    this.#tree = new ProtectedTree(roots, { rules: this, clock });
    this.#elsewhere = new ExternalPaths(roots, this);
    for (const { path, lines } of remembered.flatMap(({ markers }) => markers)) {
      const entries = lines.map(({ tier, pattern }) => ({ tier, path: pattern, line: 0 }));
      if (lines.length > 0) this.#take(path, { entries, remembered: true });
    }
    for (const { derived } of remembered) for (const file of derived) this.protectCopy(file);
  }

  /** Whether these are its roots, in this order. */
  isOf(roots: readonly string[]): boolean {
    return roots.length === this.#roots.length && roots.every((root, at) => root === this.#roots[at]);
  }

  /** Changes when a marker taught something new. */
  get version(): number {
    return this.#version;
  }

  /** Which marker cannot be used, as the rule that then covers everything; null while all can. */
  get damaged(): ProtectionRule | null {
    return this.#damaged;
  }

  /** One sentence each, with the path of the marker. */
  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  /** Reads the markers that hold at the roots. */
  start(): void {
    for (const root of this.#roots) this.rule(join(root, MARKER_NAME));
  }

  /** Reads the known markers again, and looks for what is new when it is next asked for. What was protected stays so. */
  refresh(): void {
    this.#places.clear();
    this.#read.clear();
    this.#identified = null;
    this.#tree.expire();
    for (const path of [...this.#markers.keys()]) this.#learn(path);
    this.start();
  }

  /** Looks at the roots, with pauses, and notes which files are protected. Throws the signal's reason. */
  async settle(options: WalkOptions = {}): Promise<void> {
    await this.#tree.walk(options);
    if (this.any) this.identify();
  }

  /** Notes which files are protected now, so that they are known later under any name. Walks the roots. */
  identify(): void {
    for (let walk = 0; this.#damaged === null && this.#identified !== this.#version && walk < MOST_WALKS; walk++) {
      // A link or a marker that is found on the way can bring new rules.
      if (walk > 0) this.#tree.expire();
      const version = this.#version;
      const { protected: inRoots, blind } = this.#tree.found;
      const { files: external } = this.#findElsewhere();
      this.#identities.take({ inRoots, external, blind: blind ? this.rules[0] ?? null : null });
      this.#identified = version;
    }
  }

  /** The rule that covers a real path, whether or not something stands there; null when none does. Throws never. */
  rule(real: string): ProtectionRule | null {
    const found = this.#settled(() => this.#ruleNow(real));
    return this.#damaged ?? found;
  }

  /** Whether a rule can cover what lies right in a directory; `standing` saves the looks that its listing has made. */
  covers(directory: string, standing: Standing): boolean {
    const { covered, scopes, worktree } = this.#settled(() => this.#placeOf(directory, standing));
    return covered !== null || scopes.length > 0 || worktree !== null || this.#damaged !== null;
  }

  /** Works something out until no marker is met on the way: one can cover places that were worked out before it. */
  #settled<T>(work: () => T): T {
    for (;;) {
      if (this.#placesVersion !== this.#version) this.#places.clear();
      this.#placesVersion = this.#version;
      const found = work();
      if (this.#placesVersion === this.#version) return found;
    }
  }

  #ruleNow(real: string): ProtectionRule | null {
    // Most paths are cut here: `dirname` checks the whole path again.
    const end = real.lastIndexOf("/");
    const directory = end > 3 ? real.slice(0, end) : dirname(real);
    if (directory === real) return this.#placeOf(real).covered;
    const place = this.#placeOf(directory);
    const found = ruleBelow(place, real.slice(end + 1));
    if (place.worktree === null || found?.tier === "list-only") return found;
    const { at, main } = place.worktree;
    const twin = join(main, relativeTo(at, real));
    return stricter(found, ruleBelow(this.#placeOf(dirname(twin)), basename(twin)));
  }

  /**
   * The rule for an open file: of its path, or of any other name that it has or had in this session. Where no marker was
   * met, markers below are looked for only when it has several names.
   */
  ruleOfFile(status: FileStatus, real: string): ProtectionRule | null {
    const found = this.rule(real);
    if (found?.tier === "list-only" || (status.links < 2 && !this.met)) return found;
    this.identify();
    if (this.#identities.doubts(status)) {
      this.#identified = null;
      this.#tree.expire();
      this.identify();
    }
    return stricter(found, this.#identities.ruleOf(status));
  }

  /** What a view must not show as it is, inside of the roots and, of what the rules name, elsewhere. Walks the roots. */
  async hidden(options: WalkOptions = {}): Promise<ProtectedPlaces> {
    await this.settle(options);
    return { ...this.#tree.found, nameless: this.#identities.nameless, external: this.#findElsewhere() };
  }

  /** Whether anything inside of the roots is protected now, or would be if it appeared. Walks the roots. */
  get any(): boolean {
    const { files, directories } = this.#tree.found;
    if (files.length > 0 || directories.length > 0 || this.#damaged !== null) return true;
    return [...this.#markers.values()].some(({ rules }) => rules.size > 0);
  }

  /**
   * The same for a session whose model runs here, which nothing leaves: null where the roots are too large to be walked in
   * a moment and no marker was met. Each call goes on where the one before ended.
   */
  get anySoon(): boolean | null {
    const until = performance.now() + LOCAL_WALK_MS;
    while (!this.met && this.#tree.step()) if (performance.now() > until) return null;
    return this.any;
  }

  /**
   * Whether a marker was met so far: at the roots, above them, or where something was read. Costs nothing, and may become
   * true later; {@link any} looks everywhere first.
   */
  get met(): boolean {
    return this.#markers.size > 0 || this.#damaged !== null;
  }

  /** The markers that were met, absolute paths. */
  get markers(): readonly string[] {
    return [...this.#markers.keys()];
  }

  /** Every line that protects something, of the markers that were met; a damaged marker is in {@link damaged}. */
  get rules(): readonly ProtectionRule[] {
    return [...this.#markers.values()].flatMap(({ rules }) => [...rules.values()]);
  }

  /** The markers that were met with their rules, for the record of the project. */
  get seen(): readonly SeenMarker[] {
    return [...this.#markers].map(([path, { rules }]) => ({ path, lines: [...rules.values()] }));
  }

  /** The protected files that exist: real paths inside of the roots, and what the rules name elsewhere. */
  *files(): Generator<string> {
    for (const { path } of this.#tree.found.protected) yield path;
    for (const { path } of this.#findElsewhere().files) yield path;
  }

  /** What in open directories is named as files are that tell searches what to leave out; null when that is not known. */
  get ignoreFiles(): readonly IgnoreFile[] | null {
    return this.#tree.found.ignoreFiles;
  }

  /** Protects a file that holds content of a protected one. */
  protectCopy(file: DerivedFile): void {
    const source = this.rule(file.source);
    const marker = source?.marker ?? file.source;
    const copy = { copyOf: file.source, copiedAt: file.at ?? 0 };
    const rule: ProtectionRule = { tier: "no-cloud", pattern: file.path, marker, line: 0, ...copy };
    this.follow(file.path, rule);
    this.#identities.recall(file, rule);
  }

  /** Notes that a link at a covered place leads to `real`: that is covered too. */
  follow(real: string, rule: ProtectionRule): void {
    this.#move(dirname(real), { names: [basename(real)], rule });
  }

  /** How many times an open directory was listed, for tests: one that is as it was is not listed again. */
  get listings(): number {
    return this.#tree.listings;
  }

  /** What markers and ends of links outside of the roots name; with those inside the tree is walked. */
  #findElsewhere(): ExternalFound {
    const named = [
      ...[...this.#markers].map(([path, { patterns }]) => ({ directory: dirname(path), patterns })),
      ...[...this.#moved].map(([directory, { patterns }]) => ({ directory, patterns })),
    ];
    const isOutside = ({ directory }: ExternalSource) => !this.#roots.some((root) => isWithin(root, directory));
    return this.#elsewhere.find(named.filter(isOutside));
  }

  #placeOf(directory: string, standing?: Standing): Place {
    const known = this.#places.get(directory);
    if (known !== undefined) return known;
    const up = dirname(directory);
    const above = up === directory ? null : this.#placeOf(up);
    const scopes = above === null || above.scopes.length === 0
      ? []
      : above.scopes.map((scope) => scope.below(basename(directory)));
    const marker = join(directory, MARKER_NAME);
    if (standing?.marker !== false && presentOrForbidden(() => lstatSync(marker)) !== null) this.#learn(marker);
    for (const learnt of [this.#markers.get(marker), this.#moved.get(directory)]) {
      if (learnt !== undefined) scopes.push(learnt.patterns.start);
    }
    const place = {
      covered: scopes.reduce((rule, scope) => stricter(rule, scope.rule), above?.covered ?? null),
      scopes: scopes.filter((scope) => scope.leadsOn),
      worktree: standing?.git === false ? above?.worktree ?? null : this.#worktreeOf(directory, above),
    };
    this.#places.set(directory, place);
    return place;
  }

  #worktreeOf(directory: string, above: Place | null): Place["worktree"] {
    const git = presentOrForbidden(() => statSync(join(directory, ".git")));
    if (git === null || git === "forbidden") return above?.worktree ?? null;
    const main = mainTree(directory);
    return main === null || isWithin(directory, main) ? null : { at: directory, main };
  }

  #learn(path: string): void {
    if (this.#read.has(path)) return;
    this.#read.add(path);
    if (!this.#markers.has(path)) this.#take(path, { entries: [], remembered: false });
    // One that was there and is gone still protects what it did.
    if (presentOrForbidden(() => lstatSync(path)) === null) return;
    const marker = readMarker(path);
    for (const warning of marker.warnings) this.#warnings.add(`${path}: ${warning}`);
    if (marker.damaged !== undefined) this.#damage(path, marker.damaged);
    this.#take(path, { entries: marker.entries, remembered: false });
  }

  #take(path: string, { entries, remembered }: { entries: readonly MarkerEntry[]; remembered: boolean }): void {
    let known = this.#markers.get(path);
    if (known === undefined) {
      this.#markers.set(path, known = { patterns: new Patterns(), rules: new Map() });
      this.#version++;
    }
    for (const entry of entries) {
      // Every name of the project is held against every wildcard: a repository could make each session wait for minutes.
      if (this.#lines > LINE_LIMIT || this.#wildLines > WILD_LIMIT) return;
      const key = `${entry.tier} ${entry.path}`;
      const patterns = compilePatterns(entry.path);
      let rule = known.rules.get(key);
      if (rule === undefined) {
        rule = { tier: entry.tier, pattern: entry.path, marker: path, line: entry.line };
        if (remembered) rule.remembered = true;
        this.#count(path, patterns.some(({ names }) => names.some(isWild)));
        known.rules.set(key, rule);
        this.#version++;
        for (const pattern of patterns) known.patterns.add(rule, pattern);
      } else if (rule.remembered && !remembered) Object.assign(rule, { line: entry.line, remembered: false });
      for (const { names } of patterns) this.#followStart(dirname(path), { names, rule });
    }
  }

  #count(marker: string, wild: boolean): void {
    this.#lines++;
    if (wild) this.#wildLines++;
    if (this.#lines <= LINE_LIMIT && this.#wildLines <= WILD_LIMIT) return;
    this.#damage(
      marker,
      `with it the markers have more than ${LINE_LIMIT} lines, or more than ${WILD_LIMIT} with wildcards`,
    );
  }

  #damage(marker: string, damaged: string): void {
    if (this.#damaged !== null) return;
    this.#damaged = { tier: "no-cloud", pattern: ".", marker, line: 0, damaged };
    this.#version++;
  }

  /** A line whose path leads through links covers the place they lead to; looked at again after each refresh. */
  #followStart(directory: string, { names, rule }: { names: readonly string[]; rule: ProtectionRule }): void {
    const wild = names.findIndex(isWild);
    const start = wild < 0 ? names : names.slice(0, wild);
    if (start.length === 0) return;
    const named = join(directory, ...start);
    const real = realOrNamed(named);
    if (real === named) return;
    if (wild < 0) this.#move(dirname(real), { names: [basename(real)], rule });
    else this.#move(real, { names: names.slice(wild), rule });
  }

  #move(directory: string, { names, rule }: { names: readonly string[]; rule: ProtectionRule }): void {
    let known = this.#moved.get(directory);
    if (known === undefined) this.#moved.set(directory, known = { patterns: new Patterns(), rules: new Map() });
    const key = `${rule.tier} ${rule.pattern} ${names.join("/")}`;
    if (known.rules.has(key)) return;
    known.rules.set(key, rule);
    known.patterns.add(rule, { names });
    this.#version++;
  }
}
