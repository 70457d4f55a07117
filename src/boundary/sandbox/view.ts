/** Plans what a command sees. The order of the steps matters: later ones cover earlier ones. */
import { systemReason } from "../../platform/disk_failure.ts";
import { isForbidden, lstatSync, realPathSync } from "../../platform/files.ts";
import { basename, dirname, isAbsolute, isWithin, normalize } from "../../platform/path.ts";
import { outermost, realOrNull } from "../../platform/real_path.ts";
import { ARCHIVE_NAME, type UnjudgedPlace } from "../policy/listing.ts";
import { describeRule, type ProtectionRule, repairOf } from "../policy/protection_rule.ts";
import { readRegularFile } from "../reader.ts";
import type { ProtectedPlaces } from "../policy/protected_tree.ts";
import type { PlanStep, SandboxPlan } from "./backend.ts";
import type { HardLinkSearch } from "./hard_links.ts";
import type { SandboxRequest } from "./open_sandbox.ts";
import { refuse, type SandboxRefusal } from "./sandbox.ts";

/** The part of views that stays the same for a session. Homes are real paths; the user's is null when unknown. */
export interface ViewBase {
  /** From `systemSteps`. */
  system: readonly PlanStep[];
  /** Directories besides the roots. */
  bound: readonly PlanStep[];
  home: string;
  userHome: string | null;
  links: HardLinkSearch;
}

/** A step that shows a place of the disk at some path. */
type Shown = PlanStep & { source: string };

/** System directories; a HOME there is not the user's home. */
const NO_HOME = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/dev", "/sys", "/etc", "/tmp", "/nix"];
/** Roots that would include system directories. */
const NO_ROOT = ["/", "/usr", "/etc", "/proc", "/sys", "/dev", "/tmp", "/home", "/var", "/run"];
/** Without a network, package managers would retry silently for minutes. */
const NO_RETRIES = { npm_config_fetch_retries: "0", PIP_RETRIES: "0", CARGO_NET_RETRY: "0" };
/** Bubblewrap accepts 9,000 arguments, and a step has up to six. */
const MOST_STEPS = 1_500;

/** A request and the result of a walk. */
interface ViewRequest extends Omit<SandboxRequest, "protection"> {
  found: ProtectedPlaces;
  /** Covers the working directory. */
  rule?: ProtectionRule | null;
  /** Paths that must not change, besides those of the Git tool. */
  frozen: readonly string[];
}

/**
 * Returns the plan for a request, with the directories that are covered because their content cannot be judged, or why
 * there is none. Only reads the disk.
 */
