/**
 * What the home remembers of each project that ever had a marker: its rules, which only the user takes back; the local
 * endpoints that the user trusts; the fragments that are allowed to leave; and files that hold copies of protected
 * content. Files of a project can only tighten what is recorded here.
 */
import { AgentcliError } from "../../errors.ts";
import type { Home } from "../../platform/home.ts";
import { dirname, isWithin } from "../../platform/path.ts";
import { commonDirectory, headCommit, mainTree } from "./git_directory.ts";
import { type MetFile, metFile, MOST_KEPT, type SaltedFile, type SeenFile } from "./inode_index.ts";
import {
  changeRecord,
  type DerivedFile,
  digest,
  emptyRecord,
  identityAt,
  isOpen,
  isSameDirectory,
  knownProjects,
  type MarkerLines,
  rebased,
  type RecordData,
  recordsVersion,
} from "./project_record_files.ts";

/** A project as it stands when its record is opened. */
interface StandingProject {
  /** The markers at the root and above it. */
  seen: readonly MarkerLines[];
  /** The `local-endpoints:` of the root's own marker. */
  endpoints: readonly string[];
  /** False shows what would be recorded, and writes nothing. */
  create?: boolean;
}

/**
 * The record of the project with this root (a real path), with all that is remembered of projects around it and inside
 * of it. Where no project is known this is one look. A project with a marker is recorded when it is first seen, with its
 * endpoints as trusted, unless a known project holds it. What goes wrong is in {@link ProjectRecord.problem}.
 */
export async function openProjectRecord(home: Home, root: string, project: StandingProject): Promise<ProjectRecord> {
  const record = new ProjectRecord(home, root);
  await record.open(project);
  return record;
}

/** The record of one project, for one session. Methods that the user asks for throw `home_unusable`. */
export class ProjectRecord {
  readonly root: string;
  readonly #home: Home;
  #version = "";
  #own: RecordData | null = null;
  /** Known projects around this one, inside of it, its main tree, and what was moved here: their rules hold too. */
  #others: readonly RecordData[] = [];
  /** Why the record cannot be read or written; null when it can. Nothing remote may start then. */
  problem: AgentcliError | null = null;
  /** The root of the known project that this one lies in; null when there is none, or this one was known before it. */
  outer: string | null = null;
  /** Where the project was when it was last seen, when that was elsewhere. */
  movedFrom: string | null = null;
  /** Another directory stands at the path of the project that is known, or its record is gone: its rules hold, its trust does not. */
  replaced = false;

  constructor(home: Home, root: string) {
    this.#home = home;
    this.root = root;
  }

  /** The record of this very project; null until a marker was seen. */
  get own(): RecordData | null {
    return this.#own;
  }

