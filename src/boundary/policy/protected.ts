/**
 * The protected set: the files that the rules cover, by path and by identity. Within a session it only grows. Source:
 * specification of the boundary, "Reading".
 */
import { AgentcliError } from "../../errors.ts";
import { type FileStatus, lstatSync } from "../../platform/files.ts";
import { dirname, isWithin, join } from "../../platform/path.ts";
import type { Clock } from "../../platform/io.ts";
import { quietly } from "../../platform/real_path.ts";
import { findRoot, type Identity, type KeptRoot, keptRoots, lastingIdentityOf } from "./identity.ts";
import type { Listing } from "./listing.ts";
import { MARKER_NAME } from "./marker.ts";
import { PathRules, type Remembered, rememberedRules } from "./path_rules.ts";
import { type DerivedFile, keyOf } from "./project_record_files.ts";
import { ProtectedPlaces, ProtectedTree, type WalkOptions } from "./protected_tree.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

/** The longest walk for a local model, in milliseconds: about 60,000 files. A home or a whole disk has more. */
const LOCAL_WALK_MS = 100;

interface SetOptions {
  clock?: Pick<Clock, "now">;
  remembered?: readonly Remembered[];
}

/** The set of one session. */
export class ProtectedSet extends PathRules {
  readonly #tree: ProtectedTree;
  /** The roots as they were when the session began. */
  readonly kept: readonly KeptRoot[];
  /** By lasting identity, for every protected file seen in this session. */
  readonly #identities = new Map<string, ProtectionRule>();
  /** The identities at protected paths, as of the last look. */
  #present = new Set<string>();
  /** Covers every file with several names while some protected file cannot be examined, since it may be that one. */
  #blind: ProtectionRule | null = null;
  #remembered: readonly Remembered[] = [];
  /** The rules behind {@link lasts}; null when they have to be collected anew. */
  #lasting: PathRules | null = null;
  /** The walk that the index was built from. */
  #identified: ProtectedPlaces | null = null;

  /** Reads nothing until it is asked. Its owner calls {@link settle} or {@link hidden} in time. */
  constructor(roots: readonly string[], { clock, remembered = [] }: SetOptions = {}) {
    super(roots);
    this.kept = keptRoots(roots);
    this.#tree = new ProtectedTree(roots, { rules: this, clock });
    this.remember(remembered);
  }

  /**
   * Opens the set of roots (real paths) and walks them: only then does it know where links lead. Given the path that is
   * to be judged, it walks only where a marker is known at it or above it: the root can be a whole home. The markers
   * above `links` count, too.
   */
  static async open(
    roots: readonly string[],
    options: SetOptions & { path?: string | undefined; links?: Iterable<string> } = {},
  ): Promise<ProtectedSet> {
    const { path, links = [] } = options;
    const set = new ProtectedSet(roots, options);
    for (const link of links) set.rule(link);
    if (path !== undefined) set.rule(join(path, MARKER_NAME));
    const isNear = path === undefined || set.markers.some((marker) => isWithin(dirname(marker), path));
    if (isNear) await set.settle();
    return set;
  }

  override remember(remembered: readonly Remembered[]): void {
    super.remember(remembered);
    this.#remembered = remembered;
    this.#lasting = null;
  }

