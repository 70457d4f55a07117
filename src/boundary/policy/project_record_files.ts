/**
 * The files that {@link ProjectRecord} keeps in the home: `projects/<id>.json`, where the id is a digest of the root's
 * path, and an index of them.
 */
import { AgentcliError } from "../../errors.ts";
import { listDirectory } from "../../platform/files.ts";
import { statInPlace } from "../../platform/files_in_place.ts";
import type { Home } from "../../platform/home.ts";
import { isAbsolute, isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly } from "../real_path.ts";
import type { Tier } from "./marker_text.ts";

const DIRECTORY = "projects";
/** Tells in one look whether any project is known, and which records concern a directory. */
export const INDEX = `${DIRECTORY}/index.json`;
const RECORD_NAME = /^([0-9a-f]{32})\.json$/;
/** The form of both files. */
export const FORMAT = 1;
/** Characters of a record: commands can make any number of markers, and all of it is read at each start. */
const RECORD_LIMIT = 4 * 1024 * 1024;

/** One rule of a marker. */
export interface RecordedLine {
  tier: Tier;
  pattern: string;
}

/** A marker as it stands: what a record takes from it. */
export interface SeenMarker {
  /** Absolute. */
  path: string;
  lines: readonly RecordedLine[];
}

/** A marker as it was ever seen. */
export interface RecordedMarker extends SeenMarker {
  device: number;
  inode: number;
}

/** A file that a session wrote and that holds protected content. */
export interface DerivedFile {
  /** Absolute. */
  path: string;
  device: number;
  inode: number;
  /** Milliseconds since 1970 when it came to be; 0 where the system does not say. */
  born: number;
  /** Absolute path of the protected file whose content it holds. */
  source: string;
}

/** Which directory it was. */
export interface Identity {
  device: number;
  inode: number;
  born: number;
}

/** An entry of the index. */
export interface Known extends Identity {
  root: string;
}

/** A record on the disk; paths inside of the root are relative to it, so that they move with the project. */
export interface RecordData extends Known {
  format: typeof FORMAT;
  firstHead: string | null;
  markers: RecordedMarker[];
  endpoints: string[];
  /** Those of the endpoints that the user has named himself: they open what other markers protect in the project too. */
  confirmed: string[];
  salt: string;
  allowed: string[];
  derived: DerivedFile[];
}

/** The projects by id. */
export type Index = Record<string, Known>;

/** What is remembered of a project that the home knows. */
export interface KnownProject {
  root: string;
  markers: readonly RecordedMarker[];
  derived: readonly DerivedFile[];
  /** The values of `local-endpoints:` that have an effect there. */
  endpoints: readonly string[];
}

/** The file of a record, relative to the home. */
function nameOf(id: string): string {
  return `${DIRECTORY}/${id}.json`;
}

/** Whether any project ever had a marker. One look. */
export async function anyProtectedProject(home: Home): Promise<boolean> {
  return await home.status(INDEX) !== null;
}

/** Every project that ever had a marker. Throws `home_unusable` for a record that cannot be read. */
export async function knownProjects(home: Home): Promise<KnownProject[]> {
  const records = await Promise.all(Object.keys(await readIndex(home)).map((id) => readRecord(home, id)));
  return records.flatMap((data) => data === null ? [] : [placedAt(data.root, data)]);
}

/** Reads the index; one that is damaged is made again from the records. */
export async function readIndex(home: Home): Promise<Index> {
  const text = await home.read(INDEX);
  if (text === null) return {};
  const index = quietly(() => JSON.parse(text));
  if (index?.format === FORMAT && typeof index.projects === "object") return { ...index.projects };
  const found: Index = {};
  for (const { name } of await listDirectory(home.file(DIRECTORY)) ?? []) {
    const id = RECORD_NAME.exec(name)?.[1];
    const data = id === undefined ? null : await readRecord(home, id);
    if (id !== undefined && data !== null) found[id] = knownOf(data);
  }
  return found;
}

