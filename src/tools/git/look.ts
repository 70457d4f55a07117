/** The reading commands of Git: names of all changed files, content of open files only. */
import { dirname } from "../../platform/path.ts";
import { ancestors } from "../../platform/real_path.ts";
import { PLAIN_DIFF } from "./call.ts";
import { shownName } from "../file_names.ts";
import type { ToolResult } from "../tool.ts";
import { type GitWork, namesOf } from "./repository.ts";

const MOST_COMMITS = 100;
/** UTF-16 units of the names in one call: the system takes about two megabytes of arguments. */
const LONGEST_LINE = 500_000;

/** Submodules are never read: git would run in them, with their settings. */
export const STATUS: readonly string[] = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"];

/** Lists what has changed, and marks what is protected. */
export async function status(work: GitWork, paths: readonly string[]): Promise<ToolResult> {
  const branch = await work.ask(["symbolic-ref", "--short", "-q", "HEAD"]);
  const entries = await work.names([...STATUS, "--", ...paths]);
  if (entries === null) return work.failed("status");
  // In the sandbox every protected file differs from the index: what is staged counts, and what this program sees
  // itself.
  const staged = new Map<string, string>();
  const others: string[] = [];
  for (const entry of entries) {
    const name = entry.slice(3);
    if (!work.isCovered(name)) others.push(entry);
    else if (!/^[ ?!]/.test(entry)) staged.set(name, entry.charAt(0));
  }
  const { changed, gone } = await work.protectedChanges(paths);
  const letters = new Map([
    ...changed.map((name) => [name, "M"] as const),
    ...gone.map((name) => [name, "D"] as const),
  ]);
  const own = [...new Set([...staged.keys(), ...letters.keys()])].sort()
    .map((name) => `${staged.get(name) ?? " "}${letters.get(name) ?? " "} ${shownName(name)} [no-cloud]`);
  const untracked = (entry: string) => entry.startsWith("??");
  const lines = [...others.filter((entry) => !untracked(entry)), ...others.filter(untracked)]
    .map((entry) => entry.slice(0, 3) + shownName(entry.slice(3)));
  const head = branch === null ? "no branch" : `on ${shownName(branch.trim())}`;
  const all = [...own, ...lines];
  return work.show([all.length === 0 ? `${head}, nothing changed` : head, ...all].join("\n"));
}

/** Shows changes of the working tree, of the index, or between commits. */
export async function diff(
  work: GitWork,
  { rev, staged, paths }: { rev: string | undefined; staged: boolean; paths: readonly string[] },
): Promise<ToolResult> {
  const revs = rev === undefined ? [] : await revsOf(work, rev);
  if (revs === null) return work.fail(`There is no commit ${shownName(rev ?? "")}.`);
  const base = ["diff", ...PLAIN_DIFF, ...staged ? ["--cached"] : [], ...revs];
  const names = await work.names([...base, "--name-only", "-z", "--", ...paths]);
  if (names === null) return work.failed("diff");
  const inTree = !staged && revs.length < 2;
  const { changed, gone } = inTree ? await work.protectedChanges(paths) : { changed: [], gone: [] };
  const seen = inTree ? names.filter((name) => !work.isCovered(name)) : names;
  const shown = [...changed, ...gone, ...seen];
  return await patch(work, { names: shown, all: names, args: base, nothing: "no changes to show" });
}

/** Commits that `a`, or `a..b`, means; null when there is none. */
async function revsOf(work: GitWork, rev: string): Promise<string[] | null> {
  const commits = await Promise.all(rev.split(/\.{2,3}/).map((one) => work.commit(one === "" ? "HEAD" : one)));
  return commits.length > 2 || commits.includes(null) ? null : commits.filter((commit) => commit !== null);
}

/**
 * The changes of open files; the others are named. To git, a name means everything below it, too: what took the place
 * of a directory with changes is not shown. `all` are the names of all changes.
 */
