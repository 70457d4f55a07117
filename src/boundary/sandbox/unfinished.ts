/**
 * Keeps a note of each running program in the home, from before its start until what it changed is judged and recorded.
 * A note that stays, since agentcli was killed, the disk is full or a record cannot be written, is taken up by the next
 * session of the project. Without that, what a program left would be open again.
 */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import {
  listSync,
  makePrivateDirectory,
  movePath,
  removeFile,
  writeAtomically,
  writePrivately,
} from "../../platform/files.ts";
import { isWithin, join } from "../../platform/path.ts";
import { processIdentity } from "../../platform/process_group.ts";
import { rootKey } from "../policy/inode_index.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { UNKNOWN_PATH } from "../policy/protection_rule.ts";
import { movedProject, quarantine, quarantineNotice, readFields } from "./quarantine.ts";
import { madeSince, StartedLater, type WatchedFiles } from "./started_later.ts";

/** Directory in the home with one file for each running program; `createSessionSandbox` knows it, too. */
const UNFINISHED = "unfinished";
/** Ends the names of notes whose program could see a protected path. A full disk lets a file be renamed, not written. */
const EXPOSED = ".exposed.json";

/** Judges what a program left. */
export interface UnfinishedJudge {
  /** Protects what changed in places since a time and holds protected content; with `exposed`, a path, all of it. */
  protect(places: readonly string[], changed: { since: number; exposed: string | undefined }): Promise<unknown>;
  holdsProtected(text: string): Promise<boolean>;
}

/** The note of a running program in the home. */
export interface ProgramNote {
  /** From now on, everything that changed since the program started counts as protected, whatever becomes of us. */
  keep(): Promise<void>;
  remove(): Promise<void>;
}

/** A note about a running program. Paths are absolute. */
interface Note {
  /** The process that ran the program, from `processIdentity`. */
  process: string | null;
  /** When it started, in milliseconds since 1970. */
  since: number;
  root: string;
  /** From `rootKey`; absent in notes of earlier versions. */
  key?: string;
  /** A session judged it while its project was elsewhere: what is left to do needs the project. */
  isJudged?: boolean;
  /** Where the program can write. */
  roots: readonly string[];
  /** Only of sandboxed programs, which may not make what could run code later. */
  watched?: { programs: readonly string[]; known: [path: string, link: string][] } | undefined;
}

/** Writes the note of a program before it runs. Throws `policy_refused` if the home cannot be written. */
export async function noteProgram(
  home: string,
  { before, programs = [], ...place }: Pick<Note, "root" | "roots"> & {
    before?: WatchedFiles | null;
    programs?: readonly string[];
  },
): Promise<ProgramNote> {
  const id = join(home, UNFINISHED, crypto.randomUUID());
  let path = `${id}.json`;
  const note: Note = { process: await processIdentity(), since: Date.now(), key: rootKey(place.root), ...place };
  if (before !== undefined && before !== null) note.watched = { programs, known: [...before.known] };
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
    async keep() {
      if (path.endsWith(EXPOSED)) return;
      await movePath(path, `${id}${EXPOSED}`);
      path = `${id}${EXPOSED}`;
    },
    remove: () => removeFile(path),
  };
}

/**
 * Judges what programs of dead agentcli processes changed in a project or around it, and what exposed ones did, and
 * removes their notes. The note of a project that is elsewhere by now stays for it: only there is its content known.
 * Returns notices for the user. Throws why that is not possible; the notes stay then.
 */
export async function recoverUnfinished(
  { home, root, userHome }: { home: string; root: string; userHome: string | null },
  { protect, holdsProtected }: UnfinishedJudge,
): Promise<string[]> {
  const notices: string[] = [];
  for (const { name } of listSync(join(home, UNFINISHED)) ?? []) {
    const path = join(home, UNFINISHED, name);
    const note = readNote(path, root);
    const touches = (place: string) => isWithin(place, root) || isWithin(root, place);
    if (note === null || ![note.root, ...note.roots].some(touches)) continue;
    const isHere = note.key === undefined || note.key === rootKey(note.root);
    if (!isHere && note.isJudged === true) continue;
    const exposed = name.endsWith(EXPOSED) ? UNKNOWN_PATH : undefined;
    const isRunning = note.process !== null && await processIdentity(parseInt(note.process)) === note.process;
    if (isRunning && exposed === undefined) continue;
    if (note.watched !== undefined) {
      const protection = new ProtectedSet(note.roots);
      protection.refresh();
      const { programs, known } = note.watched;
      const after = new StartedLater(userHome).watch(await protection.hidden(), { roots: note.roots, programs });
      const made = madeSince({ known: new Map(known) }, after);
      const entry = made.length > 0 ? await quarantine(made, { home, root: note.root, now: Date.now() }) : null;
      if (entry !== null) notices.push(await quarantineNotice("a command that was broken off", entry, holdsProtected));
    }
    await protect(note.roots, { since: note.since, exposed });
    if (isHere) await removeFile(path);
    else await writeAtomically(path, JSON.stringify({ ...note, isJudged: true }), { mode: 0o600 });
  }
  return notices;
}

/** Returns a note, with the paths of a project that is at or around `root` by now as they are there; null for an incomplete one. */
function readNote(path: string, root: string): Note | null {
  const note = readFields(path) as Partial<Note>;
  const { root: before } = note;
  // Its program had not started.
  if (typeof before !== "string" || typeof note.since !== "number" || !Array.isArray(note.roots)) return null;
  const now = movedProject({ ...note, root: before }, root);
  if (now === null) return note as Note;
  const { watched } = note;
  const { place } = now;
  return {
    ...note as Note,
    root: now.root,
    roots: note.roots.map(place),
    watched: watched === undefined ? undefined : {
      programs: watched.programs.map(place),
      known: watched.known.map(([at, link]) => [place(at), link]),
    },
  };
}
