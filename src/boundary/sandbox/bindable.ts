/** Directories outside of the project that a sandboxed command may see: those on PATH and those the user named. */
import { realPath, stat } from "../../platform/files.ts";
import { dirname, isAbsolute, isWithin, join, normalize } from "../../platform/path.ts";
import { findNestedMarkers, markersAbove } from "../policy/marker.ts";
import type { PlanStep } from "./plan.ts";

/** What must stay out. All are real paths. */
export interface Bounds {
  roots: readonly string[];
  /** The tool's own. */
  home: string;
  /** The user's; null when unknown. */
  userHome: string | null;
}

/** Directories that may be bound, and why others are not, one sentence each. */
export interface Bindable {
  steps: PlanStep[];
  notices: string[];
}

/** Where a path of the system is no place of a user's: seen whole, or not seen at all. */
const SYSTEM_ROOTS = ["/usr", "/proc", "/sys", "/dev", "/run/current-system", "/nix"];

/**
 * The directories of `path` (the value of PATH) and of the user's settings that may be bound: never one that holds the
 * tool's home, a root, the user's home, or a marker at, above or below it. A missing one is passed over silently.
 * Walks the directories that the user named: call it once a session.
 */
export async function bindable(
  wanted: { path: string; read: readonly string[]; write: readonly string[] },
  bounds: Bounds,
): Promise<Bindable> {
  const found: Bindable = { steps: [], notices: [] };
  for (const [kind, directories] of [["read", wanted.read], ["write", wanted.write]] as const) {
    for (const directory of directories) {
      const named = expand(directory, bounds.userHome);
      const problem = isAbsolute(named) ? await objection(named, bounds) : "is not absolute";
      if (problem === null) found.steps.push({ kind, path: normalize(named) });
      else if (problem !== "absent") {
        found.notices.push(`sandbox.${kind}: ${directory} ${problem}; commands do not see it`);
      }
    }
  }
  for (const directory of wanted.path.split(":")) {
    if (!isAbsolute(directory)) continue;
    for (const path of await withLibraries(normalize(directory), bounds)) {
      if (found.steps.some((step) => isWithin(step.path, path))) continue;
      if (await objection(path, bounds) === null) found.steps.push({ kind: "read", path });
    }
  }
  return found;
}

function expand(directory: string, userHome: string | null): string {
  return userHome !== null && /^~(?:\/|$)/.test(directory) ? join(userHome, directory.slice(1)) : directory;
}

/** `/opt/tool/bin` is of no use without `/opt/tool/lib`; in a user's home the neighbours of `bin` can be anything. */
async function withLibraries(directory: string, { userHome }: Bounds): Promise<string[]> {
  const above = dirname(directory);
  if (!directory.endsWith("/bin") || (userHome !== null && isWithin(userHome, directory))) return [directory];
  const libraries: string[] = [];
  for (const name of ["lib", "libexec", "share"]) {
    if ((await stat(join(above, name)).catch(() => null))?.kind === "directory") libraries.push(join(above, name));
  }
  return [directory, ...libraries];
}

/** Why the directory may not be bound, a few words; `absent` when there is none; null when it may. */
async function objection(path: string, bounds: Bounds): Promise<string | null> {
  const real = await realPath(path).catch(() => null);
  if (real === null || (await stat(real).catch(() => null))?.kind !== "directory") return "absent";
  if (SYSTEM_ROOTS.some((system) => isWithin(system, real) || isWithin(real, system))) return "absent";
  if (bounds.roots.some((root) => isWithin(root, real))) return "absent";
  for (const place of [normalize(path), real]) {
    if (isWithin(bounds.home, place) || isWithin(place, bounds.home)) return "holds files of agentcli itself";
    if (bounds.roots.some((root) => isWithin(place, root))) return "holds the project";
    if (bounds.userHome !== null && isWithin(place, bounds.userHome)) return "holds the whole home";
  }
  if ((await markersAbove(real)).length > 0 || (await findNestedMarkers(real)).length > 0) {
    return "holds protected paths";
  }
  return null;
}
