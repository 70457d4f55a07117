/**
 * The file system as the rest of the program may use it. User files are opened through `boundary/reader` alone, which
 * builds on `openSync`; files of the tool's own home go through `platform/home`.
 */
import { basename, dirname, join } from "./path.ts";

export type FileKind = "file" | "directory" | "symlink" | "other";

/** Facts about a file, from `lstat`, `stat` or an open handle. */
export interface FileStatus {
  kind: FileKind;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970; 0 where the system does not say. */
  modified: number;
  /** Milliseconds since 1970 of the last change to the file or its facts; 0 where the system does not say. */
  changed: number;
  /** Milliseconds since 1970 when the file was created; 0 where the system does not say. */
  born: number;
  device: number;
  /** 0 where the system has none. */
  inode: number;
  /** Names that the same file has on its disk; 1 where the system does not say. */
  links: number;
  /** Permission bits; null on Windows. */
  mode: number | null;
  /** Owner; null on Windows. */
  owner: number | null;
}

/** Returns what the runtime calls a file, in one word. Also of a directory's entry. */
function kindOf({ isSymlink, isFile, isDirectory }: Omit<Deno.DirEntry, "name">): FileKind {
  return isSymlink ? "symlink" : isFile ? "file" : isDirectory ? "directory" : "other";
}

/** Returns what the runtime says of a file, in our words. */
export function statusOf(info: Deno.FileInfo): FileStatus {
  return {
    kind: kindOf(info),
    size: info.size,
    modified: info.mtime?.getTime() ?? 0,
    changed: info.ctime?.getTime() ?? 0,
    born: info.birthtime?.getTime() ?? 0,
    device: info.dev,
    inode: info.ino ?? 0,
    links: info.nlink ?? 1,
    mode: info.mode === null ? null : info.mode & 0o7777,
    owner: info.uid,
  };
}

/** Returns whether `error` says that nothing is there (also: a parent that is no directory). */
export function isAbsent(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** Returns whether `error` says that the system or the user did not permit it. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable;
}

// Facts, listings and small reads are synchronous: a trip to the thread pool costs ten times the call itself (measured
// with Deno 2.9.6), a turn makes dozens before its first request, and a search hundreds of thousands.

function presentOnly<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isAbsent(error)) return null;
    // The runtime has no code for a link whose target it cannot name.
    throw error instanceof Deno.errors.InvalidData ? Object.assign(error, { code: "EILSEQ" }) : error;
  }
}

/** Returns what is at `path` itself, links not followed; null for nothing. */
export function lstatSync(path: string): FileStatus | null {
  return presentOnly(() => statusOf(Deno.lstatSync(path)));
}

/** Returns what is at the end of `path`'s links; null for nothing. */
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
  return entriesSync(path)?.map((entry) => ({ name: entry.name, kind: kindOf(entry) })) ?? null;
}

/** One entry as the runtime gives it. */
export type PlainEntry = Readonly<Deno.DirEntry>;

/** Returns the runtime's own entries: a walk over a whole project saves a fifth without an extra object for each. */
export function entriesSync(path: string): PlainEntry[] | null {
  return presentOnly(() => [...Deno.readDirSync(path)]);
}

/**
 * Returns where something is mounted, absolute paths; none where the system has no list (Linux has one: proc(5),
 * "mountinfo").
 */
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

/** At most `length` bytes from the position of `handle`; fewer at the end. */
export async function readFrom(handle: Deno.FsFile, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const count = await handle.read(buffer.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/**
 * Returns the text of a small regular file, read synchronously: for files of the home on the way to the first request.
 */
export function readTextSync(path: string): string {
  return new TextDecoder().decode(Deno.readFileSync(path));
}

export interface DirectoryEntry {
  name: string;
  kind: FileKind;
}

/** Makes a directory and its parents, readable by the owner alone (0700, whatever the umask). */
export async function makePrivateDirectory(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
}

/** Makes a directory and its parents with the user's own umask. */
export async function makeDirectory(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true });
}

