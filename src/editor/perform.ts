/** Writes the files of a plan, one after another, and takes back what was written when one of them fails. */
import { AgentcliError } from "../errors.ts";
import { makeDirectory, removeFile, writeAtomically } from "../platform/files.ts";
import { dirname } from "../platform/path.ts";
import { linkOnTheWay, readFound, sameBytes } from "./disk.ts";
import type { Change } from "./plan.ts";

/** What is done to the files of a project. Tests put another in its place that stops half-way. */
export interface Operations {
  makeDirectory(path: string): Promise<void>;
  /** Whole or not at all; `lastLook` is called just before, and stops it by throwing. */
  write(path: string, bytes: Uint8Array, options: { mode: number; lastLook: () => void }): Promise<void>;
  /** A file, or an empty directory. */
  remove(path: string): Promise<void>;
}

/** Those of the disk. */
export const DISK: Operations = { makeDirectory, write: writeAtomically, remove: removeFile };

const WRITABLE = 0o200;

/**
 * Makes one change. Throws `usage` when the file is not as the plan found it, is read-only, or lies behind a link:
 * nothing is written then.
 */
export async function perform({ path, base, before, after, mode }: Change, operations: Operations): Promise<void> {
  const link = await linkOnTheWay(base, path);
  if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
  if (before !== null && before.mode !== null && (before.mode & WRITABLE) === 0) {
    throw new AgentcliError("usage", `${path} is read-only`, { hint: "make it writable, or leave it as it is" });
  }
  const lastLook = () => {
    if (!sameBytes(readFound(path)?.bytes ?? null, before?.bytes ?? null)) {
      throw new AgentcliError("usage", `${path} was changed by something else just now`, { hint: "run it again" });
    }
  };
  lastLook();
  try {
    if (after === null) return await operations.remove(path);
    await operations.makeDirectory(dirname(path));
    await operations.write(path, after, { mode, lastLook });
  } catch (error) {
    if (error instanceof AgentcliError) throw error;
    throw new AgentcliError("config_write_failed", `${path} cannot be written`, {
      hint: "check owner, permissions and free space",
      cause: error,
    });
  }
}

/** Takes changes back, the last first. Gives those that stay: somebody else has changed the file, or the disk refuses. */
export async function takeBack(done: readonly Change[], operations: Operations): Promise<Change[]> {
  const stay: Change[] = [];
  for (const change of done.toReversed()) {
    const { path, base, before, after } = change;
    const back: Change = {
      path,
      base,
      before: after === null ? null : { bytes: after, mode: null },
      after: before?.bytes ?? null,
      mode: before?.mode ?? change.mode,
    };
    await perform(back, operations).catch(() => stay.push(change));
  }
  return stay;
}
