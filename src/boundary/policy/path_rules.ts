/**
 * The rules of the markers: which paths they cover, and by which line. All markers above a file's real path apply, in
 * linked git worktrees, too. Rules are never dropped. Source: specification of the boundary, "The marker".
 */
import { presentOrForbidden } from "../../platform/disk_failure.ts";
import { lstatSync } from "../../platform/files.ts";
import { basename, dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { ancestors, quietly, realOrNamed } from "../../platform/real_path.ts";
import { mainTree } from "./git_directory.ts";
import { leadsToSystem } from "./listing.ts";
import { MARKER_NAME, type MarkerEntry, readMarker } from "./marker.ts";
import {
  compilePatterns,
  type Coverage,
  type Pattern,
  Patterns,
  restBelow,
  ruleBelow,
  type Scope,
} from "./patterns.ts";
import type { DerivedFile, MarkerLines } from "./project_record_files.ts";
import { type ProtectionRule, ruleOfHeld, stricter } from "./protection_rule.ts";

interface Place extends Coverage {
  /** The linked worktrees around it, each with the main tree whose rules apply there, too. */
  worktrees: readonly { at: string; main: string }[];
}

/** Reads the markers at a root (a real path), above it, and in the main tree of a linked worktree. */
export function findMarkers(root: string): PathRules {
  const rules = new PathRules([root]);
  rules.refresh();
  return rules;
}

/** Rules that apply whatever the markers of a project say now, and copies, as the home remembers them. */
export interface Remembered {
  markers: readonly MarkerLines[];
  derived: readonly DerivedFile[];
  /** Rereads it if another session changed it; returns whether one did. */
  reread?(): Promise<boolean>;
}

/** Returns the rules of what the home remembers, alone. */
export function rememberedRules(remembered: readonly Remembered[]): PathRules {
  const rules = new PathRules([], { isOfDisk: false });
  rules.remember(remembered);
  return rules;
}

/** Returns why the endpoints of a marker have no effect, or null. A plain file with one name at the root counts. */
function endpointProblem(path: string, own: string): string | null {
  if (path !== own) return "it counts only in the marker of the project root";
  const status = quietly(() => lstatSync(path));
  return status?.kind === "file" && status.links === 1
    ? null
    : "the marker is a link or has a second name; make it a plain file of its own";
}

/** The parts of a rule that no line states. */
const UNKNOWN = { tier: "no-cloud", pattern: ".", line: 0 } as const;

/** The rules of one session. */
export class PathRules {
  readonly roots: readonly string[];
  /** Marker path → `tier pattern` → rule. */
  readonly #markers = new Map<string, Map<string, ProtectionRule>>();
  /** By starting directory: the directory of a marker, or one that a marker line reaches through a link. */
  readonly #patterns = new Map<string, Patterns>();
  /** By the target of links: the paths that lead there. */
  readonly #links = new Map<string, Set<string>>();
  readonly #warnings = new Set<string>();
  /** Path of an unusable marker, or of a link that makes one unusable → its rule, as of the last refresh. */
  readonly #damaged = new Map<string, ProtectionRule>();
  #standingEndpoints: readonly string[] = [];
  /** Grows with each new rule; cached results of older versions are recomputed. */
  #version = 0;
  #places = new Map<string, Place>();
  #placesVersion = 0;
  /** Markers read since the last refresh. */
  readonly #read = new Set<string>();
  readonly #isOfDisk: boolean;

  /**
   * `roots` are the real paths of the project root and additional directories. Without `isOfDisk`, no marker is read
   * and no link followed: the rules are those that are added, and those of the main tree of a worktree.
   */
  constructor(roots: readonly string[], { isOfDisk = true } = {}) {
    this.roots = roots;
    this.#isOfDisk = isOfDisk;
  }

  /** Changes whenever a rule is added. */
  get version(): number {
    return this.#version;
  }

  /** The rule of an unusable marker, which covers everything until it is usable or gone; null while all are usable. */
  get damaged(): ProtectionRule | null {
    const [rule = null] = this.#damaged.values();
    return rule;
  }

  /** The valid `local-endpoints:` of the first root's marker, whoever wrote them; none while a marker is damaged. */
  get standingEndpoints(): readonly string[] {
    return this.damaged === null ? this.#standingEndpoints : [];
  }

  /** One sentence each, starting with the marker's path. */
  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  /** Reads the markers at the roots and above, and those that are known, again. What was protected stays protected. */
  refresh(): void {
    this.#places.clear();
    this.#read.clear();
    this.#standingEndpoints = [];
    for (const [path, rule] of this.#damaged) {
      if (path !== rule.marker && !this.#isAround(realOrNamed(path), path, rule)) this.#damaged.delete(path);
    }
    for (const path of [...this.#markers.keys()]) this.#learn(path);
    for (const root of this.roots) this.rule(join(root, MARKER_NAME));
  }

  /** Adds what the home remembers, at first or after another session changed it. */
  remember(remembered: readonly Remembered[]): void {
    for (const { path, lines } of remembered.flatMap(({ markers }) => markers)) {
      const entries = lines.map(({ tier, pattern }) => ({ tier, pattern, line: 0, remembered: true }));
      if (entries.length > 0) this.#take(path, entries);
    }
    this.protectCopies(remembered.flatMap(({ derived }) => derived));
  }

  /** Patterns by starting directory: of markers, and of links that marker lines lead through. */
  get patterns(): ReadonlyMap<string, Patterns> {
    return this.#patterns;
  }

  /**
   * Returns the rule that covers a real path, which need not exist, or null: whether it may be read now. Not whether it
   * stays protected: an unusable marker covers everything, until somebody repairs it. Never throws.
   */
  rule(real: string): ProtectionRule | null {
    // What names it is asked first: that reads the markers above it.
    const found = this.named(real);
    return stricter(this.damaged, found);
  }

  /** The same without the unusable markers, but with what the home remembers. */
  named(real: string): ProtectionRule | null {
    return this.#settled(() => this.#ruleNow(real));
  }

  /** Reads the markers of a directory. Returns what gives the rule that names an entry of it, or null if none can. */
  rulesIn(directory: string, mayRule: boolean): ((path: string) => ProtectionRule | null) | null {
    const { covered, scopes, worktrees } = this.#settled(() => this.#placeOf(directory, mayRule));
    const isRuled = covered !== null || scopes.length + worktrees.length > 0;
    return isRuled ? (path) => this.named(path) : null;
  }

  /** Repeats the work until it reads no new marker, because a new one can cover places that were judged before. */
  #settled<T>(work: () => T): T {
    for (;;) {
      if (this.#placesVersion !== this.#version) this.#places.clear();
      this.#placesVersion = this.#version;
      const found = work();
      if (this.#placesVersion === this.#version) return found;
    }
  }

  #ruleNow(real: string): ProtectionRule | null {
    // Faster than `dirname`, which normalizes the whole path.
    const end = real.lastIndexOf("/");
    const directory = end > 3 ? real.slice(0, end) : dirname(real);
    if (directory === real) return this.#placeOf(real).covered;
    const name = real.slice(end + 1);
    return this.#placesOf(directory).map((place) => ruleBelow(place, name)).reduce(stricter, null);
  }

  /** The directory, and what it is in the main tree. */
  #placesOf(directory: string): Place[] {
    const place = this.#placeOf(directory);
    return [place, ...place.worktrees.map(({ at, main }) => this.#placeOf(join(main, relativeTo(at, directory))))];
  }

  /** Returns the patterns that can cover something behind a link. */
  restBehind(link: string): Scope[] {
    const scopes = this.#placesOf(dirname(link)).flatMap(({ scopes }) => scopes);
    return restBelow(scopes, basename(link));
  }

  /** Covers what the rest of patterns names below `real`, too: a link leads there. */
  followInto(real: string, rest: readonly Scope[], link: string): void {
    if (quietly(() => lstatSync(real))?.kind === "file") return;
    const covered = this.markers.filter((marker) => isWithin(real, marker)).flatMap((marker) =>
      rest.map((scope) => scope.ruleOf(relativeTo(real, marker).split("/")))
    ).find((rule) => rule !== null && this.#isAround(real, link, rule));
    const isAbove = this.#isOfSystem(real) ||
      this.roots.some((root) => root !== real && isWithin(real, root) && isWithin(root, link));
    if (covered || isAbove) this.#damage(link, covered ?? null);
    else this.#join(real, rest, link);
  }

  #join(real: string, rest: readonly Scope[], link: string): void {
    if (!rest.map((scope) => this.#patternsAt(real).join(scope)).includes(true)) return;
    this.#noteTarget(real, link);
    this.#version++;
  }

  /** Whether a marker was read so far (at the roots, above them, near a file that was read), or a copy is known. */
  get met(): boolean {
    return this.#markers.size + this.#patterns.size > 0;
  }

  get markers(): readonly string[] {
    return [...this.#markers.keys()];
  }

  /** All rules of the markers read so far; a damaged marker is in {@link damaged}. */
  get rules(): readonly ProtectionRule[] {
    return [...this.#markers.values()].flatMap((rules) => [...rules.values()]);
  }

  /** The markers read so far with their rules, for the project's record. */
  get seen(): readonly MarkerLines[] {
    return [...this.#markers].map(([path, rules]) => ({ path, lines: [...rules.values()] }));
  }

  /** Covers `real`, too: the target of a covered link, or a copy. */
  follow(real: string, rule: ProtectionRule, link?: string): void {
    if (link !== undefined) {
      if (this.#isAround(real, link, rule)) return this.#damage(link, rule);
      this.#noteTarget(real, link);
    }
    this.#start(dirname(real), rule, { names: [basename(real)] });
  }

  /** Returns whether a path is a directory of the system outside of the roots. */
  #isOfSystem(real: string): boolean {
    return leadsToSystem(real) && !this.roots.some((root) => isWithin(root, real)) &&
      quietly(() => lstatSync(real))?.kind === "directory";
  }

  /**
   * Returns whether a link leads from the directory of a rule's marker, or a root, to that directory or above it; or to
   * a directory of the system.
   */
  #isAround(real: string, link: string, { marker }: ProtectionRule): boolean {
    return this.#isOfSystem(real) ||
      [dirname(marker), ...this.roots].some((place) => isWithin(real, place) && isWithin(place, link));
  }

  /** Makes the first marker unusable until the next refresh: nobody knows what it covers. */
  giveUp(damaged: string): void {
    const [marker = MARKER_NAME] = this.#markers.keys();
    this.#damaged.set(marker, { ...UNKNOWN, marker, damaged });
  }

  /** Makes a marker unusable: through the link its line covers every project around it, or the whole disk. */
  #damage(link: string, rule: ProtectionRule | null): void {
    const { tier = "no-cloud", marker = this.markers[0] ?? MARKER_NAME } = rule ?? {};
    const line = rule === null ? "a line" : `"${rule.tier}: ${rule.pattern}"`;
    const damaged =
      `${line} leads to the marker itself, above it, or to a directory of the system, through the link ${link}`;
    this.#damaged.set(link, { ...UNKNOWN, tier, marker, damaged, targetOf: link });
  }

  #placeOf(directory: string, mayRule = this.#isOfDisk): Place {
    const known = this.#places.get(directory);
    if (known !== undefined) return known;
    const up = dirname(directory);
    const above = up === directory ? null : this.#placeOf(up);
    const scopes = above?.scopes.map((scope) => scope.below(basename(directory))) ?? [];
    const marker = join(directory, MARKER_NAME);
    // If the system refuses to say whether a marker exists, assume one.
    if (mayRule && presentOrForbidden(() => lstatSync(marker)) !== null) this.#learn(marker);
    const begun = this.#patterns.get(directory);
    if (begun !== undefined) scopes.push(begun.start);
    const place = {
      covered: scopes.reduce(
        (rule, scope) => stricter(rule, scope.rule),
        above === null ? null : ruleBelow(above, basename(directory)) ?? ruleOfHeld(directory),
      ),
      scopes: scopes.filter((scope) => scope.leadsOn),
      worktrees: [...above?.worktrees ?? [], ...mayRule || !this.#isOfDisk ? this.#worktreeAt(directory) : []],
    };
    this.#places.set(directory, place);
    return place;
  }

  #worktreeAt(directory: string): Place["worktrees"] {
    const main = mainTree(directory);
    return main === null || isWithin(directory, main) ? [] : [{ at: directory, main }];
  }

  #learn(path: string): void {
    if (this.#read.has(path)) return;
    this.#read.add(path);
    this.#damaged.delete(path);
    // A marker that was deleted keeps protecting.
    if (presentOrForbidden(() => lstatSync(path)) === null) return;
    const marker = readMarker(path);
    if (marker.localEndpoints.length > 0) {
      const problem = endpointProblem(path, join(this.roots[0] ?? "/", MARKER_NAME));
      if (problem === null) this.#standingEndpoints = marker.localEndpoints;
      else marker.warnings.push(`local-endpoints has no effect: ${problem}`);
    }
    for (const warning of marker.warnings) this.#warnings.add(`${path}: ${warning}`);
    const { damaged } = marker;
    this.#take(path, damaged === undefined ? marker.entries : []);
    if (damaged !== undefined) {
      this.#damaged.set(path, { ...UNKNOWN, marker: path, damaged });
    }
  }

  #take(path: string, entries: readonly MarkerEntry[]): void {
    const rules = this.#markers.get(path) ?? new Map<string, ProtectionRule>();
    if (!this.#markers.has(path)) this.#version++;
    this.#markers.set(path, rules);
    for (const entry of entries) {
      const key = `${entry.tier} ${entry.pattern}`;
      const known = rules.get(key);
      if (known?.remembered && !entry.remembered) Object.assign(known, { line: entry.line, remembered: false });
      if (known !== undefined) continue;
      const rule = { ...entry, marker: path };
      rules.set(key, rule);
      this.#version++;
      for (const pattern of compilePatterns(entry.pattern)) this.#start(dirname(path), rule, pattern);
    }
  }

  #noteTarget(real: string, link: string): void {
    const links = this.#links.get(real) ?? new Set();
    this.#links.set(real, links.add(link));
  }

  /** Returns a path from which rules were led to a real path or to a directory above it; null if there is none. */
  linkTo(real: string): string | null {
    const target = ancestors(real).find((at) => this.#links.has(at));
    return this.#links.get(target ?? "")?.values().next().value ?? null;
  }

  /** The links that led rules on, as the home records them. */
  get links(): readonly DerivedFile[] {
    return [...this.#links].flatMap(([path, links]) =>
      [...links].map((source) => ({ path, source, isTarget: true, inode: 0, born: 0 }))
    );
  }

  /** Protects files that contain protected content, and what links led to when the home recorded them. */
  protectCopies(derived: readonly DerivedFile[]): void {
    this.#followFormer(derived.filter(({ isTarget }) => isTarget));
    const copies = derived.filter(({ isTarget }) => !isTarget);
    // Each new rule makes the next question for one expensive, and there can be thousands of files.
    const sources = new Map(copies.map(({ source }) => [source, null as ProtectionRule | null]));
    for (const source of sources.keys()) sources.set(source, this.named(source));
    for (const { path, source } of copies) {
      const { tier, marker } = sources.get(source) ?? { ...UNKNOWN, marker: source };
      this.follow(path, { tier, pattern: path, marker, line: 0, copyOf: source });
    }
  }

  /** As if the links were still there. A former link makes no marker unusable: nobody could remove it. */
  #followFormer(links: readonly DerivedFile[]): void {
    let unnamed = links;
    // What one leads to can hold another.
    for (let version = -1; version !== this.#version;) {
      version = this.#version;
      unnamed = links.filter(({ path, source }) => {
        if (this.#isOfSystem(path) || leadsToSystem(path) && this.named(dirname(source)) !== null) return false;
        const [rule, rest] = [this.named(source), this.restBehind(source)];
        this.#noteTarget(path, source);
        this.#join(path, rest, source);
        if (rule !== null) this.follow(path, { ...rule, pattern: path, line: 0, targetOf: source });
        return rule === null && rest.length === 0;
      });
    }
    // Once no line names a link, only the user releases its target.
    for (const { path, source } of unnamed) {
      this.follow(path, { ...UNKNOWN, pattern: path, marker: source, targetOf: source });
    }
  }

  #start(directory: string, rule: ProtectionRule, pattern: Pattern): void {
    if (this.#patternsAt(directory).add(rule, pattern)) this.#version++;
  }

  #patternsAt(directory: string): Patterns {
    const patterns = this.#patterns.get(directory) ?? new Patterns();
    this.#patterns.set(directory, patterns);
    return patterns;
  }
}
