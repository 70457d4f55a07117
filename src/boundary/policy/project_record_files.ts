/**
 * The files that {@link ProjectRecord} keeps in the home: `projects/<id>.json`, where the id is a digest of the root's
 * path, and an index of them, which tells in one look whether any project is known, and which records concern a directory.
 */
import { AgentcliError } from "../../errors.ts";
import { listDirectory } from "../../platform/files.ts";
import { listSync } from "../../platform/files_sync.ts";
import type { Home } from "../../platform/home.ts";
import { dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { sha256 } from "../../platform/digest.ts";
import { commonDirectory } from "./git_directory.ts";
import type { Tier } from "./marker.ts";
import { type Identity, identityAt, identityIn, isSameFile, type MetFile } from "./inode_index.ts";

const DIRECTORY = "projects";
const INDEX = `${DIRECTORY}/index.json`;
const RECORD_NAME = /^([0-9a-f]{32})\.json$/;
/** The form of both files. */
const FORMAT = 1;
/** Characters of a record: commands can make any number of markers, and all of it is read at each start. */
const RECORD_LIMIT = 4 * 1024 * 1024;

/** A marker with lines that stand in it, or ever stood. Paths are absolute, here and below. */
export interface MarkerLines {
  path: string;
  lines: readonly { tier: Tier; pattern: string }[];
}

/** A file that a session wrote and that holds content of `source`, a protected file. */
export interface DerivedFile extends Identity {
  path: string;
  source: string;
  /** Milliseconds since 1970 when that was found; 0 where it is not known. */
  at?: number;
  /** Of the met file that it was found to be. */
  digest?: string;
}

/** The rules and the trust of a project that the home knows. */
export interface KnownProject {
  root: string;
  markers: readonly MarkerLines[];
  derived: readonly DerivedFile[];
  /** The values of `local-endpoints:` that have an effect there. */
  endpoints: readonly string[];
}

export interface RecordData extends KnownProject, Identity {
  firstHead: string | null;
  /** Those of the endpoints that the user has named himself: they open what other markers protect in the project too. */
  confirmed: readonly string[];
  met: readonly MetFile[];
  salt: string;
  allowed: readonly string[];
}

/** `open`: a session or a command was there, and nothing is remembered but that; there is no further file then. */
interface IndexEntry extends Identity {
  root: string;
  open?: boolean;
  /** The directory that it shares with other trees of its repository, a real path. */
  common?: string | null;
}

type Index = Record<string, IndexEntry>;

/** Changes whenever a record does. One look. */
export async function recordsVersion(home: Home): Promise<string> {
  const { inode, modified, size } = await home.status(INDEX) ?? { inode: 0, modified: 0, size: 0 };
  return `${inode} ${modified} ${size}`;
}

/** Returns the roots of the projects that ever had a marker. */
export async function knownRoots(home: Home): Promise<string[]> {
  return Object.values(await readIndex(home)).filter(isProtected).map(({ root }) => root);
}

const isProtected = ({ open }: IndexEntry) => open !== true;

/**
 * The records of the projects that ever had a marker, or of all that are wanted. Throws `home_unusable` for one that cannot
 * be read.
 */
export async function knownProjects(
  home: Home,
  wanted: (project: IndexEntry) => boolean = isProtected,
): Promise<RecordData[]> {
  const projects = Object.entries(await readIndex(home)).filter(([, project]) => wanted(project));
  return await Promise.all(projects.map(async ([id, project]) => {
    const { root, open } = project;
    return open
      ? { ...emptyRecord(root), ...identityIn(project) }
      : await readRecord(home, id, root) ?? emptyRecord(root);
  }));
}

/**
 * Returns what gives {@link knownProjects}, and under its new name what was renamed where it stands: the same list until a
 * record or a root changes.
 */
export function currentProjects(home: Home): () => Promise<readonly RecordData[]> {
  let last: { version: string; projects: readonly RecordData[] } | null = null;
  return async () => {
    const records = await recordsVersion(home);
    const versionOf = (projects: readonly RecordData[]) =>
      [records, ...projects.map(({ root }) => identityAt(root).inode)].join(" ");
    if (last === null || last.version !== versionOf(last.projects)) {
      const projects = (await knownProjects(home)).flatMap((data) => [data, ...renamed(data)]);
      last = { version: versionOf(projects), projects };
    }
    return last.projects;
  };
}

function renamed(data: RecordData): RecordData[] {
  if (isSameFile(data, identityAt(data.root))) return [];
  const up = dirname(data.root);
  const beside = (quietly(() => listSync(up)) ?? []).map(({ name }) => join(up, name));
  return beside.filter((root) => isSameFile(data, identityAt(root))).map((root) => rebased(data, root));
}

/** Whether nothing is remembered of a project but that it was seen. */
export function isOpen({ markers, derived, endpoints, confirmed, allowed }: RecordData): boolean {
  return [markers, derived, endpoints, confirmed, allowed].every((list) => list.length === 0);
}

/**
 * Returns a record without content, of a directory without an identity: it stands for one that was taken away, and is
 * replaced by whatever stands there, which is trusted with nothing.
 */
export function emptyRecord(root: string): RecordData {
  return {
    ...{ root, device: 0, inode: 0, born: 0, firstHead: null, salt: crypto.randomUUID() },
    ...{ markers: [], endpoints: [], confirmed: [], allowed: [], derived: [], met: [] },
  };
}

/** One that is damaged or gone is made again from the records. */
async function readIndex(home: Home): Promise<Index> {
  const text = await home.read(INDEX) ?? "";
  const index = quietly(() => JSON.parse(text));
  const isIndex = index?.format === FORMAT && isLike(index.projects, {}) &&
    Object.values(index.projects).every((project) => isLike(project, PROJECT));
  if (isIndex) return { ...index.projects };
  const found: Index = {};
  for (const { name } of await listDirectory(home.file(DIRECTORY)) ?? []) {
    const id = RECORD_NAME.exec(name)?.[1];
    const data = id === undefined ? null : await readRecord(home, id);
    if (id !== undefined && data !== null) {
      found[id] = { root: data.root, ...identityIn(data), common: commonDirectory(data.root) };
    }
  }
  return found;
}

async function readRecord(home: Home, id: string, root = "a project"): Promise<RecordData | null> {
  const text = await home.read(`${DIRECTORY}/${id}.json`);
  if (text === null) return null;
  const data = { met: [], ...quietly(() => JSON.parse(text)) };
  if (data.format === FORMAT && isLike(data, RECORD)) return data;
  throw new AgentcliError(
    "home_unusable",
    `${home.file(`${DIRECTORY}/${id}.json`)}, the record of ${root}, cannot be read`,
    { hint: "remove that file, and run agentcli secrets trust in the project: it is then taken as it stands" },
  );
}

/**
 * Changes the record of `root` as it is on the disk now, while nobody else does. `before` is taken where there is none, and
 * the record of `moved` is taken over. Gives the new one.
 */
export async function changeRecord(
  home: Home,
  { root, moved, before }: { root: string; moved: string | null; before: RecordData },
  work: (data: RecordData) => RecordData | Promise<RecordData>,
): Promise<RecordData> {
  const nameOf = (id: string) => `${DIRECTORY}/${id}.json`;
  const [id, old] = [await idOf(root), moved === null ? null : await idOf(moved)];
  return await home.locked(INDEX, async () => {
    const projects = await readIndex(home);
    const taken = old === null ? null : await readRecord(home, old);
    const data = await work(await readRecord(home, id, root) ?? (taken === null ? before : rebased(taken, root)));
    const open = isOpen(data);
    if (open) {
      await home.remove(nameOf(id));
      // Directories that came and went would make the index longer and longer.
      for (const [other, entry] of Object.entries(projects)) {
        if (!isProtected(entry) && identityAt(entry.root).inode === 0) delete projects[other];
      }
    } else {
      const text = JSON.stringify({ format: FORMAT, ...data });
      if (text.length > RECORD_LIMIT) {
        throw new AgentcliError("home_unusable", `the markers of ${root} hold more rules than can be remembered`, {
          hint: "take out lines, or markers that nobody needs",
        });
      }
      await home.write(nameOf(id), text);
    }
    projects[id] = { root, ...identityIn(data), common: commonDirectory(root), ...open && { open } };
    if (old !== null) delete projects[old];
    await home.write(INDEX, JSON.stringify({ format: FORMAT, projects }));
    if (old !== null) await home.remove(nameOf(old));
    return data;
  });
}

/** The shapes of both files; of a list its items. */
const IDENTITY = { device: 0, inode: 0, born: 0 };
const PROJECT = { root: "", ...IDENTITY };
const RECORD = {
  ...PROJECT,
  ...{ salt: "", endpoints: [""], confirmed: [""], allowed: [""] },
  markers: [{ path: "", lines: [{ tier: "", pattern: "" }] }],
  derived: [{ path: "", source: "", ...IDENTITY }],
  met: [{ path: "", size: 0, modified: 0, digest: "", ...IDENTITY }],
};

/** Whether every value is what it has to be: one that is not would end each session of the project with an error in here. */
function isLike<Shape>(value: unknown, shape: Shape): boolean {
  if (Array.isArray(shape)) return Array.isArray(value) && value.every((item) => isLike(item, shape[0]));
  if (typeof shape !== "object" || shape === null) return typeof value === typeof shape;
  return typeof value === "object" && value !== null &&
    Object.entries(shape).every(([key, member]) => isLike((value as Record<string, unknown>)[key], member));
}

/** A record as it is where its project lies now. */
export function rebased(data: RecordData, root: string): RecordData {
  const place = (path: string) => isWithin(data.root, path) ? join(root, relativeTo(data.root, path)) : path;
  return {
    ...data,
    root,
    markers: data.markers.map((marker) => ({ ...marker, path: place(marker.path) })),
    derived: data.derived.map((file) => ({ ...file, path: place(file.path), source: place(file.source) })),
    met: data.met.map((file) => ({ ...file, path: place(file.path) })),
  };
}

async function idOf(root: string): Promise<string> {
  return (await sha256(root)).slice(0, 32);
}
