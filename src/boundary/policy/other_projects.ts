/** Tells what the user's known projects protect. */
import type { Home } from "../../platform/home.ts";
import { realOrNamed } from "../../platform/real_path.ts";
import { PathRules, rememberedRules } from "./path_rules.ts";
import { knownProjects } from "./project_record_files.ts";

/**
 * Returns a function that tells whether an absolute path is protected: by a marker above it, or by what the home
 * remembers of any project. An unusable marker does not count, because it will be repaired. Throws `home_unusable` if
 * the home cannot be read.
 */
export async function protectedAnywhere(home: Home): Promise<(path: string) => boolean> {
  const markers = new PathRules([]);
  const known = await knownProjects(home);
  const files = new Set(known.flatMap(({ met }) => met.map(({ path }) => path)));
  const remembered = rememberedRules(known);
  const isProtected = (path: string) => files.has(path) || [markers, remembered].some((rules) => rules.named(path));
  return (path) => isProtected(path) || isProtected(realOrNamed(path));
}
