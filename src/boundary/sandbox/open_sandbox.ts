/** Makes a session's sandbox with the first backend that passes the self-check, and wraps commands in it. */
import { statSync } from "../../platform/files.ts";
import { endingWithUs } from "../../platform/process_group.ts";
import type { Io } from "../../platform/io.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { lastingIdentityOf } from "../policy/identity.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import type { ProtectedPlaces } from "../policy/protected_tree.ts";
import { ownSettings } from "../policy/write_protected.ts";
import { gitPrograms, placesBehind } from "./git_programs.ts";
import { HardLinkSearch } from "./hard_links.ts";
import { findBoundPlaces } from "./places.ts";
import { quarantine } from "./quarantine.ts";
import {
  gitUserOf,
  refuse,
  type SandboxedCommand,
  type SandboxRefusal,
  type SessionSandboxOptions,
} from "./sandbox.ts";
import { findCheckedBackend } from "./self_check.ts";
import { StartedLater } from "./started_later.ts";
import { noteProgram } from "./unfinished.ts";
import { buildView } from "./view.ts";

/** A command to run in a sandbox. All paths are absolute, those of the session's roots real. */
export interface SandboxRequest {
  root: string;
  additional: readonly string[];
  /** The working directory, inside a root. */
  cwd: string;
  argv: readonly [string, ...string[]];
  /** The variables of the command, from `sandboxEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** The command cannot see its paths or change its markers. */
  protection: Pick<ProtectedSet, "kept" | "roots" | "refresh" | "hidden" | "markers" | "rule">;
  /**
   * Whether it sees repositories and may change settings of git and editors, as outside a sandbox. Not where something
   * is protected: history holds former content of protected files, which no scan knows.
   */
  git: boolean;
  network: boolean;
  /**
   * Only for the Git tool, which runs no program that a repository names and so is not watched: how it sees the roots,
   * which directories of repositories it sees, and which files there must not change. Absolute paths.
   */
  gitTool?: {
    roots: "read" | "write";
    places: readonly { kind: "read" | "write"; path: string }[];
    readOnly: readonly string[];
  };
}

/** Returns the function that wraps commands in the first sandbox that passes its check, or why there is none. */
export async function openSandbox(
  options: SessionSandboxOptions,
): Promise<SandboxRefusal | ((request: SandboxRequest) => Promise<SandboxedCommand | SandboxRefusal>)> {
  const { io, settings: { read, write }, projects } = options;
  const checked = await findCheckedBackend({ ...options, os: io.os });
  if ("problems" in checked) return { ...noSandbox(io.os, checked.problems), missing: true };
  const { backend, system } = checked;
  const home = realOrNamed(options.home);
  const user = gitUserOf(io);
  const { userHome } = user;
  const wanted = { path: io.env("PATH") ?? "", read, write };
  const bound = findBoundPlaces(wanted, { roots: options.roots, home, userHome }, projects);
  await projects?.note([...options.roots, ...bound.written]);
  const base = { system, bound: bound.steps, home, userHome, links: new HardLinkSearch() };
  const startedLater = new StartedLater(userHome);
  const settings = placesBehind(ownSettings(userHome));
  return async (request) => {
    const { protection } = request;
    const walk = async () => (await protection.hidden()).add(await bound.walk());
    const roots = [request.root, ...request.additional, ...bound.written] as const;
    const found = await walk();
    const programs = request.git || request.gitTool?.roots === "read" ? [] : gitPrograms(found, { roots, user });
    if (programs === null) return refuse("git has more settings here than can be read", "look at git config --list");
    const before = request.git ? null : startedLater.watch(found, { roots, programs: [...programs, ...settings] });
    const frozen = [...protection.markers, ...bound.readOnly(), ...before?.present ?? []];
    const view = buildView({ ...request, found, frozen, rule: protection.rule(request.cwd) }, base);
    if ("kind" in view) return view;
    const line = backend.line(view.plan);
    if (line === null) {
      const hint = "rename files whose names hold control characters";
      return refuse(`${backend.name} cannot express a path of this project`, hint);
    }
    const covered = identitiesOf(found);
    const written = roots.filter((root) => !protection.roots.includes(root));
    const hiding = view.unjudged.map(({ directory, reason }) => `commands do not see ${directory}: it ${reason}`);
    return {
      kind: "ready",
      note: request.gitTool === undefined ? await noteProgram(home, { roots: protection.kept, written, before }) : null,
      roots,
      // Killed with us: a command that survives could create files after the next session has checked for them.
      argv: [...endingWithUs(line.argv)],
      env: line.env,
      cwd: "/",
      notices: [...bound.notices, ...hiding],
      async look() {
        protection.refresh();
        const now = await walk();
        // A file replaced from outside is no longer covered by its mount, so the command can read it; the same is true
        // of a file that became protected meanwhile.
        const seen = [...identitiesOf(now)].filter(([path, file]) => covered.get(path) !== file);
        const planted = before === null ? [] : startedLater.madeSince(before, now);
        return { planted, exposed: seen.map(([path]) => path) };
      },
      quarantine: (paths) => quarantine(paths, { home, roots: protection.kept, now: Date.now() }),
    };
  };
}

/** Returns the protected paths, each with the identity of what is there, behind links. */
function identitiesOf({ files, directories }: ProtectedPlaces): Map<string, string> {
  return new Map([...files, ...directories].map((path) => {
    const status = quietly(() => statSync(path));
    return [path, status === null ? "" : lastingIdentityOf(status)];
  }));
}

function noSandbox(os: Io["os"], problems: readonly string[]): SandboxRefusal {
  const why = problems.length === 0 ? "" : ` (${problems.join("; ")})`;
  if (os === "windows") {
    return refuse(
      "Windows has no way to hide protected paths from a command",
      "run agentcli in WSL with bubblewrap installed, or work with Read, Edit, Glob and Grep",
    );
  }
  if (os === "darwin") return refuse(`sandbox-exec makes no sandbox here${why}`, "work with Read, Edit, Glob and Grep");
  return refuse(
    problems.length === 0
      ? "neither bubblewrap nor unshare and setpriv are installed by the system"
      : `no sandbox can be made here${why}`,
    "install bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap), and allow user " +
      "namespaces (in a container: run it with permission for them)",
  );
}
