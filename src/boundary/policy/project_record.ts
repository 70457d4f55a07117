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
import { type Identity, identityAt, lastingIdentityOf, rootKey } from "./identity.ts";
import {
  type DerivedFile,
  emptyRecord,
  isOpen,
  joined,
  knownProjects,
  type MarkerLines,
  placedAt,
  readRecord,
  type RecordData,
  recordsVersion,
  type SeenFacts,
  storeRecord,
  tightened,
} from "./project_record_files.ts";

/** The record of one project, for one session. The methods for commands of the user throw `home_unusable`. */
export class ProjectRecord {
  readonly root: string;
  readonly #home: Home;
  /** The values of `local-endpoints:` that stood in the marker when the record was opened. */
  readonly #endpoints: readonly string[];
  #version = "";
  /** The record of this project itself; null until it was seen with a marker, or by a model. */
  own: RecordData | null = null;
  /** Known projects whose rules apply here, too: around this one, inside it, and its main tree. */
  #others: readonly RecordData[] = [];
  /** Why the record cannot be read or written, or null. With a problem, no remote session may start. */
  problem: AgentcliError | null = null;
  /** Tells the user that the project was moved, or that its rules are those of another directory; null otherwise. */
  notice: string | null = null;

  private constructor(home: Home, root: string, endpoints: readonly string[]) {
    this.#home = home;
    this.root = root;
    this.#endpoints = endpoints;
  }

  /**
   * Opens the record of the project with this root (a real path), with what is remembered of projects around and inside
   * it. Reads one file if no project is known. `markers` are those at the root and above: a project with one is
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
    const record = new ProjectRecord(home, root, endpoints);
    await record.#attempt(async () => {
      const stored = await record.#find();
      if (record.own === null && markers.length === 0) return;
      const now = tightened(record.own ?? record.#unseen(), { markers });
      if (!create) record.own = now;
      else if (now !== stored) await record.#change((data) => tightened(data, { markers }));
    });
    return record;
  }

  get #all(): readonly RecordData[] {
    return this.own === null ? this.#others : [this.own, ...this.#others];
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

  /** Returns the paths of the copies that can be released here: those in the project, and those it left elsewhere. */
  get releasable(): string[] {
    const isHere = ({ path }: DerivedFile) => isWithin(this.root, path);
    const others = this.#others.flatMap(({ derived }) => derived).filter(isHere);
    return [...new Set([...this.own?.derived ?? [], ...others].map(({ path }) => path))];
  }

  /** The commit at HEAD when the project was first seen; null without one. */
  get firstHead(): string | null {
    return this.own?.firstHead ?? null;
  }

  /** Rules that the user revoked, here or in the main tree; what they named may stand in that commit. */
  get revoked(): readonly MarkerLines[] {
    return this.#all.flatMap(({ revoked }) => revoked);
  }

  /** The values of `local-endpoints:` that the user trusted, or that the marker had when the project was first seen. */
  get trustedEndpoints(): readonly string[] {
    return this.own?.endpoints ?? [];
  }

