/**
 * Content of open files when the project was first seen: the leak scanner allows it. A commit is named by its
 * content, and commands cannot write into a repository, so nothing that a session does can change the answer.
 */
import type { ProjectRecord } from "../../boundary/policy/project_record.ts";
import { ProtectedSet } from "../../boundary/policy/protected.ts";
import type { Fragment } from "../../boundary/scan/fragment_finder.ts";
import { formsOf, keyOf, normalizeBytes } from "../../boundary/scan/normalize.ts";
import { join } from "../../platform/path.ts";
import type { ToolContext } from "../tool.ts";
import { openGitWork } from "./repository.ts";

/** Bytes of one file, and of all that are read for one question. */
const FILE_LIMIT = 4 * 1024 * 1024;
const READ_LIMIT = 64 * 1024 * 1024;

/**
 * Returns which of the fragments (normalized) stand in a file of the commit that no rule covers or covered once: the
 * file may have another name now. Nothing where git, the commit or a sandbox for git is missing: then all of them
 * count.
 */
export async function standingInCommit(
  { firstHead: commit, revoked }: Pick<ProjectRecord, "firstHead" | "revoked">,
  fragments: readonly Fragment[],
  context: ToolContext,
): Promise<Set<string>> {
  const found = new Set<string>();
  if (commit === null) return found;
  const git = await openGitWork(context);
  if (typeof git === "string") return found;
  const { root } = context.workspace;
  const before = await ProtectedSet.open([root], { remembered: [{ markers: revoked, derived: [] }] });
  const entries = await git.names(["ls-tree", "-r", "-z", "--full-tree", "--long", commit]) ?? [];
  const ids: string[] = [];
  let left = READ_LIMIT;
  for (const entry of entries) {
    const [, id = "", size = "", name = ""] = /^100\d{3} blob ([0-9a-f]+) +(\d+)\t([^]+)$/.exec(entry) ?? [];
    if (id === "" || Number(size) > FILE_LIMIT || git.isCovered(name) || before.rule(join(root, name))) continue;
    left -= Number(size);
    if (left < 0) break;
    ids.push(id);
  }
  const wanted = new Set(fragments.map(({ normalized }) => normalized));
  for (const bytes of await git.blobs(ids, READ_LIMIT)) {
    if (wanted.size === 0) break;
    const text = formsOf(bytes).map((form) => keyOf(normalizeBytes(form))).join(" ");
    for (const normalized of wanted) {
      if (!text.includes(normalized)) continue;
      wanted.delete(normalized);
      found.add(normalized);
    }
  }
  return found;
}
