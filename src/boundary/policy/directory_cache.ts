/**
 * What was found in directories, kept while they stay as they are: a directory's times change when a name in it comes, goes
 * or is given to another file, so one look at the directory tells whether it has to be listed again. What is inside of
 * files is not seen this way.
 */
import type { FileStatus } from "../../platform/files.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import type { Clock } from "../../platform/io.ts";
import { systemReason } from "../system_error.ts";

/** Which directory it was, as it was listed. Times in milliseconds since 1970. */
export interface DirectoryFacts {
  modified: number;
  changed: number;
  device: number;
  inode: number;
  /** It was listed long after its last change: its times show the next one. */
  settled: boolean;
}

/**
 * How long a directory must have stayed as it is until its listing is trusted, in milliseconds: a second change that
 * shortly after the first may leave its times as they were. The coarsest clock of a file system goes in steps of two
 * seconds (FAT), and the runtime gives the time of the last change of any kind in whole seconds (measured with Deno 2.9.6).
 */
const RACY_MS = 2_000;
/** The same for times that are compared with our clock: a disk on the network has another one. */
const RACY_BY_CLOCK_MS = 60_000;

/** The clocks that decide; tests set them. */
export type DirectoryClock = Pick<Clock, "now" | "monotonic">;

const SYSTEM_CLOCK: DirectoryClock = { now: () => Date.now(), monotonic: () => performance.now() };

interface Known<Found> {
  found: Found;
  /** When the directory was first seen with these facts, by the clock of the process. */
  since: number;
  walk: number;
}

/** The directories of one kind of walk, in one session. */
export class DirectoryCache<Found extends DirectoryFacts> {
  readonly #known = new Map<string, Known<Found>>();
  readonly #clock: DirectoryClock;
  #walk = 0;
  #listings = 0;
  #gone = 0;

  constructor(clock: DirectoryClock = SYSTEM_CLOCK) {
    this.#clock = clock;
  }

  /** How many times a directory was listed. */
  get listings(): number {
    return this.#listings;
  }

  /** Grows when something was listed or went away: while it stays the same, nothing has changed. */
  get changes(): number {
    return this.#listings + this.#gone;
  }

  /** Begins a walk. */
  begin(): void {
    this.#walk++;
  }

  /** Ends a walk; directories that it did not look at are forgotten. */
  end(): void {
    const before = this.#known.size;
    for (const [directory, { walk }] of this.#known) {
      if (walk !== this.#walk) this.#known.delete(directory);
    }
    this.#gone += before - this.#known.size;
  }

  /**
   * What was found in a directory, if it is as it was and `current` agrees; else what `list` finds now. A directory that
   * cannot be looked at is listed each time.
   */
  look(
    directory: string,
    work: { current(found: Found): boolean; list(facts: DirectoryFacts): Found },
  ): Found {
    const status = statusQuietly(directory);
    const known = this.#known.get(directory);
    const same = status !== null && known !== undefined && isSame(known.found, status);
    if (same && known.found.settled && work.current(known.found)) {
      known.walk = this.#walk;
      return known.found;
    }
    // The clock is asked after the look at the directory, and before its listing.
    const now = this.#clock.monotonic();
    const since = same ? known.since : now;
    const { modified = 0, changed = 0, device = 0, inode = 0 } = status ?? {};
    const atRest = this.#clock.now() - Math.max(modified, changed) >= RACY_BY_CLOCK_MS;
    const settled = status !== null && (atRest || now - since >= RACY_MS);
    const found = work.list({ modified, changed, device, inode, settled });
    this.#listings++;
    if (status !== null) this.#known.set(directory, { found, since, walk: this.#walk });
    return found;
  }
}

function isSame(one: DirectoryFacts, other: FileStatus): boolean {
  return one.modified === other.modified && one.changed === other.changed && one.inode === other.inode &&
    one.device === other.device;
}

function statusQuietly(directory: string): FileStatus | null {
  try {
    return lstatSync(directory);
  } catch (error) {
    systemReason(error);
    return null;
  }
}
