/** What of a tree is protected now. Looks at each directory's time alone where nothing has changed since the last look. */
import type { DirectoryEntry, FileKind } from "../platform/files.ts";
import { listInPlace, lstatInPlace, realPathInPlace } from "../platform/files_in_place.ts";
import { join, normalise } from "../platform/path.ts";
import { MARKER_NAME } from "./marker.ts";
import { isOfSystem } from "./system_directories.ts";
import { systemReason } from "./system_error.ts";
import type { ProtectionRule } from "./protection_rule.ts";

/** Protected paths that exist, real, one entry for a whole directory. */
export interface HiddenPaths {
  files: readonly string[];
  directories: readonly string[];
}

/** The rules that a tree is walked with. */
export interface TreeRules {
  /** Changes when there are new rules. */
  readonly version: number;
  rule(real: string): ProtectionRule | null;
  /** A covered link leads to `real`. */
  follow(real: string, rule: ProtectionRule): void;
}

/** A directory changed so shortly before the newest change of all is listed again: its time may not show the next one. */
const RACY_MS = 2_000;
/** Walks until the rules stay the same: each link or marker that is found can bring new ones. */
export const MOST_WALKS = 20;

/** One directory as it was listed: the open ones below it, and what is covered. Names joined by slashes, which none holds. */
export interface Listed {
  modified: number;
  changed: number;
  device: number;
  inode: number;
  version: number;
  directories: string;
  files: string;
  hidden: string;
  /** Covered links: where they lead is covered too, and may change without a trace here. */
  links: string;
  /** Its `.git` is a file: another tree's rules may hold here. */
  worktree: boolean;
  /** It was listed long after its last change: its time shows the next one. */
  settled: boolean;
}

/** What lies in a covered directory, absolute paths. */
interface Covered {
  modified: number;
  changed: number;
  directories: readonly string[];
  files: readonly string[];
}

/** The trees below the roots. */
export class ProtectedTree {
  readonly #roots: readonly string[];
  readonly #rules: TreeRules;
  readonly #listed = new Map<string, Listed>();
  #listings = 0;
  #newest = 0;
  readonly #covered = new Map<string, Covered>();
  #newestCovered = 0;
  #hidden: HiddenPaths | null = null;

  constructor(roots: readonly string[], rules: TreeRules) {
    this.#roots = roots;
    this.#rules = rules;
  }

  /** How many times an open directory was listed. */
  get listings(): number {
    return this.#listings;
  }

  /** The open directories that were listed, by path. */
  get listed(): ReadonlyMap<string, Listed> {
    return this.#listed;
  }

  /** Takes a directory as listed before. It is listed again when it is another one now. */
  preset(directory: string, listed: Listed): void {
    listed.version = this.#rules.version;
    this.#listed.set(directory, listed);
  }

  /** What was found is looked at again when it is next asked for. */
  expire(): void {
    this.#hidden = null;
  }

  /** Protected paths; walks at most once after {@link expire}. Directories that may not be listed are passed over. */
  hidden(): HiddenPaths {
    for (let walk = 0; this.#hidden === null && walk < MOST_WALKS; walk++) {
      const { version } = this.#rules;
      const found = this.#walk();
      if (this.#rules.version === version || walk === MOST_WALKS - 1) this.#hidden = found;
    }
    return this.#hidden ?? { files: [], directories: [] };
  }

  /** Every protected regular file, links not followed. */
  *files(): Generator<string> {
    const { files, directories } = this.hidden();
    yield* files;
    const waiting = [...directories];
    const racyFrom = this.#newestCovered - RACY_MS;
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      const listed = this.#lookCovered(directory, racyFrom);
      for (const below of listed.directories) waiting.push(below);
      yield* listed.files;
    }
  }

