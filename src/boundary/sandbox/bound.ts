/** Directories outside of the project that a command in a sandbox may see: those on PATH and those the user named. */
import { realPath, stat } from "../../platform/files.ts";
import { dirname, isAbsolute, isWithin, join, normalize } from "../../platform/path.ts";
import { ProtectedSet } from "../policy/protected.ts";
import type { KnownProject, RecordedMarker } from "../policy/project_record_files.ts";
import { SYSTEM } from "./host.ts";
import type { PlanStep } from "./plan.ts";
import type { HiddenPlaces } from "./request.ts";

/** What must stay out. All are real paths. */
export interface Bounds {
  roots: readonly string[];
  /** The tool's own. */
  home: string;
  /** The user's; null when unknown. */
  userHome: string | null;
}

/** Directories that are bound, and what of them must not be seen. */
export interface BoundPlaces {
  steps: readonly PlanStep[];
  /** Why others are not, one sentence each. */
  notices: readonly string[];
  hidden(): Promise<HiddenPlaces>;
  /** What may not be changed below `sandbox.write`: markers, known once `hidden` was asked, and directories of PATH. */
  readOnly(): readonly string[];
}

/** Places of the system: seen whole, or not seen at all. */
const SYSTEM_PLACES = [...SYSTEM, "/proc", "/sys", "/dev"];
/** A walk is done again after this many times what it took: caches of tools are large, and nobody's project. */
const REUSED_FOR = 20;

/**
 * The directories of `path` (the value of PATH) and of the user's settings that may be bound: never one that holds the
 * tool's home, a root or the user's home. A missing one is passed over silently. What known `projects` protect is hidden in
 * them and in the directories of the system.
 */
export async function findBoundPlaces(
  wanted: { path: string; read: readonly string[]; write: readonly string[] },
  bounds: Bounds,
  projects: readonly KnownProject[] = [],
): Promise<BoundPlaces> {
  const steps: (PlanStep & { source: string })[] = [];
  const notices: string[] = [];
  const add = async (kind: "read" | "write", path: string): Promise<string | null> => {
    const source = await realPath(path).catch(() => null);
    if (source === null || (await stat(source).catch(() => null))?.kind !== "directory") return null;
    if (steps.some((step) => isWithin(step.path, path)) || isShown(path, bounds)) return null;
    const problem = objection([path, normalize(source)], bounds);
    if (problem === null) steps.push({ kind, path, source: normalize(source) });
    return problem;
  };
  for (const [kind, directories] of [["read", wanted.read], ["write", wanted.write]] as const) {
    for (const directory of directories) {
      const named = expand(directory, bounds.userHome);
      const problem = isAbsolute(named) ? await add(kind, normalize(named)) : "is not absolute";
      if (problem !== null) notices.push(`sandbox.${kind}: ${directory} ${problem}; commands do not see it`);
    }
  }
  const written = steps.filter(({ kind }) => kind === "write").map(({ source }) => source);
  // What lies there the user runs too; a directory that `sandbox.write` itself names is meant to be written.
  const programs: string[] = [];
  for (const directory of wanted.path.split(":")) {
    if (!isAbsolute(directory)) continue;
    const real = normalize(await realPath(directory).catch(() => null) ?? directory);
    if (!written.includes(real) && written.some((source) => isWithin(source, real))) programs.push(real);
    for (const path of await withLibraries(normalize(directory), bounds)) await add("read", path);
  }
  const inSystem = (path: string) => SYSTEM_PLACES.some((system) => isWithin(system, path));
  const others = projects.filter(({ root }) => !bounds.roots.some((own) => isWithin(own, root) || isWithin(root, own)));
  const protection = new ProtectedSet(
    [
      ...steps.map(({ source }) => source).filter((source) => !inSystem(source)),
      ...others.map(({ root }) => root).filter(inSystem),
    ],
    { remembered: others.map(({ markers, derived }) => ({ markers: markers.map(plainLines), derived })) },
  );
  let known: { places: HiddenPlaces; until: number } | null = null;
  return {
    steps,
    notices,
    readOnly: () => [...protection.markers, ...programs],
    async hidden() {
      const start = performance.now();
      if (known !== null && start < known.until) return known.places;
      protection.refresh();
      const places = await protection.hidden();
      const end = performance.now();
      known = { places, until: end + REUSED_FOR * (end - start) };
      return places;
    },
  };
}

/** What is named without wildcards: to look for more, every session would walk through every project. */
function plainLines(marker: RecordedMarker): RecordedMarker {
  return { ...marker, lines: marker.lines.filter(({ pattern }) => !/[*?[\]]/.test(pattern)) };
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

/** Whether the path is seen, or left out, without being bound. */
function isShown(path: string, { roots }: Bounds): boolean {
  return roots.some((root) => isWithin(root, path)) ||
    SYSTEM_PLACES.some((system) => isWithin(system, path) || isWithin(path, system));
}

/** Why a directory of these names may not be bound, a few words; null when it may. */
function objection(names: readonly string[], { roots, home, userHome }: Bounds): string | null {
  for (const name of names) {
    if (isWithin(home, name) || isWithin(name, home)) return "holds files of agentcli itself";
    if (roots.some((root) => isWithin(name, root))) return "holds the project";
    if (userHome !== null && isWithin(name, userHome)) return "holds the whole home";
    if (["/proc", "/sys", "/dev"].some((system) => isWithin(system, name) || isWithin(name, system))) {
      return "holds the system's devices";
    }
  }
  return null;
}
