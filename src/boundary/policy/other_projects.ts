/** Tells what the user's other known projects protect. */
import type { Home } from "../../platform/home.ts";
import { lstatSync } from "../../platform/files.ts";
import { isWithin, join } from "../../platform/path.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { identityAt, rootKey } from "./inode_index.ts";
import { type Listing, within } from "./listing.ts";
import { MARKER_NAME } from "./marker.ts";
import type { ProjectRecord } from "./project_record.ts";
import { currentProjects, isReplaced, type RecordData } from "./project_record_files.ts";
import { ProtectedSet } from "./protected.ts";
import type { ProtectionRule } from "./protection_rule.ts";

/** The most names of a path that came elsewhere that are looked for there. */
const MOST_NAMES = 32;
/** Limit of files per project. */
const FILE_LIMIT = 10_000;

/** Another project: its recorded protected files, and those that its markers cover (all while one is unusable), as far as there was time to look. */
export class OtherProject {
  readonly root: string;
  readonly #endpoints: readonly string[];
  readonly #met: ReadonlySet<string>;
  readonly #set: ProtectedSet;
  /** Its protected files, as of the last {@link look}. */
  files: readonly string[];
  #isWalking = false;

  constructor(known: RecordData) {
    this.root = known.root;
    this.#endpoints = known.endpoints;
    this.#met = new Set(known.met.map(({ path }) => path));
    this.#set = new ProtectedSet([known.root], { remembered: [known] });
    this.files = [...this.#met];
  }

  /** The `local-endpoints:` that count there; none while a marker is unusable, as of the last {@link look}. */
  get endpoints(): readonly string[] {
    return this.#set.damaged === null ? this.#endpoints : [];
  }

  /** Returns whether it protects a file, given the file's real path and the path it was named by. */
  protects(real: string, named: string, by: "rule" | "named"): boolean {
    const isCovered = covers(this.#set, [real, named], by);
    // An unusable marker covers every path it is asked about; here it counts only for its own project.
    return this.#met.has(real) || isCovered && (this.#set.damaged === null || isWithin(this.root, real));
  }

  /** Returns whether it protects what has, or had, this path below its root. */
  protectsBelow(end: string, by: "rule" | "named"): boolean {
    // Faster than `join`: a session has many files, and each is asked about by all its ends.
    const place = `${this.root}/${end}`;
    return this.#met.has(place) || this.#set[by](place) !== null;
  }

  /** Returns the rule for the real path of one of its files, or null. */
  named(real: string): ProtectionRule | null {
    return this.#set.named(real);
  }

  /** Walks it for so many milliseconds; a walk that takes longer goes on with the next look. */
  async look(milliseconds: number): Promise<void> {
    // A finished walk is repeated, because files appear while the session runs.
    if (!this.#isWalking) this.#set.refresh();
    this.#isWalking = milliseconds <= 0 || this.#set.filesWithin(milliseconds) === null;
    if (this.#isWalking) return;
    // What was protected there is found under other names, too.
    await this.#set.settle();
    const all = this.#set.damaged === null ? [] : filesIn(this.#set.openDirectories);
    this.files = [...new Set([...this.#met, ...this.#set.files(), ...all])].slice(0, FILE_LIMIT);
  }
}

/**
 * Returns a function that tells whether an absolute path is protected now: by this project, by a marker above the path,
 * or by what the home remembers of any project. What was below a directory that is gone, or another one by now, can be in
 * every known project, so each is asked about all ends of such a path below its own root. `was` is given for paths of an earlier time: the
 * key that {@link rootKey} gave for the root then, or empty; files that are gone count as such, too, and an unusable
 * marker does not: what is decided of those paths stays. Throws `home_unusable` if the home cannot be read.
 */
export async function protectedAnywhere(
  home: Home,
  { root, records, was }: { root: string; records: readonly ProjectRecord[]; was?: string },
): Promise<(path: string) => boolean> {
  const by = was === undefined ? "rule" : "named";
  const own = new ProtectedSet([root], { remembered: records });
  const known = await currentProjects(home)();
  const others = known.filter((one) => one.root !== root).map((one) => new OtherProject(one));
  const lost = known.filter(isReplaced).map((one) => one.root);
  if (identityAt(root).inode === 0 || ![undefined, "", rootKey(root)].includes(was)) lost.push(root);
  const isLost = (path: string) =>
    lost.some((at) => isWithin(at, path)) || was !== undefined && quietly(() => lstatSync(path)) === null;
  return (path) => {
    const real = realOrNamed(path);
    if (covers(own, [real, path], by) || others.some((other) => other.protects(real, path, by))) return true;
    const names = isLost(path) ? path.split("/").filter((name) => name !== "").slice(-MOST_NAMES) : [];
    const ends = names.map((_, at) => names.slice(at).join("/"));
    return ends.some((end) =>
      own[by](join(root, end)) !== null || others.some((other) => other.protectsBelow(end, by))
    );
  };
}

/** Returns the files of directories but for the markers, which protect and are not protected. */
function filesIn(listings: readonly Listing[]): string[] {
  return listings.flatMap(({ directory, entries }) =>
    (entries ?? []).filter(({ isFile, name }) => isFile && name !== MARKER_NAME).map(({ name }) =>
      within(directory, name)
    )
  );
}

function covers(set: ProtectedSet, names: readonly string[], by: "rule" | "named"): boolean {
  return [...new Set(names)].some((path) => set[by](path) !== null);
}
