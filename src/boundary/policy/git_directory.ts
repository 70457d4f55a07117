/** Facts about a git working tree, read from git's files without starting a process. */
import { lstatSync } from "../../platform/files.ts";
import { basename, dirname, isWithin, join, resolve } from "../../platform/path.ts";
import { quietly, realOrNull } from "../../platform/real_path.ts";
import { readRegularFile } from "../reader.ts";

/** Size limits in bytes: of a file with one name, and of the list of all branches. */
const NAME_LIMIT = 8192;
const PACKED_LIMIT = 64 * 1024 * 1024;

/** A repository. All paths are real. */
export interface GitDirectory {
  /** The working tree; for a bare repository its parent directory. */
  top: string;
  directory: string;
  /** Shared by all worktrees: settings, hooks, objects. */
  common: string;
}

/** Returns the repository at a path named `.git` or of a bare repository; null if it leads nowhere. */
export function gitDirectory(place: string): GitDirectory | null {
  return quietly(() => {
    const kind = lstatSync(place)?.kind;
    if (kind === undefined) return null;
    const target = kind === "file" ? /^gitdir:\s*(.+)$/m.exec(textOf(place))?.[1]?.trim() : place;
    const directory = target === undefined ? null : realOrNull(resolve(dirname(place), target));
    if (directory === null || lstatSync(directory)?.kind !== "directory") return null;
    const common = realOrNull(resolve(directory, firstLine(join(directory, "commondir")) || "."));
    return common === null ? null : { top: dirname(place), directory, common };
  });
}

/** Returns whether a repository names the tree that names it: a `.git` file can point git to any repository. */
export function pointsBack({ top, directory, common }: GitDirectory): boolean {
  const place = join(top, ".git");
  if (directory !== common) {
    const named = firstLine(join(directory, "gitdir"));
    return isWithin(join(common, "worktrees"), directory) && leadsTo(resolve(directory, named), place);
  }
  const worktree = /^[ \t]*worktree[ \t]*=(.*)/im.exec(textOf(join(directory, "config")))?.[1];
  return worktree === undefined
    ? directory === place
    : leadsTo(resolve(directory, worktree.trim().replace(/^"|"$/g, "")), top);
}

function leadsTo(path: string, place: string): boolean {
  const [one, other] = [realOrNull(path), realOrNull(place)];
  return one !== null && one === other;
}

/**
 * Returns the main working tree if `root` (a real path) is a linked worktree or uses another tree's repository in any
 * other way; otherwise null. A marker that git does not track exists only in the main tree.
 */
export function mainTree(root: string): string | null {
  const common = gitDirectory(join(root, ".git"))?.common ?? null;
  return common === null || basename(common) !== ".git" || dirname(common) === root ? null : dirname(common);
}

/** Returns the current branch; undefined outside a repository or with a detached HEAD. */
export function currentBranch(root: string): string | undefined {
  const git = gitDirectory(join(root, ".git"));
  return git === null ? undefined : /^ref: refs\/heads\/(.+)$/.exec(firstLine(join(git.directory, "HEAD")))?.[1];
}

/** Returns the commit id of HEAD; null if there is none or it cannot be read. */
export function headCommit(root: string): string | null {
  const git = gitDirectory(join(root, ".git"));
  if (git === null) return null;
  const head = firstLine(join(git.directory, "HEAD"));
  const branch = /^ref: (.+)$/.exec(head)?.[1];
  if (branch === undefined) return commitId(head);
  const loose = commitId(firstLine(join(git.common, branch)));
  if (loose !== null) return loose;
  const packed = textOf(join(git.common, "packed-refs"), PACKED_LIMIT);
  const end = packed.indexOf(` ${branch}\n`);
  return end < 0 ? null : commitId(packed.slice(packed.lastIndexOf("\n", end) + 1, end));
}

function commitId(text: string): string | null {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;
}

function firstLine(path: string): string {
  return textOf(path).split("\n", 1)[0]?.trimEnd() ?? "";
}

/** Returns an empty text if the file cannot be read. */
function textOf(path: string, limit = NAME_LIMIT): string {
  const read = readRegularFile(path, { display: path, limit });
  return "refused" in read ? "" : new TextDecoder().decode(read.bytes);
}
