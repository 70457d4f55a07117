/**
 * What one process saw of a tree, for the next one: names and times of directories, and which entries are covered. It
 * spares listing directories that are as they were; nothing of the content of files is in it, in any form. A directory is
 * as it was when it is the same one with the same times: whatever adds, removes or renames an entry changes them, and the
 * time of a change cannot be set back.
 */
import type { Listed } from "./protected_tree.ts";

/** What is kept. */
export interface TreeCache {
  /** The rules that the directories were listed under, to be compared. */
  rules: string;
  /** Absolute paths: the markers that hold them, the covered links, and the linked worktrees. */
  markers: readonly string[];
  links: readonly string[];
  worktrees: readonly string[];
  /** Open directories by path. */
  directories: ReadonlyMap<string, Listed>;
}

/** How long ago a directory must have changed, in milliseconds: coarse times, and clocks that differ, hide no change. */
const SETTLED_AFTER_MS = 60_000;
const FORMAT = 3;

/** Whether the next change of a directory that was listed after `now` will be seen by its times. */
export function unchanging({ settled, modified, changed, inode }: Listed, now: number): boolean {
  // Where the system has no numbers or times of changes, nothing tells one directory from another.
  if (inode === 0 || changed === 0) return false;
  return settled || Math.max(modified, changed) < now - SETTLED_AFTER_MS;
}

/** Between two rows of a column: names and absolute paths hold no NUL. */
const BETWEEN = "\0";

/** Text that {@link readTreeCache} reads: a line of JSON, by columns, since thousands of objects take long to read. */
export function treeCacheText({ rules, markers, links, worktrees, directories }: TreeCache): string {
  const rows = [...directories.values()];
  const joined = (name: "directories" | "files" | "hidden" | "links" | "others") =>
    rows.map((row) => row[name]).join(BETWEEN);
  return JSON.stringify({
    format: FORMAT,
    rules,
    markers,
    links,
    worktrees,
    paths: [...directories.keys()].join(BETWEEN),
    names: [joined("directories"), joined("files"), joined("hidden"), joined("links"), joined("others")],
    facts: [
      rows.map(({ modified }) => modified),
      rows.map(({ changed }) => changed),
      rows.map(({ device }) => device),
      rows.map(({ inode }) => inode),
    ],
  });
}

/** Reads {@link treeCacheText}; null for anything that is not whole: then everything is looked at. */
export function readTreeCache(text: string): TreeCache | null {
  try {
    const { format, rules, markers, links, worktrees, paths, names, facts } = JSON.parse(text);
    if (format !== FORMAT || typeof rules !== "string" || typeof paths !== "string") return null;
    if (!isTexts(markers) || !isTexts(links) || !isTexts(worktrees) || !isTexts(names)) return null;
    const places = paths.split(BETWEEN);
    const [below, files, hidden, covered, others] = names.map((column) => namesOf(column, places.length));
    const [modified, changed, devices, inodes] = numbersOf(facts, places.length);
    const directories = new Map<string, Listed>();
    const trees = new Set(worktrees);
    for (const [index, path] of places.entries()) {
      directories.set(path, {
        modified: at(modified, index),
        changed: at(changed, index),
        device: at(devices, index),
        inode: at(inodes, index),
        version: 0,
        directories: at(below, index),
        files: at(files, index),
        hidden: at(hidden, index),
        links: at(covered, index),
        others: at(others, index),
        worktree: trees.has(path),
        settled: true,
      });
    }
    return { rules, markers, links, worktrees, directories };
  } catch {
    return null;
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** `.` and `..`, which lead out of a directory, and names without a letter. */
const NO_NAME = /(?:^|[/\0])\.{1,2}(?:[/\0]|$)|\/[/\0]|\0\/|^\/|\/$/;

/** A column of joined names. Throws for one that is not whole. */
function namesOf(column: string, length: number): readonly string[] {
  const rows = column.split(BETWEEN);
  if (rows.length !== length || NO_NAME.test(column)) throw new RangeError("no column of names");
  return rows;
}

function numbersOf(facts: unknown, length: number): number[][] {
  if (!Array.isArray(facts)) throw new RangeError("no columns of numbers");
  for (const column of facts) {
    const isColumn = Array.isArray(column) && column.length === length;
    if (!isColumn || !column.every((fact) => typeof fact === "number")) throw new RangeError("no column of numbers");
  }
  return facts;
}

/** A value of a column that has it. */
function at<T>(column: readonly T[] | undefined, index: number): T {
  const value = column?.[index];
  if (value === undefined) throw new RangeError("a column is missing");
  return value;
}
