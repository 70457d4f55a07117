/**
 * Moves files that commands made and that could run code later to quarantine in the home; nothing is ever deleted. Also
 * keeps a note of what existed before each running command: if agentcli is killed, the next session of the project
 * quarantines what the command made.
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

/** Directory in the home, with one directory for each entry: `index.json` and the files as `0`, `1`, … */
export const QUARANTINE = "quarantine";
const INDEX = "index.json";
/** Size limit of an index or a note in bytes: thousands of paths. */
const FILE_LIMIT = 64 * 1024 * 1024;

/**
 * Moves paths of a project into the home. Returns null if they are all gone already. Throws `policy_refused` if one
 * cannot be moved: the turn must not continue then.
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
    // The index comes first: without it, moved files could not be restored.
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
      // A move to another disk can leave a partial copy.
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

/** Returns the error for paths that cannot be moved; does not name those that can contain protected content. */
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

/** Returns the fields of one of our files; none if it is damaged or incomplete. */
function readFields(path: string): JsonRecord {
  const read = readRegularFile(path, { display: path, limit: FILE_LIMIT });
  return "refused" in read ? {} : fieldsOf(parseJson(new TextDecoder().decode(read.bytes)));
}

/** Returns an entry by its id, or null. */
export function readEntry(home: string, id: string): QuarantineEntry | null {
  if (!/^[\w-]+$/.test(id)) return null;
  const { time, root, paths, isSecret } = readFields(join(home, QUARANTINE, id, INDEX));
  return typeof time === "number" && typeof root === "string" && Array.isArray(paths)
    ? { id, time, root, paths: paths.map(String), isSecret: isSecret === true }
    : null;
}

/** Directory in the home with one file for each running command; `createSessionSandbox` knows it, too. */
const UNFINISHED = "unfinished";

/** A note about a running command. Paths are absolute. */
interface Note {
  /** The process that ran the command, from `processIdentity`. */
  process: string | null;
  root: string;
  /** Where the command can write. */
  roots: readonly string[];
  programs: readonly string[];
  known: [path: string, link: string][];
}

/** Writes the note of a command before it runs. Throws `policy_refused` if the home cannot be written. */
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

/** Quarantines what commands of dead agentcli processes made in a project or around it, and removes their notes. */
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

/** Returns null for an incomplete note: its command had not started. */
function readNote(path: string): Note | null {
  const note = readFields(path) as Partial<Note>;
  const isNote = typeof note.root === "string" && [note.roots, note.programs, note.known].every(Array.isArray);
  return isNote ? note as Note : null;
}
