/** Which of the known paths a pattern of the shell means. */
import {
  begin,
  comparable,
  covers,
  globOf,
  type PathGlob,
  type Progress,
  step,
} from "../../boundary/policy/protected_pattern.ts";
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
  const glob = globOf(plainNames(names.slice(wild)));
  for (const start of new Set([...starts].flatMap((one) => [one, realOrNamed(one)]))) {
    const found = paths.find((path) => isWithin(start, path) && means(glob, relativeTo(start, path), { dots }));
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
function means(glob: PathGlob, path: string, { dots }: { dots: boolean }): boolean {
  let progress = begin(glob);
  for (const name of path.split("/")) {
    if (name.startsWith(".") && !dots) progress = withoutStars(glob, progress);
    progress = step(glob, { progress, name: comparable(name) });
    if (progress.length === 0) return false;
    if (covers(glob, progress)) return true;
  }
  return false;
}

/** The shell's star does not mean a hidden name. */
function withoutStars({ parts }: PathGlob, progress: Progress): Progress {
  return progress.filter((place) => {
    const part = parts[place];
    return part?.kind === "name" || (part?.kind === "wild" && part.text.signs[0] === ".");
  });
}
