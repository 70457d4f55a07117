/**
 * Keeps a note of each running program in the home, from before its start until what it changed is judged and recorded.
 * A note that stays, since agentcli was killed, the disk is full or a record cannot be written, is taken up by the next
 * session of the project. Without that, what a program left would be open again.
 */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import { listSync, makePrivateDirectory, movePath, removeFile, writePrivately } from "../../platform/files.ts";
import { isWithin, join } from "../../platform/path.ts";
import { processIdentity } from "../../platform/process_group.ts";
import { ancestors, exists } from "../../platform/real_path.ts";
import { type Identity, identityAt, lastingIdentityOf, rootKey } from "../policy/identity.ts";
import { ProtectedSet, type Remembered } from "../policy/protected.ts";
import { UNKNOWN_PATH } from "../policy/protection_rule.ts";
import { quarantine, quarantineNotice, readFields } from "./quarantine.ts";
import { UNFINISHED } from "./sandbox.ts";
import { StartedLater, type WatchedFiles } from "./started_later.ts";
import type { ProtectChanges } from "./watched_run.ts";

/** Ends the names of notes whose program could see a protected path. On a full disk, a file can still be renamed. */
const EXPOSED = ".exposed.json";

/** Judges what a program of a project left. */
export interface UnfinishedJudge {
  /** The project as the home remembers it. */
  remembered: readonly Remembered[];
  protectFound: ProtectChanges;
  /** Returns whether texts hold protected content. */
  holds(texts: readonly string[]): Promise<boolean>;
}

/** The note of a running program in the home. */
export type ProgramNote = Awaited<ReturnType<typeof noteProgram>>;

/** The content of a note. */
interface Note {
  /** The process that ran the program, from `processIdentity`. */
  process: string | null;
  /** When it started, in milliseconds since 1970. */
  since: number;
  /** Where the program can write, the project first. Absolute paths. */
  roots: readonly string[];
  project: Identity;
  /** Only of programs that may not make what could run code later: which of it was there. */
  watched?: { programs: readonly string[]; known: [path: string, link: string][] } | undefined;
}

/** Writes the note of a program before it runs. Throws `policy_refused` if the home cannot be written. */
export async function noteProgram(
  home: string,
  { roots, before = null }: { roots: readonly [string, ...string[]]; before?: WatchedFiles | null },
) {
  const id = join(home, UNFINISHED, crypto.randomUUID());
  let path = `${id}.json`;
  const watched = before === null ? undefined : { programs: before.programs, known: [...before.known] };
  const [process, project] = [await processIdentity(), identityAt(roots[0])];
  const note: Note = { process, since: Date.now(), roots, project, watched };
  try {
    await makePrivateDirectory(join(home, UNFINISHED));
    await writePrivately(path, JSON.stringify(note));
  } catch (error) {
    const reason = systemReason(error);
    throw new AgentcliError("policy_refused", `what a command makes cannot be kept in ${home}: ${reason}`, {
      hint: "make the home of agentcli a directory that can be written (agentcli doctor)",
    });
  }
  return {
    /** From now on, everything that changed since the program started counts as protected, whatever becomes of us. */
    async keep(): Promise<void> {
      if (path.endsWith(EXPOSED)) return;
      await movePath(path, `${id}${EXPOSED}`);
      path = `${id}${EXPOSED}`;
    },
    remove: (): Promise<void> => removeFile(path),
  };
}

/**
 * Judges what programs of dead agentcli processes changed in a project or around it, and what exposed ones did, and
 * removes their notes. Each is judged by the project that its program ran in, and waits until that is there. Returns
 * notices for the user. Throws why that is not possible; the notes stay then.
 */
export async function recoverUnfinished(
  { home, root, userHome }: { home: string; root: string; userHome: string | null },
  openJudge: (project: string) => UnfinishedJudge | Promise<UnfinishedJudge>,
): Promise<string[]> {
  const notices: string[] = [];
  const touches = (place: string) => isWithin(place, root) || isWithin(root, place);
  for (const { name } of listSync(join(home, UNFINISHED)) ?? []) {
    const path = join(home, UNFINISHED, name);
    const { process, since, roots: [before, ...others] = [], project, watched }: Partial<Note> = readFields(path);
    // The program of an incomplete note had not started.
    if (since === undefined || before === undefined) continue;
    const place = placeOf(before, project, root);
    if (place === null || ![place, ...others].some(touches)) continue;
    const roots = [place, ...others];
    const exposed = name.endsWith(EXPOSED) ? { path: UNKNOWN_PATH, since } : undefined;
    const isRunning = typeof process === "string" && await processIdentity(parseInt(process)) === process;
    if (isRunning && exposed === undefined) continue;
    const judge = await openJudge(place);
    // The note names paths: in a project that was moved, it does not tell what was there before.
    if (watched !== undefined && place === before) {
      const protection = new ProtectedSet(roots, judge);
      protection.refresh();
      const files = { roots, programs: watched.programs, known: new Map(watched.known) };
      const made = new StartedLater(userHome).madeSince(files, await protection.hidden());
      const entry = await quarantine(made, { home, root: place, now: Date.now() });
      const holds = (text: string) => judge.holds([text]);
      if (entry !== null) notices.push(await quarantineNotice("a command that was broken off", entry, holds));
    }
    await judge.protectFound(roots, { since, exposed });
    await removeFile(path);
  }
  return notices;
}

/** Returns where the directory of a project is, as far as a session at `root` knows; null if it is not there. */
function placeOf(noted: string, project: Identity | undefined, root: string): string | null {
  if (project === undefined || project.inode === 0) return exists(noted) ? noted : null;
  // As in `checkRoots`, the number is enough at its own path.
  if (identityAt(noted).inode === project.inode) return noted;
  return ancestors(root).find((at) => rootKey(at) === lastingIdentityOf(project)) ?? null;
}
