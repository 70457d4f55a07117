/** Where markers stand: at the project root, above it, below it, and in the main tree of a linked git worktree. */
import { isForbidden, listDirectory, lstat } from "../../platform/files.ts";
import { lstatInPlace, realPathInPlace, statInPlace } from "../../platform/files_in_place.ts";
import { basename, dirname, join, normalize, resolve } from "../../platform/path.ts";
import { type Marker, parseMarker } from "./marker_text.ts";
import type { SeenMarker } from "./project_record_files.ts";
import { readRegularFile } from "../reader.ts";
import { quietly } from "../real_path.ts";

/** The file that marks paths as protected. */
export const MARKER_NAME = ".agentclisecret";

/** Largest marker in bytes; a longer one counts as damaged. */
const MARKER_LIMIT = 1024 * 1024;

/** Directories that are looked into at the same time. */
const WALK_WIDTH = 32;

/** The markers that cover a project, and what they open. */
export interface MarkerState {
  /** Absolute paths of the marker files, nearest first. Empty: nothing is protected. */
  paths: string[];
  /** The same with what they say, for the record of the project. */
  seen: SeenMarker[];
  /** The main tree, for a linked worktree of git. */
  main: string | null;
  /** Valid `local-endpoints:` values of the root's own marker; no other marker may loosen. */
  localEndpoints: string[];
  /** One sentence each. */
  warnings: string[];
  /** Which marker cannot be used and why: then everything is protected, and nothing remote may start. */
  damaged?: string;
}

/**
 * The markers of `directory` and of the directories above it, nearest first. What stands there counts whatever its kind;
 * so does a place that may not be looked at.
 */
export async function markersAbove(directory: string): Promise<string[]> {
  const places = [join(directory, MARKER_NAME)];
  for (let at = normalize(directory), up = dirname(at); up !== at; at = up, up = dirname(at)) {
    places.push(join(up, MARKER_NAME));
  }
  const present = await Promise.all(places.map(async (place) => {
    try {
      return await lstat(place) !== null;
    } catch (error) {
      if (isForbidden(error)) return true;
      throw error;
    }
  }));
  return places.filter((_, index) => present[index]);
}

/** The marker at a path where something stands; one that cannot be used is `damaged`. */
export function readMarker(path: string): Marker {
  const read = readRegularFile(path, { display: path, limit: MARKER_LIMIT });
  if (!("refused" in read) && !read.more) return parseMarker(read.bytes);
  const damaged = "refused" in read ? "it cannot be read" : "it is larger than 1 MiB";
  return { entries: [], localEndpoints: [], warnings: [], damaged };
}

/** One line of a small file of git; null when it is not there. */
function firstLine(path: string): string | null {
  const read = readRegularFile(path, { display: path, limit: 4096 });
  if ("refused" in read) return null;
  return new TextDecoder().decode(read.bytes).split("\n")[0]?.trim() ?? null;
}

/**
 * The main working tree when `root` is a linked git worktree, else null. `.git` is then a file that names a directory,
 * whose `commondir` leads to the main `.git`. A marker that git does not track exists in the main tree only.
 */
export function mainTree(root: string): string | null {
  const pointer = /^gitdir:\s*(.+)$/.exec(firstLine(join(root, ".git")) ?? "")?.[1];
  if (pointer === undefined) return null;
  const gitDirectory = resolve(root, pointer);
  const common = firstLine(join(gitDirectory, "commondir"));
  if (common === null || common === "") return null;
  const shared = realPathInPlace(resolve(gitDirectory, common));
  if (shared === null || basename(shared) !== ".git" || statInPlace(shared)?.kind !== "directory") return null;
  return dirname(normalize(shared));
}

/**
 * The markers at the root, above it, and of the main tree of a linked worktree. `root` is a real path. Cheap: a few
 * `lstat` calls, and the markers themselves.
 */
export async function findMarkers(root: string): Promise<MarkerState> {
  const main = mainTree(root);
  const paths = [...new Set([...await markersAbove(root), ...main === null ? [] : await markersAbove(main)])];
  const own = join(root, MARKER_NAME);
  const state: MarkerState = { paths, seen: [], main, localEndpoints: [], warnings: [] };
  for (const path of paths) {
    const marker = readMarker(path);
    state.seen.push({ path, lines: marker.entries.map(({ tier, path: pattern }) => ({ tier, pattern })) });
    const problem = marker.localEndpoints.length === 0 ? null : endpointProblem(path, own);
    if (problem !== null) marker.warnings.push(`local-endpoints has no effect: ${problem}`);
    else state.localEndpoints.push(...marker.localEndpoints);
    state.warnings.push(...marker.warnings.map((warning) => `${path}: ${warning}`));
    if (marker.damaged !== undefined) state.damaged ??= `${path}: ${marker.damaged}`;
  }
  // A marker that cannot be relied on must not open anything either.
  if (state.damaged !== undefined) state.localEndpoints = [];
  return state;
}

/** Why a marker opens nothing: another one than the root's, or a file that can be written under another name. */
function endpointProblem(path: string, own: string): string | null {
  if (path !== own) return "it counts only in the marker of the project root";
  const status = quietly(() => lstatInPlace(path));
  return status?.kind === "file" && status.links === 1
    ? null
    : "the marker is a link or has a second name; make it a plain file of its own";
}

/**
 * The markers below `root`, in no certain order; the root's own is not among them. Walks every directory but `.git`,
 * links not followed. A directory that may not be listed is passed over: reading a file in it looks upward again.
 */
export async function findNestedMarkers(root: string): Promise<string[]> {
  const found: string[] = [];
  const waiting = [root];
  const visit = async (directory: string): Promise<void> => {
    for (const entry of await listDirectory(directory).catch(ignoreForbidden) ?? []) {
      if (entry.name === MARKER_NAME && directory !== root) found.push(join(directory, entry.name));
      else if (entry.kind === "directory" && entry.name !== ".git") waiting.push(join(directory, entry.name));
    }
  };
  while (waiting.length > 0) await Promise.all(waiting.splice(-WALK_WIDTH).map(visit));
  return found;
}

function ignoreForbidden(error: unknown): null {
  if (isForbidden(error)) return null;
  throw error;
}
