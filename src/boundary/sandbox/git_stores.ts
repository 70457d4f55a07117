/**
 * Every place below the roots where git can keep content: `.git`, submodules, nested and bare repositories, directories
 * that a `.git` file or `commondir` leads to, alternates, and packs and bundles that stand alone.
 */
import { listInPlace, lstatInPlace, openInPlace, realPathInPlace } from "../../platform/files_in_place.ts";
import type { DirectoryEntry } from "../../platform/files.ts";
import { dirname, join, normalize, resolve } from "../../platform/path.ts";

/** A directory that git can be asked about. */
export interface GitStore {
  /** Absolute, links resolved. */
  directory: string;
  /** Working trees that lead to it; what its names are relative to. Never empty. */
  tops: string[];
}

/** What was found. All paths are absolute. */
export interface GitStores {
  stores: GitStore[];
  /** To be hidden where git is: stores, and the `.git` files that lead to them. */
  places: string[];
  /** Objects without a repository: git cannot be asked about them. */
  loose: string[];
  /** `.git` files and links, and `.gitmodules`: they say where git looks. */
  pointers: string[];
}

/** Looks for stores, again and again; directories that have not changed are not listed anew. */
export interface GitStoreSearch {
  /** Walks the roots, links not followed. Costs one look at each directory. */
  find(roots: readonly string[]): GitStores;
}

/** A directory that changed so shortly before a look is listed again: its time may not show the next change. */
const RACY_MS = 2_000;
/** Submodules of submodules that are followed. */
const DEEPEST_MODULE = 12;
/** Characters of a file that leads elsewhere. */
const POINTER_LIMIT = 8192;

interface Listed {
  modified: number;
  changed: number;
  directories: string[];
  git: boolean;
  modules: boolean;
  holds: "store" | "objects" | null;
  archives: string[];
}

/** A search of its own memory. */
export function createGitStoreSearch(): GitStoreSearch {
  const known = new Map<string, Listed>();
  let newest = 0;
  const look = (directory: string): Listed => {
    const status = quietly(() => lstatInPlace(directory));
    const [modified, changed] = [status?.modified ?? 0, status?.changed ?? 0];
    const before = known.get(directory);
    if (
      before !== undefined && before.modified === modified && before.changed === changed &&
      Math.max(modified, changed) < newest - RACY_MS
    ) return before;
    newest = Math.max(newest, modified, changed);
    const listed = { modified, changed, ...sort(quietly(() => listInPlace(directory)) ?? []) };
    known.set(directory, listed);
    return listed;
  };
  return {
    find(roots) {
      const found = new Found();
      const waiting = [...roots];
      for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
        const listed = look(directory);
        if (listed.git) found.addGit(directory);
        if (listed.modules) found.pointers.add(`${directory}/.gitmodules`);
        if (listed.holds === "store") found.addStore(directory, dirname(directory));
        if (listed.holds === "objects") found.loose.add(directory);
        for (const name of listed.archives) {
          if (isArchive(`${directory}/${name}`)) found.loose.add(`${directory}/${name}`);
        }
        if (listed.holds !== null) continue;
        for (const name of listed.directories) waiting.push(`${directory === "/" ? "" : directory}/${name}`);
      }
      return found.result();
    },
  };
}

function sort(entries: readonly DirectoryEntry[]): Omit<Listed, "modified" | "changed"> {
  const names = new Set(entries.map(({ name }) => name));
  const directories = entries.filter(({ kind, name }) => kind === "directory" && name !== ".git").map(({ name }) =>
    name
  );
  const isStore = names.has("HEAD") && names.has("objects") && names.has("refs");
  const isObjects = (names.has("pack") || names.has("info")) && directories.some((name) => /^[0-9a-f]{2}$/.test(name));
  return {
    directories,
    git: names.has(".git"),
    modules: names.has(".gitmodules"),
    holds: isStore ? "store" : isObjects ? "objects" : null,
    archives: entries.filter(({ kind, name }) => kind === "file" && /\.(?:pack|bundle)$/i.test(name))
      .map(({ name }) => name),
  };
}

class Found {
  readonly pointers = new Set<string>();
  readonly loose = new Set<string>();
  readonly #places = new Set<string>();
  readonly #stores = new Map<string, Set<string>>();

