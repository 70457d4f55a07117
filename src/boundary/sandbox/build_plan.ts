/** From a request to the plan of what the command sees. The order of the steps is what makes it tight. */
import { isForbidden, lstat, realPath } from "../../platform/files.ts";
import { dirname, isAbsolute, isWithin, normalize } from "../../platform/path.ts";
import type { GitStores, GitStoreSearch } from "./git_stores.ts";
import type { HardLinkSearch } from "./hard_links.ts";
import type { PlanStep, SandboxPlan } from "./plan.ts";
import { findPolicyFiles, type PolicyFiles } from "./tamper_check.ts";
import type { SandboxRefusal, SandboxRequest } from "./request.ts";

/** What stays the same for a session. */
export interface SandboxBase {
  /** Of the system, from `systemSteps`. */
  system: readonly PlanStep[];
  /** From `bindable`. */
  bound: readonly PlanStep[];
  /** The tool's own home, a real path. */
  home: string;
  /** The user's home, a real path; null when unknown. */
  userHome: string | null;
  links: HardLinkSearch;
  stores: GitStoreSearch;
}

/** A plan, and what it hides and keeps, for the look afterwards. */
export interface BuiltPlan {
  plan: SandboxPlan;
  policy: PolicyFiles;
  /** Absolute real paths of what is hidden. */
  hidden: string[];
}

/** Variables that name sockets and places which are not there for the command. */
const UNREACHABLE =
  /^(?:XDG_RUNTIME_DIR|DBUS_.*|SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DISPLAY|WAYLAND_DISPLAY|DOCKER_HOST|CONTAINER_HOST|TMUX|STY|TMP|TEMP|TMPDIR|PWD|OLDPWD)$/;
/** Where programs lie: a home there is no home. */
const NO_HOME = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/dev", "/sys", "/etc", "/tmp", "/nix"];
/** A project there would take the system with it. */
const NO_ROOT = ["/", "/usr", "/etc", "/proc", "/sys", "/dev", "/tmp", "/home", "/var", "/run"];

/** The plan of a request, or why there can be none. Reads the disk; changes nothing. */
export async function buildPlan(request: SandboxRequest, base: SandboxBase): Promise<BuiltPlan | SandboxRefusal> {
  const roots = [request.root, ...request.additional];
  const wide = roots.find((root) => NO_ROOT.includes(root));
  if (wide !== undefined) return refuse(`${wide} is too much of the disk to run commands in in a sandbox`);
  const home = homeOf(request, base);
  const access = request.access ?? "write";
  const visible = byDepth([
    ...base.bound,
    ...roots.map((path): PlanStep => ({ kind: access, path })),
    ...request.more ?? [],
  ]);
  const found = base.stores.find(roots);
  const git = hiddenGit(request, found);
  const directories = await hiddenDirectories(request, { base, visible, git });
  const covered = directories.find((directory) => roots.some((root) => isWithin(directory, root)));
  if (covered !== undefined || directories.some((directory) => isWithin(directory, request.cwd))) {
    return refuse("the whole project is protected, so commands have nothing to see");
  }
  const files = await hiddenFiles(request, { directories, visible, git, links: base.links });
  const policy = await findPolicyFiles(roots, { userHome: base.userHome, found });
  const inHidden = (path: string) => directories.some((directory) => isWithin(directory, path));
  const frozen = (await realPaths([...request.readOnly, ...policy.present]))
    .filter((path) => isVisible(path, visible) && !inHidden(path) && !files.includes(path));
  const tight = [...directories, ...files, ...frozen];
  const steps: PlanStep[] = [
    ...base.system,
    { kind: "scratch", path: "/tmp" },
    { kind: "scratch", path: "/var/tmp" },
    ...home.step,
    ...visible,
    ...pinsOf(tight, { visible, frozen }),
    ...frozen.map((path): PlanStep => ({ kind: "freeze", path })),
    ...directories.map((path): PlanStep => ({ kind: "hide_directory", path })),
    ...files.map((path): PlanStep => ({ kind: "hide_file", path })),
  ];
  const env = { ...keptVariables(request.env), HOME: home.path, TMPDIR: "/tmp" };
  return { plan: { steps, cwd: request.cwd, env, argv: request.argv }, policy, hidden: [...directories, ...files] };
}

