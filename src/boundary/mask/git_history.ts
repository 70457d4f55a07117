/** Whether git holds protected content: then commands do not see `.git`. In doubt it does. */
import { lstat } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import { askGit, callGit, PLAIN_DIFF, type Repository } from "./git_call.ts";
import { eachFile } from "./hard_links.ts";
import type { HiddenPaths, ProtectedPlaces } from "./request.ts";

/** Longest time for one question to git, in milliseconds; a history that takes longer is taken to hold something. */
const DEADLINE_MS = 10_000;
/** Characters of names of objects that are taken in: 40 each. */
const OBJECTS_LIMIT = 8 * 1024 * 1024;

/** What changes whenever index or history do. */
const WATCHED = [
  "HEAD",
  "index",
  "packed-refs",
  "ORIG_HEAD",
  "FETCH_HEAD",
  "MERGE_HEAD",
  "refs/heads",
  "refs/remotes",
  "refs/tags",
  "refs/stash",
  "logs/HEAD",
  "logs/refs/stash",
  "objects/pack",
];

/** A value that changes when index, history or the protected files of a repository do; cheap. */
export async function historyState(top: string, watched: readonly string[]): Promise<string> {
  const paths = [...WATCHED.map((name) => join(top, ".git", name)), join(top, ".git"), ...watched];
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
  return found.map((status) => status === null ? "-" : `${status.inode}:${status.modified}:${status.size}`).join(" ");
}

/**
 * Whether a protected path occurs in the index or in any commit that a ref or a reflog reaches, or the bytes of a
 * protected file are among the objects, also of unreachable ones. True when git cannot tell, or not in time.
 */
export async function historyHolds(
  repository: Repository,
  options: { protection: ProtectedPlaces; hide: HiddenPaths },
): Promise<boolean> {
  const { top } = repository;
  const covered = (name: string) => options.protection.rule(join(top, name)) !== null;
  const questions = [["ls-files", "-z"], [
    "log",
    "--all",
    "--reflog",
    "-m",
    "-z",
    "--name-only",
    "--format=",
    ...PLAIN_DIFF,
    ...await extraHeads(repository),
    "--",
  ]];
  for (const args of questions) {
    if (await names(repository, { args, covered })) return true;
  }
  return await holdsBytes(repository, options.hide);
}

/** Commits that no ref names. */
async function extraHeads({ top }: Repository): Promise<string[]> {
  const heads = ["ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "HEAD"];
  const found = await Promise.all(heads.map((name) => lstat(join(top, ".git", name)).catch(() => null)));
  // A HEAD that names no commit yet makes git fail; `--all` has it otherwise.
  return heads.filter((name, index) => name !== "HEAD" && found[index] !== null);
}

/** Whether one of the names that git prints is covered. */
async function names(
  repository: Repository,
  { args, covered }: { args: readonly string[]; covered(name: string): boolean },
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
  const outcome = await callGit(repository, { args, timeoutMs: DEADLINE_MS, signal: stop.signal, onOutput });
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
