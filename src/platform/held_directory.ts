/**
 * Changing a file in exactly one directory, whatever others put at its path meanwhile. The runtime has no `openat`: the
 * process changes into the directory, checks where it is, works on bare names, and goes back, all without a pause, so
 * that nothing else of this process runs there. Under narrow permissions the runtime makes every name absolute again:
 * what was written is then checked afterwards, and removed where it is elsewhere.
 */
import { type FileKind, type FileStatus, isAbsent, lstatSync, realPathSync, statusOf, temporaryName } from "./files.ts";
import { basename, dirname, join, normalize } from "./path.ts";
import { quietly } from "./real_path.ts";
import { hasAllPermissions } from "./runtime.ts";

/** Thrown when another directory, or something other than a regular file, was at the path. */
export class ReplacedError extends Error {
  /** `strayed`: something may have been left where the path led to; otherwise nothing was changed there. */
  constructor(readonly strayed: boolean) {
    super("the directory or the file was replaced meanwhile");
  }
}

/** How far the directory can be relied on. */
export interface HoldOptions {
  /** No other thread of this process depends on its working directory: not so in tests, which run in parallel. */
  ownProcess: boolean;
}

interface HeldDirectory {
  /** Nobody can put another directory in its place. */
  exact: boolean;
  /** Returns an entry's name as it is passed to the system. */
  entry(name: string): string;
  /** Throws {@link ReplacedError} when the entry is not this file, after the file was removed where it can be found. */
  verify(name: string, file: FileStatus): void;
}

/**
 * Replaces or creates a regular file, with its parents, so that a kill at any moment leaves what was there or the new
 * file. `path` must be a real path, and lead to a file, or to a link where `over` says so. The file gets `mode`, else
 * keeps the mode of the one before, else gets `newMode`.
 */
export function replaceRegularFile(
  path: string,
  bytes: Uint8Array,
  { newMode, mode: wanted, ...options }: ReplaceOptions & { newMode: number; mode?: number | undefined },
): FileStatus {
  return replace(path, options, (temporary, { found, verify }) => {
    const mode = wanted ?? (found?.kind === "file" ? found.mode : null) ?? newMode;
    const handle = Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 });
    let file: FileStatus;
    try {
      verify(statusOf(handle.statSync()));
      for (let at = 0; at < bytes.length;) at += handle.writeSync(bytes.subarray(at));
      handle.syncSync();
      file = statusOf(handle.statSync());
    } finally {
      handle.close();
    }
    if (Deno.build.os !== "windows") Deno.chmodSync(temporary, mode);
    return file;
  });
}

/** As {@link replaceRegularFile}, for a symbolic link. */
export function replaceLink(path: string, target: string, options: ReplaceOptions): FileStatus {
  return replace(path, options, (temporary) => {
    Deno.symlinkSync(target, temporary);
    return lstatSync(temporary) ?? fail(true);
  });
}

/** The kinds of entry that may be replaced at a path; a file when absent. */
interface ReplaceOptions extends HoldOptions {
  over?: "file" | "symlink" | undefined;
}

/** Replaces the entry at a path by what `make` creates under a temporary name. */
function replace(
  path: string,
  { over = "file", ownProcess }: ReplaceOptions,
  make: (temporary: string, place: { found: FileStatus | null; verify(file: FileStatus): void }) => FileStatus,
): FileStatus {
  const name = basename(path);
  return inDirectory(dirname(path), { make: true, ownProcess }, ({ exact, entry, verify }) => {
    const found = entryOfKind(entry(name), over);
    const temporary = temporaryName(name);
    let made: FileStatus;
    try {
      made = make(entry(temporary), { found, verify: (file) => verify(temporary, file) });
      Deno.renameSync(entry(temporary), entry(name));
    } catch (error) {
      const isGone = removeQuietly(entry(temporary));
      // It is not where it was: what the path led to meanwhile is unknown.
      if (!isGone && !exact && !(error instanceof ReplacedError)) fail(true);
      throw error;
    }
    verify(name, made);
    return lstatSync(entry(name)) ?? fail(false);
  });
}