/**
 * Replaces `path` by `content` so that a kill at any moment leaves the old file or the new one: a temporary file in the
 * same directory, fsync, rename. `mode` are the permission bits of the new file. `lastLook` is called just before
 * the rename; if it throws, the old file stays.
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { mode, lastLook }: { mode: number; lastLook?: () => void },
): Promise<void> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const temporary = join(dirname(path), temporaryName(basename(path)));
  const handle = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
  try {
    try {
      let written = 0;
      while (written < bytes.length) written += await handle.write(bytes.subarray(written));
      await handle.sync();
    } finally {
      handle.close();
    }
    // Only now the final bits: a write-protected mode must not stop the write, and the file is never looser meanwhile.
    if (Deno.build.os !== "windows") await Deno.chmod(temporary, mode);
    if (lastLook === undefined) await Deno.rename(temporary, path);
    else {
      lastLook();
      // In place: nothing else of this process comes between the look and the rename.
      Deno.renameSync(temporary, path);
    }
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

const IDENTIFIER = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const TEMPORARY_NAME = new RegExp(`^\\.(.+)\\.${IDENTIFIER}\\.tmp$`, "is");

/** Returns a new name under which a file is written before it gets its own. */
export function temporaryName(name: string): string {
  return `.${name}.${crypto.randomUUID()}.tmp`;
}

/** Returns the name of the file that is written under this {@link temporaryName}; null for any other name. */
export function nameBehindTemporary(name: string): string | null {
  // Asked for every file of a project: nearly all are decided by their first letter.
  return name.startsWith(".") ? TEMPORARY_NAME.exec(name)?.[1] ?? null : null;
}

/**
 * Removes the temporary files that a killed {@link writeAtomically} of `path` has left. Call it only where nobody else
 * can be writing that file, since their temporary file looks the same, or with a time (milliseconds since 1970)
 * `before` which every write that still runs began later.
 */
export async function removeLeftovers(path: string, { before = Infinity }: { before?: number } = {}): Promise<void> {
  const name = basename(path).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const leftover = new RegExp(`^\\.${name}\\.${IDENTIFIER}\\.tmp$`);
  for (const entry of listSync(dirname(path)) ?? []) {
    if (entry.kind !== "file" || !leftover.test(entry.name)) continue;
    const place = join(dirname(path), entry.name);
    if (before === Infinity || (lstatSync(place)?.modified ?? Infinity) < before) await removeFile(place);
  }
}

/** Sets the permission bits; nothing to do on Windows. */
export async function setMode(path: string, mode: number): Promise<void> {
  if (Deno.build.os !== "windows") await Deno.chmod(path, mode);
}

/** Writes a new file for the owner alone, not safe against a crash of the system. */
export async function writePrivately(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text, { createNew: true, mode: 0o600 });
}

/** Removes a file; a missing one is no error. */
export async function removeFile(path: string): Promise<void> {
  await Deno.remove(path).catch(unlessAbsent);
}

function unlessAbsent(error: unknown): void {
  if (!isAbsent(error)) throw error;
}

/**
 * Runs `work` while holding an exclusive lock on the file `path`, which is made when absent and stays. The lock belongs
 * to the open handle: it ends with its holder.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const handle = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
  try {
    await handle.lock(true);
    return await work();
  } finally {
    handle.close();
  }
}

/**
 * Moves a file, a link or a whole directory; nothing may be at `to`. On another disk it is copied, with modes and
 * times, and then removed. Sockets and FIFOs are not copied: they hold nothing.
 */
export async function movePath(from: string, to: string): Promise<void> {
  try {
    await Deno.rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    await copyPath(from, to);
    await Deno.remove(from, { recursive: true });
  }
}

/** Removes a directory of our own with everything in it; a missing one is no error. */
export async function removeDirectory(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch(unlessAbsent);
}

async function copyPath(from: string, to: string): Promise<void> {
  const found = await Deno.lstat(from);
  if (found.isSymlink) return await Deno.symlink(await Deno.readLink(from), to);
  if (found.isDirectory) {
    await Deno.mkdir(to, { mode: 0o700 });
    for (const { name } of Array.from(Deno.readDirSync(from))) await copyPath(join(from, name), join(to, name));
  } else if (found.isFile) await Deno.copyFile(from, to);
  else return;
  if (found.mode !== null) await Deno.chmod(to, found.mode & 0o7777);
  if (found.atime !== null && found.mtime !== null) await Deno.utime(to, found.atime, found.mtime);
}
