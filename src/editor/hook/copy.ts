/** Copying files of a project into a worktree of it. */
import { readRegularFile } from "../../boundary/reader.ts";
import { lstat, makeDirectory, writeAtomically } from "../../platform/files.ts";
import { listSync, lstatSync } from "../../platform/files_sync.ts";
import { dirname, isWithin, join, relativeTo, resolve } from "../../platform/path.ts";
import { linkOnTheWay } from "../disk.ts";
import type { ProtectedView } from "../guard/view.ts";

/** Most files of one call. */
const FILE_COUNT = 50_000;

/**
 * Copies the named files and directories of `root` to the same place below `target`, and says of each name what came of
 * it. What is there already stays; links are passed over; what is protected is copied only where it is named itself.
 */
export async function copyInto(
  target: string,
  { root, names, view }: { root: string; names: readonly string[]; view: ProtectedView },
): Promise<string[]> {
  const lines: string[] = [];
  let left = FILE_COUNT;
  for (const name of names) {
    const start = resolve(root, name);
    if (!isWithin(root, start) || start === root) {
      lines.push(`${name}: not below the project`);
      continue;
    }
    let [copied, withheld] = [0, 0];
    const waiting = [start];
    for (let path = waiting.pop(); path !== undefined && left > 0; path = waiting.pop()) {
      const kind = lstatSync(path)?.kind;
      if (path !== start && view.ruleAt(path) !== null) withheld += 1;
      else if (kind === "directory") {
        waiting.push(...(listSync(path) ?? []).map((entry) => join(path ?? "", entry.name)));
      } else if (kind === "file" && await copyFile(path, join(target, relativeTo(root, path)), { base: target })) {
        copied += 1;
        left -= 1;
      }
    }
    lines.push(`${name}: ${copied} copied${withheld === 0 ? "" : `, ${withheld} protected and left out`}`);
  }
  return lines;
}

async function copyFile(from: string, to: string, { base }: { base: string }): Promise<boolean> {
  if (await linkOnTheWay(base, to) !== null || await lstat(to) !== null) return false;
  const read = readRegularFile(from, { display: from });
  if ("refused" in read || read.more) return false;
  await makeDirectory(dirname(to));
  await writeAtomically(to, read.bytes, { mode: read.status.mode ?? 0o644 });
  return true;
}