async function patch(
  work: GitWork,
  { names, all = names, args, nothing }: {
    names: readonly string[];
    all?: readonly string[];
    args: readonly string[];
    nothing: string;
  },
): Promise<ToolResult> {
  const directories = new Set([...names, ...all].flatMap((name) => ancestors(dirname(name))));
  const { open, kept } = await work.sorted(names.filter((name) => !directories.has(name)));
  const replaced = names.filter((name) => directories.has(name)).map((name) => ({
    name,
    reason: "it was a directory",
  }));
  const notes = [...kept, ...replaced]
    .map(({ name, reason }) => `[${shownName(name)} has changed; not shown: ${reason}]`);
  if (open.length === 0) return work.show([nothing, ...notes].join("\n"));
  const isShort = open.join("\0").length < LONGEST_LINE;
  const text = isShort ? await work.ask([...args, "--", ...open]) : null;
  return text === null ? work.failed("diff") : work.show([...notes, text].join("\n"));
}

/** Lists commits: names, days, authors and subjects. */
export async function log(
  work: GitWork,
  { rev, count = 10, paths }: { rev: string | undefined; count: number | undefined; paths: readonly string[] },
): Promise<ToolResult> {
  const head = await work.commit(rev ?? "HEAD");
  if (head === null) {
    return work.fail(rev === undefined ? "There is no commit yet." : `There is no commit ${shownName(rev)}.`);
  }
  const form = ["--format=%h %ad %an: %s", "--date=short", "--no-show-signature", "--no-patch"];
  const text = await work.ask([
    "log",
    `-n${Math.min(Math.max(count, 1), MOST_COMMITS)}`,
    ...form,
    head,
    "--",
    ...paths,
  ]);
  return text === null ? work.failed("log") : work.show(text || "no commits");
}

/** Shows a commit, or with `commit:path` a file of it. */
export async function show(
  work: GitWork,
  { rev, paths }: { rev: string | undefined; paths: readonly string[] },
): Promise<ToolResult> {
  const [name = "HEAD", path] = /^([^:]+):(.+)$/s.exec(rev ?? "")?.slice(1) ?? [rev];
  const commit = await work.commit(name);
  if (commit === null) return work.fail(`There is no commit ${shownName(name)}.`);
  if (path !== undefined) return await showFile(work, { commit, path });
  return await showCommit(work, { commit, paths });
}

/** A commit, or a stash: what it says, and its changes of open files against its first parent. */
export async function showCommit(
  work: GitWork,
  { commit, paths }: { commit: string; paths: readonly string[] },
): Promise<ToolResult> {
  const parent = await work.commit(`${commit}^1`);
  const base = parent === null ? ["diff-tree", "--root"] : ["diff-tree", parent];
  const args = [...base, "-r", ...PLAIN_DIFF, "--no-commit-id", commit];
  const names = await work.names([...args, "--name-only", "-z", "--", ...paths]);
  const head = await work.ask([
    "log",
    "-n1",
    "--format=%h %ad %an%n%n%B",
    "--date=short",
    "--no-show-signature",
    commit,
  ]);
  if (names === null || head === null) return work.failed("show");
  const result = await patch(work, { names, args: [...args, "-p"], nothing: "no changes to show" });
  return result.isError ? result : work.show(`${head.trimEnd()}\n\n${result.content}`);
}

async function showFile(work: GitWork, { commit, path }: { commit: string; path: string }): Promise<ToolResult> {
  const names = await namesOf([path], work.context);
  if (typeof names === "string") return work.fail(names);
  const { open: [name], kept: [kept] } = await work.sorted(names);
  if (name === undefined) return work.fail(`${shownName(path)} is not shown: ${kept?.reason ?? "protected"}.`);
  const text = await work.ask(["cat-file", "blob", `${commit}:${name}`]);
  return text === null ? work.fail(`${shownName(name)} is not a file of that commit.`) : work.show(text);
}
