/** The net of a project: over its protected set as it is now, excused by what git tracks and nothing covers. */
import { type FileStatus, lstat, realPath } from "../../platform/files.ts";
import { lstatInPlace } from "../../platform/files_in_place.ts";
import { normalize, relativeTo } from "../../platform/path.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import { describeRule } from "../policy/protection_rule.ts";
import { systemReason } from "../system_error.ts";
import { type LeakScanner, openLeakScanner } from "./leak_scanner.ts";
import { createScanner, type ScanHit } from "./scanner.ts";
import { unchangedTracked } from "./tracked.ts";

/**
 * The net over the protected files below `roots` (real paths, the project's first), and those that the rules name
 * elsewhere. Nothing is read before the first check. Every check looks at size and time of the protected files and reads
 * what changed: 10,000 files cost about 50 ms. What a file held before stays in the net: the session may have it already.
 */
export function projectScanner(protection: ProtectedSet, roots: readonly string[]): LeakScanner {
  return new ProjectScanner(protection, roots);
}

class ProjectScanner implements LeakScanner {
  readonly #protection: ProtectedSet;
  readonly #roots: readonly string[];
  #net: LeakScanner | null = null;
  #scanner = createScanner();
  /** Path → what it was when it was read; null for what could not be looked at. */
  #seen = new Map<string, FileStatus | null>();
  #leftOut: readonly string[] = [];

  constructor(protection: ProtectedSet, roots: readonly string[]) {
    this.#protection = protection;
    this.#roots = roots;
  }

  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  async check(texts: Iterable<string>, options?: { once?: boolean }): Promise<ScanHit | null> {
    const net = await this.#netNow();
    this.#leftOut = [...new Set([...this.#leftOut, ...net.leftOut])];
    return await net.check(texts, options);
  }

  async #netNow(): Promise<LeakScanner> {
    const present = new Map<string, FileStatus | null>();
    const changed: string[] = [];
    for (const path of this.#protection.files()) {
      const status = lookAt(path);
      present.set(path, status);
      if (!isSame(this.#seen.get(path), status)) changed.push(path);
    }
    if (this.#net !== null && changed.length === 0) return this.#net;
    this.#seen = present;
    this.#leftOut = this.#leftOut.filter((path) => present.has(path) && !changed.includes(path));
    const grown = await this.#openNet(changed);
    if (this.#scanner.leftOut.length === 0) return grown;
    // Former content must not take the room of what is there now.
    this.#scanner = createScanner();
    return await this.#openNet([...present.keys()]);
  }

  async #openNet(protectedFiles: readonly string[]): Promise<LeakScanner> {
    return this.#net = await openLeakScanner({
      protectedFiles,
      scanner: this.#scanner,
      openFiles: () => this.#openFiles(),
      describe: (path) => this.describe(path),
    });
  }

  describe(path: string): string {
    const rule = this.#protection.rule(path);
    const root = this.#roots[0] ?? "/";
    const shown = relativeTo(root, path);
    return rule === null ? shown : `${shown} (${describeRule(rule, root)})`;
  }

  /** Tracked files that no rule covers, by any of their names. */
  async *#openFiles(): AsyncGenerator<string> {
    for (const root of this.#roots) {
      for await (const path of unchangedTracked(root)) {
        const [real, status] = [await realPath(path), await lstat(path)];
        if (real === null || status === null) continue;
        if (this.#protection.ruleOfFile(status, normalize(real)) === null) yield path;
      }
    }
  }
}

function lookAt(path: string): FileStatus | null {
  try {
    return lstatInPlace(path);
  } catch (error) {
    systemReason(error);
    return null;
  }
}

function isSame(one: FileStatus | null | undefined, other: FileStatus | null): boolean {
  if (one === null || one === undefined || other === null) return one === other;
  return one.inode === other.inode && one.size === other.size && one.modified === other.modified &&
    one.changed === other.changed;
}
