/**
 * Keeps a note of each running program in the home, from before its start until what it changed is judged and recorded.
 * A note that stays, since agentcli was killed, the disk is full or a record cannot be written, is taken up by the next
 * session of the project. Without that, what a program left would be open again.
 */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import {
  listSync,
  lstatSync,
  makePrivateDirectory,
  movePath,
  removeFile,
  setModified,
  writePrivately,
} from "../../platform/files.ts";
import type { Io } from "../../platform/io.ts";
import { isWithin, join } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { processIdentity } from "../../platform/process_group.ts";
import type { GitUser } from "../../shell/git.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { UNKNOWN_PATH } from "../policy/protection_rule.ts";
import type { Exposure } from "../scan/copies.ts";
import { gitPrograms } from "./git_programs.ts";
import { markExposed, quarantine, type QuarantineEntry, quarantineNotice, readFields } from "./quarantine.ts";
import { madeWithin, StartedLater } from "./started_later.ts";

/** Directory in the home with one file for each running program; `createSessionSandbox` knows it, too. */
const UNFINISHED = "unfinished";
/** Ends the names of notes whose program could see a protected path. A full disk lets a file be renamed, not written. */
const EXPOSED = ".exposed.json";

/** Judges what a program left. */
export interface UnfinishedJudge {
  /** Protects what changed in places since a time and holds protected content; with `exposed`, all of it. */
  protect(places: readonly string[], changed: { since: number; exposed: Exposure | undefined }): Promise<unknown>;
  holdsProtected(text: string): Promise<boolean>;
}

/** The note of a running program in the home. */
export interface ProgramNote {
  /** Notes until when the program has ended if we are killed (milliseconds since 1970); 0: that is not known. */
  endsBy(time: number): Promise<void>;
  /**
   * From now on, everything that changed since the program started counts as protected, whatever becomes of us; and these
   * entries of the quarantine for good.
   */
  keep(quarantined?: readonly QuarantineEntry[]): Promise<void>;
  remove(): Promise<void>;
}

/** A note about a running program. */
interface Note {
  /** The process that ran the program, from `processIdentity`. */
  process: string | null;
  /** When it started, in milliseconds since 1970. */
  since: number;
  /** Where the program can write, the project first. Absolute paths. */
  roots: readonly [string, ...string[]];
  /** Whether it may not make what could run code later. */
  isWatched: boolean;
}

/** Writes the note of a program before it runs. Throws `policy_refused` if the home cannot be written. */
export async function noteProgram(
  home: string,
  { roots, isWatched = false }: { roots: Note["roots"]; isWatched?: boolean },
): Promise<ProgramNote> {
  const id = join(home, UNFINISHED, crypto.randomUUID());
  let path = `${id}.json`;
  const note: Note = { process: await processIdentity(), since: Date.now(), roots, isWatched };
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
    endsBy: (time) => setModified(path, time),
    async keep(quarantined = []) {
      for (const entry of quarantined) await markExposed(home, entry);
      if (path.endsWith(EXPOSED)) return;
      await movePath(path, `${id}${EXPOSED}`);
      path = `${id}${EXPOSED}`;
    },
    remove: () => removeFile(path),
  };
}

/**
 * Judges what programs of dead agentcli processes changed in a project or around it, and what exposed ones did, and
 * removes their notes. Returns notices for the user. Throws why that is not possible; the notes stay then.
 */
export async function recoverUnfinished(
  { home, root, user, os }: { home: string; root: string; user: GitUser; os: Io["os"] },
  { protect, holdsProtected }: UnfinishedJudge,
): Promise<string[]> {
  const notices: string[] = [];
  const touches = (place: string) => isWithin(place, root) || isWithin(root, place);
  for (const { name } of listSync(join(home, UNFINISHED)) ?? []) {
    const path = join(home, UNFINISHED, name);
    const note = readNote(path);
    if (note === null || !note.roots.some(touches)) continue;
    const exposed = name.endsWith(EXPOSED) ? { path: UNKNOWN_PATH, since: note.since } : undefined;
    const isRunning = note.process !== null && await processIdentity(parseInt(note.process)) === note.process;
    if (isRunning && exposed === undefined) continue;
    const made = note.isWatched
      ? await startedLater(note, { user, until: os === "linux" ? endOf(path) : Infinity })
      : [];
    const entry = made.length > 0 ? await quarantine(made, { home, root: note.roots[0], now: Date.now() }) : null;
    if (entry !== null && exposed !== undefined) await markExposed(home, entry);
    if (entry !== null) notices.push(await quarantineNotice("a command that was broken off", entry, holdsProtected));
    await protect(note.roots, { since: note.since, exposed });
    await removeFile(path);
  }
  return notices;
}

/** Returns when the program of a note had ended, where programs cannot outlive us. */
function endOf(path: string): number {
  return quietly(() => lstatSync(path))?.modified || Infinity;
}

/** Returns what came to be while a program ran and that it may not have made. */
async function startedLater(
  { roots, since }: Note,
  { user, until }: { user: GitUser; until: number },
): Promise<string[]> {
  const protection = new ProtectedSet(roots);
  protection.refresh();
  const found = await protection.hidden();
  const programs = gitPrograms(found, { roots, user }) ?? [];
  return madeWithin(new StartedLater(user.userHome).watch(found, { roots, programs }), { since, until });
}

/** Returns a note; null for an incomplete one, whose program had not started. */
function readNote(path: string): Note | null {
  const { process, since, roots, isWatched } = readFields(path);
  if (typeof since !== "number" || !Array.isArray(roots) || roots.length === 0) return null;
  const [first, ...others] = roots.map(String);
  const isProcess = typeof process === "string";
  return { process: isProcess ? process : null, since, roots: [first ?? "", ...others], isWatched: isWatched === true };
}
