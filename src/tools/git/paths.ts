/** Paths of a repository, sorted by whether their content may be shown and taken in. */
import { join } from "../../platform/path.ts";
import { isRefusal } from "../result.ts";
import type { GitWork } from "./repository.ts";

/** Names relative to the top of the repository. */
export interface SortedPaths {
  open: string[];
  /** With the reason, a few words. */
  kept: { name: string; reason: string }[];
}

/**
 * Asks the reader about each name, so that hard links, links and deny rules count as everywhere. A file that is gone is
 * judged by its path alone.
 */
export async function sortPaths(names: readonly string[], work: GitWork): Promise<SortedPaths> {
  const sorted: SortedPaths = { open: [], kept: [] };
  for (const name of names) {
    const reason = await precheck(name, work);
    if (reason === null) sorted.open.push(name);
    else sorted.kept.push({ name, reason });
  }
  return sorted;
}

async function precheck(name: string, work: GitWork): Promise<string | null> {
  if (work.isCovered(name)) return "protected";
  const { workspace, readDenied } = work.context;
  const path = await workspace.resolve(join(workspace.root, name));
  if (isRefusal(path)) return path.refused;
  if ((readDenied?.(path) ?? null) !== null) return "denied by a rule";
  const read = await workspace.read(path, { limit: 0 });
  if (!isRefusal(read)) return read.label === "open" ? null : "protected";
  return read.refused === "absent" ? null : read.refused;
}
