/**
 * Protected files outside of the roots: what markers above the root name elsewhere, and what covered links lead to. Nobody
 * reads them by those paths, but another name of theirs, or their content, may lie in a root. Only what the patterns name
 * is walked, and no more than a limit.
 */
import { listInPlace, lstatInPlace, realPathInPlace } from "../../platform/files_in_place.ts";
import { isWithin, normalize } from "../../platform/path.ts";
import { type Patterns, Scope } from "./patterns.ts";
import type { ProtectionRule } from "./protection_rule.ts";
import { isOfSystem } from "./system_directories.ts";
import { systemReason } from "../system_error.ts";

/** Most entries of directories that one walk looks at, and most files that it gives. */
const ENTRY_LIMIT = 200_000;
const FILE_LIMIT = 20_000;
/** A walk is done again after this many times what it took: a pattern below a home must not cost each request a walk. */
const REUSED_FOR = 20;

/** Patterns and the directory outside of the roots that they start from. */
export interface ExternalSource {
  directory: string;
  patterns: Patterns;
}

/** A protected file outside of the roots. */
export interface ExternalFile {
  path: string;
  rule: ProtectionRule;
}

/** What a walk needs to know. */
export interface ExternalRules {
  /** Not entered: they are looked at by themselves. */
  roots: readonly string[];
  /** A covered link leads to `real`. */
  follow(real: string, rule: ProtectionRule): void;
}

interface Waiting {
  directory: string;
  /** Null where all is covered. */
  scope: Scope | null;
  rule: ProtectionRule | null;
}

/** The files of one session. */
export class ExternalPaths {
  readonly #rules: ExternalRules;
  #last = { version: -1, until: 0, files: [] as readonly ExternalFile[] };

  constructor(rules: ExternalRules) {
    this.#rules = rules;
  }

  /** The files of the sources; `version` changes when there are new patterns. */
  files(version: number, sources: () => readonly ExternalSource[]): readonly ExternalFile[] {
    const start = performance.now();
    if (this.#last.version === version && start < this.#last.until) return this.#last.files;
    const files = this.#walk(sources());
    const end = performance.now();
    this.#last = { version, until: end + REUSED_FOR * (end - start), files };
    return files;
  }

  #walk(sources: readonly ExternalSource[]): ExternalFile[] {
    const found: ExternalFile[] = [];
    let entries = 0;
    // Nearest things first: a limit that is reached must not leave out what is named plainly.
    let waiting: Waiting[] = sources.map(({ directory, patterns }) => {
      const scope = Scope.of(patterns);
      return { directory, scope, rule: scope.rule };
    });
    while (waiting.length > 0) {
      const next: Waiting[] = [];
      for (const { directory, scope, rule } of waiting) {
        for (const { name, kind } of listQuietly(directory)) {
          if (++entries > ENTRY_LIMIT || found.length >= FILE_LIMIT) return found;
          const path = `${directory === "/" ? "" : directory}/${name}`;
          const below = scope?.below(name) ?? null;
          const covering = rule ?? below?.rule ?? null;
          if (kind === "directory") {
            if (isOfSystem(path) || this.#rules.roots.some((root) => isWithin(root, path))) continue;
            if (covering !== null) next.push({ directory: path, scope: null, rule: covering });
            else if (below?.leadsOn === true && name !== ".git") {
              next.push({ directory: path, scope: below, rule: null });
            }
          } else if (covering !== null && kind === "file") found.push({ path, rule: covering });
          else if (covering !== null && kind === "symlink" && rule === null) this.#follow(path, covering);
        }
      }
      waiting = next;
    }
    return found;
  }

  #follow(link: string, rule: ProtectionRule): void {
    try {
      const real = realPathInPlace(link);
      if (real !== null) this.#rules.follow(normalize(real), rule);
    } catch (error) {
      systemReason(error);
    }
  }
}

function listQuietly(directory: string) {
  try {
    return lstatInPlace(directory)?.kind === "directory" ? listInPlace(directory) ?? [] : [];
  } catch (error) {
    systemReason(error);
    return [];
  }
}