export function buildView(request: ViewRequest, base: ViewBase) {
  const { found, gitTool } = request;
  const roots = [request.root, ...request.additional];
  const wide = roots.find((root) => NO_ROOT.includes(root));
  if (wide !== undefined) return refuse(`${wide} is too much of the disk to run commands on`);
  const home = homeOf(request, base);
  const visible = byDepth([
    ...base.bound,
    ...roots.map((path): PlanStep => ({ kind: gitTool?.roots ?? "write", path })),
    ...gitTool?.places ?? [],
    ...request.git && home.step.length > 0 ? gitSettingsOf(home.path, base) : [],
  ]);
  const shown = shownBy([...base.system, ...visible]);
  const cover = new Cover(shown);
  for (const path of [...found.files, ...found.directories]) cover.add(path);
  const covered = { files: [...cover.files], directories: [...cover.directories], nameless: found.nameless };
  for (const path of [...found.special, base.home]) cover.add(path);
  for (const place of found.unjudged) cover.addUnjudged(place);
  const isAsked = (store: string) => {
    const real = realOrNull(store) ?? store;
    return gitTool?.places.some(({ path }) => isWithin(real, path) || isWithin(path, real)) ?? false;
  };
  for (const store of request.git ? [] : found.repositories) {
    if (isStore(store) && !isAsked(store)) cover.add(store);
  }
  const everywhere = { own: sourcesOf(visible), system: sourcesOf(base.system) };
  const blind = found.blind || cover.isBlind;
  for (const path of base.links.find({ ...covered, blind }, everywhere)) cover.add(path);
  const problem = uncoverable(cover, request);
  if (problem !== null) return problem;
  const { directories, files } = cover.places();
  const named = [...request.frozen, ...gitTool?.readOnly ?? []];
  const held = named.map(realOrNull).filter((path) => path !== null);
  const others = base.links.find({ files: held }, { own: roots });
  const isWritable = (path: string) => shown.some((place) => place.kind === "write" && isWithin(place.path, path));
  const freezes = cover.placesOf([...held, ...others]).filter((path) =>
    isWritable(path) && ![...files, ...directories].some((place) => isWithin(place, path))
  );
  const steps: PlanStep[] = [
    ...base.system,
    { kind: "scratch", path: "/tmp" },
    { kind: "scratch", path: "/var/tmp" },
    ...home.step,
    ...visible,
    ...pinsOf([...directories, ...files, ...freezes], { shown, freezes }),
    ...freezes.map((path): PlanStep => ({ kind: "freeze", path })),
    ...directories.map((path): PlanStep => ({ kind: hidingOf(path), path })),
    ...files.map((path): PlanStep => ({ kind: "hide_file", path })),
  ];
  if (steps.length > MOST_STEPS) {
    const hint = freezes.length < files.length + directories.length
      ? "protect whole directories instead"
      : "start in one of its directories: too many hold settings that commands must not change, such as .npmrc";
    return refuse(`${steps.length} places would have to be covered or made read-only one by one`, hint);
  }
  const { cwd, argv, network } = request;
  const env = { ...network ? {} : NO_RETRIES, ...request.env, HOME: home.path, TMPDIR: "/tmp" };
  const unjudged = cover.unjudged.filter(({ directory }) => cover.placesOf([directory]).length > 0);
  return { plan: { steps, cwd, env, argv, network } satisfies SandboxPlan, unjudged };
}

/** Returns how a directory is hidden. Programs that walk a project stop at what they cannot open; most have `.git`. */
function hidingOf(directory: string): PlanStep["kind"] {
  return basename(directory) === ".git" ? "empty_directory" : "hide_directory";
}

function shownBy(steps: readonly PlanStep[]): Shown[] {
  return steps.filter(({ kind }) => kind === "read" || kind === "write")
    .map((step) => ({ source: step.path, ...step }));
}

function sourcesOf(steps: readonly PlanStep[]): string[] {
  return outermost(shownBy(steps).map(({ source }) => source));
}

/** Collects the covered places, by real path, and finds where these are visible. */
class Cover {
  readonly #shown: readonly Shown[];
  /** Real paths. */
  readonly directories = new Set<string>();
  readonly files = new Set<string>();
  readonly unjudged: UnjudgedPlace[] = [];
  /** True if some protected path cannot be reached. */
  isBlind = false;

  constructor(shown: readonly Shown[]) {
    this.#shown = shown;
  }

  /** Covers the target of a path, or the nearest directory above it that can be examined. */
  add(path: string): void {
    for (let at = path;; at = dirname(at)) {
      const found = standsAt(at);
      if (found === null) return;
      if (found === "unreachable") continue;
      if (at !== path) {
        this.isBlind = true;
        this.unjudged.push({ directory: at, reason: "holds protected paths that cannot be reached" });
      }
      return void (found.directory ? this.directories : this.files).add(found.real);
    }
  }

  /** Covers a place that cannot be judged, if a command would see it. */
  addUnjudged(place: UnjudgedPlace): void {
    const real = realOrNull(place.directory);
    if (this.placesOf([real ?? place.directory]).length === 0) return;
    this.unjudged.push(place);
    this.add(place.directory);
  }

  /** Returns where real paths are visible; most paths outside the roots are visible nowhere. */
  placesOf(paths: Iterable<string>): string[] {
    const places = new Set<string>();
    for (const real of paths) {
      for (const { path, source } of this.#shown) {
        if (isWithin(source, real)) places.add(path + real.slice(source.length));
      }
    }
    return [...places];
  }

  /** Returns the visible paths to mount over: outermost directories, and files outside them. */
  places(): { directories: string[]; files: string[] } {
    const directories = outermost(this.placesOf(this.directories));
    const inside = (path: string) => directories.some((directory) => isWithin(directory, path));
    return { directories, files: this.placesOf(this.files).filter((path) => !inside(path)) };
  }
}

