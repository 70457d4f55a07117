/**
 * The place in the home for what commands made that could run code later: nothing of a user's is ever deleted. And a note
 * for each command that runs of what stood before it: where this program does not live to see its end, the next session of
 * the project moves to quarantine what it made since.
 */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import {
  listDirectory,
  lstat,
  makePrivateDirectory,
  movePath,
  removeDirectory,
  removeFile,
  writeAtomically,
  writePrivately,
} from "../../platform/files.ts";
import { isWithin, join } from "../../platform/path.ts";
import { processIdentity } from "../../platform/process_group.ts";
import { fieldsOf, type JsonRecord, parseJson } from "../../platform/record.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { readRegularFile } from "../reader.ts";
import type { QuarantineEntry } from "./sandbox.ts";
import { madeSince, StartedLater, type WatchedFiles } from "./started_later.ts";

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
function readFields(path: string): JsonRecord {
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

/** Below the home, as `createSessionSandbox` knows; one file for each command that runs. */
const UNFINISHED = "unfinished";

/** A note of a command that runs. Paths are absolute. */
interface Note {
  /** The process that ran the command, from `processIdentity`. */
  process: string | null;
  root: string;
  /** Where the command could write. */
  roots: readonly string[];
  programs: readonly string[];
  known: [path: string, link: string][];
}

/** Notes a command before it runs. Throws `policy_refused` where the home takes no note. */
export async function noteCommand(
  { known }: WatchedFiles,
  { home, ...place }: { home: string } & Pick<Note, "root" | "roots" | "programs">,
): Promise<{ remove(): Promise<void> }> {
  const path = join(home, UNFINISHED, `${crypto.randomUUID()}.json`);
  const note: Note = { process: await processIdentity(), ...place, known: [...known] };
  try {
    await makePrivateDirectory(join(home, UNFINISHED));
    await writePrivately(path, JSON.stringify(note));
  } catch (error) {
    const reason = systemReason(error);
    throw new AgentcliError("policy_refused", `what a command makes cannot be kept in ${home}: ${reason}`, {
      hint: "make the home of agentcli a directory that can be written (agentcli doctor)",
    });
  }
  return { remove: () => removeFile(path) };
}

/** Moves away what commands of processes that are gone made in a project or around it, and forgets these commands. */
export async function recoverUnfinished(
  { home, root, userHome }: { home: string; root: string; userHome: string | null },
): Promise<QuarantineEntry[]> {
  const entries: QuarantineEntry[] = [];
  for (const { name } of await listDirectory(join(home, UNFINISHED)) ?? []) {
    const path = join(home, UNFINISHED, name);
    const note = readNote(path);
    if (note === null || !(isWithin(note.root, root) || isWithin(root, note.root))) continue;
    if (note.process !== null && await processIdentity(parseInt(note.process)) === note.process) continue;
    const protection = new ProtectedSet(note.roots);
    protection.refresh();
    const after = new StartedLater(userHome).watch(await protection.hidden(), note);
    const made = madeSince({ known: new Map(note.known) }, after);
    const entry = made.length > 0 ? await quarantine(made, { home, root: note.root, now: Date.now() }) : null;
    if (entry !== null) entries.push(entry);
    await removeFile(path);
  }
  return entries;
}

/** Returns null for what is no note: it was being written, and its command had not begun. */
function readNote(path: string): Note | null {
  const note = readFields(path) as Partial<Note>;
  const isNote = typeof note.root === "string" && [note.roots, note.programs, note.known].every(Array.isArray);
  return isNote ? note as Note : null;
}
