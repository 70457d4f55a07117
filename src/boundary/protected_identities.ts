/**
 * Which files are protected, whatever they are called: the (device, inode) of each that was seen. A hard link, a bind mount
 * and a file that was renamed are the same file under a path that no rule names. Source: specification of the boundary,
 * "Reading". Within a session the set only grows.
 */
import type { FileStatus } from "../platform/files.ts";
import { lstatInPlace } from "../platform/files_in_place.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";
import { systemReason } from "./system_error.ts";

/** A protected file that stands at a path. */
export interface ProtectedFile {
  path: string;
  rule: ProtectionRule;
  /** Outside of the roots. */
  elsewhere: boolean;
}

/** A protected file that no hidden path names: it lies outside of the roots, or is not where it was. */
export interface NamelessFile {
  /** `device:inode`, and for one that is gone from its path also when it came to be: the system uses numbers again. */
  identity: string;
  /** Names that it may have where nothing hides them. */
  names: number;
}

/** A directory changed so shortly before the newest change of all is looked at again: its time may not show the next one. */
const RACY_MS = 2_000;

/** Which file it is, whatever its name. */
export function identityOf(status: Pick<FileStatus, "device" | "inode">): string {
  return `${status.device}:${status.inode}`;
}

/** The same for a file that may be gone: another one with its number came to be at another time. */
export function lastingIdentityOf(status: Pick<FileStatus, "device" | "inode" | "born">): string {
  return `${status.device}:${status.inode}:${status.born}`;
}

interface Identified {
  identity: string;
  lasting: string;
  /** Names of the file besides this one. */
  names: number;
}

interface Known {
  modified: number;
  changed: number;
  /** Name → the file that stands there. */
  files: Map<string, Identified>;
}

/** The identities of one session. */
export class ProtectedIdentities {
  #present = new Map<string, ProtectionRule>();
  /** Lasting identities of all that was ever seen. */
  readonly #ever = new Map<string, ProtectionRule>();
  #nameless: readonly NamelessFile[] = [];
  #directories = new Map<string, Known>();
  #newest = 0;

  /** Of what {@link take} saw last and hidden paths do not name. */
  get nameless(): readonly NamelessFile[] {
    return this.#nameless;
  }

  /** The rule of an open file by what it is or was; null when it is none that was seen. */
  ruleOf(status: FileStatus): ProtectionRule | null {
    const present = this.#present.get(identityOf(status)) ?? null;
    return this.#ever.size === 0 ? present : stricter(present, this.#ever.get(lastingIdentityOf(status)) ?? null);
  }

  /** Whether a file has the number of one that was seen and came to be at another time: it is time to look again. */
  doubts(status: FileStatus): boolean {
    return this.#present.has(identityOf(status)) && !this.#ever.has(lastingIdentityOf(status));
  }

  /**
   * Looks at the protected files as they are now. One `lstat` a directory where nothing has changed: a directory changes
   * when another file takes a name in it.
   */
  take(files: Iterable<ProtectedFile>): void {
    const present = new Map<string, ProtectionRule>();
    const seen = new Set<string>();
    const nameless: NamelessFile[] = [];
    const look = new DirectoryLook(this.#directories, this.#newest - RACY_MS);
    for (const { path, rule, elsewhere } of files) {
      // The number of names of a file changes without a trace in the directory.
      const found = elsewhere ? identify(path) : look.find(path);
      if (found === null) continue;
      const { identity, lasting, names } = found;
      present.set(identity, stricter(present.get(identity) ?? null, rule) ?? rule);
      seen.add(lasting);
      this.#ever.set(lasting, stricter(this.#ever.get(lasting) ?? null, rule) ?? rule);
      if (elsewhere) nameless.push({ identity, names });
    }
    for (const identity of this.#ever.keys()) {
      if (!seen.has(identity)) nameless.push({ identity, names: 1 });
    }
    this.#present = present;
    this.#nameless = nameless;
    this.#directories = look.seen;
    this.#newest = look.newest;
  }
}

/** Facts of files by way of their directories. */
class DirectoryLook {
  readonly seen = new Map<string, Known>();
  newest = 0;
  readonly #before: ReadonlyMap<string, Known>;
  readonly #racyFrom: number;

  constructor(before: ReadonlyMap<string, Known>, racyFrom: number) {
    this.#before = before;
    this.#racyFrom = racyFrom;
  }

  find(path: string): Identified | null {
    const end = path.lastIndexOf("/");
    const [directory, name] = [path.slice(0, end), path.slice(end + 1)];
    let known = this.seen.get(directory);
    if (known === undefined) this.seen.set(directory, known = this.#open(directory));
    const found = known.files.get(name) ?? identify(path);
    if (found !== null) known.files.set(name, found);
    return found;
  }

  #open(directory: string): Known {
    const status = lstatQuietly(directory === "" ? "/" : directory);
    const [modified, changed] = [status?.modified ?? 0, status?.changed ?? 0];
    this.newest = Math.max(this.newest, modified, changed);
    const before = this.#before.get(directory);
    const same = before !== undefined && before.modified === modified && before.changed === changed &&
      Math.max(modified, changed) < this.#racyFrom;
    return { modified, changed, files: same ? before.files : new Map() };
  }
}

function identify(path: string): Identified | null {
  const status = lstatQuietly(path);
  // Without a number every file would be the same one.
  if (status?.kind !== "file" || status.inode === 0) return null;
  return { identity: identityOf(status), lasting: lastingIdentityOf(status), names: status.links - 1 };
}

function lstatQuietly(path: string): FileStatus | null {
  try {
    return lstatInPlace(path);
  } catch (error) {
    systemReason(error);
    return null;
  }
}
