/** Asks all projects of the user whether they protect a path: for files that a stored session used, wherever they lie. */
import type { Home } from "../../platform/home.ts";
import { realOrNamed } from "../../platform/real_path.ts";
import type { ProjectRecord } from "./project_record.ts";
import { knownProjects } from "./project_record_files.ts";
import { ProtectedSet } from "./protected.ts";

/**
 * Returns whether an absolute path is protected now: by the project itself, by a marker above the path, and by what the
 * home remembers of any project. Throws `home_unusable` where that cannot be read.
 */
export async function protectedAnywhere(
  home: Home,
  { root, records }: { root: string; records: readonly ProjectRecord[] },
): Promise<(path: string) => boolean> {
  const own = new ProtectedSet([root], { remembered: records });
  // Each by itself: a record with too many lines protects all that is asked of it.
  const others = (await knownProjects(home)).filter((known) => known.root !== root).map((known) => ({
    set: new ProtectedSet([known.root], { remembered: [{ ...known, met: [] }] }),
    met: new Set(known.met.map(({ path }) => path)),
  }));
  return (path) => {
    const [named, real] = [path, realOrNamed(path)];
    const isIn = (set: ProtectedSet) => set.rule(real) !== null || (named !== real && set.rule(named) !== null);
    return isIn(own) || others.some(({ set, met }) => met.has(real) || (set.damaged === null && isIn(set)));
  };
}
