/** The branch of a project, read from where git keeps it: no process is started for a name. */
import { join, resolve } from "../../platform/path.ts";
import { readRegularFile } from "../reader.ts";

/** Bytes of such a file; a name of a branch is never so long. */
const LIMIT = 4096;

/**
 * The name of the branch that is checked out below `root`; undefined outside of a repository, for a commit without a
 * branch, and for what cannot be read. Linked worktrees and submodules name their directory in a file `.git`.
 */
export function currentBranch(root: string): string | undefined {
  const git = join(root, ".git");
  const head = firstLine(join(git, "HEAD")) ?? headElsewhere(root, firstLine(git));
  return /^ref: refs\/heads\/(.+)$/.exec(head ?? "")?.[1];
}

function headElsewhere(root: string, pointer: string | undefined): string | undefined {
  const directory = /^gitdir: (.+)$/.exec(pointer ?? "")?.[1];
  return directory === undefined ? undefined : firstLine(join(resolve(root, directory), "HEAD"));
}

function firstLine(path: string): string | undefined {
  const read = readRegularFile(path, { display: path, limit: LIMIT });
  return "refused" in read ? undefined : new TextDecoder().decode(read.bytes).split("\n", 1)[0]?.trimEnd();
}
