/** The files of {@link ProjectRecord} in the home: one for each directory, and an index that tells which to read. */
import { AgentcliError } from "../../errors.ts";
import { listSync } from "../../platform/files.ts";
import type { Home } from "../../platform/home.ts";
import { isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import type { Tier } from "./marker.ts";
import { type Identity, lastingIdentityOf, rootKey } from "./identity.ts";

const DIRECTORY = "projects";
const INDEX = `${DIRECTORY}/index.json`;
const RECORD_NAME = /^([0-9a-f]{32})\.json$/;
/** The format version of both files. */
const FORMAT = 1;
/** The most characters of a record: a file of the home that is larger than 64 MiB cannot be read. */
const RECORD_LIMIT = 16 * 1024 * 1024;
/** Beyond this number, directories that were only seen and are gone are forgotten: the index is read at each start. */
const MOST_SEEN = 1_000;

/** A marker with the lines that it has or ever had. Paths are absolute, here and below. */
export interface MarkerLines {
  path: string;
  lines: readonly { tier: Tier; pattern: string }[];
}

/** A file with content of `source`, a protected file. */
export interface DerivedFile extends Identity {
  path: string;
  source: string;
  /** True for a file or directory to which `source`, a link, led. What a line says of the link holds for it. */
  isTarget?: true;
}

/** The record of one directory, wherever it is: its rules and its trust. */
export interface RecordData extends Identity {
  /** The name of its file. */
  id: string;
  /** Where it was seen last. */
  root: string;
  markers: readonly MarkerLines[];
  derived: readonly DerivedFile[];
  /** The values of `local-endpoints:` that have an effect there. */
  endpoints: readonly string[];
  firstHead: string | null;
  /** Rules that the user revoked: what they named may stand in that commit. */
  revoked: readonly MarkerLines[];
  /** Endpoints that the user named: they may also receive what other markers protect in the project. */
  confirmed: readonly string[];
  salt: string;
  allowed: readonly string[];
}

interface IndexEntry extends Identity {
  root: string;
  /** True if it has no rules now; one that never had any has no record file. */
  open?: boolean;
  firstHead?: string | null;
  /** True if it left something outside of the root. */
  reaches?: boolean;
}

type Index = Record<string, IndexEntry>;

/** Returns a version that changes with every record. Costs one `stat`. */
export async function recordsVersion(home: Home): Promise<string> {
  const { inode, modified, size } = await home.status(INDEX) ?? { inode: 0, modified: 0, size: 0 };
  return `${inode} ${modified} ${size}`;
}

/** Returns the roots of the projects that ever had a marker, unless all was revoked. */
export async function knownRoots(home: Home): Promise<string[]> {
  return Object.values(await currentIndex(home)).filter(isProtected).map(({ root }) => root);
}

const isProtected = ({ open }: IndexEntry) => open !== true;

/** Returns the records of protected projects, or of the wanted ones. One whose file was removed trusts nothing. */
export async function knownProjects(
  home: Home,
  wanted: (project: IndexEntry) => boolean = isProtected,
): Promise<RecordData[]> {
  const projects = Object.entries(await currentIndex(home)).filter(([, project]) => wanted(project));
  return await Promise.all(projects.map(async ([id, project]) => {
    const { root, firstHead = null } = project;
    return await readRecord(home, id, root) ?? { ...emptyRecord(root, project), id, firstHead };
  }));
}

/** Returns whether a record says only that the project was seen. */
export function isOpen({ markers, revoked, derived, endpoints, confirmed, allowed }: RecordData): boolean {
  return [markers, revoked, derived, endpoints, confirmed, allowed].every((list) => list.length === 0);
}

/** Returns a new record of a directory. */
export function emptyRecord(root: string, { inode, born }: Identity): RecordData {
  const id = crypto.randomUUID().replaceAll("-", "");
  return {
    ...{ id, root, inode, born, firstHead: null, salt: crypto.randomUUID() },
    ...{ markers: [], revoked: [], endpoints: [], confirmed: [], allowed: [], derived: [] },
  };
}

/** The index as it was last read, by home. */
const LAST_READ = new WeakMap<Home, { version: string; index: Index }>();

/** Returns the index, which is read once for each version. */
async function currentIndex(home: Home): Promise<Index> {
  const version = await recordsVersion(home);
  const last = LAST_READ.get(home);
  if (last?.version === version) return last.index;
  const index = await readIndex(home);
  LAST_READ.set(home, { version, index });
  return index;
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
  const { root, inode, born, firstHead, derived } = data;
  const more = isOpen({ ...data, revoked: [] }) ? { open: true, firstHead: isOpen(data) ? firstHead : null } : {};
  const reaches = derived.some(({ path }) => !isWithin(root, path)) ? { reaches: true } : {};
  return { root, inode, born, ...more, ...reaches };
}

/** Reads the record with an id; null if there is none. */
export async function readRecord(home: Home, id: string, root = "a project"): Promise<RecordData | null> {
  const text = await home.read(nameOf(id));
  if (text === null) return null;
  const data = quietly(() => JSON.parse(text));
  if (data?.format === FORMAT && isLike(data, RECORD)) return { ...data, id };
  throw new AgentcliError(
    "home_unusable",
    `${home.file(nameOf(id))}, the record of ${root}, cannot be read`,
    { hint: "remove that file, and run agentcli secrets trust in the project: it is then taken as it stands" },
  );
}

/** Stores the record that `work` returns. No other process changes a record meanwhile. */
export async function storeRecord(home: Home, work: () => Promise<RecordData>): Promise<RecordData> {
  return await home.locked(INDEX, async () => {
    const data = await work();
    const projects = await readIndex(home);
    if (isOpen(data)) {
      await home.remove(nameOf(data.id));
      const seen = Object.entries(projects).filter(([, project]) => project.open);
      const gone = seen.filter(([, project]) => rootKey(project.root) !== lastingIdentityOf(project));
      for (const [id] of gone.slice(0, Math.max(0, seen.length - MOST_SEEN))) delete projects[id];
    } else {
      const text = JSON.stringify({ format: FORMAT, ...data });
      if (text.length > RECORD_LIMIT) {
        throw new AgentcliError("home_unusable", `${data.root} has more protected paths than can be remembered`, {
          hint: "remove files, links and marker lines that nobody needs there",
        });
      }
      await home.write(nameOf(data.id), text);
    }
    projects[data.id] = entryOf(data);
    await home.write(INDEX, JSON.stringify({ format: FORMAT, projects }));
    return data;
  });
}

/** Example values that show the shapes of both files; a list has one example item. */
const PROJECT = { root: "", inode: 0, born: 0 };
const MARKER = { path: "", lines: [{ tier: "", pattern: "" }] };
const RECORD = {
  ...PROJECT,
  ...{ salt: "", endpoints: [""], confirmed: [""], allowed: [""] },
  ...{ markers: [MARKER], revoked: [MARKER], derived: [{ path: "", source: "", inode: 0, born: 0 }] },
};

/** Returns whether a value has the shape. A wrong value would otherwise crash each session of the project. */
function isLike<Shape>(value: unknown, shape: Shape): boolean {
  if (Array.isArray(shape)) return Array.isArray(value) && value.every((item) => isLike(item, shape[0]));
  if (typeof shape !== "object" || shape === null) return typeof value === typeof shape;
  return typeof value === "object" && value !== null &&
    Object.entries(shape).every(([key, member]) => isLike((value as Record<string, unknown>)[key], member));
}

/** Returns a record with its paths where its directory is now. Markers above it stay where they are. */
export function placedAt(root: string, data: RecordData): RecordData {
  if (root === data.root) return data;
  const place = (path: string) => isWithin(data.root, path) ? join(root, relativeTo(data.root, path)) : path;
  const all = (markers: readonly MarkerLines[]) => markers.map((one) => ({ ...one, path: place(one.path) }));
  const derived = data.derived.map((file) => ({ ...file, path: place(file.path), source: place(file.source) }));
  return { ...data, root, markers: all(data.markers), revoked: all(data.revoked), derived };
}

/** New facts that a session has seen: markers, and files with copies of protected content. */
export type SeenFacts = Partial<Pick<RecordData, "markers" | "derived">>;

/** Returns a key of what is recorded: several links can lead to one target. */
export function keyOf({ path, source, isTarget }: DerivedFile): string {
  return isTarget ? `${path}\0${source}` : path;
}

/** Returns a record with more rules and files; the same object if there are none. */
export function tightened(data: RecordData, { markers = [], derived = [] }: SeenFacts): RecordData {
  const all = joined(data.markers, markers);
  if (all === data.markers && derived.length === 0) return data;
  const fresh = new Set(derived.map(keyOf));
  const others = data.derived.filter((file) => !fresh.has(keyOf(file)));
  return { ...data, markers: all, derived: [...others, ...derived] };
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

function nameOf(id: string): string {
  return `${DIRECTORY}/${id}.json`;
}
