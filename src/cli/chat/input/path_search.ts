/** Finds paths of the project by a part of their names. Loaded with the first `@`. */
import type { ResolvedPath, Workspace } from "../../../boundary/workspace/workspace.ts";
import type { Clock } from "../../../platform/io.ts";
import { type Candidate, pathOffer } from "../../../terminal/editor_text.ts";
import { walkFiles } from "../../../tools/walk.ts";

/** Most paths that are kept: in a larger tree those that the walk reaches last are not found. */
const MOST_PATHS = 50_000;
/** Milliseconds after which the tree is walked again. */
const FRESH_MS = 3000;

/** A file or directory of the project; the name of a directory ends with a slash. */
interface KnownPath {
  path: string;
  lower: string;
  /** Where its last name begins. */
  base: number;
  isHidden: boolean;
}

const INDEXES = new WeakMap<Workspace, { made: number; paths: Promise<KnownPath[]> }>();

export interface SearchOptions {
  /** Paths that are returned. */
  most: number;
  clock: Pick<Clock, "monotonic" | "sleep">;
}

/**
 * Returns the paths that a word may mean, best first. Ignored ones and `.git` are left out; hidden ones need their dot.
 */
export async function findPaths(
  word: string,
  workspace: Workspace,
  { most, clock }: SearchOptions,
): Promise<Candidate[]> {
  const paths = await pathsOf(workspace, clock);
  const wanted = word.toLowerCase().replace(/^\.\//, "");
  const withHidden = /(?:^|\/)\./.test(wanted);
  const ranked = paths.flatMap((known) => {
    const rank = known.isHidden && !withHidden ? null : rankOf(known, wanted);
    return rank === null ? [] : [{ known, rank }];
  });
  ranked.sort((one, other) =>
    one.rank - other.rank || one.known.path.length - other.known.path.length ||
    (one.known.path < other.known.path ? -1 : 1)
  );
  return await Promise.all(
    ranked.slice(0, most).map(async ({ known }) => {
      const resolved = await workspace.resolve(known.path);
      const isProtected = !("refused" in resolved) && workspace.ruleAt(resolved) !== null;
      return pathOffer(known.path, isProtected ? "[no-cloud]" : "");
    }),
  );
}

/** Ranks by how a path holds the word; details never outweigh the kind. */
const KIND = 10_000;

/** Lower is better; null where the letters are not there in this order. Exported for its test. */
export function rankOf({ lower, base }: Pick<KnownPath, "lower" | "base">, wanted: string): number | null {
  const depth = (lower.slice(0, -1).match(/\//g)?.length ?? 0) - (wanted.match(/\//g)?.length ?? 0);
  const nearness = Math.max(0, Math.min(depth, 99));
  if (lower.startsWith(wanted)) return lower === wanted ? KIND * 5 : nearness;
  if (lower.startsWith(wanted, base)) return KIND + nearness;
  if (lower.includes(wanted, base)) return KIND * 2 + nearness;
  if (lower.includes(wanted)) return KIND * 3 + nearness;
  const gaps = gapsIn(lower, wanted);
  return gaps === null ? null : KIND * 4 + Math.min(gaps, KIND - 1);
}

/**
 * Letters from the first to the last of the word where its letters are apart; null where they do not occur in order.
 */
function gapsIn(text: string, wanted: string): number | null {
  let [at, first] = [-1, -1];
  for (const letter of wanted) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return null;
    if (first < 0) first = at;
  }
  return at - first + 1 - wanted.length;
}

function pathsOf(workspace: Workspace, clock: SearchOptions["clock"]): Promise<KnownPath[]> {
  const now = clock.monotonic();
  const before = INDEXES.get(workspace);
  if (before !== undefined && now - before.made < FRESH_MS) return before.paths;
  const paths = walk(workspace, clock);
  INDEXES.set(workspace, { made: now, paths });
  // The previous one serves until this one is ready.
  return before === undefined ? paths : before.paths;
}

async function walk(workspace: Workspace, clock: SearchOptions["clock"]): Promise<KnownPath[]> {
  const start = await workspace.resolve(workspace.root);
  if ("refused" in start) return [];
  const found = new Map<string, KnownPath>();
  const { signal } = new AbortController();
  for await (const files of walkFiles(start, { workspace, signal, clock })) {
    for (const file of files) addPath(file.path, found);
    if (found.size >= MOST_PATHS) break;
  }
  return [...found.values()];
}

/** Adds a file, and the directories that lead to it. */
function addPath({ display }: ResolvedPath, found: Map<string, KnownPath>): void {
  for (let end = display.length; end > 0; end = display.lastIndexOf("/", end - 2) + 1) {
    const path = display.slice(0, end);
    if (found.has(path)) return;
    const base = path.lastIndexOf("/", path.length - 2) + 1;
    found.set(path, { path, lower: path.toLowerCase(), base, isHidden: /(?:^|\/)\./.test(path) });
  }
}