  addGit(top: string): void {
    const place = `${top}/.git`;
    this.#places.add(place);
    const directory = gitDirectory(top);
    if (quietly(() => lstatInPlace(place))?.kind !== "directory") this.pointers.add(place);
    // One that leads nowhere, or cannot be read, is asked about all the same: git fails, and it counts as holding.
    this.addStore(directory ?? place, top);
  }

  addStore(directory: string, top: string): void {
    const real = realOrNamed(directory);
    const before = this.#stores.get(real);
    this.#stores.set(real, (before ?? new Set()).add(top));
    if (before !== undefined) return;
    this.#places.add(real);
    const common = readPointer(join(real, "commondir"));
    if (common !== null) this.addStore(resolve(real, common), top);
    for (const line of readPointer(join(real, "objects/info/alternates"))?.split("\n") ?? []) {
      if (line.trim() !== "") this.#places.add(resolve(join(real, "objects"), line.trim()));
    }
    this.#addModules(join(real, "modules"), { top, depth: 0 });
    for (const { name } of quietly(() => listInPlace(join(real, "worktrees"))) ?? []) {
      const worktree = join(real, "worktrees", name);
      const pointer = readPointer(join(worktree, "gitdir"));
      // Each has an index of its own, wherever its files are.
      if (pointer !== null) this.addStore(worktree, dirname(resolve(worktree, pointer)));
    }
  }

  /** Their names can hold slashes. */
  #addModules(directory: string, { top, depth }: { top: string; depth: number }): void {
    if (depth > DEEPEST_MODULE) return;
    for (const { name, kind } of quietly(() => listInPlace(directory)) ?? []) {
      if (kind !== "directory") continue;
      const path = join(directory, name);
      if (quietly(() => lstatInPlace(join(path, "HEAD"))) !== null) this.addStore(path, moduleTop(path, top));
      else this.#addModules(path, { top, depth: depth + 1 });
    }
  }

  result(): GitStores {
    return {
      stores: [...this.#stores].map(([directory, tops]) => ({ directory, tops: [...tops] })),
      places: [...this.#places],
      loose: [...this.loose],
      pointers: [...this.pointers],
    };
  }
}

/** The working tree of a submodule bears its name, or another one: then its own `.git` file says so. */
function moduleTop(directory: string, top: string): string {
  const marker = "/modules/";
  return join(top, directory.slice(directory.lastIndexOf(marker) + marker.length));
}

/** Where the repository of a working tree lies: its `.git`, or what that leads to; null when it leads nowhere. */
export function gitDirectory(top: string): string | null {
  const place = join(top, ".git");
  const status = quietly(() => lstatInPlace(place));
  if (status === null) return null;
  if (status.kind === "directory") return place;
  if (status.kind === "symlink") return quietly(() => realPathInPlace(place));
  const target = /^gitdir:\s*(.+)$/m.exec(readPointer(place) ?? "")?.[1];
  return target === undefined ? null : resolve(top, target.trim());
}

/** Where a store keeps what worktrees share: itself, or what its `commondir` names. */
export function commonDirectory(directory: string): string {
  const common = readPointer(join(directory, "commondir"));
  return common === null ? directory : resolve(directory, common);
}

function readPointer(path: string): string | null {
  const bytes = head(path, POINTER_LIMIT);
  return bytes === null ? null : new TextDecoder().decode(bytes).trim();
}

/** A pack or a bundle by its first bytes. */
function isArchive(path: string): boolean {
  const bytes = head(path, 4);
  const text = bytes === null ? "" : new TextDecoder().decode(bytes);
  return text === "PACK" || text === "# v2" || text === "# v3" || bytes === null;
}

function head(path: string, length: number): Uint8Array | null {
  if (quietly(() => lstatInPlace(path))?.kind !== "file") return null;
  const handle = quietly(() => openInPlace(path));
  if (handle === null) return null;
  try {
    return quietly(() => handle.read(length, 0));
  } finally {
    handle.close();
  }
}

function realOrNamed(path: string): string {
  return normalize(quietly(() => realPathInPlace(path)) ?? path);
}

/** What may not be looked at cannot be read by a command of the same user either. */
function quietly<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
