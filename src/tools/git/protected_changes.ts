/** What has changed among protected files, told from size and time alone: in its sandbox git does not see them. */
import { unchangedTracked } from "../../boundary/scan/tracked.ts";
import { lstat } from "../../platform/files.ts";
import { isWithin, join, relativeTo } from "../../platform/path.ts";
import type { ToolContext } from "../tool.ts";

/** Names that are told at most; a protected directory can hold thousands. */
const MOST_NAMES = 50;

/** Names relative to the top of the repository. */
export interface ProtectedChanges {
  changed: string[];
  gone: string[];
  untracked: string[];
}

/** Of the protected files at or below `paths` (all when empty); `tracked` are the names in the index. */
export async function protectedChanges(
  question: { tracked: readonly string[]; paths: readonly string[] },
  { workspace }: ToolContext,
): Promise<ProtectedChanges> {
  const { root, protection } = workspace;
  const found: ProtectedChanges = { changed: [], gone: [], untracked: [] };
  if (protection === undefined) return found;
  const asked = (name: string) =>
    question.paths.length === 0 || question.paths.some((path) => isWithin(join(root, path), join(root, name)));
  const unchanged = new Set<string>();
  for await (const path of unchangedTracked(root)) unchanged.add(path);
  const tracked = new Set(question.tracked);
  for (const name of tracked) {
    const path = join(root, name);
    if (!asked(name) || unchanged.has(path) || protection.rule(path) === null) continue;
    (await lstat(path).catch(() => null) === null ? found.gone : found.changed).push(name);
  }
  for (const path of protection.files()) {
    const name = relativeTo(root, path);
    if (isWithin(root, path) && !tracked.has(name) && asked(name)) found.untracked.push(name);
    if (found.untracked.length >= MOST_NAMES) break;
  }
  return found;
}
