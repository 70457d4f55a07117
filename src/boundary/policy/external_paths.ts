/**
 * Protected files outside of the roots: what markers above the root name elsewhere, and what covered links lead to. Tools
 * do not read them by those paths, but a view may show them, and another name of theirs, or their content, may lie in a
 * root. Only what the patterns name is walked, and no more than a limit.
 */
import { lstatSync } from "../../platform/files_sync.ts";
import { isWithin } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import {
  isOfSystem,
  isTooLong,
  listEntries,
  NO_UTF8,
  TOO_LONG,
  type UnjudgedPlace,
  UNNAMED,
  within,
} from "./listing.ts";
import type { Patterns, Scope } from "./patterns.ts";
import type { ProtectedFile } from "./inode_index.ts";
import { followLink, type TreeRules } from "./protected_tree.ts";
import type { ProtectionRule } from "./protection_rule.ts";

/** Most entries of directories that one walk looks at, and most files that it gives. */
const ENTRY_LIMIT = 200_000;
const FILE_LIMIT = 20_000;
/** A walk is done again after this many times what it took: a pattern below a home must not cost each request a walk. */
const REUSED_FOR = 20;

export interface ExternalSource {
  directory: string;
  patterns: Patterns;
}

/** What is protected outside of the roots, absolute paths. */
export interface ExternalFound {
  files: readonly ProtectedFile[];
  /** Covered as a whole. */
  directories: readonly string[];
  /** Where the patterns lead and nobody can say what lies there, or the walk did not get to. */
  unjudged: readonly UnjudgedPlace[];
}

interface Waiting {
  directory: string;
  /** Null where all is covered. */
  scope: Scope | null;
  rule: ProtectionRule | null;
}

/** Finds the files for one session. */
export class ExternalPaths {
  readonly #roots: readonly string[];
  readonly #rules: Pick<TreeRules, "version" | "follow">;
  #last: { found: ExternalFound; version: number; until: number } | null = null;

  /** The roots are not entered: they are looked at by themselves. */
  constructor(roots: readonly string[], rules: Pick<TreeRules, "version" | "follow">) {
    this.#roots = roots;
    this.#rules = rules;
  }

  find(sources: readonly ExternalSource[]): ExternalFound {
    const [{ version }, last, start] = [this.#rules, this.#last, performance.now()];
    if (last !== null && last.version === version && start < last.until) return last.found;
    const found = this.#walk(sources);
    const end = performance.now();
    this.#last = { found, version, until: end + REUSED_FOR * (end - start) };
    return found;
  }

  #walk(sources: readonly ExternalSource[]): ExternalFound {
    const files: ProtectedFile[] = [];
    const directories: string[] = [];
    const unjudged: UnjudgedPlace[] = [];
    let entries = 0;
    // Nearest things first: a limit that is reached must not leave out what is named plainly.
    let waiting: Waiting[] = sources.map(({ directory, patterns }) => {
      const scope = patterns.start;
      return { directory, scope, rule: scope.rule };
    });
    directories.push(...waiting.filter(({ rule }) => rule !== null).map(({ directory }) => directory));
    while (waiting.length > 0) {
      const next: Waiting[] = [];
      for (const { directory, scope, rule } of waiting) {
        if (entries > ENTRY_LIMIT || files.length >= FILE_LIMIT) {
          if (rule === null) unjudged.push({ directory, reason: "was not reached by the search for protected files" });
          continue;
        }
        const listed = listQuietly(directory);
        if (!Array.isArray(listed)) {
          unjudged.push(listed);
          continue;
        }
        if (rule === null && listed.some(({ name }) => name.includes(NO_UTF8))) {
          unjudged.push({ directory, reason: UNNAMED });
        }
        entries += listed.length;
        for (const { name, isDirectory, isFile, isSymlink } of listed) {
          const path = within(directory, name);
          const below = scope?.below(name) ?? null;
          const covering = rule ?? below?.rule ?? null;
          if (isDirectory) {
            if (isOfSystem(path) || this.#roots.some((root) => isWithin(root, path))) continue;
            if (covering !== null) {
              if (rule === null) directories.push(path);
              next.push({ directory: path, scope: null, rule: covering });
            } else if (below?.leadsOn === true && name !== ".git") {
              if (isTooLong(path)) unjudged.push({ directory, reason: TOO_LONG });
              else next.push({ directory: path, scope: below, rule: null });
            }
          } else if (covering !== null && isFile) files.push({ path, rule: covering });
          else if (covering !== null && isSymlink && rule === null) followLink(path, covering, this.#rules);
        }
      }
      waiting = next;
    }
    return { files, directories, unjudged };
  }
}

/** As `listEntries`; a link, and what is no directory, has no entries. */
function listQuietly(directory: string): ReturnType<typeof listEntries> {
  const status = quietly(() => lstatSync(directory));
  return status !== null && status.kind !== "directory" ? [] : listEntries(directory);
}