  /** Returns whether the user, here or there, let an endpoint receive what a marker outside the project protects. */
  opens(endpoint: string, marker: string): boolean {
    if (this.own?.confirmed.includes(endpoint)) return true;
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
    if (this.own !== null || this.problem !== null) return;
    await this.#change((data) => data).catch((error) => {
      // Without a writable home nothing is trusted when first seen, either.
      if (!(error instanceof AgentcliError)) throw error;
    });
  }

  /** Adds new facts; writes only if there are any. The only change that a project's files can cause. */
  async tighten({ markers = [], derived = [] }: SeenFacts): Promise<void> {
    const own = this.own;
    const isKnown = markers.length === 0 || own !== null && tightened(own, { markers }) === own;
    if (isKnown && derived.length === 0) return;
    await this.#attempt(() => this.#change((data) => tightened(data, { markers, derived })));
  }

  /**
   * Applies `secrets trust`: the current markers become the rules, and these endpoints are trusted (`confirmed` ones
   * also beside other markers). For a project without markers, only the fact that it was seen remains, and its copies.
   */
  async trust(
    { markers, endpoints, confirmed }: Pick<RecordData, "markers" | "endpoints" | "confirmed">,
  ): Promise<void> {
    await this.#change((data) => {
      const named = [...new Set([...data.confirmed.filter((value) => endpoints.includes(value)), ...confirmed])];
      const allowed = markers.length === 0 ? [] : data.allowed;
      const revoked = joined(data.revoked, data.markers);
      return tightened({ ...data, markers: [], revoked, endpoints, confirmed: named, allowed }, { markers });
    });
  }

  async trustEndpoint(value: string): Promise<void> {
    await this.#change((data) => ({
      ...data,
      endpoints: [...new Set([...data.endpoints, value])],
      confirmed: [...new Set([...data.confirmed, value])],
    }));
  }

  async allows(fragments: readonly string[]): Promise<boolean> {
    const { salt = "", allowed = [] } = this.own ?? {};
    for (const fragment of fragments) if (!allowed.includes(await sha256(salt + fragment))) return false;
    return true;
  }

  /** Lets fragments leave; keeps their salted digests. */
  async allow(fragments: readonly string[]): Promise<void> {
    await this.#change(async (data) => {
      const digests = await Promise.all(fragments.map((fragment) => sha256(data.salt + fragment)));
      return { ...data, allowed: [...new Set([...data.allowed, ...digests])] };
    });
  }

  /** Releases files by path; those in the project also where another project recorded them. */
  async release(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const without = (data: RecordData, named: readonly string[]): RecordData => ({
      ...data,
      derived: data.derived.filter(({ path }) => !named.includes(path)),
    });
    await this.#change((data) => without(data, paths));
    const here = paths.filter((path) => isWithin(this.root, path));
    for (const other of this.#others.filter(({ derived }) => derived.some(({ path }) => here.includes(path)))) {
      await storeRecord(this.#home, async () => {
        const data = await readRecord(this.#home, other.id) ?? other;
        return placedAt(data.root, without(placedAt(other.root, data), here));
      });
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

  /** Finds what is known of the root. Returns its record as it is stored; null if that is not up to date. */
  async #find(): Promise<RecordData | null> {
    const { root } = this;
    this.#version = await recordsVersion(this.#home);
    const near = ancestors(root);
    near.push(...near.map(mainTree).filter((main) => main !== null));
    const around = new Map(near.toReversed().map((at) => [rootKey(at), at]));
    /** Returns where the directory of a record is: found by its identity, else where it was last seen. */
    const placeOf = (known: Identity & { root: string }) =>
      known.inode === 0 || known.born === 0 ? known.root : around.get(lastingIdentityOf(known)) ?? known.root;
    const known = await knownProjects(this.#home, (known) => {
      const at = placeOf(known);
      return near.includes(at) || !known.open && isWithin(root, at) || known.reaches === true;
    });
    const found = known.map((data) => {
      const at = placeOf(data);
      return { data, at, isThere: rootKey(at) === lastingIdentityOf(data) };
    });
    const mine = found.find(({ at, isThere }) => isThere && at === root);
    const stored = mine?.data.root === root ? mine.data : null;
    // A directory takes over the rules of those that had its path before it.
    const taken = stored === null ? found.filter((one) => one.at === root && one !== mine && !isOpen(one.data)) : [];
    const isReplaced = (place: string) =>
      found.some(({ data, at, isThere }) => isThere && at === place && data.root === place);
    this.#others = found.filter((one) => one !== mine && !taken.includes(one)).map(({ data, at, isThere }) => {
      const isNear = near.includes(at) || isWithin(root, at);
      if (!isNear || !isThere && isReplaced(at)) {
        // What its commands left here by `sandbox.write` counts. Only its own project follows a link.
        const isLeft = ({ path, isTarget }: DerivedFile) =>
          isTarget !== true && isWithin(root, path) && !isWithin(data.root, path);
        return { ...emptyRecord(data.root, data), id: data.id, derived: data.derived.filter(isLeft) };
      }
      const here = placedAt(at, data);
      const markers = here.markers.filter(({ path }) => isWithin(at, path) || isWithin(at, root));
      return { ...here, markers, ...isThere ? {} : { endpoints: [], firstHead: null } };
    });
    const own = mine === undefined ? emptyRecord(root, identityAt(root)) : placedAt(root, mine.data);
    this.own = mine === undefined && taken.length === 0 ? null : tightened(own, {
      markers: taken.flatMap(({ data }) => data.markers),
      derived: taken.flatMap(({ data }) => data.derived).filter(({ path }) => isWithin(root, path)),
    });
    const isMoved = mine !== undefined && stored === null && !isOpen(mine.data);
    this.notice = isMoved
      ? `the project ${mine.data.root} is now at ${root}; what was known of it holds here`
      : mine === undefined && taken.length > 0
      ? `${root} is another directory than the one that was known there; what is known to be protected stays so, and ` +
        "nothing is trusted (agentcli secrets trust takes it as it is now)"
      : null;
    return stored;
  }

  /**
   * Returns the record of a project that is seen for the first time. Whoever made a marker in a known project, or above
   * one, decides nothing about what that protects. A linked worktree belongs to the project of its main tree, and
   * trusts what that trusts.
   */
  #unseen(): RecordData {
    const { root } = this;
    const main = mainTree(root);
    const ofMain = this.#others.find((known) => known.root === main);
    const inside = this.#others.filter((known) => known.root !== root && isWithin(root, known.root));
    const outer = this.#others.filter((known) => known.root !== root && isWithin(known.root, root));
    const isTrusted = (endpoint: string) =>
      [...inside, ofMain].every((known) => known?.endpoints.includes(endpoint) ?? true) &&
      outer.every((known) => ofMain !== undefined && isWithin(known.root, ofMain.root));
    const firstHead = ofMain === undefined ? headCommit(root) : ofMain.firstHead;
    return { ...emptyRecord(root, identityAt(root)), firstHead, endpoints: this.#endpoints.filter(isTrusted) };
  }

  /** Changes the record as it is on the disk, and stores it. */
  async #change(work: (data: RecordData) => RecordData | Promise<RecordData>): Promise<void> {
    this.own = await storeRecord(this.#home, async () => {
      await this.#find();
      return await work(this.own ?? this.#unseen());
    });
  }
}