  /** Adds what other sessions have recorded since. */
  async reread(): Promise<void> {
    const changed = await Promise.all(this.#remembered.map((one) => one.reread?.() ?? false));
    if (changed.includes(true)) this.remember(this.#remembered);
  }

  isOf(roots: readonly string[]): boolean {
    return roots.length === this.roots.length && roots.every((root, at) => root === this.roots[at]);
  }

  /**
   * Throws `policy_refused` if another directory is at a root, or none: what is known of the root does not count there,
   * and a sandbox still shows the one that was moved. Where nothing is known, a command may remove the project.
   */
  checkRoots(): void {
    if (!this.met) return;
    const gone = this.kept.find((root) => root.inode !== 0 && findRoot(root) === null);
    if (gone === undefined) return;
    throw new AgentcliError("policy_refused", `${gone.path} was moved or replaced since this session began`, {
      hint: "start again where it is now",
    });
  }

  /** As for the rules, after {@link checkRoots}; the next question walks again. */
  override refresh(): void {
    this.checkRoots();
    this.#tree.expire();
    super.refresh();
  }

  /** Walks the roots, with pauses, and notes which files are protected. Throws the signal's reason. */
  async settle(options: WalkOptions = {}): Promise<void> {
    await this.reread();
    await this.#tree.walk(options);
    if (this.any) this.identify();
  }

  /** Records the identities of the protected files, to recognize them later under any name. Walks the roots. */
  identify(): void {
    const { found } = this.#tree;
    if (this.#identified === found) return;
    if (found.blind) this.#blind = this.rules.reduce(stricter, this.#blind);
    this.#present = new Set();
    for (const { path, rule } of found.protected) {
      const status = rule.damaged === undefined ? quietly(() => lstatSync(path)) : null;
      if (status?.kind !== "file") continue;
      this.#present.add(lastingIdentityOf(status));
      this.#recognize(status, rule);
    }
    this.#identified = found;
  }

  #recognize(file: Identity, rule: ProtectionRule): void {
    // Without inode numbers all files would look the same.
    if (file.inode === 0) return;
    const identity = lastingIdentityOf(file);
    this.#identities.set(identity, stricter(this.#identities.get(identity) ?? null, rule) ?? rule);
  }

  /**
   * Returns the rule for an open file: of its path, or of any name that it has or had in a session. Before any
   * marker is known, the roots are walked only for a file with several names.
   */
  ruleOfFile(status: FileStatus, real: string): ProtectionRule | null {
    const found = this.rule(real);
    if (found?.tier === "list-only" || (status.links < 2 && !this.met)) return found;
    this.identify();
    const known = this.#identities.get(lastingIdentityOf(status)) ?? null;
    // The walk may have found that a marker is unusable.
    return stricter(this.rule(real), stricter(known, status.links > 1 ? this.#blind : null));
  }

  /** Returns the places that a view must hide or leave out. Walks the roots. */
  async hidden(options: WalkOptions = {}): Promise<ProtectedPlaces> {
    await this.settle(options);
    const directories = this.damaged === null ? [] : [...this.roots];
    const nameless = [...this.#identities.keys()].filter((identity) => !this.#present.has(identity));
    return new ProtectedPlaces().add(this.#tree.found).add({ directories, nameless });
  }

  /**
   * Returns whether a path is still protected when this session is over: a line or copy in the home names it. Only then
   * may protected content be left there. Whatever else covers it now ends sooner: an unusable marker is repaired, a
   * link removed, and what only this process knows is forgotten.
   */
  lasts(real: string): boolean {
    this.#lasting ??= rememberedRules(this.#remembered);
    return this.#lasting.named(real) !== null;
  }

  /** The links that are not recorded yet: a command can take one away, and its target would be open next time. */
  get linked(): readonly DerivedFile[] {
    const known = new Set(this.#remembered.flatMap(({ derived }) => derived).map(keyOf));
    return this.links.filter((link) => !known.has(keyOf(link)));
  }

  /** Whether anything inside the roots is protected, or would be if it existed. Walks the roots. */
  get any(): boolean {
    const { files, directories } = this.#tree.found;
    return files.length + directories.length + this.patterns.size > 0 || this.damaged !== null;
  }

  /** The same for a local session: null while no marker was found, and the walk, which each call continues, lasts. */
  get anySoon(): boolean | null {
    const until = performance.now() + LOCAL_WALK_MS;
    while (!this.met && this.#tree.step()) if (performance.now() > until) return null;
    return this.any;
  }

  /** Yields the protected files that exist: real paths inside the roots, and those that rules name elsewhere. */
  *files(): Generator<string> {
    for (const { path } of this.#tree.found.protected) yield path;
  }

  /** The directories inside the roots that are open, or will be when this session is over. Walks the roots. */
  get openDirectories(): readonly Listing[] {
    const { listings, closed } = this.#tree.found;
    return [...listings, ...closed.filter(({ directory }) => !this.lasts(directory))];
  }

  /** As for the rules; copies are recognized under every name. */
  override protectCopies(derived: readonly DerivedFile[]): void {
    super.protectCopies(derived);
    for (const file of derived) {
      const rule = this.named(file.path);
      if (rule !== null) this.#recognize(file, rule);
    }
  }
}