  get #all(): readonly RecordData[] {
    return this.#own === null ? this.#others : [this.#own, ...this.#others];
  }

  /** Whether a marker was ever seen here, or in a known project around this one or inside of it. */
  get known(): boolean {
    return this.#all.some(({ markers, derived }) => markers.length + derived.length > 0);
  }

  /** The markers that were ever seen, with every line that ever stood in them. */
  get markers(): readonly MarkerLines[] {
    return this.#all.flatMap(({ markers }) => markers);
  }

  get derived(): readonly DerivedFile[] {
    return this.#all.flatMap(({ derived }) => derived);
  }

  get met(): readonly SaltedFile[] {
    return this.#all.flatMap(({ met, salt }) => met.map((file) => ({ ...file, salt })));
  }

  /** The commit that HEAD named when the project was first seen; null without one. */
  get firstHead(): string | null {
    return this.replaced ? null : this.#own?.firstHead ?? null;
  }

  /** The values of `local-endpoints:` that may have an effect here. */
  get trustedEndpoints(): readonly string[] {
    return this.replaced ? [] : this.#own?.endpoints ?? [];
  }

  /** Whether an endpoint opens what a marker outside of the project protects: the user said so, here or there. */
  opens(endpoint: string, marker: string): boolean {
    if (!this.replaced && this.#own?.confirmed.includes(endpoint)) return true;
    return this.#others.some(({ root, endpoints }) => root === dirname(marker) && endpoints.includes(endpoint));
  }

  /** Reads what is known, and records the project when it is first seen. See {@link openProjectRecord}. */
  async open({ seen, endpoints, create = true }: StandingProject): Promise<void> {
    await this.#attempt(async () => {
      const main = await this.#find();
      if (this.#own === null && seen.length > 0) {
        // A linked worktree is another place of its main tree's project, and trusts what that trusts.
        const ofMain = this.outer === main ? this.#others.find(({ root }) => root === main)?.endpoints : undefined;
        const trusted = this.outer === null ? endpoints : endpoints.filter((value) => ofMain?.includes(value));
        const first = (data: RecordData, isNew: boolean) =>
          isNew ? { ...added(data, seen), endpoints: trusted } : added(data, seen);
        if (create) await this.#change(first);
        else this.#own = first(this.#blank(), true);
      } else if (create) {
        await this.remember(seen);
        if (this.movedFrom !== null) await this.#change((data) => data);
      }
    });
  }

  /** Reads again what other sessions may have changed; returns whether one did. */
  async reread(): Promise<boolean> {
    const before = this.#version;
    await this.#attempt(async () => {
      if (await recordsVersion(this.#home) !== before) await this.#find();
    });
    return this.#version !== before;
  }

  /** Notes that the project was seen, before anything of a model can change it: `local-endpoints:` that come later are new. */
  async note(): Promise<void> {
    if (this.#own !== null || this.problem !== null) return;
    try {
      await this.#change((data) => data);
    } catch (error) {
      // Where the home cannot be written, nothing is trusted when it is first seen either.
      if (!(error instanceof AgentcliError)) throw error;
    }
  }

  /** Adds markers and lines as they are met. Nothing is written where nothing is new. */
  async remember(seen: readonly MarkerLines[]): Promise<void> {
    const data = this.#own ?? this.#blank();
    if (seen.length === 0 || added(data, seen) === data) return;
    await this.#attempt(() => this.#change((now) => added(now, seen)));
  }

  /**
   * What the user says: the markers as they stand are the rules from now on, these endpoints are trusted (those that were
   * `confirmed` also beside other markers), and derived files are released. Of a project without markers no more is
   * remembered than that it was seen.
   */
  async trust(
    { seen, endpoints, confirmed }: {
      seen: readonly MarkerLines[];
      endpoints: readonly string[];
      confirmed: readonly string[];
    },
  ): Promise<void> {
    await this.#change((data) => {
      if (seen.length === 0) return this.#blank();
      const kept = this.replaced ? this.#blank() : data;
      const named = new Set([...kept.confirmed.filter((value) => endpoints.includes(value)), ...confirmed]);
      return added({ ...kept, markers: [], derived: [], met: [], endpoints, confirmed: [...named] }, seen);
    });
    this.replaced = false;
  }

  async trustEndpoint(value: string): Promise<void> {
    const { endpoints, confirmed } = this.replaced ? this.#blank() : this.#own ?? this.#blank();
    await this.#change((data) => ({
      ...data,
      ...identityAt(this.root),
      endpoints: [...new Set([...endpoints, value])],
      confirmed: [...new Set([...confirmed, value])],
    }));
    this.replaced = false;
  }

  async allows(fragment: string): Promise<boolean> {
    const own = this.#own;
    return own !== null && own.allowed.length > 0 && own.allowed.includes(await digest(own.salt + fragment));
  }

  /** Notes that fragments may leave; as salted digests. */
  async allow(fragments: readonly string[]): Promise<void> {
    await this.#change(async (data) => {
      const digests = await Promise.all(fragments.map((fragment) => digest(data.salt + fragment)));
      return { ...data, allowed: [...new Set([...data.allowed, ...digests])] };
    });
  }

  /** Protects files that hold copies of protected content, until they are released. */
  async addDerived(files: readonly DerivedFile[]): Promise<void> {
    await this.#change((data) => {
      const before = data.derived.filter(({ path }) => !files.some((file) => file.path === path));
      return { ...data, derived: [...before, ...files] };
    });
  }

  async meet(files: readonly SeenFile[]): Promise<void> {
    await this.#attempt(() =>
      this.#change(async (data) => {
        const met = await Promise.all(files.map((file) => metFile(file, data.salt)));
        return { ...data, met: [...data.met, ...met.filter((file) => file !== null)].slice(-MOST_KEPT) };
      })
    );
  }

  /** Releases derived files by their paths; what they were, or hold, is no longer looked for. */
  async releaseDerived(paths: readonly string[]): Promise<void> {
    await this.#change((data) => {
      const released = data.derived.filter(({ path }) => paths.includes(path));
      const isReleased = (file: MetFile) =>
        released.some((one) => isSameDirectory(one, file) || (one.digest ?? "") !== "" && one.digest === file.digest);
      return {
        ...data,
        derived: data.derived.filter((file) => !released.includes(file)),
        met: data.met.filter((file) => !isReleased(file)),
      };
    });
  }

  /** Runs work of which a failure is told in {@link problem}. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AgentcliError)) throw error;
      this.problem = error;
    }
  }

  /** Returns the main tree, for a linked worktree of git: its record is looked at too. */
  async #find(): Promise<string | null> {
    const { root } = this;
    const main = mainTree(root);
    this.#version = await recordsVersion(this.#home);
    const here = identityAt(root);
    const common = commonDirectory(root);
    const trees = new Set<string>();
    const all = await knownProjects(this.#home, (known) => {
      if (known.root !== root && known.common === common && common !== null) trees.add(known.root);
      return isWithin(known.root, root) || isWithin(root, known.root) || known.root === main || trees.has(known.root) ||
        isSameDirectory(known, here);
    });
    // Of a directory that was seen without markers, another one at its path is seen for the first time.
    const found = all.filter((data) => data.root !== root || !isOpen(data) || [0, here.inode].includes(data.inode));
    const own = found.find((data) => data.root === root);
    const moved = found.find((data) => data.root !== root && isSameDirectory(data, here));
    const others = found.filter((data) => data !== own && data !== moved);
    this.#own = own ?? (moved === undefined ? null : rebased(moved, root));
    // One that was taken away has no number: nothing in it counts as it stands now.
    if (this.#own !== null && isOpen(this.#own) && this.#own.inode !== 0) this.#own = this.#blank();
    const hereToo = [...others.filter((data) => trees.has(data.root)), ...own === undefined ? [] : [moved]];
    this.#others = [
      ...others.map(heldBy),
      // What another tree of the repository protects, this one has under the same names.
      ...hereToo.filter((data) => data !== undefined).map((data) => ({ ...rebased(heldBy(data), root), met: [] })),
    ];
    this.replaced = own !== undefined && (here.inode !== own.inode || here.born !== own.born);
    if (own === undefined && moved !== undefined && !isOpen(moved)) {
      // Mounted at two places, it was not moved.
      if (!isSameDirectory(identityAt(moved.root), here)) this.movedFrom = moved.root;
    }
    // Known before the project around it was, its trust was given to it as it stands.
    if (this.#own !== null) return main;
    const around = others.map((data) => data.root).filter((at) => isWithin(at, root));
    this.outer = around.sort((one, other) => other.length - one.length)[0] ??
      others.find((data) => data.root === main)?.root ?? null;
    return main;
  }

  #blank(): RecordData {
    return { ...emptyRecord(this.root), ...identityAt(this.root), firstHead: headCommit(this.root) };
  }

  async #change(
    work: (data: RecordData, isNew: boolean) => RecordData | Promise<RecordData>,
  ): Promise<void> {
    const place = { root: this.root, moved: this.movedFrom, before: this.#own };
    this.#own = await changeRecord(this.#home, place, (data) => work(data ?? this.#blank(), data === null));
  }
}

/** A record with markers and lines that it may not have yet; the same one when it has them all. */
function added(data: RecordData, seen: readonly MarkerLines[]): RecordData {
  const markers = new Map(data.markers.map(({ path, lines }) => [path, lines]));
  let isNew = false;
  for (const { path, lines } of seen) {
    const before = markers.get(path);
    const keys = new Set(before?.map(({ tier, pattern }) => `${tier} ${pattern}`));
    const more = lines.map(({ tier, pattern }) => ({ tier, pattern })).filter(({ tier, pattern }) =>
      !keys.has(`${tier} ${pattern}`)
    );
    if (before !== undefined && more.length === 0) continue;
    markers.set(path, [...before ?? [], ...more]);
    isNew = true;
  }
  return isNew ? { ...data, markers: [...markers].map(([path, lines]) => ({ path, lines })) } : data;
}

/** Of another project what lies in it: what it remembers of markers around it is for itself to forget. */
function heldBy(known: RecordData): RecordData {
  return { ...known, markers: known.markers.filter(({ path }) => isWithin(known.root, path)) };
}
