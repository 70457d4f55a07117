/**
 * The files of {@link ProjectRecord} in the home: `projects/<id>.json`, where the id is a digest of the root's path,
 * and an index, which tells in one read whether any project is known and which records concern a directory.
 */
import { AgentcliError } from "../../errors.ts";
import { listSync } from "../../platform/files.ts";
import type { Home } from "../../platform/home.ts";
import { isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { sha256 } from "../../platform/digest.ts";
import type { Tier } from "./marker.ts";
import {
  type Identity,
  identityAt,
  identityIn,
  isSameFile,
  lastingIdentityOf,
  type MetFile,
  MOST_KEPT,
  MOST_MET,
} from "./inode_index.ts";

const DIRECTORY = "projects";
const INDEX = `${DIRECTORY}/index.json`;
const RECORD_NAME = /^([0-9a-f]{32})\.json$/;
/** The format version of both files. */
const FORMAT = 1;
/** Size limit of a record in characters: commands can create any number of markers, and a record is read at each start. */
const RECORD_LIMIT = 4 * 1024 * 1024;
/** The most characters of derived files in a record; more of them are recorded by their directories. */
const DERIVED_LIMIT = 2 * 1024 * 1024;
/** Stands for an identity that nothing has. */
const NOWHERE = { inode: 0, born: 0 };

/** A marker with the lines that it has or ever had. Paths are absolute, here and below. */
export interface MarkerLines {
  path: string;
  lines: readonly { tier: Tier; pattern: string }[];
}

/** A file with content of `source`, a protected file. */
export interface DerivedFile extends Identity {
  path: string;
  source: string;
  /** Where no rule for the source says it. */
  tier?: Tier | undefined;
}

/** The rules and the trust of a known project. */
export interface KnownProject {
  root: string;
  markers: readonly MarkerLines[];
  derived: readonly DerivedFile[];
  /** Protected files that sessions saw, and found again by their identity. */
  met: readonly MetFile[];
  /** The values of `local-endpoints:` that have an effect there. */
  endpoints: readonly string[];
}

export interface RecordData extends KnownProject, Identity {
  firstHead: string | null;
  /** Rules that the user revoked: what they named may stand in that commit. */
  revoked?: readonly MarkerLines[] | undefined;
  /** Endpoints that the user named: they may also receive what other markers protect in the project. */
  confirmed: readonly string[];
  salt: string;
  allowed: readonly string[];
  /** True while nobody knows where the directory is: another one has the root that it had. */
  isLost?: boolean | undefined;
}

/** `open`: the project was seen, without anything to remember but its commit; it has no record file. */
interface IndexEntry extends Identity {
  root: string;
  open?: boolean;
  /** True if all its rules were revoked. */
  revoked?: boolean;
  firstHead?: string | null;
  /** True if it has derived files outside of the root. */
  reaches?: boolean;
  isLost?: boolean;
}

type Index = Record<string, IndexEntry>;

/** Returns a version that changes with every record. Costs one `stat`. */
export async function recordsVersion(home: Home): Promise<string> {
  const { inode, modified, size } = await home.status(INDEX) ?? { inode: 0, modified: 0, size: 0 };
  return `${inode} ${modified} ${size}`;
}

/** Returns the roots of the projects that ever had a marker, unless all was revoked; also those whose place is not known. */
export async function knownRoots(home: Home): Promise<string[]> {
  const projects = Object.values(await readIndex(home));
  return projects.filter((project) => isProtected({ ...project, isLost: false })).map(({ root }) => root);
}

const isProtected = ({ open, revoked, isLost }: IndexEntry) => ![open, revoked, isLost].includes(true);

/**
 * Returns the records of the projects that ever had a marker, or of the wanted ones. Throws `home_unusable` if one
 * cannot be read.
 */
export async function knownProjects(
  home: Home,
  wanted: (project: IndexEntry) => boolean = isProtected,
): Promise<RecordData[]> {
  const projects = Object.entries(await readIndex(home)).filter(([, project]) => wanted(project));
  return await Promise.all(projects.map(async ([id, project]) => {
    const { root, open, firstHead = null } = project;
    return open
      ? { ...emptyRecord(root), ...identityIn(project), firstHead }
      : await readRecord(home, id, root) ?? emptyRecord(root);
  }));
}

/** The user's projects with protected paths. */
export interface ProtectedProjects {
  any(): Promise<boolean>;
  /** The same list until a record changes. */
  all(): Promise<readonly RecordData[]>;
}

/** Reads nothing until it is asked. */
export function protectedProjects(home: Home): ProtectedProjects {
  let last: { version: string; projects: readonly RecordData[] } | null = null;
  return {
    any: async () => (await knownRoots(home)).length > 0,
    async all() {
      const version = await recordsVersion(home);
      if (last?.version !== version) last = { version, projects: await knownProjects(home) };
      return last.projects;
    },
  };
}

/** Returns whether another directory, or none, is at the root of a known project. */
export function isReplaced({ inode, born }: Identity, here: Identity): boolean {
  return inode === 0 || here.inode !== inode || here.born !== born;
}

/** Returns whether a record says only that the project was seen. */
export function isOpen({ markers, revoked = [], derived, met, endpoints, confirmed, allowed }: RecordData): boolean {
  return [markers, revoked, derived, met, endpoints, confirmed, allowed].every((list) => list.length === 0);
}

/**
 * Returns an empty record without an identity. It stands for a record that was removed: whatever directory is there now
 * counts as a replacement, and nothing in it is trusted.
 */
export function emptyRecord(root: string): RecordData {
  return {
    ...{ root, ...NOWHERE, firstHead: null, salt: crypto.randomUUID() },
    ...{ markers: [], endpoints: [], confirmed: [], allowed: [], derived: [], met: [] },
  };
}

/** Reads the index; rebuilds it from the records if it is damaged or missing. */
async function readIndex(home: Home): Promise<Index> {
  const text = await home.read(INDEX) ?? "";
  const index = quietly(() => JSON.parse(text));
  const isIndex = index?.format === FORMAT && isLike(index.projects, {}) &&
    Object.values(index.projects).every((project) => isLike(project, PROJECT));
  if (isIndex) return { ...index.projects };
  const found: Index = {};
  for (const { name } of listSync(home.file(DIRECTORY)) ?? []) {
    const id = RECORD_NAME.exec(name)?.[1];
    const data = id === undefined ? null : await readRecord(home, id);
    if (id !== undefined && data !== null) found[id] = entryOf(data);
  }
  return found;
}

function entryOf(data: RecordData): IndexEntry {
  const { root, firstHead, derived, isLost } = data;
  const more = isOpen(data) ? { open: true, firstHead } : isOpen({ ...data, revoked: [] }) ? { revoked: true } : {};
  const reaches = derived.some(({ path }) => !isWithin(root, path)) ? { reaches: true } : {};
  return { root, ...identityIn(data), ...more, ...reaches, ...isLost ? { isLost } : {} };
}

async function readRecord(home: Home, id: string, root = "a project"): Promise<RecordData | null> {
  const text = await home.read(nameOf(id));
  if (text === null) return null;
  const data = { met: [], ...quietly(() => JSON.parse(text)) };
  if (data.format === FORMAT && isLike(data, RECORD)) return data;
  throw new AgentcliError(
    "home_unusable",
    `${home.file(nameOf(id))}, the record of ${root}, cannot be read`,
    { hint: "remove that file, and run agentcli secrets trust in the project: it is then taken as it stands" },
  );
}

/**
 * Changes the record of `root` as it is on the disk, under a lock, and returns the new one. Starts from `before` if
 * there is no record. A project that was at `moved` takes its record along; the rules stay there, too, without identity
 * and trust, because another directory may come to that path. The record of another directory that had this path is kept
 * by the identity of that one, and counts nowhere until it is found.
 */
export async function changeRecord(
  home: Home,
  { root, moved, before }: { root: string; moved: string | null; before: RecordData },
  work: (data: RecordData) => RecordData | Promise<RecordData>,
): Promise<RecordData> {
  const here = identityAt(root);
  const [id, lost] = [await idOf(root), await lostIdOf(here)];
  return await home.locked(INDEX, async () => {
    const projects = await readIndex(home);
    const standing = await readRecord(home, id, root);
    const old = moved === null || projects[lost] !== undefined ? lost : await idOf(moved);
    const former = moved === null ? null : await readRecord(home, old, root);
    // It moves once: what is at the former path later is another project.
    const taken = former !== null && isSameFile(former, here) ? former : null;
    const data = await work(taken === null ? standing ?? before : tightened(rebased(taken, root), standing ?? {}));
    if (standing !== null && standing.inode !== 0 && isReplaced(standing, data)) {
      const left = { ...standing, isLost: true };
      const other = await lostIdOf(left);
      await writeRecord(home, other, left);
      projects[other] = entryOf(left);
    }
    if (isOpen(data)) {
      await home.remove(nameOf(id));
      // Forget directories that are gone, so that the index does not grow without limit.
      for (const [other, entry] of Object.entries(projects)) {
        if (entry.open && identityAt(entry.root).inode === 0) delete projects[other];
      }
    } else await writeRecord(home, id, data);
    projects[id] = entryOf(data);
    if (taken?.isLost) delete projects[old];
    else if (taken !== null) projects[old] = { root: taken.root, ...NOWHERE };
    await home.write(INDEX, JSON.stringify({ format: FORMAT, projects }));
    if (taken?.isLost) await home.remove(nameOf(old));
    else if (taken !== null) {
      await writeRecord(home, old, { ...taken, ...NOWHERE, endpoints: [], confirmed: [], allowed: [] });
    }
    return data;
  });
}

async function writeRecord(home: Home, id: string, data: RecordData): Promise<void> {
  const text = JSON.stringify({ format: FORMAT, ...data });
  if (text.length > RECORD_LIMIT) {
    throw new AgentcliError("home_unusable", `the markers of ${data.root} hold more rules than can be remembered`, {
      hint: "take out lines, or markers that nobody needs",
    });
  }
  await home.write(nameOf(id), text);
}

/** Example values that show the shapes of both files; a list has one example item. */
const PROJECT = { root: "", ...NOWHERE };
const RECORD = {
  ...PROJECT,
  ...{ salt: "", endpoints: [""], confirmed: [""], allowed: [""] },
  markers: [{ path: "", lines: [{ tier: "", pattern: "" }] }],
  derived: [{ path: "", source: "", ...NOWHERE }],
  met: [{ path: "", ...NOWHERE }],
};

/** Returns whether a value has the shape. A wrong value would otherwise crash each session of the project. */
function isLike<Shape>(value: unknown, shape: Shape): boolean {
  if (Array.isArray(shape)) return Array.isArray(value) && value.every((item) => isLike(item, shape[0]));
  if (typeof shape !== "object" || shape === null) return typeof value === typeof shape;
  return typeof value === "object" && value !== null &&
    Object.entries(shape).every(([key, member]) => isLike((value as Record<string, unknown>)[key], member));
}

/** Returns the record of a project that moved, with its paths at the new root. Markers above it stay where they are. */
export function rebased(data: RecordData, root: string): RecordData {
  const moved = <Item extends { path: string }>(items: readonly Item[]) =>
    items.map((item) => ({ ...item, path: placeOf(item.path) }));
  const placeOf = (path: string) => isWithin(data.root, path) ? join(root, relativeTo(data.root, path)) : path;
  const derived = moved(data.derived).map((file) => ({ ...file, source: placeOf(file.source) }));
  const rules = { markers: moved(data.markers), revoked: moved(data.revoked ?? []) };
  return { ...data, ...rules, root, derived, met: moved(data.met), isLost: undefined };
}

/** New facts that a session has seen: markers, files with copies of protected content, and protected files. */
export type SeenFacts = Partial<Pick<RecordData, "markers" | "derived" | "met">>;

/** Returns a record with more rules and files; the same object if there are none. */
export function tightened(data: RecordData, { markers = [], derived = [], met = [] }: SeenFacts): RecordData {
  const all = joined(data.markers, markers);
  return all === data.markers && derived.length + met.length === 0 ? data : {
    ...data,
    markers: all,
    derived: gathered(
      [...data.derived.filter(({ path }) => !derived.some((file) => file.path === path)), ...derived],
      data.root,
    ),
    met: kept([...data.met, ...met]),
  };
}

/**
 * Returns protected files as a record has room for them: the oldest, because a command can make any number of files.
 * Those that are not at their paths any more have most of the room, because nothing else tells of them.
 */
function kept(met: readonly MetFile[]): readonly MetFile[] {
  if (met.length <= MOST_KEPT) return met;
  const isAtPlace = (file: MetFile) => isSameFile(file, identityAt(file.path));
  const { gone = [], present = [] } = Object.groupBy(met, (file) => isAtPlace(file) ? "present" : "gone");
  const most = MOST_KEPT - MOST_MET;
  const first = new Set([...gone.slice(0, most), ...present, ...gone.slice(most)].slice(0, MOST_KEPT));
  return met.filter((file) => first.has(file));
}

/**
 * Returns derived files as a record has room for them: if there are too many, what holds them at the top of the project.
 * A command can change any number of files.
 */
export function gathered(files: readonly DerivedFile[], root: string): readonly DerivedFile[] {
  if (JSON.stringify(files).length <= DERIVED_LIMIT) return files;
  const above = files.map((file): DerivedFile => {
    const [first = "", ...below] = relativeTo(root, file.path).split("/");
    if (!isWithin(root, file.path) || below.length === 0) return file;
    return { ...file, ...NOWHERE, path: join(root, first) };
  });
  // Of those that have one directory now, the strictest counts.
  above.sort((one, other) => Number(one.tier === "list-only") - Number(other.tier === "list-only"));
  return [...new Map(above.map((file) => [file.path, file])).values()];
}

/** Returns the markers with the lines of both; the same list if there are no more. */
export function joined(before: readonly MarkerLines[], more: readonly MarkerLines[]): readonly MarkerLines[] {
  const all = new Map(before.map(({ path, lines }) => [path, lines]));
  let isNew = false;
  for (const { path, lines } of more) {
    const old = all.get(path);
    const known = new Set(old?.map(({ tier, pattern }) => `${tier} ${pattern}`));
    const added = lines.filter(({ tier, pattern }) => !known.has(`${tier} ${pattern}`));
    if (old !== undefined && added.length === 0) continue;
    all.set(path, [...old ?? [], ...added.map(({ tier, pattern }) => ({ tier, pattern }))]);
    isNew = true;
  }
  return isNew ? [...all].map(([path, lines]) => ({ path, lines })) : before;
}

async function idOf(root: string): Promise<string> {
  return (await sha256(root)).slice(0, 32);
}

/** Returns the id of the record of a directory whose place is not known. */
async function lostIdOf(identity: Identity): Promise<string> {
  return await idOf(lastingIdentityOf(identity));
}

function nameOf(id: string): string {
  return `${DIRECTORY}/${id}.json`;
}
