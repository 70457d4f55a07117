/** The markers of a project: at its root, above it, and in the main tree of a linked git worktree. */
import { isForbidden } from "../../platform/files.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { dirname, join } from "../../platform/path.ts";
import { mainTree } from "./git_directory.ts";
import { type Marker, parseMarker } from "./marker_text.ts";
import type { SeenMarker } from "./project_record_files.ts";
import { readRegularFile } from "../reader.ts";
import { quietly } from "../real_path.ts";

/** The file that marks paths as protected. */
export const MARKER_NAME = ".agentclisecret";

/** Largest marker in bytes; a longer one counts as damaged. */
const MARKER_LIMIT = 256 * 1024;

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
 * The markers of a directory and of those above it, nearest first. What stands there counts whatever its kind; so does a
 * place that may not be looked at.
 */
function markersAbove(directory: string): string[] {
  const up = dirname(directory);
  const place = join(directory, MARKER_NAME);
  return [...stands(place) ? [place] : [], ...up === directory ? [] : markersAbove(up)];
}

function stands(place: string): boolean {
  try {
    return lstatSync(place) !== null;
  } catch (error) {
    if (isForbidden(error)) return true;
    throw error;
  }
}

/** The marker at a path where something stands; one that cannot be used is `damaged`. */
export function readMarker(path: string): Marker {
  const read = readRegularFile(path, { display: path, limit: MARKER_LIMIT });
  if (!("refused" in read) && !read.more) return parseMarker(read.bytes);
  const damaged = "refused" in read ? "it cannot be read" : "it is larger than 256 KiB";
  return { entries: [], localEndpoints: [], warnings: [], damaged };
}

/**
 * The markers at the root, above it, and of the main tree of a linked worktree. `root` is a real path. Cheap: a few
 * `lstat` calls, and the markers themselves.
 */
export function findMarkers(root: string): MarkerState {
  const main = mainTree(root);
  const paths = [...new Set([...markersAbove(root), ...main === null ? [] : markersAbove(main)])];
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
  const status = quietly(() => lstatSync(path));
  return status?.kind === "file" && status.links === 1
    ? null
    : "the marker is a link or has a second name; make it a plain file of its own";
}