function refuse(reason: string): SandboxRefusal {
  return { kind: "refused", reason, hint: "start in the directory of one project, or protect less of it" };
}

function keptVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !UNREACHABLE.test(name)));
}

/** An empty directory at the user's own place, so that programs find what is bound below it; else one of its own. */
function homeOf(request: SandboxRequest, base: SandboxBase): { path: string; step: PlanStep[] } {
  const named = request.env["HOME"] ?? base.userHome;
  const own = { path: "/tmp/home", step: [{ kind: "scratch", path: "/tmp/home" }] satisfies PlanStep[] };
  if (named === null || named === undefined || !isAbsolute(named)) return own;
  const path = normalize(named);
  if (path === "/" || NO_HOME.some((place) => path === place || isWithin(place, path) && place !== "/tmp")) return own;
  // Inside of a root it is part of the project, which must not be covered.
  if ([request.root, ...request.additional].some((root) => isWithin(root, path))) return { path, step: [] };
  return { path, step: [{ kind: "scratch", path }] };
}

/** Objects without a repository cannot be judged: they are hidden wherever there are rules. */
function hiddenGit(request: SandboxRequest, found: GitStores): string[] {
  if (request.git === "hidden") return [...found.places, ...found.loose];
  const { readOnly, hide } = request;
  return readOnly.length + hide.files.length + hide.directories.length > 0 ? found.loose : [];
}

async function hiddenDirectories(
  request: SandboxRequest,
  { base, visible, git }: { base: SandboxBase; visible: readonly PlanStep[]; git: readonly string[] },
): Promise<string[]> {
  const wanted = [...request.hide.directories, base.home, ...git];
  const real = (await realPaths(wanted)).filter((path) => isVisible(path, visible));
  const kinds = await Promise.all(real.map((path) => lstat(path)));
  const directories = real.filter((_, index) => kinds[index]?.kind === "directory");
  return outermost(directories);
}

async function hiddenFiles(
  request: SandboxRequest,
  { directories, visible, git, links }: {
    directories: readonly string[];
    visible: readonly PlanStep[];
    git: readonly string[];
    links: HardLinkSearch;
  },
): Promise<string[]> {
  const named = await realPaths(request.hide.files);
  const writable = visible.map((step) => step.path);
  const others = await links.find(
    { files: named, directories, nameless: request.hide.nameless ?? [] },
    outermost(writable),
  );
  const gitFiles = await realPaths(git);
  const kinds = await Promise.all(gitFiles.map((path) => lstat(path)));
  return [...new Set([...named, ...others, ...gitFiles.filter((_, index) => kinds[index]?.kind === "file")])]
    .filter((path) => isVisible(path, visible) && !directories.some((directory) => isWithin(directory, path)));
}

/** Without doubles and what leads nowhere. What may not be looked at stays: the sandbox fails over it, and does not let it through. */
async function realPaths(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all([...new Set(paths)].map(async (path) => {
    try {
      return await realPath(path);
    } catch (error) {
      return isForbidden(error) ? path : null;
    }
  }));
  return [...new Set(found.filter((path) => path !== null).map(normalize))];
}

function isVisible(path: string, visible: readonly PlanStep[]): boolean {
  return visible.some((step) => isWithin(step.path, path));
}

/** The directories between a writable place and what must stay where it is, those above first. */
function pinsOf(
  tight: readonly string[],
  { visible, frozen }: { visible: readonly PlanStep[]; frozen: readonly string[] },
): PlanStep[] {
  const places = visible.filter((step) => step.kind === "write").map((step) => step.path);
  const pins = new Set<string>();
  for (const path of tight) {
    for (let at = dirname(path); places.some((place) => at !== place && isWithin(place, at)); at = dirname(at)) {
      if (!places.includes(at) && !frozen.some((one) => isWithin(one, at))) pins.add(at);
    }
  }
  return byDepth([...pins].map((path): PlanStep => ({ kind: "pin", path })));
}

function byDepth(steps: PlanStep[]): PlanStep[] {
  return steps.sort((one, other) => one.path.split("/").length - other.path.split("/").length);
}

function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(other, path)));
}
