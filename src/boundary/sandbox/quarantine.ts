/** Moves files that commands made and that could run code later to quarantine in the home; nothing is ever deleted. */
import { AgentcliError } from "../../errors.ts";
import { presentOrForbidden, systemReason } from "../../platform/disk_failure.ts";
import {
  listSync,
  lstatSync,
  makePrivateDirectory,
  movePath,
  removeDirectory,
  writeAtomically,
} from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import { fieldsOf, type JsonRecord, parseJson } from "../../platform/record.ts";
import { type KeptRoot, readRoots } from "../policy/identity.ts";
import { readRegularFile } from "../reader.ts";

/** Directory in the home, with one directory for each entry: `index.json` and the files as `0`, `1`, … */
export const QUARANTINE = "quarantine";
const INDEX = "index.json";
/** Size limit of an index or a note in bytes: thousands of paths. */
const FILE_LIMIT = 64 * 1024 * 1024;

/** Files that were moved to quarantine together. */
export interface QuarantineEntry {
  /** The id for `agentcli quarantine`. */
  id: string;
  /** Milliseconds since 1970. */
  time: number;
  /** The roots of the session that they come from, the project first. */
  roots: readonly KeptRoot[];
  /** Their original absolute paths. */
  paths: string[];
}

/** Returns the user's notice about files in quarantine, without names that hold protected content: it may be logged. */
export async function quarantineNotice(
  program: string,
  { id, paths }: QuarantineEntry,
  holdsProtected: ((text: string) => Promise<boolean>) | undefined,
): Promise<string> {
  const names: string[] = [];
  for (const path of paths) {
    names.push(await holdsProtected?.(path) ? "a file whose name holds protected content" : path);
  }
  return `${program} made ${names.join(", ")}, which could run code later: moved to quarantine; ` +
    `to put it back: agentcli quarantine restore ${id}`;
}

/**
 * Moves paths of a project into the home. Returns null if there are none, or all are gone already. Throws
 * `policy_refused` if one cannot be moved: the turn must not continue then.
 */
export async function quarantine(
  paths: readonly string[],
  { home, roots, now }: { home: string; roots: readonly KeptRoot[]; now: number },
): Promise<QuarantineEntry | null> {
  if (paths.length === 0) return null;
  const day = new Date(now).toISOString().replace(/[-:]|\..*/g, "").replace("T", "-");
  const taken = new Set((listSync(join(home, QUARANTINE)) ?? []).map(({ name }) => name));
  let number = 1;
  while (taken.has(`${day}-${number}`)) number++;
  const entry: QuarantineEntry = { id: `${day}-${number}`, time: now, roots, paths: [...paths] };
  const directory = join(home, QUARANTINE, entry.id);
  try {
    await makePrivateDirectory(join(home, QUARANTINE));
    await makePrivateDirectory(directory);
    // The index comes first: without it, moved files could not be restored.
    await writeAtomically(join(directory, INDEX), JSON.stringify(entry), { mode: 0o600 });
  } catch (error) {
    throw refusal(paths, { home, reason: systemReason(error) });
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
      // A move to another disk can leave a partial copy.
      await removeDirectory(kept).catch(() => {});
      if (presentOrForbidden(() => lstatSync(path)) === null) continue;
      left.push(path);
      reason = systemReason(error);
    }
  }
  if (left.length > 0) throw refusal(left, { home, reason });
  if (moved > 0) return entry;
  await removeDirectory(directory);
  return null;
}

/** Returns the error for paths that cannot be moved. */
function refusal(paths: readonly string[], { home, reason }: { home: string; reason: string }): AgentcliError {
  return new AgentcliError(
    "policy_refused",
    `a command made ${paths.join(", ")}, which could run code later, and it cannot be moved away: ${reason}`,
    { hint: `look at these files and remove them; make ${join(home, QUARANTINE)} a place that can be written` },
  );
}

/** Returns the fields of one of our files; none if it is damaged or incomplete. */
export function readFields(path: string): JsonRecord {
  const read = readRegularFile(path, { display: path, limit: FILE_LIMIT });
  return "refused" in read ? {} : fieldsOf(parseJson(new TextDecoder().decode(read.bytes)));
}

/** Returns an entry by its id, or null. */
export function readEntry(home: string, id: string): QuarantineEntry | null {
  if (!/^[\w-]+$/.test(id)) return null;
  const { time, roots, paths } = readFields(join(home, QUARANTINE, id, INDEX));
  const kept = readRoots(roots);
  return typeof time === "number" && kept.length > 0 && Array.isArray(paths)
    ? { id, time, roots: kept, paths: paths.map(String) }
    : null;
}
