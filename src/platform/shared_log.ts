/** Files of the home that several processes append to while they work, so that they learn of each other. */
import type { Home } from "./home.ts";
import { openLockFile } from "./journal.ts";

/** A log that is open while this process works. */
export interface SharedLog {
  add(line: string): void;
  /** The lines of all after this one opened it; null where another had it open at that time or has it open now. */
  lines(): string[] | null;
  close(): void;
}

/** On Windows nobody can write a file that is locked: there, processes do not learn of each other. */
const HAS_ADVISORY_LOCKS = Deno.build.os !== "windows";

/** Opens a log of the home for as long as this process works. Throws the system's errors. */
export function openSharedLog(home: Home, name: string): SharedLog {
  if (!HAS_ADVISORY_LOCKS) return { add: () => {}, lines: () => [], close: () => {} };
  const path = home.file(name);
  const handle = openLockFile(path);
  const wasAlone = handle.tryLockSync(true);
  if (wasAlone) handle.truncateSync(0);
  handle.lockSync(false);
  const start = handle.statSync().size;
  return {
    add: (line) => addLine(home, { name, line }),
    lines() {
      const isAlone = handle.tryLockSync(true);
      handle.lockSync(false);
      if (!wasAlone || !isAlone) return null;
      return new TextDecoder().decode(Deno.readFileSync(path).subarray(start)).split("\n").slice(0, -1);
    },
    close() {
      // A starting process has a copy of the handle for a moment, and with it the lock.
      handle.unlockSync();
      handle.close();
    },
  };
}

/** Adds a line to a log that others may have open; does nothing where there is none, or it may not be written. */
export function addLine(home: Home, { name, line }: { name: string; line: string }): void {
  try {
    Deno.writeTextFileSync(home.file(name), `${line}\n`, { append: true, create: false });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}
