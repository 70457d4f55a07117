/** The place in the home for what commands made that could run code later: nothing of a user's is ever deleted. */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import {
  listDirectory,
  lstat,
  makePrivateDirectory,
  movePath,
  removeDirectory,
  writeAtomically,
} from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import { fieldsOf, type JsonRecord, parseJson } from "../../platform/record.ts";
import { readRegularFile } from "../reader.ts";
import type { QuarantineEntry } from "./sandbox.ts";

/** Below the home; one directory for each entry, with `index.json` and the files as `0`, `1`, … */
export const QUARANTINE = "quarantine";
const INDEX = "index.json";
/** Bytes of an index or a note: of thousands of paths. */
const FILE_LIMIT = 64 * 1024 * 1024;

/**
 * Moves paths of a project into the home; null when all of them have gone by themselves. Throws `policy_refused` for those
 * that cannot be moved: the command has won then, and the turn must not go on as if nothing was.
 */
export async function quarantine(
  paths: readonly string[],
  { home, root, now, isSecret = false }: { home: string; root: string; now: number; isSecret?: boolean },
): Promise<QuarantineEntry | null> {
  const day = new Date(now).toISOString().replace(/[-:]|\..*/g, "").replace("T", "-");
  const taken = new Set((await listDirectory(join(home, QUARANTINE)) ?? []).map(({ name }) => name));
  let number = 1;
  while (taken.has(`${day}-${number}`)) number++;
  const entry: QuarantineEntry = { id: `${day}-${number}`, time: now, root, paths: [...paths], isSecret };
  const directory = join(home, QUARANTINE, entry.id);
  try {
    await makePrivateDirectory(join(home, QUARANTINE));
    await makePrivateDirectory(directory);
    // Before anything is moved: what lies there without an index could not be put back.
    await writeAtomically(join(directory, INDEX), JSON.stringify(entry), { mode: 0o600 });
  } catch (error) {
    throw refusal(paths, { home, reason: systemReason(error), isSecret });
  }
  const left: string[] = [];
  let moved = 0;
  let reason = "";
  for (const [index, path] of paths.entries()) {
    const kept = join(directory, String(index));
    try {
      await movePath(path, kept);
      moved++;
    } catch (error) {
      // On another disk a part of it can have been copied.
      await removeDirectory(kept).catch(() => {});
      if (await lstat(path).catch(() => undefined) === null) continue;
      left.push(path);
      reason = systemReason(error);
    }
  }
  if (left.length > 0) throw refusal(left, { home, reason, isSecret });
  if (moved > 0) return entry;
  await removeDirectory(directory);
  return null;
}

/** Names that can hold protected content are not told. */
function refusal(
  paths: readonly string[],
  { home, reason, isSecret }: { home: string; reason: string; isSecret: boolean },
): AgentcliError {
  const made = isSecret
    ? `files (${paths.length}) while it could see a protected path`
    : `${paths.join(", ")}, which could run code later`;
  return new AgentcliError(
    "policy_refused",
    `a command made ${made}, and it cannot be moved away: ${reason}`,
    { hint: `look at these files and remove them; make ${join(home, QUARANTINE)} a place that can be written` },
  );
}

/** Returns the fields of a file of ours; none of one that is damaged, or being written. */
export function readFields(path: string): JsonRecord {
  const read = readRegularFile(path, { display: path, limit: FILE_LIMIT });
  return "refused" in read ? {} : fieldsOf(parseJson(new TextDecoder().decode(read.bytes)));
}

/** Returns an entry; null when there is no such one. */
export function readEntry(home: string, id: string): QuarantineEntry | null {
  if (!/^[\w-]+$/.test(id)) return null;
  const { time, root, paths, isSecret } = readFields(join(home, QUARANTINE, id, INDEX));
  return typeof time === "number" && typeof root === "string" && Array.isArray(paths)
    ? { id, time, root, paths: paths.map(String), isSecret: isSecret === true }
    : null;
}
