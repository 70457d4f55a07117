/** Installations in other places: linked worktrees and other system directories. */
import { listSync } from "../../platform/files.ts";
import { dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { lookAt } from "./disk.ts";
import type { Installed, Ledger } from "./ledger.ts";
import { hashOnDisk, textsOnDisk } from "./draft.ts";
import { mainTree } from "../../boundary/policy/git_directory.ts";
import { artifactId } from "../resources/artifact.ts";

/**
 * Returns what is installed for all users in directories that nobody named, one sentence each. `command`: what would
 * reach it.
 */
export function systemElsewhere(
  { artifacts }: Pick<Ledger, "artifacts">,
  { isHere, command }: { isHere(one: Installed): boolean; command: string },
): string[] {
  const bases = artifacts.filter((one) => one.scope === "system" && !isHere(one)).map(({ base }) => base);
  return [...new Set(bases)].map((base) => {
    const count = bases.filter((one) => one === base).length;
    const what = count === 1 ? "1 artifact is" : `${count} artifacts are`;
    return `${what} installed for all users in ${base}: agentcli editor ${command} --system-dir ${base}`;
  });
}

/** Returns what to say where nothing is known of a project. Empty: something is known. */
export function nothingKnown({ artifacts }: Pick<Ledger, "artifacts">, root: string): string[] {
  if (artifacts.some(({ scope, base }) => scope === "project" && base === root)) return [];
  return [`nothing is known to be installed in ${root}; agentcli editor import shows what others wrote`];
}

export interface Worktrees {
  /** The main tree, when the project is a linked worktree. */
  main: string | null;
  /** Roots of the linked worktrees of the repository. */
  linked: string[];
}

/** Reads the files of git that say so; does not run git. */
export function worktreesAround(root: string): Worktrees {
  const main = mainTree(root);
  const directory = join(main ?? root, ".git", "worktrees");
  // An unreadable repository is ignored.
  const names = (quietly(() => listSync(directory)) ?? []).map(({ name }) => name).sort();
  const linked = names.flatMap((name) => {
    const pointer = lookAt(join(directory, name, "gitdir"))?.trim();
    return pointer === undefined || pointer === "" || lookAt(pointer) === null ? [] : [dirname(pointer)];
  });
  return { main, linked };
}

/** Returns the artifacts of the main tree as they would be in the worktree `root`. */
export function artifactsInWorktree({ artifacts }: Ledger, root: string, { main }: Worktrees): Installed[] {
  if (main === null) return [];
  const moved = (path: string) => isWithin(main, path) ? join(root, relativeTo(main, path)) : path;
  return artifacts.filter(({ scope, base }) => scope === "project" && base === main).map((one) => ({
    ...one,
    base: root,
    resources: one.resources.map((entry) => ({
      ...entry,
      resource: { ...entry.resource, path: moved(entry.resource.path) },
    })),
  }));
}

/** Returns the names of those with something missing in a worktree: there they do nothing, not even a guard. */
export async function missingHere(
  artifacts: readonly Installed[],
  installedHere: readonly Installed[],
): Promise<string[]> {
  const texts = textsOnDisk();
  const missing: string[] = [];
  for (const one of artifacts) {
    if (installedHere.some((other) => artifactId(other) === artifactId(one) && other.base === one.base)) continue;
    const hashes = await Promise.all(one.resources.map(({ resource }) => hashOnDisk(resource, texts)));
    if (hashes.includes(null)) missing.push(artifactId(one));
  }
  return missing;
}