/** Makes a directory, with its parents, or gives one its permission bits. `path` must be a real path. */
export function placeDirectory(path: string, { mode, ownProcess }: HoldOptions & { mode: number }): void {
  const name = basename(path);
  inDirectory(dirname(path), { make: true, ownProcess }, ({ entry, verify }) => {
    if (entryOfKind(entry(name), "directory") !== null) return;
    Deno.mkdirSync(entry(name), { mode: 0o700 });
    verify(name, lstatSync(entry(name)) ?? fail(false));
  });
  // From inside: at its name, there may be a link now.
  if (Deno.build.os === "windows") return;
  inDirectory(path, { make: false, ownProcess }, ({ entry }) => Deno.chmodSync(entry("."), mode));
}

/** Removes a file, a link or an empty directory; a missing one is no error. `path` must be a real path. */
export function removeEntry(path: string, { kind, ownProcess }: HoldOptions & { kind: FileKind }): void {
  try {
    inDirectory(dirname(path), { make: false, ownProcess }, ({ entry }) => {
      const name = entry(basename(path));
      if (entryOfKind(name, kind) !== null) Deno.removeSync(name);
    });
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

function fail(strayed: boolean): never {
  throw new ReplacedError(strayed);
}

function entryOfKind(path: string, kind: FileKind): FileStatus | null {
  const found = lstatSync(path);
  return found === null || found.kind === kind ? found : fail(false);
}

/** Runs `work` in the directory, a real path; with `make` it and its parents are made where they are missing. */
function inDirectory<T>(
  directory: string,
  { make, ownProcess }: HoldOptions & { make: boolean },
  work: (held: HeldDirectory) => T,
): T {
  if (!ownProcess || !hasAllPermissions()) {
    if (make) Deno.mkdirSync(directory, { recursive: true });
    const real = Deno.realPathSync(directory);
    if (normalize(real) !== directory) fail(false);
    const entry = (name: string) => join(directory, name);
    return work({ exact: false, entry, verify: (name, file) => verifyPlace(directory, name, file) });
  }
  // Null where it was removed or may not be known.
  const before = quietly(() => Deno.cwd());
  try {
    enter(directory, make);
    return work({ exact: true, entry: (name) => name, verify: () => {} });
  } finally {
    goBack(before);
  }
}

/** Goes into exactly this directory. */
function enter(directory: string, make: boolean): void {
  try {
    Deno.chdir(directory);
  } catch (error) {
    const up = dirname(directory);
    if (!make || up === directory || !(error instanceof Deno.errors.NotFound)) throw error;
    enter(up, make);
    const name = basename(directory);
    try {
      Deno.mkdirSync(name);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
    Deno.chdir(name);
  }
  if (normalize(Deno.realPathSync(".")) !== directory) fail(false);
}

/** Every path and every child of this program names its directory: where it cannot go back, another one will do. */
function goBack(before: string | null): void {
  for (const place of [before, "/"]) {
    try {
      if (place === null) continue;
      return Deno.chdir(place);
    } catch {
      // Removed, or closed to us, while we were away.
    }
  }
}

/** Checks twice: between the two calls of one check somebody may have been faster. */
function verifyPlace(directory: string, name: string, file: FileStatus): void {
  for (let look = 0; look < 2; look++) {
    const real = normalize(realPathSync(directory) ?? directory);
    const found = lstatSync(join(real, name));
    const isIt = found !== null && found.device === file.device && found.inode === file.inode;
    if (!isIt || real !== directory) fail(!isIt || !removeQuietly(join(real, name)));
  }
}

function removeQuietly(path: string): boolean {
  try {
    Deno.removeSync(path);
    return true;
  } catch {
    return false;
  }
}
