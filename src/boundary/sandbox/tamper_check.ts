/**
 * Files of the roots that decide what other programs run: a command must neither change nor make them. What exists is
 * mounted read-only; what a command makes is removed when it has ended.
 */
import { type FileKind, listDirectory, lstat, realPath, removeFile } from "../../platform/files.ts";
import { basename, dirname, isWithin, join } from "../../platform/path.ts";
import { gitDirectory, type GitStores, type GitStoreSearch } from "./git_stores.ts";
import { writeProtection } from "../policy/write_protected.ts";

/** Inside of a `.git`: what makes git run something, or look for its settings elsewhere. */
const GIT_POLICY = ["config", "config.worktree", "hooks", "info/attributes"];
/** Only at the top: a linked worktree needs its own. */
const TOP_POLICY = ["commondir", "gitdir"];

/** What stands at the places that are watched. */
export interface PolicyFiles {
  /** Absolute paths of files and whole directories that can be mounted read-only. */
  present: string[];
  /** The same and links: all that was there before the command. */
  known: string[];
  roots: readonly string[];
}

/** `userHome` as for `writeProtection`. */
export interface PolicyOptions {
  userHome: string | null;
  stores: GitStoreSearch;
}

/** What was found of git just before. */
export interface FoundPolicy {
  userHome: string | null;
  found: GitStores;
}

/**
 * The policy files at the top of each root, in its dot directories, and in every repository below it with its submodules.
 * Other deeper ones are not looked for: it is done before every command. `roots` are real paths.
 */
export async function findPolicyFiles(roots: readonly string[], options: FoundPolicy): Promise<PolicyFiles> {
  const present: string[] = [];
  const links: string[] = [];
  for (const root of roots) {
    for (const place of [root, ...await dotDirectories(root)]) {
      for (const entry of await listDirectory(place).catch(() => null) ?? []) {
        const path = join(place, entry.name);
        if (entry.name === ".git" || writeProtection(path, options.userHome) === null) continue;
        (entry.kind === "symlink" ? links : present).push(path);
      }
    }
    for (const name of TOP_POLICY) {
      const path = join(root, ".git", name);
      if (await kindOf(path) !== undefined) present.push(path);
    }
  }
  const git = await gitPolicy(options.found);
  present.push(...git.present);
  links.push(...git.links);
  return { present: outermost(present), known: outermost([...present, ...links]), roots };
}

/** Also through links, where they stay in the root: an editor follows them as well. */
async function dotDirectories(root: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await listDirectory(root).catch(() => null) ?? []) {
    if (!entry.name.startsWith(".") || entry.name === ".git") continue;
    const path = join(root, entry.name);
    if (entry.kind === "directory") found.push(path);
    if (entry.kind !== "symlink") continue;
    const real = await realPath(path).catch(() => null);
    if (real !== null && real !== root && isWithin(root, real)) found.push(path);
  }
  return found;
}

/** A link there is followed by git as well; it cannot be mounted, only removed. */
async function gitPolicy(found: GitStores): Promise<{ present: string[]; links: string[] }> {
  const [present, links] = [[] as string[], [] as string[]];
  const settings = found.stores.flatMap(({ directory }) => GIT_POLICY.map((name) => join(directory, name)));
  for (const path of [...found.pointers, ...settings]) {
    const kind = await kindOf(path);
    if (kind === "file" || kind === "directory") present.push(path);
    else if (kind !== undefined) links.push(path);
  }
  return { present, links };
}

async function kindOf(path: string): Promise<FileKind | undefined> {
  return (await lstat(path).catch(() => null))?.kind;
}

function outermost(paths: string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(other, path)));
}

/**
 * Removes policy files that were not there before, and tells which. A marker below the root is left: it can only
 * tighten. What cannot be removed throws: the command has won then, and the turn must not go on as if nothing was.
 */
export async function quarantineNewFiles(before: PolicyFiles, options: PolicyOptions): Promise<string[]> {
  const now = await findPolicyFiles(before.roots, {
    userHome: options.userHome,
    found: options.stores.find(before.roots),
  });
  const made: string[] = [];
  for (const path of now.known) {
    if (before.known.some((known) => isWithin(known, path))) continue;
    if (isWorktree(path, before.roots)) continue;
    // Never through a link to another place: what lies there is not the command's.
    const directory = await realPath(dirname(path));
    if (directory === null || !before.roots.some((root) => isWithin(root, directory))) continue;
    await removeAll(path);
    made.push(path);
  }
  return made;
}

/** Commands may make worktrees: such a `.git` leads into a repository of the roots, whose own settings are watched. */
function isWorktree(path: string, roots: readonly string[]): boolean {
  const top = dirname(path);
  if (basename(path) !== ".git" || roots.includes(top)) return false;
  const directory = gitDirectory(top) ?? "";
  return /\/worktrees\/[^/]+$/.test(directory) && roots.some((root) => isWithin(root, directory));
}

async function removeAll(path: string): Promise<void> {
  if ((await lstat(path))?.kind === "directory") {
    for (const entry of await listDirectory(path) ?? []) await removeAll(join(path, entry.name));
  }
  await removeFile(path);
}
