/**
 * The file system without waiting: facts, listings and small reads in the calling thread. A trip to the thread pool costs
 * ten times the call itself (measured with Deno 2.9.6), and a search asks hundred thousands of times.
 */
import { type DirectoryEntry, entryOf, type FileStatus, isAbsent, statusOf } from "./files.ts";

function presentOnly<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Returns what stands at `path` itself, links not followed; null when nothing does. */
export function lstatSync(path: string): FileStatus | null {
  return presentOnly(() => statusOf(Deno.lstatSync(path)));
}

/** Returns what stands at the end of `path`'s links; null when nothing does. */
export function statSync(path: string): FileStatus | null {
  return presentOnly(() => statusOf(Deno.statSync(path)));
}

/** Returns the path with every link resolved; null when it does not lead anywhere. */
export function realPathSync(path: string): string | null {
  return presentOnly(() => Deno.realPathSync(path));
}

/** Returns where a link leads, as it says itself; null when there is none. */
export function readLinkSync(path: string): string | null {
  return presentOnly(() => Deno.readLinkSync(path));
}

/** Returns the entries of a directory, in the order of the system; null when there is no such directory. */
export function listSync(path: string): DirectoryEntry[] | null {
  return entriesSync(path)?.map(entryOf) ?? null;
}

/** One entry as the runtime gives it. */
export type PlainEntry = Readonly<Deno.DirEntry>;

/** Returns the same, untouched: a walk over a whole project spares a fifth by not making an object more for each. */
export function entriesSync(path: string): PlainEntry[] | null {
  return presentOnly(() => [...Deno.readDirSync(path)]);
}

/** Returns where something is mounted, absolute paths; none where the system has no list of it (Linux has: proc(5), "mountinfo"). */
export function mountPoints(): string[] {
  const text = presentOnly(() => new TextDecoder().decode(Deno.readFileSync("/proc/self/mountinfo"))) ?? "";
  return text.split("\n").flatMap((line) => {
    const point = line.split(" ")[4];
    return point?.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8))) ?? [];
  });
}

/** An open file, read from its handle. */
export interface SyncFile {
  status(): FileStatus;
  /** At most `length` bytes from `offset`; fewer at the end. */
  read(length: number, offset: number): Uint8Array<ArrayBuffer>;
  close(): void;
}

/** Opens `path` for reading; null when nothing is there. Callers check the kind first: opening a FIFO waits. */
export function openSync(path: string): SyncFile | null {
  const handle = presentOnly(() => Deno.openSync(path));
  if (handle === null) return null;
  return {
    status: () => statusOf(handle.statSync()),
    read(length, offset) {
      const buffer = new Uint8Array(length);
      if (offset > 0) handle.seekSync(offset, Deno.SeekMode.Start);
      let filled = 0;
      while (filled < length) {
        const count = handle.readSync(buffer.subarray(filled));
        if (count === null) break;
        filled += count;
      }
      return filled === length ? buffer : buffer.subarray(0, filled);
    },
    close: () => handle.close(),
  };
}
