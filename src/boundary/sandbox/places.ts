/** Finds what a sandboxed command may see outside the project: system directories, PATH, and the user's settings. */
import { lstatSync, statSync } from "../../platform/files.ts";
import { quietly, realOrNamed, realOrNull } from "../../platform/real_path.ts";
import { dirname, isAbsolute, isWithin, join, normalize } from "../../platform/path.ts";
import { DEVICES, leadsToSystem, SYSTEM } from "../policy/listing.ts";
import { ProtectedSet } from "../policy/protected.ts";
import type { ProtectedProjects } from "../policy/project.ts";
import type { RecordData } from "../policy/project_record_files.ts";
import { ProtectedPlaces } from "../policy/protected_tree.ts";
import type { PlanStep } from "./backend.ts";

/** System settings that programs need, one mount each. Never all of `/etc`, which holds keys. */
const SETTINGS =
  ("ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path alternatives static passwd group nsswitch.conf " +
    "hosts resolv.conf localtime mime.types terminfo fonts ssl/certs ssl/openssl.cnf ssl/cert.pem ca-certificates pki/tls/certs " +
    "pki/ca-trust crypto-policies java-17-openjdk java-21-openjdk os-release").split(" ").map((name) => `/etc/${name}`);

/** Returns the steps that show the existing ones of these places. */
export function systemSteps(): PlanStep[] {
  const steps: PlanStep[] = [];
  for (const path of SYSTEM) {
    const found = lstatSync(path);
    if (found?.kind === "directory") steps.push({ kind: "read", path });
    const source = found?.kind === "symlink" ? realOrNull(path) : null;
    if (source !== null) steps.push({ kind: "link", path, source });
  }
  for (const path of SETTINGS) {
    const source = realOrNull(path);
    if (source !== null) steps.push({ kind: "read", path, source });
  }
  return steps;
}

/** Places that must not be bound: the roots, the home of agentcli, and the user's home, if known. Real paths. */
interface Bounds {
  roots: readonly string[];
  home: string;
  userHome: string | null;
}

/** System places are visible as a whole or not at all. */
const SYSTEM_PLACES = [...SYSTEM, ...DEVICES];
const touches = (place: string, path: string) => isWithin(place, path) || isWithin(path, place);

/**
 * Returns the directories of `path` (the value of PATH) and of the user's settings that may be bound: never one that
 * contains the home of agentcli, a root or the user's home. Missing ones are skipped. What the known `projects` protect
 * is hidden in them and in system directories.
 */
