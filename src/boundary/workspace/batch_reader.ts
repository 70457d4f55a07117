/**
 * Opens files of one directory together. The reader asks for the real path of a file once it is open, and what stands
 * there: half of what a small file costs. For many files of one directory it is enough to ask the directories above them,
 * before and after: one that has been at rest for a while shows by its times whether anything in it came, went, or was
 * replaced. Where none was, a path led all the time through the same directories, no links among them, to the same file.
 */
import type { FileStatus } from "../../platform/files.ts";
import { lstatInPlace, openInPlace, realPathInPlace } from "../../platform/files_in_place.ts";
import { isWithin, normalize, relativeTo } from "../../platform/path.ts";
import { type CheckedFile, sameFile } from "../reader.ts";
import { quietly } from "../real_path.ts";

/** Files that are held open at the same time. */
const MOST = 32;
/**
 * How long a directory must have stayed as it is, in milliseconds: the runtime gives times of changes in whole seconds,
 * and the clock of a disk on the network is not ours.
 */
const AT_REST_MS = 60_000;

/** Runs of files that follow each other and may be opened together: of one directory, and not too many. */
export function* together<File extends { path: string }>(files: readonly File[]): Generator<File[]> {
  let run: File[] = [];
  let directory: string | null = null;
  for (const file of files) {
    const own = directoryOf(file.path);
    if (run.length > 0 && (own !== directory || run.length >= MOST)) {
      yield run;
      run = [];
    }
    directory = own;
    run.push(file);
  }
  if (run.length > 0) yield run;
}

/** Files that were opened together, until they are taken. */
export class OpenFiles {
  readonly #files: (CheckedFile | null)[];

  constructor(files: (CheckedFile | null)[]) {
    this.#files = files;
  }

  /** One of them, to be closed by the caller; null when it has to be opened alone. */
  take(index: number): CheckedFile | null {
    const file = this.#files[index] ?? null;
    this.#files[index] = null;
    return file;
  }

  /** Closes those that were not taken. */
  close(): void {
    for (const file of this.#files.splice(0)) file?.handle.close();
  }
}

/**
 * Opens files of one directory below `root` by their absolute paths, `now` being milliseconds since 1970. Left out is what
 * the reader must open alone: all when there are links on the way or a directory may be changing, and what is no regular
 * file or cannot be opened. Never throws.
 */
export function openTogether(paths: readonly string[], { root, now }: { root: string; now: number }): OpenFiles {
  const directory = directoryOf(paths[0] ?? "");
  const way = wayDown(root, directory);
  // For few files, asking the directories costs more than it spares.
  const before = paths.length > way.length ? factsAtRest(way, now) : null;
  if (before === null) return new OpenFiles([]);
  const files = new OpenFiles(paths.map(openRegular));
  const real = quietly(() => realPathInPlace(directory));
  if (real === null || normalize(real) !== directory || factsAtRest(way, now) !== before) files.close();
  return files;
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** The directories from the root down to `directory`, both among them. */
function wayDown(root: string, directory: string): string[] {
  if (directory === "" || !isWithin(root, directory)) return [];
  const way = [root];
  let at = root.endsWith("/") ? root.slice(0, -1) : root;
  if (directory === at) return way;
  for (const name of relativeTo(root, directory).split("/")) way.push(at = `${at}/${name}`);
  return way;
}

/** What tells a directory on the way from every other and from itself changed; null when that cannot be told. */
function factsAtRest(way: readonly string[], now: number): string | null {
  const facts: number[] = [];
  for (const directory of way) {
    const status = quietly(() => lstatInPlace(directory));
    if (status?.kind !== "directory" || !isAtRest(status, now)) return null;
    facts.push(status.device, status.inode, status.modified, status.changed);
  }
  return facts.length === 0 ? null : facts.join();
}

function isAtRest({ inode, modified, changed }: FileStatus, now: number): boolean {
  return inode !== 0 && changed !== 0 && now - Math.max(modified, changed) >= AT_REST_MS;
}

function openRegular(path: string): CheckedFile | null {
  const before = quietly(() => lstatInPlace(path));
  if (before?.kind !== "file") return null;
  const handle = quietly(() => openInPlace(path));
  if (handle === null) return null;
  const status = quietly(() => handle.status());
  if (status !== null && sameFile(before, status)) return { handle, status, real: path };
  handle.close();
  return null;
}
