/** Finds the entries that a pattern of the shell means, whatever else they are named or lead to. */
import { Patterns, withWildcards } from "../../boundary/policy/patterns.ts";
import { AgentcliError } from "../../errors.ts";
import { listSync } from "../../platform/files.ts";
import { isWithin } from "../../platform/path.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { ANY, STAR } from "../../shell/expansion.ts";
import type { ShellName } from "../../shell/file_names.ts";
import type { ProtectedLookup } from "./lookup.ts";

interface PatternOptions {
  lookup: ProtectedLookup;
  /** Directories that the command enters. */
  from: readonly string[];
  /** Whether a star means hidden names too: some shells have an option for it. */
  dots: boolean;
}

/** Most entries that are checked for the patterns of one command. */
const ENTRY_LIMIT = 100_000;

/** The patterns of one command, on the disk. */
export class PatternSearch {
  readonly #context: PatternOptions;
  #left = ENTRY_LIMIT;

  constructor(context: PatternOptions) {
    this.#context = context;
  }

  /**
   * Returns what `judge` finds of the first entry that the name means; null where it finds nothing. A name without a
   * pattern means nothing here. Throws `usage` where it means too many entries.
   */
  first<T>(name: ShellName, judge: (path: string) => T | null): T | null {
    const names = name.text.split("/");
    const wild = names.findIndex((one) => one.includes(STAR) || one.includes(ANY));
    if (wild < 0) return null;
    const prefix = names.slice(0, wild).join("/") + (wild > 0 ? "/" : "");
    const pattern = plainNames(names.slice(wild)).map(withWildcards);
    for (const start of new Set(this.#starts(prefix, name).map(realOrNamed))) {
      // Which processes exist, and where, is checked by the ends of such a name.
      if (isWithin("/proc", start)) continue;
      for (const path of this.#entries(start, pattern)) {
        const found = judge(path);
        if (found !== null) return found;
      }
    }
    return null;
  }

  #starts(prefix: string, { loose }: ShellName): string[] {
    const { lookup, from } = this.#context;
    const bases = [...lookup.bases, ...from, ...(loose && lookup.userHome !== null ? [lookup.userHome] : [])];
    if (prefix === "") return bases;
    // After a variable it may start anywhere.
    return [
      ...lookup.meanings(prefix, { from }),
      ...(loose ? bases.flatMap((base) => lookup.meanings(base + prefix)) : []),
    ];
  }

  *#entries(start: string, names: readonly string[]): Generator<string> {
    const pattern = new Patterns();
    pattern.add(ITS_OWN, { names });
    // Of two stars no shell follows a link.
    const stars = names.indexOf(withWildcards("**"));
    const waiting = [{ directory: start, scope: pattern.start, depth: 0 }];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const { directory, scope, depth } = at;
      for (const { name, kind } of quietly(() => listSync(directory)) ?? []) {
        if (--this.#left < 0) throw new AgentcliError("usage", "its patterns mean too many files to be looked at");
        const reached = scope.below(name, { dots: this.#context.dots });
        const path = directory === "/" ? `/${name}` : `${directory}/${name}`;
        if (reached.rule !== null) yield path;
        const isOpen = kind === "directory" || (kind === "symlink" && (stars < 0 || depth < stars));
        if (isOpen && reached.leadsOn) waiting.push({ directory: path, scope: reached, depth: depth + 1 });
      }
    }
  }
}

/** A pattern of a command belongs to no marker. */
const ITS_OWN = { tier: "no-cloud", pattern: "", marker: "", line: 0 } as const;

/** Returns the names of a pattern as patterns are written; a quoted star matches one character. */
function plainNames(names: readonly string[]): string[] {
  const plain: string[] = [];
  for (const name of names) {
    if (name === "..") plain.pop();
    else if (name !== "" && name !== ".") {
      plain.push(name.replaceAll("*", "?").replaceAll(STAR, "*").replaceAll(ANY, "?"));
    }
  }
  return plain;
}
