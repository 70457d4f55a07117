/** Whether git holds protected content: then commands do not see `.git`. In doubt it does. */
import { lstat } from "../../platform/files.ts";
import { lstatInPlace } from "../../platform/files_in_place.ts";
import { join } from "../../platform/path.ts";
import { askGit, callGit, PLAIN_DIFF, type Repository } from "./git_call.ts";
import { commonDirectory } from "./git_stores.ts";
import { eachFile } from "./hard_links.ts";
import type { HiddenPaths, ProtectedPlaces } from "./request.ts";

/** Longest time for one question to git, in milliseconds; a history that takes longer is taken to hold something. */
const DEADLINE_MS = 10_000;
/** Characters of names of objects that are taken in: about 50 each. */
const OBJECTS_LIMIT = 64 * 1024 * 1024;

/** What changes whenever index or history do; new objects change a directory of the objects. */
const WATCHED = ["HEAD", "index", "packed-refs", "config", "ORIG_HEAD", "MERGE_HEAD", "objects/pack", "objects/info"];

/** A repository to be judged. */
export interface JudgedRepository extends Repository {
  directory: string;
  /** Directories that its names can be relative to, absolute. */
  tops: readonly string[];
}

/** A value that changes when index, history or the protected files of a repository do; cheap. */
export function historyState(directory: string, watched: readonly string[]): string {
  const common = commonDirectory(directory);
  const fanOut = Array.from({ length: 256 }, (_, index) => `objects/${index.toString(16).padStart(2, "0")}`);
  const paths = [directory, common].flatMap((place) => WATCHED.map((name) => join(place, name)));
  return [...paths, ...fanOut.map((name) => join(common, name)), ...watched].map(stateOf).join(" ");
}

function stateOf(path: string): string {
  try {
    const status = lstatInPlace(path);
    return status === null ? "-" : `${status.inode}:${status.modified}:${status.size}`;
  } catch {
    return "?";
  }
}

/**
 * Whether a protected path occurs in the index or in any commit among the objects, the bytes of a protected file are among
 * them, or there is a blob that neither a commit nor the index names: nobody can say what it was, and a key that has been
 * replaced since is found by nothing else. True when git cannot tell, or not in time.
 */
export async function historyHolds(
  repository: JudgedRepository,
  options: { protection: ProtectedPlaces; hide: HiddenPaths },
): Promise<boolean> {
  const { tops } = repository;
  const covered = (name: string) => tops.some((top) => options.protection.rule(join(top, name)) !== null);
  if (await names(repository, { args: ["ls-files", "-z"], covered })) return true;
  const objects = await allObjects(repository);
  if (objects === null) return true;
  const commits = objects.commits.map((name) => `${name}\n`).join("");
  if (commits !== "") {
    const format = ["-m", "-z", "--name-only", "--format="];
    const args = ["log", "--no-walk=unsorted", "--stdin", ...format, ...PLAIN_DIFF];
    if (await names(repository, { args, covered, input: commits })) return true;
  }
  return await holdsUnnamed(repository, objects) || await holdsBytes(repository, options.hide);
}

interface Objects {
  commits: string[];
  blobs: Set<string>;
}

/** Of every pack, alternate and loose file, whether or not something leads to it; null when git cannot tell. */
async function allObjects(repository: Repository): Promise<Objects | null> {
  const form = "--batch-check=%(objecttype) %(objectname)";
  const args = ["cat-file", "--batch-all-objects", "--unordered", form];
  const text = await askGit(repository, { args, timeoutMs: DEADLINE_MS, limit: OBJECTS_LIMIT });
  if (text === null) return null;
  const objects: Objects = { commits: [], blobs: new Set() };
  for (const line of text.split("\n")) {
    const [kind, name = ""] = line.split(" ");
    if (kind === "commit") objects.commits.push(name);
    else if (kind === "blob") objects.blobs.add(name);
  }
  return objects;
}

/** Whether there is a blob that no commit and no index names. */
async function holdsUnnamed(repository: Repository, { commits, blobs }: Objects): Promise<boolean> {
  if (blobs.size === 0) return false;
  const args = ["rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--indexed-objects", "--stdin"];
  const input = commits.map((name) => `${name}\n`).join("");
  const named = await askGit(repository, { args, input, timeoutMs: DEADLINE_MS, limit: OBJECTS_LIMIT });
  if (named === null) return true;
  const left = new Set(blobs);
  for (const name of named.split("\n")) left.delete(name);
  return left.size > 0;
}

/** Whether one of the names that git prints is covered. */
async function names(
  repository: Repository,
  { args, covered, input }: { args: readonly string[]; covered(name: string): boolean; input?: string },
): Promise<boolean> {
  const decoder = new TextDecoder();
  const seen = new Set<string>();
  const stop = new AbortController();
  let rest = "";
  let hit = false;
  const onOutput = (bytes: Uint8Array) => {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split("\0");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const name = part.replace(/^\n+/, "");
      if (hit || name === "" || seen.has(name)) continue;
      seen.add(name);
      hit = covered(name);
      if (hit) stop.abort();
    }
  };
  const outcome = await callGit(repository, {
    args,
    timeoutMs: DEADLINE_MS,
    signal: stop.signal,
    onOutput,
    ...input === undefined ? {} : { input },
  });
  return hit || outcome.ended !== "exit" || outcome.code !== 0 || (rest.trim() !== "" && covered(rest.trim()));
}

async function holdsBytes(repository: Repository, hide: HiddenPaths): Promise<boolean> {
  const files: string[] = [];
  const note = async (path: string) => {
    const status = await lstat(path).catch(() => null);
    // Every repository has the empty file, and names with a line end cannot be asked about.
    if (status?.kind === "file" && status.size > 0) files.push(path);
  };
  for (const path of hide.files) await note(path);
  for (const directory of hide.directories) await eachFile(directory, { enter: () => true, visit: note });
  if (files.some((path) => path.includes("\n"))) return true;
  if (files.length === 0) return false;
  const options = { timeoutMs: DEADLINE_MS, limit: OBJECTS_LIMIT };
  const hashes = await askGit(repository, {
    ...options,
    args: ["hash-object", "--no-filters", "--stdin-paths"],
    input: files.join("\n") + "\n",
  });
  if (hashes === null) return true;
  const known = await askGit(repository, { ...options, args: ["cat-file", "--batch-check"], input: hashes });
  return known === null || known.split("\n").some((line) => line !== "" && !line.endsWith(" missing"));
}
