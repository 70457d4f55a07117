/**
 * What the home remembers of each project that ever had a marker: its rules, which only the user can revoke; the local
 * endpoints that the user trusts; fragments that may leave; and files with copies of protected content. The files of a
 * project can only tighten what is recorded here.
 */
import { AgentcliError } from "../../errors.ts";
import { sha256 } from "../../platform/digest.ts";
import type { Home } from "../../platform/home.ts";
import { dirname, isWithin } from "../../platform/path.ts";
import { ancestors } from "../../platform/real_path.ts";
import { headCommit, mainTree } from "./git_directory.ts";
import { type Identity, identityAt, isSameFile, lastingIdentityOf, type MetFile } from "./inode_index.ts";
import {
  changeRecord,
  type DerivedFile,
  emptyRecord,
  isOpen,
  isReplaced,
  joined,
  knownProjects,
  type MarkerLines,
  rebased,
  type RecordData,
  recordsVersion,
  type SeenFacts,
  tightened,
} from "./project_record_files.ts";

/** The record of one project, for one session. The methods for commands of the user throw `home_unusable`. */
export class ProjectRecord {
  readonly root: string;
  readonly #home: Home;
  #version = "";
  /** The first commit that counts for a new record: of a linked worktree, that of its main tree. */
  #firstHead: string | null = null;
  #own: RecordData | null = null;
  /** Known projects whose rules apply here, too: around this one, inside it, its main tree, and one that was moved here. */
  #others: readonly RecordData[] = [];
  /** Why the record cannot be read or written, or null. With a problem, no remote session may start. */
  problem: AgentcliError | null = null;
  /** The root of the known project around this one; null if there is none, or if this one was known first. */
  outer: string | null = null;
  /** The root that its record has, if the project was moved since it was last seen. */
  movedFrom: string | null = null;
  /** True if another directory now has the known project's path, or its record is gone: rules still apply, trust does not. */
  replaced = false;

  private constructor(home: Home, root: string) {
    this.#home = home;
    this.root = root;
  }

