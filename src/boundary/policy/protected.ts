/**
 * The protected set: what the rules cover in the trees below the roots and elsewhere, and what those files are, whatever
 * they are called. Within a session it only grows. Source: specification of the boundary, "Reading".
 */
import type { FileStatus } from "../../platform/files.ts";
import type { Clock } from "../../platform/io.ts";
import { FormerFiles, InodeIndex, type SaltedFile, type SeenFile, stateOf } from "./inode_index.ts";
import type { Listing } from "./listing.ts";
import { PathRules } from "./path_rules.ts";
import type { DerivedFile, MarkerLines } from "./project_record_files.ts";
import { ProtectedPlaces, ProtectedTree, type WalkOptions } from "./protected_tree.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

/** The part of a project record that protects: rules that hold whatever the markers say now, copies of protected files, and what those were. */
export interface Remembered {
  readonly markers: readonly MarkerLines[];
  readonly derived: readonly DerivedFile[];
  readonly met: readonly SaltedFile[];
  /** Takes what other sessions have recorded since; returns whether they did. */
  reread?(): Promise<boolean>;
}

/** Longest walk for a model that runs here, in milliseconds: about 60,000 files; a home or a disk has more. */
const LOCAL_WALK_MS = 100;

/** The set of one session. Nothing is read before something is asked. */
export class ProtectedSet extends PathRules {
  readonly #tree: ProtectedTree;
  readonly #identities = new InodeIndex();
  #remembered: readonly Remembered[] = [];
  #met: readonly SaltedFile[] = [];
  readonly #former = new FormerFiles();
  readonly #unnamed = new Set<string>();
  /** The walk whose files are in the index. */
  #identified: object | null = null;

  /** `roots` are real paths: the project root and the additional ones. */
  constructor(
    roots: readonly string[],
    { clock, remembered = [] }: { clock?: Pick<Clock, "now">; remembered?: readonly Remembered[] } = {},
  ) {
    super(roots);
    this.#tree = new ProtectedTree(roots, { rules: this, clock });
    this.remember(remembered);
  }

  /** Takes what the home remembers, now or as another session has changed it. */
  remember(remembered: readonly Remembered[]): void {
    for (const marker of remembered.flatMap(({ markers }) => markers)) this.recallMarker(marker);
    for (const { derived } of remembered) for (const file of derived) this.protectCopy(file);
    this.#remembered = remembered;
    this.#met = remembered.flatMap(({ met }) => met);
  }

  /** Takes what other sessions have recorded since. */
  async reread(): Promise<void> {
    const changed = await Promise.all(this.#remembered.map((one) => one.reread?.() ?? false));
    if (changed.includes(true)) this.remember(this.#remembered);
  }

  isOf(roots: readonly string[]): boolean {
    return roots.length === this.roots.length && roots.every((root, at) => root === this.roots[at]);
  }

  /** Reads the known markers again, and looks for what is new when it is next asked for. What was protected stays so. */
  refresh(): void {
    this.#tree.expire();
    this.refreshRules();
  }

  /**
   * Looks at the roots, with pauses, and notes which files are protected; returns those that were found to be what a
   * protected one was, or to hold what it held. Throws the signal's reason.
   */
  async settle(options: WalkOptions = {}): Promise<readonly DerivedFile[]> {
    await this.reread();
    await this.#tree.walk(options);
    const { listings } = this.#tree.found;
    const found = await this.#former.find(this.#met, { listings, isCovered: (path) => this.rule(path) !== null });
    for (const file of found) this.protectCopy(file);
    if (found.length > 0) await this.#tree.walk(options);
    if (this.any) this.identify();
    return found;
  }

  /** Protected files of the roots that the home does not know as they are; at most a few hundred are looked at. */
  get unmet(): readonly SeenFile[] {
    const met = new Set(this.#met.map((file) => stateOf(file.path, file)));
    return this.#identities.seen.filter(({ path, status }) =>
      !this.#unnamed.has(path) && !met.has(stateOf(path, status))
    );
  }

  /** Notes which files are protected now, so that they are known later under any name. Walks the roots. */
  identify(): void {
    if (this.damaged !== null) return;
    const { found } = this.#tree;
    if (this.#identified === found) return;
    this.#identities.look(found.protected, found.blind ? this.rules.reduce(stricter, null) : null);
    this.#identified = found;
  }

  /**
   * The rule for an open file: of its path, or of any other name that it has or had in this session. Where no marker was
   * met, markers below are looked for only when it has several names.
   */
  ruleOfFile(status: FileStatus, real: string): ProtectionRule | null {
    const found = this.rule(real);
    if (found?.tier === "list-only" || (status.links < 2 && !this.met)) return found;
    this.identify();
    return stricter(found, this.#identities.ruleOf(status));
  }

  /** Places that a view must not show as they are. Walks the roots. */
  async hidden(options: WalkOptions = {}): Promise<ProtectedPlaces> {
    await this.settle(options);
    return new ProtectedPlaces().add(this.#tree.found).add({ nameless: [...this.#identities.nameless] });
  }

  /** Whether anything inside of the roots is protected now, or would be if it appeared. Walks the roots. */
  get any(): boolean {
    const { files, directories } = this.#tree.found;
    return files.length + directories.length + this.rules.length > 0 || this.damaged !== null;
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
   * The protected files inside of the roots as they stand now; null where the walk takes longer than so many milliseconds.
   * The next call goes on where it ended then.
   */
  filesWithin(milliseconds: number): string[] | null {
    const until = performance.now() + milliseconds;
    while (this.#tree.step()) if (performance.now() > until) return null;
    return this.#tree.found.protected.map(({ path }) => path);
  }

  /** The protected files that exist: real paths inside of the roots, and what the rules name elsewhere. */
  *files(): Generator<string> {
    for (const { path } of this.#tree.found.protected) yield path;
  }

  /** The open directories inside of the roots as they stand. Walks the roots. */
  get openDirectories(): readonly Listing[] {
    return this.#tree.found.listings;
  }

  /** Protects a file that holds content of a protected one; one whose name holds some is not told to the home. */
  protectCopy(file: DerivedFile & { isNameProtected?: boolean }): void {
    if (file.isNameProtected) this.#unnamed.add(file.path);
    const source = this.rule(file.source);
    const { marker = file.source, tier = "no-cloud" } = source ?? {};
    const copy = { copyOf: file.source, copiedAt: file.at ?? 0 };
    const rule: ProtectionRule = { tier, pattern: file.path, marker, line: 0, ...copy };
    this.follow(file.path, rule);
    this.#identities.add(file, rule);
  }

  /** How many times a directory was listed, for tests: one that is as it was is not listed again. */
  get timesListed(): number {
    return this.#tree.listings.count;
  }
}
