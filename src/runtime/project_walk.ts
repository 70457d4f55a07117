/** Walks the project for a snapshot: every entry that is not ignored, protected, or kept by version control. */
import { type Listing, NO_UTF8, within } from "../boundary/policy/listing.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import type { FileStatus } from "../platform/files.ts";
import { lstatSync } from "../platform/files_sync.ts";
import { quietly } from "../platform/real_path.ts";
import { after } from "../platform/sleep.ts";
import { type Chain, IGNORE_FILE_LIMIT, isIgnored, parseIgnoreRules } from "../tools/walk.ts";

/** Most entries of a project. */
export const MOST_ENTRIES = 30_000;
/** Left out whatever a `.gitignore` says. */
const NEVER_KEPT = new Set([".git", ".hg", ".svn", ".jj", "node_modules"]);
/** Milliseconds of work between two pauses. */
const SLICE_MS = 50;

/** The entries of a project at one time. */
export interface WalkedProject {
  /** By absolute path, no link in it. */
  entries: ReadonlyMap<string, FileStatus>;
  /** Paths that were left out with all below them, and those of them that a rule protects. */
  leftOut: ReadonlyMap<string, "ignored" | "protected">;
}

/** Returns what stands in the roots; null for more than {@link MOST_ENTRIES}. `home` is never part of it. Throws the signal's reason. */
export async function walkProject(
  workspace: Workspace,
  { home, signal }: { home: string; signal?: AbortSignal | undefined },
): Promise<WalkedProject | null> {
  const { protection, root, additional } = workspace;
  protection.refresh();
  // Open directories alone: what is covered as a whole is not among them.
  const open = new Map<string, Listing>();
  for (const listing of (await protection.hidden({ signal })).listings) open.set(listing.directory, listing);
  const entries = new Map<string, FileStatus>();
  const leftOut = new Map<string, "ignored" | "protected">();
  const waiting: { directory: string; chain: Chain }[] = [];
  for (const place of [root, ...additional]) {
    const status = quietly(() => lstatSync(place));
    if (status !== null) entries.set(place, status);
    waiting.push({ directory: place, chain: [] });
  }
  let pauseAt = performance.now() + SLICE_MS;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { directory } = at;
    const listing = open.get(directory);
    if (listing === undefined || listing.entries === null) {
      leftOut.set(directory, "protected");
      continue;
    }
    const chain = chainIn(listing, { chain: at.chain, workspace });
    for (const { name, isDirectory, isFile } of listing.entries) {
      const path = within(directory, name);
      if (
        NEVER_KEPT.has(name) || path === home || name.includes(NO_UTF8) || isIgnored(chain, { name, isDirectory })
      ) {
        leftOut.set(path, "ignored");
        continue;
      }
      const status = quietly(() => lstatSync(path));
      if (status === null) continue;
      const isCovered = isDirectory
        ? !open.has(path)
        : (isFile ? protection.ruleOfFile(status, path) : protection.rule(path)) !== null;
      if (isCovered) {
        leftOut.set(path, "protected");
        continue;
      }
      entries.set(path, status);
      if (entries.size > MOST_ENTRIES) return null;
      if (isDirectory) {
        waiting.push({ directory: path, chain: chain.map(({ rules, above }) => ({ rules, above: [...above, name] })) });
      }
    }
    if (performance.now() < pauseAt) continue;
    await new Promise<void>((resolve) => void after(0, resolve));
    signal?.throwIfAborted();
    pauseAt = performance.now() + SLICE_MS;
  }
  return { entries, leftOut };
}

/** The rules that hold in a directory. What a repository ignores is its own business, not that of the one around it. */
function chainIn(
  { directory, entries }: Listing,
  { chain, workspace }: { chain: Chain; workspace: Workspace },
): Chain {
  const has = (name: string) => entries?.some((entry) => entry.name === name) === true;
  const outer = has(".git") ? [] : chain;
  if (!has(".gitignore")) return outer;
  const path = within(directory, ".gitignore");
  const place = { path, real: path, display: ".gitignore" };
  const [read] = workspace.readAll([place], { limit: IGNORE_FILE_LIMIT });
  const rules = read === undefined || "refused" in read ? null : parseIgnoreRules(new TextDecoder().decode(read.bytes));
  return rules === null ? outer : [...outer, { rules, above: [] }];
}
