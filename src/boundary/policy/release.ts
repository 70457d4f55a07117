/** Finds the copies of protected content that the user can release, and takes them out of the records. */
import { listSync } from "../../platform/files.ts";
import { dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { readRegularFile } from "../reader.ts";
import { commonDirectory } from "./git_directory.ts";
import { identityAt, isSameFile } from "./inode_index.ts";
import { type DerivedFile, NO_PATH, type RecordData } from "./project_record_files.ts";

/** Size limit in bytes of a file with the name of a tree. */
const NAME_LIMIT = 64 * 1024;

interface Known {
  own: readonly DerivedFile[];
  /** Other projects that concern this one. */
  others: readonly RecordData[];
  /** The roots of other trees of the repository. */
  trees: ReadonlySet<string>;
  /** True if another project had this path. */
  replaced: boolean;
}

/** The copies that can be released in the project with this root. */
export class Release {
  readonly #root: string;
  readonly #known: Known;
  /** The records of trees that are gone: nobody can release their files where they were. */
  readonly #gone: readonly RecordData[];

  constructor(root: string, known: Known) {
    this.#root = root;
    this.#known = known;
    const gone = known.others.filter((one) => known.trees.has(one.root) && identityAt(one.root).inode === 0);
    const standing = gone.length === 0 ? [] : linkedTrees(root).map(identityAt);
    this.#gone = gone.filter((one) => !one.root.includes(NO_PATH) && !standing.some((tree) => isSameFile(tree, one)));
  }

  /**
   * Returns the copies in the project that were recorded here, by a project elsewhere or by a tree that is gone; and
   * those elsewhere that this project left, not another one that had its path.
   */
  paths(): string[] {
    const { own, others, replaced } = this.#known;
    const isHere = ({ path }: DerivedFile) => isWithin(this.#root, path);
    const elsewhere = others.filter(({ root }) => root !== this.#root).flatMap(({ derived }) => derived);
    const here = [...replaced ? own.filter(isHere) : own, ...elsewhere.filter(isHere)].map(({ path }) => path);
    const left = this.#gone.flatMap(({ root, derived }) =>
      derived.filter(({ path }) => isWithin(root, path)).map(({ path }) => join(this.#root, relativeTo(root, path)))
    );
    return [...new Set([...here, ...left])];
  }

  /** Returns a function that takes these paths out of a record, and what has their identity. */
  of(paths: readonly string[]): (data: RecordData) => RecordData {
    const left = this.#gone.flatMap(({ root }) =>
      paths.filter((path) => isWithin(this.#root, path)).map((path) => join(root, relativeTo(this.#root, path)))
    );
    const isNamed = ({ path }: { path: string }) => paths.includes(path) || left.includes(path);
    const copies = [...this.#known.own, ...this.#known.others.flatMap(({ derived }) => derived)].filter(isNamed);
    const released = [...copies, ...paths.map(identityAt)];
    return ({ derived, met, ...data }) => ({
      ...data,
      derived: derived.filter((file) => !isNamed(file)),
      met: met.filter((file) => !isNamed(file) && !released.some((one) => isSameFile(one, file))),
    });
  }
}

/** Returns the roots of the trees that a repository names now: the main one, if it is one, and those that are linked. */
function linkedTrees(root: string): string[] {
  const common = commonDirectory(root);
  if (common === null) return [];
  const directory = join(common, "worktrees");
  const linked = (quietly(() => listSync(directory)) ?? []).flatMap(({ name }) => {
    const path = join(directory, name, "gitdir");
    const read = readRegularFile(path, { display: path, limit: NAME_LIMIT });
    return "refused" in read ? [] : [dirname(new TextDecoder().decode(read.bytes).trimEnd())];
  });
  return [dirname(common), ...linked];
}