  /**
   * Opens the record of the project with this root (a real path), with what is remembered of projects around and inside
   * it. Costs one `stat` if no project is known. `markers` are those at the root and above: a project with one is
   * recorded when first seen, and trusts the `endpoints` of its own marker unless it lies in a known project. Without
   * `create` nothing is written. Failures are in {@link problem}.
   */
  static async open(
    home: Home,
    root: string,
    { markers = [], endpoints = [], create = true }: {
      markers?: readonly MarkerLines[];
      endpoints?: readonly string[];
      create?: boolean;
    } = {},
  ): Promise<ProjectRecord> {
    const record = new ProjectRecord(home, root);
    await record.#attempt(async () => {
      const trusted = await record.#find();
      const isNew = record.#own === null;
      if (isNew && markers.length === 0) return;
      const own = record.#own ?? { ...record.#blank(), endpoints: endpoints.filter(trusted) };
      const now = tightened(own, { markers });
      if (!create) record.#own = now;
      else if (isNew || now !== own || record.movedFrom !== null) {
        await record.#change((data) => tightened(data, { markers }), { before: own });
      }
    });
    return record;
  }

  /** The record of this project itself; null until a marker was seen. */
  get own(): RecordData | null {
    return this.#own;
  }

  get #all(): readonly RecordData[] {
    return this.#own === null ? this.#others : [this.#own, ...this.#others];
  }

  /** Whether a marker was ever seen here, or in a known project around or inside this one. */
  get known(): boolean {
    return this.#all.some(({ markers, derived }) => markers.length + derived.length > 0);
  }

  /** All markers ever seen, with every line they ever had. */
  get markers(): readonly MarkerLines[] {
    return this.#all.flatMap(({ markers }) => markers);
  }

  get derived(): readonly DerivedFile[] {
    return this.#all.flatMap(({ derived }) => derived);
  }

  /**
   * Returns the paths of the copies that can be released here: those in the project, and those elsewhere that this
   * project left, not another one that had its path.
   */
  get releasable(): string[] {
    const isHere = ({ path }: DerivedFile) => isWithin(this.root, path);
    const own = this.#own?.derived ?? [];
    const others = this.#others.filter(({ root }) => root !== this.root).flatMap(({ derived }) => derived);
    const found = [...this.replaced ? own.filter(isHere) : own, ...others.filter(isHere)];
    return [...new Set(found.map(({ path }) => path))];
  }

  get met(): readonly MetFile[] {
    return this.#all.flatMap(({ met }) => met);
  }

  /** The commit at HEAD when the project was first seen; null without one. */
  get firstHead(): string | null {
    return this.#own?.firstHead ?? null;
  }

  /** Rules that the user revoked, here or in the main tree; what they named may stand in that commit. */
  get revoked(): readonly MarkerLines[] {
    return this.#all.flatMap(({ revoked = [] }) => revoked);
  }

  /** The values of `local-endpoints:` that the user trusted, or that stood in the marker when the project was first seen. */
  get trustedEndpoints(): readonly string[] {
    return this.#own?.endpoints ?? [];
  }

  /** Returns whether the user, here or there, let an endpoint receive what a marker outside the project protects. */
  opens(endpoint: string, marker: string): boolean {
    if (this.#own?.confirmed.includes(endpoint)) return true;
    return this.#others.some(({ root, endpoints }) => root === dirname(marker) && endpoints.includes(endpoint));
  }

  /** Rereads the record if another session changed it; returns whether one did. */
  async reread(): Promise<boolean> {
    const before = this.#version;
    await this.#attempt(async () => {
      if (await recordsVersion(this.#home) !== before) await this.#find();
    });
    return this.#version !== before;
  }

  /** Records that the project was seen, before a model can change it: `local-endpoints:` added later count as new. */
  async note(): Promise<void> {
    if (this.#own !== null || this.problem !== null) return;
    await this.#change((data) => data).catch((error) => {
      // Without a writable home nothing is trusted when first seen, either.
      if (!(error instanceof AgentcliError)) throw error;
    });
  }

  /** Adds new facts; writes only if there are any. The only change that a project's files can cause. */
  async tighten({ markers = [], derived = [], met = [] }: SeenFacts): Promise<void> {
    const own = this.#own;
    const isKnown = markers.length === 0 || own !== null && tightened(own, { markers }) === own;
    if (isKnown && derived.length + met.length === 0) return;
    await this.#attempt(() => this.#change((data) => tightened(data, { markers, derived, met })));
  }

  /**
   * Applies `secrets trust`: the current markers become the rules, these endpoints are trusted (`confirmed` ones also
   * beside other markers), and these files are released. For a project without markers, only the fact that it was seen
   * remains, and files that nobody released.
   */
  async trust(
    { markers, endpoints, confirmed, released }: {
      markers: readonly MarkerLines[];
      endpoints: readonly string[];
      confirmed: readonly string[];
      released: readonly string[];
    },
  ): Promise<void> {
    // Read first: the decision makes it this directory's own record.
    const mine = this.replaced ? released.filter((path) => isWithin(this.root, path)) : released;
    await this.#decide((data) => {
      const named = [...new Set([...data.confirmed.filter((value) => endpoints.includes(value)), ...confirmed])];
      const allowed = markers.length === 0 ? [] : data.allowed;
      const revoked = joined(data.revoked ?? [], data.markers);
      return tightened({ ...data, markers: [], revoked, endpoints, confirmed: named, allowed }, { markers });
    });
    await this.release(mine);
  }

  async trustEndpoint(value: string): Promise<void> {
    await this.#decide((data) => ({
      ...data,
      endpoints: [...new Set([...data.endpoints, value])],
      confirmed: [...new Set([...data.confirmed, value])],
    }));
  }

  async allows(fragment: string): Promise<boolean> {
    const { salt, allowed } = this.#own ?? emptyRecord(this.root);
    return allowed.length > 0 && allowed.includes(await sha256(salt + fragment));
  }

  /** Lets fragments leave; keeps their salted digests. */
  async allow(fragments: readonly string[]): Promise<void> {
    await this.#decide(async (data) => {
      const digests = await Promise.all(fragments.map((fragment) => sha256(data.salt + fragment)));
      return { ...data, allowed: [...new Set([...data.allowed, ...digests])] };
    });
  }

  /** Releases files by path, and stops looking for their identity, also where another project recorded those. */
  async release(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const isNamed = ({ path }: { path: string }) => paths.includes(path);
    const released = [...this.derived.filter(isNamed), ...paths.map(identityAt)];
    const without = ({ derived, met, ...data }: RecordData): RecordData => ({
      ...data,
      derived: derived.filter((file) => !isNamed(file)),
      met: met.filter((file) => !isNamed(file) && !released.some((one) => isSameFile(one, file))),
    });
    await this.#change(without);
    for (const { root, met, derived } of this.#others) {
      if (met.length + derived.length > 0) {
        await changeRecord(this.#home, { root, moved: null, before: emptyRecord(root) }, without);
      }
    }
  }

  /** Runs work and stores its failure in {@link problem}. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AgentcliError)) throw error;
      this.problem = error;
    }
  }

  /** Finds what is known of the root. Returns which endpoints of its marker are trusted when first seen. */
  async #find(): Promise<(endpoint: string) => boolean> {
    const { root } = this;
    const [main, here] = [mainTree(root), identityAt(root)];
    const around = new Map(ancestors(root).map((at) => [lastingIdentityOf(identityAt(at)), at]));
    /** Returns where a known project is now, if that is the root or a directory around it. */
    const placeOf = (known: Identity) => known.born === 0 ? undefined : around.get(lastingIdentityOf(known));
    this.#version = await recordsVersion(this.#home);
    const isNear = (known: Identity & { root: string }) =>
      isWithin(known.root, root) || isWithin(root, known.root) || known.root === main || placeOf(known) !== undefined;
    const all = await knownProjects(
      this.#home,
      (known) => known.isLost ? placeOf(known) !== undefined : isNear(known) || known.reaches === true,
    );
    // A new directory at the path of one that was seen without markers counts as unseen.
    const found = all.filter((data) => data.root !== root || !isOpen(data) || [0, here.inode].includes(data.inode));
    const moved = found.find((data) => (data.isLost || data.root !== root) && placeOf(data) === root);
    const own = found.find((data) =>
      !data.isLost && data.root === root && (moved === undefined || isSameFile(data, here))
    );
    const others = found.filter((data) => data !== (own ?? moved)).flatMap((data) => {
      // Another project's command left them here, below `sandbox.write`.
      if (!isNear(data)) {
        return [{ ...emptyRecord(data.root), derived: data.derived.filter(({ path }) => isWithin(root, path)) }];
      }
      const held = heldBy(data);
      const place = placeOf(data) ?? data.root;
      return place === data.root ? [held] : [held, { ...rebased(held, place), met: [] }];
    });
    const now = own ?? (moved === undefined ? null : rebased(moved, root));
    const ofMain = others.find((data) => data.root === main);
    this.#firstHead = ofMain === undefined ? headCommit(root) : ofMain.firstHead;
    // A record that was removed has no inode: nothing there is trusted as it stands.
    this.#own = now === null || !isOpen(now) || now.inode === 0 ? now : { ...this.#blank(), firstHead: now.firstHead };
    this.#others = others;
    this.replaced = own !== undefined && isReplaced(own, here);
    if (this.#own !== null) this.#own = this.#trusted(this.#own);
    // A project mounted at two places was not moved.
    const isMoved = own === undefined && moved !== undefined && !isOpen(moved) &&
      (moved.isLost || !isSameFile(identityAt(moved.root), here));
    this.movedFrom = isMoved ? moved.root : null;
    // A project that was known before the one around it keeps its own trust.
    if (this.#own !== null) return () => false;
    const outer = others.map((data) => data.root).filter((at) => at !== root && isWithin(at, root));
    this.outer = outer.sort((one, other) => other.length - one.length)[0] ?? ofMain?.root ?? null;
    // Whoever made a marker above a known project decides nothing about what that protects.
    const inside = others.filter((data) =>
      data.root !== root && isWithin(root, data.root) && (!isOpen(data) || data.inode === 0)
    );
    // A linked worktree belongs to the project of its main tree and trusts what that trusts.
    return (endpoint) =>
      inside.every(({ endpoints }) => endpoints.includes(endpoint)) &&
      (this.outer === null || this.outer === main && ofMain?.endpoints.includes(endpoint) === true);
  }

  #blank(): RecordData {
    return { ...emptyRecord(this.root), ...identityAt(this.root), firstHead: this.#firstHead };
  }

  /** Changes the record by the user's word, which is for the directory that is here now and not for another one. */
  async #decide(work: (data: RecordData) => RecordData | Promise<RecordData>): Promise<void> {
    await this.#change((data) => {
      const own = { ...this.#trusted(data), ...identityAt(this.root), firstHead: data.firstHead };
      this.replaced = false;
      return work(own);
    });
  }

  /** Returns the record without what the user said and did in another directory. */
  #trusted(data: RecordData): RecordData {
    return this.replaced ? { ...data, endpoints: [], confirmed: [], allowed: [], firstHead: null } : data;
  }

  async #change(
    work: (data: RecordData) => RecordData | Promise<RecordData>,
    { before = this.#own ?? this.#blank() } = {},
  ): Promise<void> {
    const { root, movedFrom: moved } = this;
    this.#own = this.#trusted(await changeRecord(this.#home, { root, moved, before }, work));
  }
}

/** Returns another project's record without the markers around it: those are its own business. */
function heldBy(known: RecordData): RecordData {
  return { ...known, markers: known.markers.filter(({ path }) => isWithin(known.root, path)) };
}
