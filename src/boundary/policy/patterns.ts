/** The patterns that hold below one directory, and how far they have come on the way down. */
import { nameBehindTemporary } from "../../platform/files.ts";
import {
  begin,
  comparable,
  type ComparableName,
  covers,
  globOfName,
  globOfNames,
  isWild,
  matchesPart,
  type PathGlob,
  type Pattern,
  plainPath,
  type Progress,
  step,
} from "./protected_pattern.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

/** Patterns of one directory: plain paths and names by a lookup, so that hundreds of them cost as much as one. */
export class Patterns {
  readonly plain = new Map<string, ProtectionRule>();
  readonly globs: { glob: PathGlob; rule: ProtectionRule }[] = [];
  /** The directories that the plain paths lie in, folded. */
  readonly ways = new Set<string>();
  /** At every depth: names, folded, and names with wildcards. */
  readonly names = new Map<string, ProtectionRule>();
  readonly wilds: { part: PathGlob["parts"][number]; rule: ProtectionRule }[] = [];

  /** Adds what a line of a marker means; a pattern without a word about it starts from the directory. */
  add(rule: ProtectionRule, pattern: PathGlob & { anchored?: boolean }): void {
    const plain = plainPath(pattern);
    const [part] = pattern.parts;
    if (pattern.anchored === false && part !== undefined && part.kind !== "any") {
      if (plain === null) this.wilds.push({ part, rule });
      else this.names.set(plain, stricter(this.names.get(plain) ?? null, rule) ?? rule);
    } else if (plain === null) this.globs.push({ glob: pattern, rule });
    else {
      for (let end = plain.lastIndexOf("/"); end > 0; end = plain.lastIndexOf("/", end - 1)) {
        this.ways.add(plain.slice(0, end));
      }
      this.plain.set(plain, stricter(this.plain.get(plain) ?? null, rule) ?? rule);
    }
  }

  /** Whether a pattern means names at every depth. */
  get everywhere(): boolean {
    return this.names.size + this.wilds.length > 0;
  }
}

/** The patterns of a directory as seen from a place at or below it. */
export class Scope {
  readonly #patterns: Patterns;
  /** Folded, from the directory of the patterns. */
  readonly #path: string;
  readonly #progress: readonly Progress[];
  /** The rule that covers the place itself; what covers a directory above it is not looked at again. */
  readonly rule: ProtectionRule | null;

  private constructor(
    patterns: Patterns,
    { path, progress, rule }: { path: string; progress: readonly Progress[]; rule: ProtectionRule | null },
  ) {
    this.#patterns = patterns;
    this.#path = path;
    this.#progress = progress;
    this.rule = rule;
  }

  /** At the directory of the patterns. */
  static of(patterns: Patterns): Scope {
    const progress = patterns.globs.map(({ glob }) => begin(glob));
    let rule = patterns.plain.get("") ?? null;
    patterns.globs.forEach((one, index) => {
      if (covers(one.glob, progress[index] ?? [])) rule = stricter(rule, one.rule);
    });
    return new Scope(patterns, { path: "", progress, rule });
  }

  /** Whether a pattern may still cover something below the place. */
  get leadsOn(): boolean {
    return this.#path === "" || this.#patterns.everywhere || this.#patterns.ways.has(this.#path) ||
      this.#progress.some((places) => places.length > 0);
  }

  /** One name further down. */
  below(name: string): Scope {
    const compared = comparable(name);
    const progress = this.#patterns.globs.map(({ glob }, index) =>
      step(glob, { progress: this.#progress[index] ?? [], name: compared })
    );
    return new Scope(this.#patterns, {
      path: this.#within(compared),
      progress,
      rule: this.#ruleOf(compared, (index) => progress[index] ?? []),
    });
  }

  /** The rule that covers a name in the place: asked for every file, so nothing is made for it. */
  ruleBelow(name: string): ProtectionRule | null {
    const { globs } = this.#patterns;
    const compared = comparable(name);
    return this.#ruleOf(compared, (index) => {
      const glob = globs[index]?.glob;
      return glob === undefined ? [] : step(glob, { progress: this.#progress[index] ?? [], name: compared });
    });
  }

  #within({ stripped }: ComparableName): string {
    return this.#path === "" ? stripped : `${this.#path}/${stripped}`;
  }

  #ruleOf(name: ComparableName, progressOf: (index: number) => Progress): ProtectionRule | null {
    const { plain, names, wilds, globs } = this.#patterns;
    let found = names.get(name.stripped) ?? null;
    if (plain.size > 0) found = stricter(found, plain.get(this.#within(name)) ?? null);
    for (const { part, rule } of wilds) if (matchesPart(part, name)) found = stricter(found, rule);
    for (let index = 0; index < globs.length; index++) {
      const one = globs[index];
      if (one !== undefined && covers(one.glob, progressOf(index))) found = stricter(found, one.rule);
    }
    return found;
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
  let found = covered;
  for (const scope of scopes) found = stricter(found, scope.ruleBelow(name));
  return found;
}

/**
 * The names of a pattern before its first wildcard, and the pattern for what they lead to: `real` is where they lead with
 * links resolved.
 */
export function plainStart({ names }: Pattern): {
  names: readonly string[];
  at(real: { directory: string; name: string }): { directory: string; glob: PathGlob };
} {
  const wild = names.findIndex(isWild);
  const rest = wild < 0 ? [] : names.slice(wild);
  return {
    names: wild < 0 ? names : names.slice(0, wild),
    at: ({ directory, name }) =>
      rest.length === 0
        ? { directory, glob: globOfName(name) }
        : { directory: `${directory === "/" ? "" : directory}/${name}`, glob: globOfNames(rest) },
  };
}
