/**
 * Changing a file in exactly one directory, whatever others put at its path meanwhile. The runtime has no `openat`: the
 * process goes into the directory, looks where it is, works on bare names, and goes back, all without a pause, so that
 * nothing else of this process runs there. Under narrow permissions the runtime makes every name absolute again: what was
 * written is then looked at afterwards, and taken back where it lies elsewhere.
 */
import { type FileStatus, isAbsent, statusOf, temporaryName } from "./files.ts";
import { lstatSync, realPathSync } from "./files_sync.ts";
import { basename, dirname, join, normalize } from "./path.ts";
import { hasAllPermissions } from "./runtime.ts";

/** Thrown when another directory, or what is no regular file, stood at the path. */
export class ReplacedError extends Error {
  /** `strayed`: something may have been left where the path led to; otherwise nothing was changed there. */
  constructor(readonly strayed: boolean) {
    super("the directory or the file was replaced meanwhile");
  }
}

/** How far the directory can be relied on. */
export interface HoldOptions {
  /** No other thread of this process minds its working directory: not so in tests, which run beside others. */
  ownProcess: boolean;
}

/** A directory while work is done in it. */
interface HeldDirectory {
  /** Nobody can put another directory in its place. */
  exact: boolean;
  /** Returns an entry's name as the system is to be given it. */
  entry(name: string): string;
  /** Throws {@link ReplacedError} when the entry is not this file, after the file was removed where it can be found. */
  verify(name: string, file: FileStatus): void;
}

/**
 * Replaces or creates a regular file, with its parents, so that a kill at any moment leaves the old file or the new one.
 * `path` must be a real path. The mode of an existing file is kept, a new one gets `newMode`.
 */
export function replaceRegularFile(
  path: string,
  bytes: Uint8Array,
  { newMode, ownProcess }: HoldOptions & { newMode: number },
): FileStatus {
  const name = basename(path);
  return inDirectory(dirname(path), { make: true, ownProcess }, ({ exact, entry, verify }) => {
    const mode = regularFile(entry(name))?.mode ?? newMode;
    const temporary = temporaryName(name);
    const handle = Deno.openSync(entry(temporary), { write: true, createNew: true, mode: 0o600 });
    let file: FileStatus;
    try {
      try {
        verify(temporary, statusOf(handle.statSync()));
        for (let at = 0; at < bytes.length;) at += handle.writeSync(bytes.subarray(at));
        handle.syncSync();
        file = statusOf(handle.statSync());
      } finally {
        handle.close();
      }
      if (Deno.build.os !== "windows") Deno.chmodSync(entry(temporary), mode);
      Deno.renameSync(entry(temporary), entry(name));
    } catch (error) {
      const isGone = removeQuietly(entry(temporary));
      // It is not where it was: of what the path led to meanwhile nobody knows.
      if (!isGone && !exact && !(error instanceof ReplacedError)) fail(true);
      throw error;
    }
    verify(name, file);
    return lstatSync(entry(name)) ?? fail(false);
  });
}

/** Removes a regular file; one that is not there is no error. `path` must be a real path. */
export function removeRegularFile(path: string, { ownProcess }: HoldOptions): void {
  try {
    inDirectory(dirname(path), { make: false, ownProcess }, ({ entry }) => {
      const name = entry(basename(path));
      if (regularFile(name) !== null) Deno.removeSync(name);
    });
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

function fail(strayed: boolean): never {
  throw new ReplacedError(strayed);
}

function regularFile(path: string): FileStatus | null {
  const found = lstatSync(path);
  return found === null || found.kind === "file" ? found : fail(false);
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
  const before = whereWeAre();
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

/** Returns the working directory; null when it was removed or may not be known. */
function whereWeAre(): string | null {
  try {
    return Deno.cwd();
  } catch {
    return null;
  }
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

/** Looks twice: between the two questions of one look somebody may have been faster. */
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
