/**
 * What the home remembers of each project that ever had a marker: its rules, which only the user takes back; the local
 * endpoints that the user trusts; the fragments that are allowed to leave; and files that hold copies of protected
 * content. Files of a project can only tighten what is recorded here.
 */
import { AgentcliError } from "../../errors.ts";
import type { Home } from "../../platform/home.ts";
import { dirname, isWithin } from "../../platform/path.ts";
import { headCommit } from "./git_branch.ts";
import {
  absolutePath,
  anyProtectedProject,
  changeRecord,
  type DerivedFile,
  digest,
  FORMAT,
  identityOf,
  isSameDirectory,
  type KnownProject,
  placedAt,
  readIndex,
  readRecord,
  type RecordData,
  type RecordedLine,
  type RecordedMarker,
  type SeenMarker,
  storedPath,
} from "./project_record_files.ts";

/** What is seen of a project when its record is opened. */
export interface ProjectSight {
  /** The markers at the root and above it. */
  seen: readonly SeenMarker[];
  /** The `local-endpoints:` of the root's own marker. */
  endpoints: readonly string[];
  /** The main tree, for a linked worktree of git: its record is looked at too. */
  main?: string | null;
}

/**
 * The record of the project with this root (a real path), with all that is remembered of projects around it and inside
 * of it. Where no project is known this is one look. A project with a marker is recorded at its first sight, with its
 * endpoints as trusted, unless a known project holds it; `create: false` shows what would be recorded and writes nothing.
 * What goes wrong is in {@link ProjectRecord.problem}.
 */
export async function openProjectRecord(
  home: Home,
  root: string,
  sight: ProjectSight & { create?: boolean },
): Promise<ProjectRecord> {
  const record = new ProjectRecord(home, root);
  await record.open(sight);
  return record;
}

/** The record of one project, for one session. */
export class ProjectRecord {
  readonly root: string;
  readonly #home: Home;
  /** Null until a marker was seen. */
  #own: RecordData | null = null;
  /** Known projects around this one, inside of it, its main tree, and what was moved here: their rules hold too. */
  #others: readonly KnownProject[] = [];
  #problem: string | null = null;
  /** The root of the known project that this one lies in; null when there is none, or this one was known before it. */
  outer: string | null = null;
  /** Where the project was when it was last seen, when that was elsewhere. */
  movedFrom: string | null = null;
  /** Another directory stands at the path of the project that is known: its rules hold, its trust does not. */
  replaced = false;

  constructor(home: Home, root: string) {
    this.#home = home;
    this.root = root;
  }

