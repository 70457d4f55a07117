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
import { exists } from "../../platform/real_path.ts";
import { findRoot, type KeptRoot, readRoots } from "../policy/identity.ts";
import type { Remembered } from "../policy/path_rules.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { UNKNOWN_PATH } from "../policy/protection_rule.ts";
import { quarantine, quarantineNotice, readFields } from "./quarantine.ts";
import { UNFINISHED } from "./sandbox.ts";
import { StartedLater, type WatchedFiles } from "./started_later.ts";
import type { ProtectChanges } from "./watched_run.ts";

/** Ends the names of notes whose program could see a protected path. On a full disk, a file can still be renamed. */
const EXPOSED = ".exposed.json";

/** Judges what a program left, by the roots of its session. */
interface UnfinishedJudge {
  /** The roots as the home remembers them. */
  remembered: readonly Remembered[];
  protectFound: ProtectChanges;
  /** Returns whether texts hold protected content. */
  holds(texts: readonly string[]): Promise<boolean>;
}

/** Opens the judge of roots; if one of them is gone, all that changed counts as protected. */
export type OpenJudge = (roots: readonly KeptRoot[]) => UnfinishedJudge | Promise<UnfinishedJudge>;

/** The note of a running program in the home. */
export type ProgramNote = Awaited<ReturnType<typeof noteProgram>>;

/** The content of a note. */
interface Note {
  /** The process that ran the program, from `processIdentity`. */
  process: string | null;
  /** When it started, in milliseconds since 1970. */
  since: number;
  /** The roots of its session, the project first: their rules and their content tell what it can have left behind. */
  roots: readonly KeptRoot[];
  /** Where it can write besides. Absolute paths. */
  written: readonly string[];
  /** Only of programs that may not make what could run code later: which of it was there. */
  watched?: { programs: readonly string[]; known: [path: string, link: string][] } | undefined;
}

/** Writes the note of a program before it runs. Throws `policy_refused` if the home cannot be written. */
export async function noteProgram(
  home: string,
  { roots, written, before = null }: Pick<Note, "roots" | "written"> & { before?: WatchedFiles | null },
) {
  const id = join(home, UNFINISHED, crypto.randomUUID());
  let path = `${id}.json`;
  const watched = before === null ? undefined : { programs: before.programs, known: [...before.known] };
  const note: Note = { process: await processIdentity(), since: Date.now(), roots, written, watched };
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
 * removes their notes. Each is judged by the roots of its session, and waits until the project among them is there.
 * Returns notices for the user. Throws why that is not possible; the notes stay then.
 */
export async function recoverUnfinished(
  { home, root, userHome }: { home: string; root: string; userHome: string | null },
  openJudge: OpenJudge,
): Promise<string[]> {
  const notices: string[] = [];
  const touches = (place: string) => isWithin(place, root) || isWithin(root, place);
  for (const { name } of listSync(join(home, UNFINISHED)) ?? []) {
    const path = join(home, UNFINISHED, name);
    const fields = readFields(path);
    const { process, since, written = [], watched }: Partial<Note> = fields;
    const kept = readRoots(fields.roots);
    const [project = null, ...others] = kept.map((one) => findRoot(one, root));
    // The program of an incomplete note had not started.
    if (since === undefined || project === null) continue;
    const places = [project, ...others.filter((at) => at !== null), ...written.filter(exists)];
    if (!places.some(touches)) continue;
    const exposed = name.endsWith(EXPOSED) ? { path: UNKNOWN_PATH, since } : undefined;
    const isRunning = typeof process === "string" && await processIdentity(parseInt(process)) === process;
    if (isRunning && exposed === undefined) continue;
    const judge = await openJudge(kept);
    await judge.protectFound(places, { since, exposed });
    // The note names paths: in a project that was moved, it does not tell what was there before.
    if (watched !== undefined && project === kept[0]?.path) {
      const protection = await ProtectedSet.open(places, judge);
      const files = { roots: places, programs: watched.programs, known: new Map(watched.known) };
      const made = new StartedLater(userHome).madeSince(files, await protection.hidden());
      const entry = await quarantine(made, { home, roots: kept, now: Date.now() });
      const holds = (text: string) => judge.holds([text]);
      if (entry !== null) notices.push(await quarantineNotice("a command that was broken off", entry, holds));
    }
    await removeFile(path);
  }
  return notices;
}
