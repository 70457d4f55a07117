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

/** Text that {@link readMemory} reads: a line of JSON. */
export function memoryText({ rules, markers, directories }: TreeMemory): string {
  return JSON.stringify({
    format: FORMAT,
    rules,
    markers,
    paths: [...directories.keys()],
    listed: [...directories.values()].map((listed) => ({ ...listed, settled: true })),
  });
}

/** Reads {@link memoryText}; null for anything that is not whole: then everything is looked at. */
export function readMemory(text: string): TreeMemory | null {
  try {
    const { format, rules, markers, paths, listed } = JSON.parse(text);
    if (format !== FORMAT || typeof rules !== "string" || !isTexts(markers) || !isTexts(paths)) return null;
    if (!Array.isArray(listed) || listed.length !== paths.length || !listed.every(isListed)) return null;
    const directories = new Map<string, Listed>();
    // The objects of the text as they are: a copy of thousands would take as long as the walk that they spare.
    for (const [index, one] of listed.entries()) directories.set(paths[index] ?? "", one);
    return { rules, markers, directories };
  } catch {
    return null;
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** A name that leads out of its directory, or none. */
const NO_NAME = /(?:^|\/)\.{0,2}(?:\/|$)/;

function areNames(joined: unknown): boolean {
  return joined === "" || (typeof joined === "string" && !NO_NAME.test(joined));
}

function isListed(value: unknown): value is Listed {
  if (typeof value !== "object" || value === null) return false;
  const { modified, changed, device, inode, version, directories, files, hidden, links, worktree, settled } =
    value as Partial<Record<keyof Listed, unknown>>;
  return typeof modified === "number" && typeof changed === "number" && typeof device === "number" &&
    typeof inode === "number" && typeof version === "number" && typeof worktree === "boolean" && settled === true &&
    areNames(directories) && areNames(files) && areNames(hidden) && areNames(links);
}
