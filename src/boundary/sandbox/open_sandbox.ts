/** Making a session's sandbox: the first way that passes the canary, found once, used for every command. */
import { AgentcliError } from "../../errors.ts";
import { lstat, realPath } from "../../platform/files.ts";
import { findExecutable } from "../../platform/process.ts";
import { isAbsolute, isWithin, normalize } from "../../platform/path.ts";
import { bindable } from "./bindable.ts";
import { buildPlan, type BuiltPlan, type SandboxBase } from "./build_plan.ts";
import { selfCheck } from "./self_check.ts";
import { historyHolds, historyState } from "./git_history.ts";
import { createGitStoreSearch, type GitStoreSearch } from "./git_stores.ts";
import { createHardLinkSearch, identity } from "./hard_links.ts";
import { systemSteps, trustedProgram } from "./host.ts";
import { findBackends, type SandboxBackend } from "./backends.ts";
import { type PolicyOptions, quarantineNewFiles } from "./tamper_check.ts";
import type { SandboxRefusal, TamperReport } from "./request.ts";
import type { SessionSandbox, SessionSandboxOptions } from "./session_sandbox.ts";

interface Ready {
  kind: "ready";
  backend: SandboxBackend;
  base: SandboxBase;
  notices: string[];
}

/** The sandbox; nothing is looked for until the first command. */
export function openSandbox(options: SessionSandboxOptions): SessionSandbox {
  let ready: Promise<Ready | SandboxRefusal> | null = null;
  let toldNotices = false;
  const stores = createGitStoreSearch();
  const verdicts = new Map<string, { state: string; holds: boolean }>();
  return {
    settings: options.settings,
    async gitVisibility(roots, protection) {
      const hide = await protection.hidden();
      // What lies in a protected directory is hidden with it.
      const found = stores.find(roots).stores.filter(({ directory }) =>
        !hide.directories.some((hidden) => isWithin(hidden, directory))
      );
      if (found.length === 0) return "open";
      const git = await findExecutable("git", `${GIT_PLACES}:${options.path}`, { notBelow: roots });
      if (git === null) return "hidden";
      for (const { directory, tops } of found) {
        const state = historyState(directory, [...hide.files, ...hide.directories, ...protection.markers]);
        const known = verdicts.get(directory);
        // A submodule that is not checked out has none; git must start somewhere.
        const present = await Promise.all(tops.map((top) => lstat(top).catch(() => null)));
        const top = tops.find((_, index) => present[index]?.kind === "directory") ?? directory;
        const repository = { git, top, directory, tops: [...new Set([...tops, ...roots])] };
        const holds = known?.state === state ? known.holds : await historyHolds(repository, { protection, hide });
        verdicts.set(directory, { state, holds });
        if (holds) return "hidden";
      }
      return "open";
    },
    async wrapCommand(request) {
      ready ??= prepare(options, stores).catch(asRefusal);
      const found = await ready;
      if (found.kind === "refused") return found;
      const built = await buildPlan(request, found.base);
      if ("kind" in built) return built;
      const argv = found.backend.argv(built.plan);
      if (argv === null) return cannotSay(found.backend);
      const before = await identities(built.hidden);
      const notices = toldNotices ? [] : request.network ? [...found.notices, NETWORK_CLOSED] : found.notices;
      toldNotices = true;
      const policy = { userHome: found.base.userHome, stores };
      return { kind: "ready", argv, env: {}, cwd: "/", notices, finish: () => finish(built, { before, policy }) };
    },
  };
}

/** Fixed places first, like those of shells. */
const GIT_PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";

const NETWORK_CLOSED =
  "sandbox.network is set, but a network without the services of this machine cannot be made here; the command has none";

function cannotSay(backend: SandboxBackend): SandboxRefusal {
  return {
    kind: "refused",
    reason: `${backend.name} cannot express a path of this project`,
    hint: "rename files whose names hold control characters",
  };
}

/** Where no sandbox can be proven for want of a place to try it in, commands do not run, and everything else does. */
function asRefusal(error: unknown): SandboxRefusal {
  if (!(error instanceof AgentcliError)) throw error;
  return { kind: "refused", reason: error.message, hint: error.hint ?? "see agentcli doctor" };
}

async function prepare(options: SessionSandboxOptions, stores: GitStoreSearch): Promise<Ready | SandboxRefusal> {
  if (options.os === "windows") {
    return {
      kind: "refused",
      reason: "Windows has no way to hide protected paths from a command",
      hint: "run agentcli in WSL with bubblewrap installed, or work with Read, Edit, Glob and Grep",
    };
  }
  const backends = await findBackends(options);
  const system = await systemSteps({ network: false });
  const sh = await trustedProgram("sh") ?? "/bin/sh";
  const problems = new Set<string>();
  for (const backend of backends) {
    const argv = (plan: Parameters<SandboxBackend["argv"]>[0]) => backend.argv(plan) ?? ["/bin/false"] as [string];
    const problem = await selfCheck(argv, { system, sh });
    if (problem === null) return { kind: "ready", backend, ...await baseOf(options, { system, stores }) };
    problems.add(`${backend.name}: ${problem}`);
  }
  return noMask(options, [...problems]);
}

async function baseOf(options: SessionSandboxOptions, { system, stores }: Pick<SandboxBase, "system" | "stores">) {
  const home = await realOrNamed(options.home);
  const userHome = isAbsolute(options.userHome ?? "") ? await realOrNamed(options.userHome ?? "") : null;
  const { read, write } = options.settings;
  const bound = await bindable({ path: options.path, read, write }, { roots: options.roots, home, userHome });
  return {
    base: { system, bound: bound.steps, home, userHome, links: createHardLinkSearch(), stores },
    notices: bound.notices,
  };
}

async function realOrNamed(path: string): Promise<string> {
  return normalize(await realPath(path).catch(() => null) ?? path);
}

function noMask({ os }: SessionSandboxOptions, problems: string[]): SandboxRefusal {
  if (os === "darwin") {
    return {
      kind: "refused",
      reason: `sandbox-exec makes no sandbox here${problems.length === 0 ? "" : ` (${problems.join("; ")})`}`,
      hint: "work with Read, Edit, Glob and Grep",
    };
  }
  return {
    kind: "refused",
    reason: problems.length === 0
      ? "neither bubblewrap nor unshare and setpriv are installed by the system"
      : `no sandbox can be made here (${problems.join("; ")})`,
    hint: problems.length === 0
      ? "install bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap)"
      : "install bubblewrap and allow user namespaces (in a container: run it with permission for them)",
  };
}

async function identities(paths: readonly string[]): Promise<Map<string, string | null>> {
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
  return new Map(paths.map((path, index) => [path, found[index] ? identity(found[index]) : null]));
}

async function finish(
  built: BuiltPlan,
  { before, policy }: { before: Map<string, string | null>; policy: PolicyOptions },
): Promise<TamperReport> {
  const undone = await quarantineNewFiles(built.policy, policy);
  // A file that is replaced from outside slips out from under its mount, and its new content is there for the command.
  const after = await identities(built.hidden);
  const replaced = built.hidden.filter((path) => after.get(path) !== before.get(path));
  return { undone, replaced };
}
