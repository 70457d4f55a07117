/** What is checked out in a project, read from where git keeps it: no process is started for a name. */
import { join, resolve } from "../../platform/path.ts";
import { readRegularFile } from "../reader.ts";

/** Bytes of a file that names one thing, and of the list of all branches. */
const LIMIT = 4096;
const PACKED_LIMIT = 64 * 1024 * 1024;

/**
 * The name of the branch that is checked out below `root`; undefined outside of a repository, for a commit without a
 * branch, and for what cannot be read.
 */
export function currentBranch(root: string): string | undefined {
  return /^ref: refs\/heads\/(.+)$/.exec(firstLine(join(gitDirectory(root), "HEAD")) ?? "")?.[1];
}

/** The id of the commit that is checked out below `root`; null where there is none, or where it cannot be read. */
export function headCommit(root: string): string | null {
  const directory = gitDirectory(root);
  const head = firstLine(join(directory, "HEAD")) ?? "";
  const branch = /^ref: (.+)$/.exec(head)?.[1];
  if (branch === undefined) return commitId(head);
  const shared = resolve(directory, firstLine(join(directory, "commondir")) ?? ".");
  const packed = () => {
    const lines = textOf(join(shared, "packed-refs"), PACKED_LIMIT)?.split("\n") ?? [];
    return lines.find((line) => line.endsWith(` ${branch}`))?.split(" ")[0];
  };
  return commitId(firstLine(join(shared, branch)) ?? packed() ?? "");
}

function commitId(text: string): string | null {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;
}

/** Linked worktrees and submodules name their directory in a file `.git`. */
function gitDirectory(root: string): string {
  const git = join(root, ".git");
  const pointer = /^gitdir: (.+)$/.exec(firstLine(git) ?? "")?.[1];
  return pointer === undefined ? git : resolve(root, pointer);
}

function firstLine(path: string): string | undefined {
  return textOf(path, LIMIT)?.split("\n", 1)[0]?.trimEnd();
}

function textOf(path: string, limit: number): string | undefined {
  const read = readRegularFile(path, { display: path, limit });
  return "refused" in read ? undefined : new TextDecoder().decode(read.bytes);
}
