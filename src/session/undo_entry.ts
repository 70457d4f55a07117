/** Undoes a change to one entry of the project, unless it has changed again since. */
import type { Label } from "../boundary/policy/label.ts";
import { type Entry, entryPath, readEntry } from "../boundary/workspace/entry.ts";
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { sha256 } from "../platform/digest.ts";
import type { Content, ReplacedEntry } from "./undo.ts";
import { type EntryState, LONGEST } from "./undo_files.ts";

export interface ChangedEntry {
  path: string;
  label: Label;
  /** Reads what it was. */
  before(): Promise<Entry | { kind: "not_kept"; reason: string }>;
  /** Its states before and after; null where nobody knows. */
  was: EntryState | null;
  after: EntryState | null;
  /** Somebody else changed it in between. */
  isBroken: boolean;
}

export type Restored =
  & { path: string; label: Label }
  & (
    | { outcome: "restored" | "removed"; replaced: ReplacedEntry }
    | { outcome: "unchanged" }
    | { outcome: "refused"; reason: string }
  );

/** Returns the changes by which {@link UndoStore.redo} takes back what was restored. */
export function replacedBy(restored: readonly Restored[]): ReplacedEntry[] {
  return restored.flatMap((file) => "replaced" in file ? [file.replaced] : []).reverse();
}

/** Returns the state of an entry. */
export async function stateOf(entry: Content): Promise<EntryState> {
  if (entry.kind !== "file" && entry.kind !== "directory") return entry;
  const bits = entry.mode === null ? {} : { mode: entry.mode };
  return entry.kind === "directory"
    ? { kind: "directory", ...bits }
    : { kind: "content", digest: await sha256(entry.bytes), ...bits };
}

/** Whether both are the same state; modes count where both are known. */
function sameState(one: EntryState, other: EntryState): boolean {
  if (one.kind === "link" && other.kind === "link") return one.target === other.target;
  if (one.kind === "content" && other.kind === "content") return one.digest === other.digest && sameMode(one, other);
  if (one.kind === "directory" && other.kind === "directory") return sameMode(one, other);
  return one.kind === "absent" && other.kind === "absent";
}

function sameMode({ mode }: { mode?: number }, other: { mode?: number }): boolean {
  return mode === undefined || other.mode === undefined || mode === other.mode;
}

/** Returns whether changes do not connect: one begins with a state that the one before neither left nor found. */
export function isBroken(changes: readonly { state: { before: EntryState; after: EntryState } | null }[]): boolean {
  return changes.some(({ state }, at) => {
    const last = changes[at - 1]?.state ?? null;
    return state !== null && last !== null && !sameState(state.before, last.after) &&
      !sameState(state.before, last.before);
  });
}

/**
 * Sorts entries for restoring: new ones are removed first, from the deepest up; then the others are restored from the
 * top.
 */
export function inOrder(entries: readonly ChangedEntry[]): ChangedEntry[] {
  const byPath = [...entries].sort((one, other) => one.path < other.path ? -1 : 1);
  const isNew = ({ was }: ChangedEntry) => was?.kind === "absent";
  return [...byPath.filter(isNew).reverse(), ...byPath.filter((entry) => !isNew(entry))];
}

/** Returns the current entry at the path, or why it is left alone: it is not what the last change left. */
export async function findEntry(
  { path, label, was, after, isBroken }: ChangedEntry,
  workspace: Workspace,
): Promise<{ at: ResolvedPath; now: Entry; isDone: boolean } | Restored & { outcome: "refused" }> {
  const refuse = (reason: string) => ({ path, label, outcome: "refused", reason }) as const;
  const at = entryPath(path, workspace);
  if ("refused" in at) return refuse(at.message);
  const found = readEntry(at, { workspace, limit: LONGEST });
  if ("refused" in found) return refuse(found.message);
  const now = found.entry;
  const state = await stateOf(now);
  if (was !== null && sameState(state, was)) return { at, now, isDone: true };
  if (isBroken) return refuse(`${at.display} was changed by somebody else in between`);
  // A killed restore may have replaced a directory, or been replaced by one, only halfway.
  const isHalfway = was !== null && (was.kind === "directory") !== (after?.kind === "directory");
  if (state.kind === "absent" && after?.kind !== "absent") {
    if (!isHalfway) return refuse(`${at.display} has been removed since`);
  } else if (after === null || !sameState(state, after)) return refuse(`${at.display} has changed since`);
  return { at, now, isDone: false };
}

/** Restores an entry to what it was before a turn. */
export async function restoreEntry(
  entry: ChangedEntry,
  workspace: Workspace,
  { turn }: Pick<ReplacedEntry, "turn">,
): Promise<Restored> {
  const { path, label } = entry;
  const refuse = (reason: string): Restored => ({ path, label, outcome: "refused", reason });
  const before = await entry.before();
  if (before.kind === "not_kept") return refuse(before.reason);
  const found = await findEntry(entry, workspace);
  if ("outcome" in found) return found;
  const { at, now, isDone } = found;
  if (isDone) return { path, label, outcome: "unchanged" };
  const failed = await workspace.restore(at, { now, to: before });
  if (failed !== null) return refuse(failed.message);
  const outcome = before.kind === "absent" ? "removed" : "restored";
  return { path, label, outcome, replaced: { turn, path, before, after: now, label } };
}
