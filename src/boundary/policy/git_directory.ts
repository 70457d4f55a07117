/** Facts of a working tree that git keeps, read from its files: no process is started for a name. */
import { lstatSync, realPathSync } from "../../platform/files_sync.ts";
import { basename, dirname, isWithin, join, normalize, resolve } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { readRegularFile } from "../reader.ts";

/** Bytes of a file that names one thing, and of the list of all branches. */
const NAME_LIMIT = 8192;
const PACKED_LIMIT = 64 * 1024 * 1024;

/** A repository, real paths. */
export interface GitDirectory {
  /** The working tree; of a bare repository the directory that holds it. */
  top: string;
  directory: string;
  /** Shared by all worktrees: settings, hooks, objects. */
  common: string;
}

/** Returns the repository of a place named `.git`, or of a bare one; null for what leads nowhere. */
export function gitDirectory(place: string): GitDirectory | null {
  return quietly(() => {
    const isFile = lstatSync(place)?.kind === "file";
    const target = isFile ? /^gitdir:\s*(.+)$/m.exec(textOf(place))?.[1]?.trim() : place;
    const directory = target === undefined ? null : realPathSync(resolve(dirname(place), target));
    if (directory === null || lstatSync(directory)?.kind !== "directory") return null;
    const common = realPathSync(resolve(directory, firstLine(join(directory, "commondir")) || "."));
    return common === null ? null : { top: dirname(place), directory: normalize(directory), common: normalize(common) };
  });
}

/**
 * Returns whether a repository says that it belongs to the tree that names it. A file `.git` can name any repository, and
 * git would show what that holds.
 */
export function pointsBack({ top, directory, common }: GitDirectory): boolean {
  const place = join(top, ".git");
  if (directory !== common) {
    const named = firstLine(join(directory, "gitdir"));
    return isWithin(join(common, "worktrees"), directory) && leadsTo(resolve(directory, named), place);
  }
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]*)"?\s*$/im.exec(textOf(join(directory, "config")))?.[1];
  return worktree === undefined ? directory === place : leadsTo(resolve(directory, worktree), top);
}

function leadsTo(path: string, place: string): boolean {
  const [one, other] = [path, place].map((named) => quietly(() => realPathSync(named)));
  return one !== null && one === other;
}

/** Returns what the trees of a repository share, a real path; null where there is none. */
export function commonDirectory(root: string): string | null {
  return gitDirectory(join(root, ".git"))?.common ?? null;
}

/**
 * Returns the main working tree when `root`, a real path, is a linked git worktree, or works with the repository of another
 * tree in any other way, else null. A marker that git does not track exists in the main tree only.
 */
export function mainTree(root: string): string | null {
  const common = commonDirectory(root);
  return common === null || basename(common) !== ".git" || dirname(common) === root ? null : dirname(common);
}

/** Returns the branch that is checked out; undefined outside of a repository, and for a commit without a branch. */
export function currentBranch(root: string): string | undefined {
  const git = gitDirectory(join(root, ".git"));
  return git === null ? undefined : /^ref: refs\/heads\/(.+)$/.exec(firstLine(join(git.directory, "HEAD")))?.[1];
}

/** Returns the id of the commit that is checked out; null where there is none, or where it cannot be read. */
export function headCommit(root: string): string | null {
  const git = gitDirectory(join(root, ".git"));
  if (git === null) return null;
  const head = firstLine(join(git.directory, "HEAD"));
  const branch = /^ref: (.+)$/.exec(head)?.[1];
  if (branch === undefined) return commitId(head);
  const packed = () => textOf(join(git.common, "packed-refs"), PACKED_LIMIT).split("\n");
  return commitId(firstLine(join(git.common, branch))) ??
    commitId(packed().find((line) => line.endsWith(` ${branch}`))?.split(" ")[0] ?? "");
}

function commitId(text: string): string | null {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;
}

function firstLine(path: string): string {
  return textOf(path).split("\n", 1)[0]?.trimEnd() ?? "";
}

/** Empty where there is none. */
function textOf(path: string, limit = NAME_LIMIT): string {
  const read = readRegularFile(path, { display: path, limit });
  return "refused" in read ? "" : new TextDecoder().decode(read.bytes);
}