/** Reads a record; null when there is none. Throws `home_unusable` for one that is damaged. */
export async function readRecord(home: Home, id: string): Promise<RecordData | null> {
  const text = await home.read(nameOf(id));
  if (text === null) return null;
  const data = quietly(() => JSON.parse(text));
  if (isRecord(data)) return data;
  throw new AgentcliError("home_unusable", `${home.file(nameOf(id))}, the record of a project, cannot be read`, {
    hint: "remove that file; the project is then taken as it stands at its next session",
  });
}

/**
 * Changes the record of `root` as it is on the disk now, while nobody else does; null for what `work` gives removes it.
 * `before` is taken where there is none, and the record of `moved` is taken over. Gives the new one.
 */
export async function changeRecord(
  home: Home,
  { root, moved, before }: { root: string; moved: string | null; before: RecordData | null },
  work: (data: RecordData | null) => RecordData | null | Promise<RecordData | null>,
): Promise<RecordData | null> {
  const id = await idOf(root);
  const old = moved === null ? null : await idOf(moved);
  return await home.locked(INDEX, async () => {
    const index = await readIndex(home);
    const found = await readRecord(home, id) ?? (old === null ? null : await readRecord(home, old)) ?? before;
    const made = await work(found);
    const data = made === null ? null : { ...made, root };
    if (data === null) {
      await home.remove(nameOf(id));
      delete index[id];
    } else {
      const text = JSON.stringify(data);
      if (text.length > RECORD_LIMIT) throw tooLarge(root);
      await home.write(nameOf(id), text);
      index[id] = knownOf(data);
    }
    if (old !== null) delete index[old];
    if (Object.keys(index).length === 0) await home.remove(INDEX);
    else await home.write(INDEX, JSON.stringify({ format: FORMAT, projects: index }));
    if (old !== null) await home.remove(nameOf(old));
    return data;
  });
}

function tooLarge(root: string): AgentcliError {
  return new AgentcliError("home_unusable", `the markers of ${root} hold more rules than can be remembered`, {
    hint: "take out lines, or markers that nobody needs",
  });
}

function isRecord(data: unknown): data is RecordData {
  if (typeof data !== "object" || data === null) return false;
  const { format, root, markers, endpoints, confirmed, allowed, derived, salt } = data as Partial<RecordData>;
  return format === FORMAT && typeof root === "string" && typeof salt === "string" &&
    [endpoints, confirmed, allowed].every(Array.isArray) &&
    Array.isArray(derived) && derived.every(({ path }) => typeof path === "string") &&
    Array.isArray(markers) && markers.every(({ path, lines }) => typeof path === "string" && Array.isArray(lines));
}

function knownOf({ root, device, inode, born }: RecordData): Known {
  return { root, device, inode, born };
}

/** A record as seen from where its project lies now. */
export function placedAt(root: string, { markers, derived, endpoints }: RecordData): KnownProject {
  const place = (path: string) => absolutePath(root, path);
  return {
    root,
    endpoints,
    markers: markers.map((marker) => ({ ...marker, path: place(marker.path) })),
    derived: derived.map((file) => ({ ...file, path: place(file.path), source: place(file.source) })),
  };
}

/** A path as a record holds it. */
export function storedPath(root: string, path: string): string {
  return isWithin(root, path) ? relativeTo(root, path) : path;
}

/** The path that {@link storedPath} was given. */
export function absolutePath(root: string, path: string): string {
  return isAbsolute(path) ? path : join(root, path);
}

/** Which file or directory stands at the end of a path's links; zeros where that cannot be told. */
export function identityOf(path: string): Identity {
  const { device, inode, born } = quietly(() => statInPlace(path)) ?? { device: 0, inode: 0, born: 0 };
  return { device, inode, born };
}

/** Numbers are used again: without the time when it came to be, another directory could have that of one that is gone. */
export function isSameDirectory(one: Identity, other: Identity): boolean {
  return one.inode !== 0 && one.born !== 0 && one.device === other.device && one.inode === other.inode &&
    one.born === other.born;
}

async function idOf(root: string): Promise<string> {
  return (await digest(root)).slice(0, 32);
}

/** SHA-256 in hexadecimal. */
export async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
