/** Which of the known paths a pattern of the shell means. */
import { Patterns, withWildcards } from "../../boundary/policy/patterns.ts";
import { isWithin, relativeTo } from "../../platform/path.ts";
import { realOrNamed } from "../../boundary/real_path.ts";
import { ANY, type ShellName, STAR } from "./shell_words.ts";
import type { ProtectedView } from "./view.ts";

/** What patterns are compared with, and where they may start. */
export interface PatternScene {
  view: ProtectedView;
  /** Directories that the command goes into. */
  from: readonly string[];
  /** Absolute, real. */
  paths: readonly string[];
  /** Whether a star means hidden names too: some shells can be told so. */
  dots: boolean;
}

/** A pattern of a command belongs to no marker. */
const ITS_OWN = { tier: "no-cloud", pattern: "", marker: "", line: 0 } as const;

/** The first of the paths that the name means or holds; undefined when it means none. */
export function firstMatch(name: ShellName, { view, from, paths, dots }: PatternScene): string | undefined {
  const names = name.text.split("/");
  const wild = names.findIndex((one) => one.includes(STAR) || one.includes(ANY));
  if (wild < 0) return undefined;
  const prefix = names.slice(0, wild).join("/") + (wild > 0 ? "/" : "");
  const bases = [...view.bases, ...from, ...(name.loose && view.userHome !== null ? [view.userHome] : [])];
  const starts = new Set(
    prefix === "" ? bases : [
      ...view.meanings(prefix, { from }),
      // Behind a variable it may start anywhere.
      ...(name.loose ? bases.flatMap((base) => view.meanings(base + prefix)) : []),
    ],
  );
  const pattern = new Patterns();
  pattern.add(ITS_OWN, { names: plainNames(names.slice(wild)).map(withWildcards) });
  for (const start of new Set([...starts].flatMap((one) => [one, realOrNamed(one)]))) {
    const found = paths.find((path) => isWithin(start, path) && means(pattern, relativeTo(start, path), { dots }));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The names of a pattern as patterns are written; a star that was in quotes stands for one sign. */
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

/** Whether the pattern means the path or a directory above it: what runs may take all of that. */
function means(pattern: Patterns, path: string, { dots }: { dots: boolean }): boolean {
  let scope = pattern.start;
  for (const name of path.split("/")) {
    scope = scope.below(name, { dots });
    if (scope.rule !== null) return true;
  }
  return false;
}
