/**
 * Commands whose end this program did not live to see: a note in the home says what stood before such a command, and the
 * next session of the project moves to quarantine what it made since.
 */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import { listDirectory, makePrivateDirectory, removeFile, writePrivately } from "../../platform/files.ts";
import { isWithin, join } from "../../platform/path.ts";
import { processIdentity } from "../../platform/process_group.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { quarantine, readFields } from "./quarantine.ts";
import type { QuarantineEntry } from "./sandbox.ts";
import { madeSince, StartedLater, type WatchedFiles } from "./started_later.ts";

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
