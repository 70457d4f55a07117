/**
 * What one process saw of a tree, for the next one: names and times of directories, and which entries are covered. It
 * spares listing directories that are as they were; nothing of the content of files is in it, in any form. A directory is
 * as it was when it is the same one with the same times: whatever adds, removes or renames an entry changes them, and the
 * time of a change cannot be set back.
 */
import type { Listed } from "./protected_tree.ts";

/** What is kept. */
export interface TreeMemory {
  /** The rules that the directories were listed under, to be compared. */
  rules: string;
  /** Absolute paths of the markers that hold them. */
  markers: readonly string[];
  /** Open directories by path. */
  directories: ReadonlyMap<string, Listed>;
}

/** How long ago a directory must have changed, in milliseconds: coarse times, and clocks that differ, hide no change. */
const SETTLED_AFTER_MS = 60_000;
const FORMAT = 1;

/** Whether the next change of a directory that was listed after `now` will be seen by its times. */
export function unchanging({ settled, modified, changed, inode }: Listed, now: number): boolean {
  // Where the system has no numbers or times of changes, nothing tells one directory from another.
  if (inode === 0 || changed === 0) return false;
  return settled || Math.max(modified, changed) < now - SETTLED_AFTER_MS;
}

/** One line of JSON. */
export function memoryText({ rules, markers, directories }: TreeMemory): string {
  const rows = [...directories].map(([path, listed]) => {
    const { modified, changed, device, inode, worktree, directories, files, hidden, links } = listed;
    return [path, modified, changed, device, inode, worktree, directories, files, hidden, links];
  });
  return JSON.stringify({ format: FORMAT, rules, markers, directories: rows });
}

/** Reads {@link memoryText}; null for anything that is not whole: then everything is looked at. */
export function readMemory(text: string): TreeMemory | null {
  try {
    const { format, rules, markers, directories } = JSON.parse(text);
    if (format !== FORMAT || typeof rules !== "string" || !isTexts(markers) || !Array.isArray(directories)) return null;
    const found = new Map<string, Listed>();
    for (const row of directories) {
      const listed = readRow(row);
      if (listed === null) return null;
      found.set(row[0], listed);
    }
    return { rules, markers, directories: found };
  } catch {
    return null;
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** Names of one directory: none of them leads out of it. */
function isNames(value: unknown): value is string[] {
  return isTexts(value) && value.every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("/"));
}

function readRow(row: unknown): Listed | null {
  if (!Array.isArray(row)) return null;
  const [path, modified, changed, device, inode, worktree, directories, files, hidden, links] = row;
  if (typeof path !== "string" || typeof worktree !== "boolean") return null;
  if (![modified, changed, device, inode].every((fact) => typeof fact === "number")) return null;
  if (![directories, files, hidden, links].every(isNames)) return null;
  return { modified, changed, device, inode, worktree, directories, files, hidden, links, version: 0, settled: true };
}
