/** Tells what the user's known projects protect. */
import type { Home } from "../../platform/home.ts";
import { isWithin } from "../../platform/path.ts";
import { realOrNamed } from "../../platform/real_path.ts";
import { PathRules } from "./path_rules.ts";
import { knownProjects, type RecordData } from "./project_record_files.ts";

/**
 * Returns a function that tells whether an absolute path is protected: by a marker above it, or by what the home
 * remembers of any project. An unusable marker does not count, because it will be repaired. Throws `home_unusable` if
 * the home cannot be read.
 */
export async function protectedAnywhere(home: Home): Promise<(path: string) => boolean> {
  const markers = new PathRules([]);
  const known = await knownProjects(home);
  const files = new Set(known.flatMap(({ met }) => met.map(({ path }) => path)));
  const remembered = known.map(rememberedBy);
  const isProtected = (path: string) =>
    markers.named(path) !== null || files.has(path) || remembered.some((protects) => protects(path));
  return (path) => isProtected(path) || isProtected(realOrNamed(path));
}

/** Returns what tells whether the lines of a record cover a path, or its copies of protected content do. */
function rememberedBy({ root, markers, derived }: RecordData): (path: string) => boolean {
  const rules = new PathRules([], { isOfDisk: false });
  rules.addRemembered(markers);
  for (const { path } of derived) rules.follow(path, { tier: "no-cloud", pattern: path, marker: path, line: 0 });
  // With more lines than can be told apart, a project protects all of itself.
  return (path) => rules.named(path) !== null && (rules.damaged === null || isWithin(root, path));
}