export function findBoundPlaces(
  wanted: { path: string; read: readonly string[]; write: readonly string[] },
  bounds: Bounds,
  projects?: ProtectedProjects,
) {
  const steps: (PlanStep & { source: string })[] = [];
  const notices: string[] = [];
  const add = (kind: "read" | "write", path: string): string | null => {
    const source = realOrNull(path);
    if (source === null || quietly(() => statSync(source))?.kind !== "directory") return null;
    if (steps.some((step) => isWithin(step.path, path)) || isShown(path, bounds)) return null;
    const problem = precheck([path, source], bounds);
    if (problem === null) steps.push({ kind, path, source });
    return problem;
  };
  for (const [kind, directories] of [["read", wanted.read], ["write", wanted.write]] as const) {
    for (const directory of directories) {
      const named = expand(directory, bounds.userHome);
      const problem = isAbsolute(named) ? add(kind, normalize(named)) : "is not absolute";
      if (problem !== null) notices.push(`sandbox.${kind}: ${directory} ${problem}; commands do not see it`);
    }
  }
  const chosen = steps.map(({ source }) => source);
  const written = steps.filter(({ kind }) => kind === "write").map(({ source }) => source);
  // The user runs programs from there, too. Only a directory that `sandbox.write` names itself may be written.
  const programs: string[] = [];
  for (const directory of wanted.path.split(":")) {
    if (!isAbsolute(directory)) continue;
    const real = realOrNull(directory) ?? normalize(directory);
    if (!written.includes(real) && written.some((source) => isWithin(source, real))) programs.push(real);
    for (const path of withLibraries(normalize(directory), bounds)) add("read", path);
  }
  const shown = steps.map(({ source }) => source).filter((source) => !leadsToSystem(source));
  let known: readonly RecordData[] = [];
  let theirs: readonly string[] = [];
  let protection = new ProtectedSet(shown);
  const take = (now: readonly RecordData[]) => {
    known = now;
    const isSeen = (path: string) => shown.some((place) => touches(place, path));
    const others = now.filter((project) =>
      !bounds.roots.includes(project.root) && (leadsToSystem(project.root) || placesOf(project).some(isSeen))
    );
    const roots = [...shown, ...others.map(({ root }) => root).filter(leadsToSystem)];
    if (!protection.isOf(roots)) protection = new ProtectedSet(roots);
    protection.remember(others);
    const copies = (derived: RecordData["derived"]) => derived.filter(({ isTarget }) => !isTarget);
    theirs = [...chosen, ...others.flatMap((one) => placesOf({ ...one, derived: copies(one.derived) }))];
  };
  // Programs are nobody's content: no link of another project to the system takes one away here, and to a directory of
  // PATH only a link that a line names.
  const isTheirs = (path: string) =>
    !leadsToSystem(path) && theirs.some((place) => touches(place, path)) ||
    protection.markers.some((marker) => isWithin(dirname(marker), path));
  return {
    steps,
    /** The real paths of writable ones. */
    written,
    /** Why other directories are not bound, one sentence each. */
    notices,
    /** Returns what must be hidden there now: the user may have protected something. */
    async walk(): Promise<ProtectedPlaces> {
      const now = await projects?.all() ?? known;
      if (now !== known) take(now);
      protection.refresh();
      const found = await protection.hidden();
      const [files, directories] = [found.files.filter(isTheirs), found.directories.filter(isTheirs)];
      return new ProtectedPlaces().add({ ...found, files, directories });
    },
    /** Paths that commands must not change, as of the last walk: markers, and directories of PATH. */
    readOnly: () => [...protection.markers, ...programs],
  };
}

/** Returns where the protected files of a project can be, also behind links. */
function placesOf({ root, derived, markers }: RecordData): string[] {
  const named = markers.flatMap(({ path, lines }) => lines.map(({ pattern }) => join(dirname(path), pattern)));
  return [root, ...derived.map(({ path }) => path), ...named.map(realOrNamed)];
}

function expand(directory: string, userHome: string | null): string {
  return userHome !== null && /^~(?:\/|$)/.test(directory) ? join(userHome, directory.slice(1)) : directory;
}

/** Adds `lib`, `libexec` and `share` beside `/opt/tool/bin`, but not in the user's home, where they can be anything. */
function withLibraries(directory: string, { userHome }: Bounds): string[] {
  if (!directory.endsWith("/bin") || (userHome !== null && isWithin(userHome, directory))) return [directory];
  return [directory, ...["lib", "libexec", "share"].map((name) => join(dirname(directory), name))];
}

/** Returns whether a path is visible or left out anyway. */
function isShown(path: string, { roots }: Bounds): boolean {
  return roots.some((root) => isWithin(root, path)) || SYSTEM_PLACES.some((system) => touches(system, path));
}

/** Returns why a directory with these names may not be bound, in a few words, or null. */
function precheck(names: readonly string[], { roots, home, userHome }: Bounds): string | null {
  for (const name of names) {
    if (touches(home, name)) return "holds files of agentcli itself";
    if (roots.some((root) => isWithin(name, root))) return "holds the project";
    if (userHome !== null && isWithin(name, userHome)) return "holds the whole home";
    if (DEVICES.some((system) => touches(system, name))) return "holds the system's devices";
  }
  return null;
}
