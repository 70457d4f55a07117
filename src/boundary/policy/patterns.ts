/** The patterns that hold below one directory, and how far they have come on the way down. */
import { nameBehindTemporary } from "../../platform/files.ts";
import {
  begin,
  comparable,
  covers,
  globOf,
  globOfName,
  type PathGlob,
  patternNames,
  plainPath,
  type Progress,
  step,
} from "./protected_pattern.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

/** Patterns of one directory: plain paths by a lookup, so that hundreds of them cost as much as one. */
export class Patterns {
  readonly plain = new Map<string, ProtectionRule>();
  readonly globs: { glob: PathGlob; rule: ProtectionRule }[] = [];
  /** The directories that the plain paths lie in, folded. */
  readonly ways = new Set<string>();

  /** Adds what a line of a marker means. */
  add(rule: ProtectionRule, glob: PathGlob): void {
    const plain = plainPath(glob);
    if (plain === null) return void this.globs.push({ glob, rule });
    for (let end = plain.lastIndexOf("/"); end > 0; end = plain.lastIndexOf("/", end - 1)) {
      this.ways.add(plain.slice(0, end));
    }
    this.plain.set(plain, stricter(this.plain.get(plain) ?? null, rule) ?? rule);
  }
}

/** The patterns of a directory as seen from a place at or below it. */
export class Scope {
  readonly #patterns: Patterns;
  /** Folded, from the directory of the patterns. */
  readonly #path: string;
  readonly #progress: readonly Progress[];

  private constructor(patterns: Patterns, path: string, progress: readonly Progress[]) {
    this.#patterns = patterns;
    this.#path = path;
    this.#progress = progress;
  }

  /** At the directory of the patterns. */
  static of(patterns: Patterns): Scope {
    return new Scope(patterns, "", patterns.globs.map(({ glob }) => begin(glob)));
  }

  /** The rule that covers the place itself; what covers a directory above it is not looked at again. */
  get rule(): ProtectionRule | null {
    let found = this.#patterns.plain.get(this.#path) ?? null;
    this.#patterns.globs.forEach(({ glob, rule }, index) => {
      if (covers(glob, this.#progress[index] ?? [])) found = stricter(found, rule);
    });
    return found;
  }

  /** Whether a pattern may still cover something below the place. */
  get leadsOn(): boolean {
    return this.#path === "" || this.#patterns.ways.has(this.#path) ||
      this.#progress.some((places) => places.length > 0);
  }

  /** One name further down. */
  below(name: string): Scope {
    const progress = this.#patterns.globs.map(({ glob }, index) =>
      step(glob, { progress: this.#progress[index] ?? [], name })
    );
    return new Scope(
      this.#patterns,
      this.#path === "" ? comparable(name) : `${this.#path}/${comparable(name)}`,
      progress,
    );
  }
}

/** What holds in one directory. */
export interface Coverage {
  /** Covers the directory and everything below it. */
  covered: ProtectionRule | null;
  /** Of those that may cover something below it. */
  scopes: readonly Scope[];
}

/**
 * The rule for a name in a directory. A file that is being written, or was when the program was killed, is covered as
 * under the name that it shall get.
 */
export function ruleBelow(place: Coverage, name: string): ProtectionRule | null {
  if (place.covered?.tier === "list-only" || place.scopes.length === 0) return place.covered;
  const shall = nameBehindTemporary(name);
  const found = ruleOfName(place, name);
  return shall === null ? found : stricter(found, ruleOfName(place, shall));
}

function ruleOfName({ covered, scopes }: Coverage, name: string): ProtectionRule | null {
  return scopes.reduce((found, scope) => stricter(found, scope.below(name).rule), covered);
}

/** A pattern whose beginning leads through links: where it really starts, and what is left of it there. */
export interface MovedPattern {
  /** Absolute real path. */
  directory: string;
  glob: PathGlob;
}

/**
 * The names of a pattern before its first wildcard, and the pattern for what they lead to: `real` is where they lead with
 * links resolved.
 */
export function plainStart(
  pattern: string,
): { names: string[]; at(real: { directory: string; name: string }): MovedPattern } {
  const names = patternNames(pattern, /\//);
  const wild = names.findIndex((name) => /[*?]/.test(name));
  const start = wild < 0 ? names : names.slice(0, wild);
  const rest = wild < 0 ? [] : names.slice(wild);
  return {
    names: start,
    at: ({ directory, name }) =>
      rest.length === 0
        ? { directory, glob: globOfName(name) }
        : { directory: `${directory === "/" ? "" : directory}/${name}`, glob: globOf(rest) },
  };
}
