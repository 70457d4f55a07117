/** Temporary directories of our own, where the system keeps them. */
import { AgentcliError } from "../errors.ts";
import { diskReason } from "./disk_failure.ts";
import { dirname, join } from "./path.ts";

/** A temporary directory; names are relative to it. */
export interface TemporaryDirectory {
  /** A real path. */
  readonly path: string;
  /** Makes or replaces a file, with its parents. Not safe against a crash: nothing here outlives the process. */
  write(name: string, text: string): void;
  /** Gives a file a second name. */
  link(name: string, other: string): void;
  read(name: string): string;
}

/**
 * Runs `work` with a fresh directory for the owner alone, which is removed afterwards whatever happened. Throws `usage`
 * where none can be made.
 */
export async function withTemporaryDirectory<T>(work: (directory: TemporaryDirectory) => Promise<T>): Promise<T> {
  const directory = openTemporaryDirectory();
  try {
    return await work(directory);
  } finally {
    await directory.remove();
  }
}

/**
 * Makes a fresh directory for the owner alone, which stays until it is removed. Throws `usage` where none can be made.
 */
export function openTemporaryDirectory(): TemporaryDirectory & { remove(): Promise<void> } {
  const path = makeDirectory();
  return {
    path,
    write(name, text) {
      Deno.mkdirSync(dirname(join(path, name)), { recursive: true });
      Deno.writeTextFileSync(join(path, name), text, { mode: 0o600 });
    },
    link: (name, other) => Deno.linkSync(join(path, name), join(path, other)),
    read: (name) => Deno.readTextFileSync(join(path, name)),
    remove: () => Deno.remove(path, { recursive: true }),
  };
}

function makeDirectory(): string {
  try {
    return Deno.realPathSync(Deno.makeTempDirSync({ prefix: "agentcli-" }));
  } catch (error) {
    const reason = diskReason(error);
    if (reason === null) throw error;
    throw new AgentcliError("usage", `no temporary directory can be made: ${reason}`, {
      hint: "set TMPDIR to a directory that you may write to, on a disk with room (TEMP on Windows)",
      cause: error,
    });
  }
}

/**
 * Returns the error that keeps this process from writing below a directory; null when it can. Tried with one byte,
 * since permission bits say nothing about read-only file systems and full disks; the file is removed at once.
 */
export function obstacleToWriting(directory: string): unknown {
  let path: string | null = null;
  try {
    path = Deno.makeTempFileSync({ dir: directory, prefix: ".agentcli-" });
    Deno.writeTextFileSync(path, "1");
    return null;
  } catch (error) {
    return error;
  } finally {
    if (path !== null) Deno.removeSync(path);
  }
}