  /** Why the record cannot be read or written; null when it can. Nothing remote may start then. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether a marker was ever seen here, or in a known project around this one or inside of it. */
  get known(): boolean {
    return this.#own !== null || this.#others.length > 0;
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

  /** What is remembered of this very project; null until a marker was seen. */
  get own(): KnownProject | null {
    return this.#own === null ? null : placedAt(this.root, this.#own);
  }

  /** The markers that were ever seen, with every line that ever stood in them. */
  get markers(): readonly RecordedMarker[] {
    return this.#all.flatMap(({ markers }) => markers);
  }

  /** Files that hold copies of protected content. */
  get derived(): readonly DerivedFile[] {
    return this.#all.flatMap(({ derived }) => derived);
  }

  get #all(): KnownProject[] {
    return [...this.own === null ? [] : [this.own], ...this.#others];
  }

  /** Reads what is known, and records the project at its first sight. See {@link openProjectRecord}. */
  async open({ seen, endpoints, main = null, create = true }: ProjectSight & { create?: boolean }): Promise<void> {
    await this.#attempt(async () => {
      await this.#find(main);
      if (this.#own === null && seen.length > 0) {
        const trusted = this.outer === null ? endpoints : [];
        const first = (data: RecordData, isNew: boolean) => this.#add(data, { seen, endpoints: isNew ? trusted : [] });
        if (create) await this.#change(first);
        else this.#own = this.#add(this.#blank(), { seen, endpoints: trusted });
      } else if (create) await this.#remember(seen);
      if (create && this.movedFrom !== null) await this.#change((data) => data);
    });
  }

  /** Adds markers and lines as they are met. Nothing is written where nothing is new. */
  async remember(seen: readonly SeenMarker[]): Promise<void> {
    await this.#attempt(() => this.#remember(seen));
  }

  /**
   * What the user says: the markers as they stand are the rules from now on, these endpoints are trusted (those that were
   * `confirmed` also beside other markers), and derived files are released. Forgets a project without markers. Throws
   * `home_unusable`.
   */
  async trust(
    { seen, endpoints, confirmed }: {
      seen: readonly SeenMarker[];
      endpoints: readonly string[];
      confirmed: readonly string[];
    },
  ): Promise<void> {
    await this.#change((data) => {
      if (seen.length === 0) return null;
      const { firstHead } = this.replaced ? this.#blank() : data;
      const before = this.replaced ? [] : data.confirmed.filter((value) => endpoints.includes(value));
      const now = { ...data, ...identityOf(this.root), firstHead, markers: [], derived: [], endpoints: [] };
      return this.#add({ ...now, confirmed: [...new Set([...before, ...confirmed])] }, { seen, endpoints });
    });
    this.replaced = false;
  }

  /** Trusts an endpoint besides those of before. Throws `home_unusable`. */
  async trustEndpoint(value: string): Promise<void> {
    const { trustedEndpoints, replaced } = this;
    await this.#change((data) => ({
      ...data,
      ...identityOf(this.root),
      endpoints: [...new Set([...trustedEndpoints, value])],
      confirmed: [...new Set([...replaced ? [] : data.confirmed, value])],
    }));
    this.replaced = false;
  }

  /** Whether the user allowed a fragment of protected content to leave. */
  async allows(fragment: string): Promise<boolean> {
    const { allowed = [], salt = "" } = this.#own ?? {};
    return allowed.length > 0 && allowed.includes(await digest(salt + fragment));
  }

  /** Notes that fragments may leave; as salted digests. Throws `home_unusable`. */
  async allow(fragments: readonly string[]): Promise<void> {
    await this.#change(async (data) => {
      const digests = await Promise.all(fragments.map((fragment) => digest(data.salt + fragment)));
      return { ...data, allowed: [...new Set([...data.allowed, ...digests])] };
    });
  }

  /** Protects files that hold copies of protected content, until they are released. Throws `home_unusable`. */
  async addDerived(files: readonly DerivedFile[]): Promise<void> {
    await this.#change((data) => {
      const added = files.map((file) => ({
        ...file,
        path: storedPath(this.root, file.path),
        source: storedPath(this.root, file.source),
      }));
      const before = data.derived.filter(({ path }) => !added.some((file) => file.path === path));
      return { ...data, derived: [...before, ...added] };
    });
  }

  /** Releases derived files by their absolute paths. Throws `home_unusable`. */
  async releaseDerived(paths: readonly string[]): Promise<void> {
    await this.#change((data) => ({
      ...data,
      derived: data.derived.filter(({ path }) => !paths.includes(absolutePath(this.root, path))),
    }));
  }

  /** Runs work of which a failure is told in {@link problem}. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AgentcliError)) throw error;
      this.#problem = error.message;
    }
  }

  async #find(main: string | null): Promise<void> {
    if (!await anyProtectedProject(this.#home)) return;
    const here = identityOf(this.root);
    const others: KnownProject[] = [];
    let moved: RecordData | null = null;
    for (const [id, known] of Object.entries(await readIndex(this.#home))) {
      const isHere = known.root === this.root;
      const isSame = !isHere && isSameDirectory(known, here);
      const isOuter = !isHere && isWithin(known.root, this.root);
      if (!isHere && !isSame && !isOuter && known.root !== main && !isWithin(this.root, known.root)) continue;
      const data = await readRecord(this.#home, id);
      if (data === null) continue;
      if (isHere) this.#own = data;
      else if (isSame) moved = data;
      else {
        if (isOuter && (this.outer === null || isWithin(this.outer, known.root))) this.outer = known.root;
        others.push(heldBy(known.root, data));
      }
    }
    this.#others = others;
    if (this.#own !== null) {
      this.replaced = here.inode !== this.#own.inode || here.born !== this.#own.born;
      if (moved !== null) others.push(heldBy(this.root, moved));
    } else if (moved !== null) {
      this.#own = moved;
      // Mounted at two places, it was not moved.
      if (!isSameDirectory(identityOf(moved.root), here)) this.movedFrom = moved.root;
    }
    // Known before the project around it was: its trust was given to it as it stands.
    if (this.#own !== null) this.outer = null;
  }

  async #remember(seen: readonly SeenMarker[]): Promise<void> {
    const recorded = this.#own?.markers ?? [];
    const isNew = seen.some(({ path, lines }) => {
      const before = recorded.find((marker) => marker.path === storedPath(this.root, path));
      return before === undefined || lines.some((line) => !before.lines.some((known) => isSameLine(known, line)));
    });
    if (isNew) await this.#change((data) => this.#add(data, { seen, endpoints: [] }));
  }

  #blank(): RecordData {
    return {
      format: FORMAT,
      root: this.root,
      ...identityOf(this.root),
      firstHead: headCommit(this.root),
      markers: [],
      endpoints: [],
      confirmed: [],
      salt: crypto.randomUUID(),
      allowed: [],
      derived: [],
    };
  }

  #add(
    data: RecordData,
    { seen, endpoints }: { seen: readonly SeenMarker[]; endpoints: readonly string[] },
  ): RecordData {
    const markers = new Map(data.markers.map((marker) => [marker.path, marker]));
    for (const { path, lines } of seen) {
      const place = storedPath(this.root, path);
      const before = markers.get(place)?.lines ?? [];
      const added = lines.filter((line) => !before.some((known) => isSameLine(known, line)));
      const { device, inode } = identityOf(path);
      const plain = added.map(({ tier, pattern }) => ({ tier, pattern }));
      markers.set(place, { path: place, device, inode, lines: [...before, ...plain] });
    }
    return { ...data, markers: [...markers.values()], endpoints: [...new Set([...data.endpoints, ...endpoints])] };
  }

  async #change(
    work: (data: RecordData, isNew: boolean) => RecordData | null | Promise<RecordData | null>,
  ): Promise<void> {
    this.#own = await changeRecord(
      this.#home,
      { root: this.root, moved: this.movedFrom, before: this.#own },
      (data) => work(data ?? this.#blank(), data === null),
    );
  }
}

/** Of another project what lies in it: what it remembers of markers around it is for itself to forget. */
function heldBy(root: string, data: RecordData): KnownProject {
  const known = placedAt(root, data);
  return { ...known, markers: known.markers.filter(({ path }) => isWithin(root, path)) };
}

function isSameLine(one: RecordedLine, other: RecordedLine): boolean {
  return one.tier === other.tier && one.pattern === other.pattern;
}