/** Returns the target of a path with its real path; null if there is none. */
function standsAt(path: string): { real: string; directory: boolean } | "unreachable" | null {
  try {
    const real = realPathSync(path);
    const status = real === null ? null : lstatSync(real);
    return real === null || status === null ? null : { real: normalize(real), directory: status.kind === "directory" };
  } catch (error) {
    const tooLong = error instanceof Error && "code" in error && error.code === "ENAMETOOLONG";
    if (path !== "/" && (isForbidden(error) || tooLong)) return "unreachable";
    // Circular links lead to no content.
    systemReason(error);
    return null;
  }
}

/** Returns a refusal if a root or the working directory would be covered as a whole, or null. */
function uncoverable(cover: Cover, { root, additional, cwd, rule }: ViewRequest): SandboxRefusal | null {
  const isWhole = (directory: string) => [root, ...additional, cwd].some((place) => isWithin(directory, place));
  const place = cover.unjudged.find(({ directory }) => isWhole(directory));
  if (place !== undefined) {
    return refuse(`${place.directory} ${place.reason}`, "rename or remove what the system cannot show there");
  }
  if (![...cover.directories].some(isWhole)) return null;
  const by = rule ? ` (${describeRule(rule, root)})` : "";
  const ofLink = rule?.targetOf === undefined ? undefined : "remove that link, then run agentcli secrets trust";
  const hint = rule?.damaged === undefined ? ofLink : repairOf(rule);
  return refuse(`the whole project is protected${by}, so commands have nothing to see`, hint);
}

/** Returns whether git keeps content there. The first bytes of packs and bundles decide: other files use such names. */
function isStore(path: string): boolean {
  if (!ARCHIVE_NAME.test(path)) return true;
  const head = readRegularFile(path, { display: path, limit: 4 });
  return "refused" in head || ["PACK", "# v2", "# v3"].includes(new TextDecoder().decode(head.bytes));
}

/** Returns an empty home at the user's own path, so that programs find what is bound below it; else a separate one. */
function homeOf(request: ViewRequest, base: ViewBase): { path: string; step: PlanStep[] } {
  const named = request.env["HOME"] ?? base.userHome;
  const own = { path: "/tmp/home", step: [{ kind: "scratch", path: "/tmp/home" }] satisfies PlanStep[] };
  if (named === null || named === undefined || !isAbsolute(named)) return own;
  const path = normalize(named);
  if (path === "/" || NO_HOME.some((place) => path === place || isWithin(place, path) && place !== "/tmp")) return own;
  // Inside a root it is part of the project, which must not be covered.
  if ([request.root, ...request.additional].some((root) => isWithin(root, path))) return { path, step: [] };
  return { path, step: [{ kind: "scratch", path }] };
}

/** Returns the user's git settings, for commands that may use git as outside a sandbox. */
function gitSettingsOf(path: string, { userHome }: ViewBase): PlanStep[] {
  return [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"].flatMap(
    (name): PlanStep[] => {
      const source = userHome === null ? null : realOrNull(`${userHome}/${name}`);
      return source === null ? [] : [{ kind: "read", path: `${path}/${name}`, source }];
    },
  );
}

/** Returns pins for the directories between a writable place and each path that must stay in place, parents first. */
function pinsOf(
  tight: readonly string[],
  { shown, freezes }: { shown: readonly Shown[]; freezes: readonly string[] },
): PlanStep[] {
  const places = shown.filter(({ kind }) => kind === "write").map(({ path }) => path);
  const pins = new Set<string>();
  for (const path of tight) {
    for (let at = dirname(path); places.some((place) => at !== place && isWithin(place, at)); at = dirname(at)) {
      if (!places.includes(at) && !freezes.some((one) => isWithin(one, at))) pins.add(at);
    }
  }
  return byDepth([...pins].map((path): PlanStep => ({ kind: "pin", path })));
}

function byDepth(steps: PlanStep[]): PlanStep[] {
  return steps.sort((one, other) => one.path.split("/").length - other.path.split("/").length);
}
