/** Finds what a command in a sandbox may see outside of the project: of the system, on PATH, and what the user named. */
import { lstat, realPath, stat } from "../../platform/files.ts";
import { dirname, isAbsolute, isWithin, join, normalize } from "../../platform/path.ts";
import { ProtectedSet } from "../policy/protected.ts";
import type { KnownProject, MarkerLines } from "../policy/project_record_files.ts";
import { ProtectedPlaces } from "../policy/protected_tree.ts";
import type { PlanStep } from "./backend.ts";

/** Directories of programs and libraries; links among them (`/bin` to `/usr/bin`) are kept as links. Daemons listen beside them. */
export const SYSTEM: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/lib32",
  "/libx32",
  "/nix/store",
  "/gnu/store",
  "/run/current-system",
];

/** Settings of the system that programs need; each is one mount. Never the whole of `/etc`: keys lie there. */
const SETTINGS =
  ("ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path alternatives static passwd group nsswitch.conf " +
    "hosts resolv.conf localtime mime.types terminfo fonts ssl/certs ssl/openssl.cnf ssl/cert.pem ca-certificates pki/tls/certs " +
    "pki/ca-trust crypto-policies java-17-openjdk java-21-openjdk os-release").split(" ").map((name) => `/etc/${name}`);

/** Returns the steps that show the system, without what is not there. */
export async function systemSteps(): Promise<PlanStep[]> {
  const steps: PlanStep[] = [];
  for (const path of SYSTEM) {
    const found = await lstat(path);
    if (found?.kind === "directory") steps.push({ kind: "read", path });
    const source = found?.kind === "symlink" ? await realPath(path) : null;
    if (source !== null) steps.push({ kind: "link", path, source });
  }
  for (const path of SETTINGS) {
    const source = await realPath(path).catch(() => null);
    if (source !== null) steps.push({ kind: "read", path, source });
  }
  return steps;
}

/** Places that must stay out: the tool's own home, and the user's, which may be unknown. All are real paths. */
interface Bounds {
  roots: readonly string[];
  home: string;
  userHome: string | null;
}

/** Directories that are bound, and what of them must not be seen. */
export interface BoundPlaces {
  steps: readonly PlanStep[];
  /** The real paths of those that commands may write. */
  written: readonly string[];
  /** Why others are not bound, one sentence each. */
  notices: readonly string[];
  /** Walks them: the user may have protected something there since the last time. Of `listings` it has those of `written`. */
  walk(): Promise<ProtectedPlaces>;
  /** Of the last walk, what may not be changed there: markers, and directories of PATH. */
  readOnly(): readonly string[];
}

/** Places of the system: seen whole, or not seen at all. */
const DEVICES = ["/proc", "/sys", "/dev"];
const SYSTEM_PLACES = [...SYSTEM, ...DEVICES];
const touches = (place: string, path: string) => isWithin(place, path) || isWithin(path, place);

/**
 * The directories of `path` (the value of PATH) and of the user's settings that may be bound: never one that holds the
 * tool's home, a root or the user's home. A missing one is passed over silently. What `projects`, those that are known,
 * protect is hidden in them and in the directories of the system.
 */
export async function findBoundPlaces(
  wanted: { path: string; read: readonly string[]; write: readonly string[] },
  bounds: Bounds,
  projects: () => Promise<readonly KnownProject[]> = () => Promise.resolve([]),
): Promise<BoundPlaces> {
  const steps: (PlanStep & { source: string })[] = [];
  const notices: string[] = [];
  const add = async (kind: "read" | "write", path: string): Promise<string | null> => {
    const source = await realPath(path).catch(() => null);
    if (source === null || (await stat(source).catch(() => null))?.kind !== "directory") return null;
    if (steps.some((step) => isWithin(step.path, path)) || isShown(path, bounds)) return null;
    const problem = precheck([path, normalize(source)], bounds);
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
    for (const path of withLibraries(normalize(directory), bounds)) await add("read", path);
  }
  const inSystem = (path: string) => SYSTEM_PLACES.some((system) => isWithin(system, path));
  const shown = steps.map(({ source }) => source).filter((source) => !inSystem(source));
  let known: readonly KnownProject[] = [];
  let protection = new ProtectedSet(shown);
  const update = async () => {
    const now = await projects();
    if (now === known) return;
    known = now;
    const others = now.filter(({ root }) => !bounds.roots.some((own) => touches(own, root)));
    const roots = [...shown, ...others.map(({ root }) => root).filter(inSystem)];
    if (!protection.isOf(roots)) protection = new ProtectedSet(roots);
    protection.remember(others.map(({ root, markers, derived }) => {
      const isWalked = steps.some(({ source }) => isWithin(source, root));
      return { markers: isWalked ? markers : markers.map(plainLines), derived, met: [] };
    }));
  };
  return {
    steps,
    written,
    notices,
    async walk() {
      await update();
      protection.refresh();
      const found = await protection.hidden();
      const listings = found.listings.filter(({ directory }) => written.some((source) => isWithin(source, directory)));
      return new ProtectedPlaces().add({ ...found, listings });
    },
    readOnly: () => [...protection.markers, ...programs],
  };
}

/** Returns what is named without wildcards: to look for more, every session would walk through every project. */
function plainLines(marker: MarkerLines): MarkerLines {
  return { ...marker, lines: marker.lines.filter(({ pattern }) => !/[*?[\]]/.test(pattern)) };
}

function expand(directory: string, userHome: string | null): string {
  return userHome !== null && /^~(?:\/|$)/.test(directory) ? join(userHome, directory.slice(1)) : directory;
}

/** Adds the neighbors: `/opt/tool/bin` is of no use without `/opt/tool/lib`; in a user's home the neighbors of `bin` can be anything. */
function withLibraries(directory: string, { userHome }: Bounds): string[] {
  if (!directory.endsWith("/bin") || (userHome !== null && isWithin(userHome, directory))) return [directory];
  return [directory, ...["lib", "libexec", "share"].map((name) => join(dirname(directory), name))];
}

/** Returns whether the path is seen, or left out, without being bound. */
function isShown(path: string, { roots }: Bounds): boolean {
  return roots.some((root) => isWithin(root, path)) || SYSTEM_PLACES.some((system) => touches(system, path));
}

/** Returns why a directory of these names may not be bound, a few words; null when it may. */
function precheck(names: readonly string[], { roots, home, userHome }: Bounds): string | null {
  for (const name of names) {
    if (touches(home, name)) return "holds files of agentcli itself";
    if (roots.some((root) => isWithin(name, root))) return "holds the project";
    if (userHome !== null && isWithin(name, userHome)) return "holds the whole home";
    if (DEVICES.some((system) => touches(system, name))) return "holds the system's devices";
  }
  return null;
}
