/**
 * Files of the home that only grow: one line an entry, flushed to the disk before the caller continues; locks,
 * and states that are changed under one. Kept apart from `home.ts`, which replaces whole files.
 */
import { AgentcliError } from "../errors.ts";
import { isAbsent, isForbidden, makePrivateDirectory, readFrom, removeFile, setMode } from "./files.ts";
import type { Home } from "./home.ts";
import { dirname } from "./path.ts";

/** An open file that is appended to. The owner holds a lock of its own: nothing here keeps a second writer out. */
export interface Journal {
  /** Bytes of it now. */
  readonly size: number;
  /** Whether the name still leads to this file: it may have been removed, or another put in its place. */
  inPlace(): boolean;
  /**
   * Writes bytes at the end, one after the other, and waits until the disk has them. When that fails, what was written
   * of them is taken away again as far as the system lets us, and the error of the system is thrown.
   */
  append(...bytes: readonly Uint8Array[]): Promise<void>;
  /** Cuts the file to its first `size` bytes. */
  cut(size: number): Promise<void>;
  close(): void;
}

/**
 * Opens a file of the home for appending, 0600 in directories of 0700; made when absent. Throws the system's errors.
 */
export async function openJournal(home: Home, name: string): Promise<Journal> {
  const path = home.file(name);
  await makePrivateDirectory(dirname(path));
  const handle = await Deno.open(path, { append: true, create: true, mode: 0o600 });
  const facts = handle.statSync();
  if (facts.mode !== null && (facts.mode & 0o077) !== 0) await setMode(path, 0o600);
  let size = facts.size;
  const write = async (all: readonly Uint8Array[]) => {
    for (const bytes of all) {
      let written = 0;
      while (written < bytes.length) written += await handle.write(bytes.subarray(written));
    }
    await handle.syncData();
  };
  return {
    get size() {
      return size;
    },
    inPlace() {
      try {
        const now = Deno.statSync(path);
        return now.ino === facts.ino && now.dev === facts.dev;
      } catch (error) {
        if (isAbsent(error)) return false;
        throw error;
      }
    },
    async append(...bytes) {
      try {
        await write(bytes);
        size += bytes.reduce((sum, { length }) => sum + length, 0);
      } catch (error) {
        // A part of a line would be a torn line for every reader.
        await handle.truncate(size).catch(() => {});
        throw error;
      }
    },
    async cut(length) {
      await handle.truncate(length);
      size = length;
    },
    close: () => handle.close(),
  };
}

/** Adds lines to a file of the home; the disk has them when this resolves. Throws the system's errors. */
export async function appendLines(home: Home, { name, lines }: { name: string; lines: string }): Promise<void> {
  const journal = await openJournal(home, name);
  try {
    await journal.append(new TextEncoder().encode(lines));
  } finally {
    journal.close();
  }
}

/** A lock that is held until it is given back or its process ends. */
export interface HeldLock {
  release(): Promise<void>;
}

// All of it is synchronous: each trip to the thread pool costs a tenth of what a turn may take to its first request.
/** Opens a file of the home that is locked, made where it is absent. Throws the system's errors. */
export function openLockFile(path: string): Deno.FsFile {
  const options = { read: true, write: true, create: true, mode: 0o600 };
  try {
    return Deno.openSync(path, options);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return Deno.openSync(path, options);
  }
}

/**
 * Takes the lock `name` of the home without waiting; null when somebody else has it. The lock belongs to an open
 * handle, so it dies with its holder; the file is removed when it is given back.
 */
// deno-lint-ignore require-await -- a promise, so that callers need not know how it is done
export async function holdLock(home: Home, name: string): Promise<HeldLock | null> {
  const path = home.file(name);
  for (;;) {
    const handle = openLockFile(path);
    if (!handle.tryLockSync(true)) {
      handle.close();
      return null;
    }
    // The file may have been removed by its holder between our opening and our locking: then nobody else sees this one.
    if (sameFile(handle, path)) {
      return {
        async release() {
          await removeFile(path);
          handle.close();
        },
      };
    }
    handle.close();
  }
}

function sameFile(handle: Deno.FsFile, path: string): boolean {
  try {
    return Deno.build.os === "windows" || handle.statSync().ino === Deno.statSync(path).ino;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Bytes read at a time. */
const CHUNK = 256 * 1024;

async function openExisting(home: Home, name: string): Promise<Deno.FsFile | null> {
  try {
    return await Deno.open(home.file(name), { read: true });
  } catch (error) {
    if (isAbsent(error)) return null;
    if (!isForbidden(error)) throw error;
    throw new AgentcliError("home_unusable", `${home.file(name)} may not be read`, {
      hint: "check its owner and permissions",
      cause: error,
    });
  }
}

/** Returns a file of the home piece by piece; nothing when it is absent. */
export async function* readPieces(home: Home, name: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const handle = await openExisting(home, name);
  if (handle === null) return;
  try {
    for (;;) {
      const buffer = new Uint8Array(CHUNK);
      const count = await handle.read(buffer);
      if (count === null) return;
      yield buffer.subarray(0, count);
    }
  } finally {
    handle.close();
  }
}

/**
 * Returns `length` bytes of a file of the home, the last ones or those from `at` on; fewer when it is shorter, null
 * when it is absent.
 */
export async function readPart(
  home: Home,
  name: string,
  { at, length }: { at?: number; length: number },
): Promise<Uint8Array<ArrayBuffer> | null> {
  const handle = await openExisting(home, name);
  if (handle === null) return null;
  try {
    await handle.seek(at ?? Math.max(0, handle.statSync().size - length), Deno.SeekMode.Start);
    return await readFrom(handle, length);
  } finally {
    handle.close();
  }
}

/** Changes the state that a file of the home holds, as JSON, while nobody else does; returns what `work` returns. */
export async function changeState<State, Result>(
  home: Home,
  name: string,
  { read, work }: { read: () => Promise<State>; work: (state: State) => Result },
): Promise<Result> {
  return await home.locked(name, async () => {
    const state = await read();
    const result = work(state);
    await home.write(name, JSON.stringify(state) + "\n");
    return result;
  });
}
