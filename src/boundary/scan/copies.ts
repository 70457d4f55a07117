/**
 * What a command of a protected session leaves behind: files that hold protected content, by their bytes or by their name.
 * No label follows a process, so they are found by looking. Source: specification of the boundary, second design §4.
 */
import type { FileStatus } from "../../platform/files.ts";
import { entriesSync, lstatSync } from "../../platform/files_sync.ts";
import { relativeTo } from "../../platform/path.ts";
import type { DerivedFile } from "../policy/project_record_files.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import { readRegularFile } from "../reader.ts";
import { quietly } from "../real_path.ts";
import type { LeakScanner } from "./leak_scanner.ts";

/** Bytes that are scanned after one command; what comes on top is protected unseen. */
const SCAN_LIMIT = 128 * 1024 * 1024;
/** Clocks of file systems are coarse, and times of changes come in whole seconds (measured with Deno 2.9.6). */
const SLACK_MS = 2_000;

/** Where to look. */
export interface CopySearch {
  /** Real paths. */
  roots: readonly string[];
  protection: ProtectedSet;
  scanner: LeakScanner;
  /** When the command began, milliseconds since 1970. */
  since: number;
  /** A protected file whose content every one of them can hold, in a form that no scan finds. */
  seen?: string | undefined;
}

/** A file that is to be protected. */
export interface FoundCopy extends DerivedFile {
  /** Its name holds protected content: it may not be told or stored. */
  isNameProtected: boolean;
}

/**
 * Returns the files below the roots that changed since then, are covered by no rule, and hold protected content, or could
 * not be looked through. Links are not followed, and what git keeps is not entered: commands cannot write there.
 */
export async function findCopies({ roots, protection, scanner, since, seen }: CopySearch): Promise<FoundCopy[]> {
  const [source] = protection.files();
  if (source === undefined) return [];
  const found: FoundCopy[] = [];
  let left = SCAN_LIMIT;
  const at = Date.now();
  for (const root of roots) {
    for (const { path, status } of changedFiles(root, { protection, since: since - SLACK_MS })) {
      const { device, inode, born } = status;
      const nameHit = await scanner.check([relativeTo(root, path)], { once: true });
      const copy = { path, device, inode, born, at, isNameProtected: nameHit !== null };
      if (seen !== undefined) {
        found.push({ ...copy, source: seen });
        continue;
      }
      left -= status.size;
      const read = left < 0 ? null : readRegularFile(path, { display: path });
      if (read === null || "refused" in read || read.more) {
        if (read !== null && "refused" in read && read.refused === "absent") continue;
        found.push({ ...copy, source });
        continue;
      }
      const hit = nameHit ?? await scanner.check([new TextDecoder().decode(read.bytes)], { once: true });
      if (hit !== null) found.push({ ...copy, source: hit.path });
    }
  }
  return found;
}

function* changedFiles(
  root: string,
  { protection, since }: { protection: ProtectedSet; since: number },
): Generator<{ path: string; status: FileStatus }> {
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, isDirectory, isFile } of quietly(() => entriesSync(directory)) ?? []) {
      const path = `${directory === "/" ? "" : directory}/${name}`;
      if (isDirectory && name !== ".git" && protection.rule(path) === null) waiting.push(path);
      if (!isFile) continue;
      const status = quietly(() => lstatSync(path));
      if (status === null || Math.max(status.modified, status.changed) < since) continue;
      if (protection.ruleOfFile(status, path) === null) yield { path, status };
    }
  }
}