  #walk(): HiddenPaths {
    const found = { files: [] as string[], directories: [] as string[] };
    const waiting: string[] = [];
    for (const root of this.#roots) {
      if (isOfSystem(root)) continue;
      if (this.#rules.rule(root) === null) waiting.push(root);
      else found.directories.push(root);
    }
    const racyFrom = this.#newest - RACY_MS;
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      const listed = this.#look(directory, racyFrom);
      const below = directory === "/" ? "" : directory;
      for (const name of namesIn(listed.directories)) waiting.push(`${below}/${name}`);
      for (const name of namesIn(listed.files)) found.files.push(`${below}/${name}`);
      for (const name of namesIn(listed.hidden)) found.directories.push(`${below}/${name}`);
    }
    return found;
  }

  #look(directory: string, racyFrom: number): Listed {
    const { modified = 0, changed = 0, device = 0, inode = 0 } = statusQuietly(directory) ?? {};
    const known = this.#listed.get(directory);
    if (
      known !== undefined && known.modified === modified && known.changed === changed && known.device === device &&
      known.inode === inode && known.version === this.#rules.version &&
      (known.settled || Math.max(modified, changed) < racyFrom)
    ) {
      for (const name of namesIn(known.links)) this.followLink(join(directory, name));
      return known;
    }
    this.#newest = Math.max(this.#newest, modified, changed);
    this.#listings += 1;
    const sorted = this.#sort(directory, listQuietly(directory));
    const listed = { modified, changed, device, inode, settled: false, ...sorted, version: this.#rules.version };
    this.#listed.set(directory, listed);
    return listed;
  }

  /** As {@link #look} for a directory that is covered as a whole: no rule is asked for. */
  #lookCovered(directory: string, racyFrom: number): Covered {
    const status = statusQuietly(directory);
    const [modified, changed] = [status?.modified ?? 0, status?.changed ?? 0];
    const known = this.#covered.get(directory);
    const same = known !== undefined && known.modified === modified && known.changed === changed;
    if (same && Math.max(modified, changed) < racyFrom) return known;
    this.#newestCovered = Math.max(this.#newestCovered, modified, changed);
    const entries = listQuietly(directory);
    const of = (wanted: FileKind) =>
      entries.filter(({ kind }) => kind === wanted).map(({ name }) => `${directory}/${name}`);
    const listed = { modified, changed, directories: of("directory"), files: of("file") };
    this.#covered.set(directory, listed);
    return listed;
  }

  #sort(
    directory: string,
    entries: readonly DirectoryEntry[],
  ): Pick<Listed, "directories" | "files" | "hidden" | "links" | "worktree"> {
    const directories: string[] = [];
    const files: string[] = [];
    const hidden: string[] = [];
    const links: string[] = [];
    let worktree = false;
    for (const { name, kind } of entries) {
      const path = `${directory === "/" ? "" : directory}/${name}`;
      // Asked for the marker too: that is how one below the roots is met.
      const rule = this.#rules.rule(path);
      if (name === ".git" && kind !== "directory") worktree = true;
      if (rule === null || name === MARKER_NAME) {
        // What git keeps is not the user's tree; it is masked as a whole where it matters.
        if (kind === "directory" && name !== ".git" && !isOfSystem(path)) directories.push(name);
      } else if (kind === "directory") hidden.push(name);
      else if (kind === "symlink") {
        links.push(name);
        this.followLink(path);
      } else files.push(name);
    }
    return {
      directories: directories.join("/"),
      files: files.join("/"),
      hidden: hidden.join("/"),
      links: links.join("/"),
      worktree,
    };
  }

  /** Notes where a link leads, if a rule covers it. */
  followLink(link: string): void {
    const rule = this.#rules.rule(link);
    if (rule === null) return;
    try {
      const real = realPathInPlace(link);
      if (real !== null) this.#rules.follow(normalise(real), rule);
    } catch {
      // Links in a circle, and places that may not be looked at, lead nobody to content either.
    }
  }
}

/** The names that are joined in a {@link Listed}. */
export function namesIn(joined: string): readonly string[] {
  return joined === "" ? NONE : joined.split("/");
}

const NONE: readonly string[] = [];

function listQuietly(directory: string): DirectoryEntry[] {
  try {
    return listInPlace(directory) ?? [];
  } catch (error) {
    systemReason(error);
    return [];
  }
}

function statusQuietly(directory: string) {
  try {
    return lstatInPlace(directory);
  } catch (error) {
    systemReason(error);
    return null;
  }
}
