/** Makes a session's sandbox with the first backend that passes the self-check, and wraps commands in it. */
import { AgentcliError } from "../../errors.ts";
import { lstatSync } from "../../platform/files.ts";
import { endingWithUs } from "../../platform/process_group.ts";
import type { Io } from "../../platform/io.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import type { GitUser } from "../../shell/git.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import type { ProtectedPlaces } from "../policy/protected_tree.ts";
import type { SandboxBackend } from "./backend.ts";
import { gitPrograms } from "./git_programs.ts";
import { HardLinkSearch } from "./hard_links.ts";
import { type BoundPlaces, findBoundPlaces } from "./places.ts";
import { quarantine } from "./quarantine.ts";
import {
  type GitAccess,
  gitUserOf,
  type SandboxedCommand,
  type SandboxRefusal,
  type SessionSandbox,
  type SessionSandboxOptions,
} from "./sandbox.ts";
import { findCheckedBackend } from "./self_check.ts";
import { madeSince, StartedLater } from "./started_later.ts";
import { noteProgram } from "./unfinished.ts";
import { buildView, refuse, type ViewBase } from "./view.ts";

/** A command to run in a sandbox. All paths are absolute. */
export interface SandboxRequest {
  /** The project, a real path. */
  root: string;
  /** More roots of the session, real paths. */
  additional: readonly string[];
  /** The working directory, inside a root. */
  cwd: string;
  argv: readonly [string, ...string[]];
  /** The variables of the command, from `sandboxEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** The command cannot see its paths or change its markers. */
  protection: Pick<ProtectedSet, "refresh" | "hidden" | "markers">;
  git: GitAccess;
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

interface Ready {
  kind: "ready";
  backend: SandboxBackend;
  base: ViewBase;
  bound: BoundPlaces;
  tamper: StartedLater;
  user: GitUser;
}

/** Returns the function that wraps commands. Searches for a backend at the first call. */
export function openSandbox(options: SessionSandboxOptions): SessionSandbox["wrapCommand"] {
  let ready: Promise<Ready | SandboxRefusal> | null = null;
  return async (request) => {
    try {
      const found = await (ready ??= prepare(options));
      return found.kind === "refused" ? found : await wrap(request, found);
    } catch (error) {
      // Without a place to test a sandbox, or for the quarantine, commands are refused; everything else works.
      if (!(error instanceof AgentcliError)) throw error;
      return refuse(error.message, error.hint ?? "see agentcli doctor");
    }
  };
}

/** Wraps one command; the result can check what the command made. */
async function wrap(request: SandboxRequest, ready: Ready): Promise<SandboxedCommand | SandboxRefusal> {
  const { base, bound, backend, tamper } = ready;
  const { protection } = request;
  // With `git: "open"`, settings of git and editors can be changed as outside a sandbox.
  const isWatched = request.git !== "open";
  const roots = [request.root, ...request.additional, ...isWatched ? bound.written : []] as const;
  const found = (await protection.hidden()).add(await bound.walk());
  const programs = isWatched && request.gitTool?.roots !== "read"
    ? gitPrograms(found, { roots, user: ready.user })
    : [];
  if (programs === null) return refuse("git has more settings here than can be read", "look at git config --list");
  const before = isWatched ? tamper.watch(found, { roots, programs }) : null;
  const frozen = [...protection.markers, ...bound.readOnly(), ...before?.present ?? []];
  const view = buildView({ ...request, found, frozen }, base);
  if ("kind" in view) return view;
  const line = backend.line(view.plan);
  if (line === null) {
    const hint = "rename files whose names hold control characters";
    return refuse(`${backend.name} cannot express a path of this project`, hint);
  }
  const place = { home: base.home, root: request.root };
  const note = request.gitTool === undefined ? await noteProgram(base.home, { roots, before }) : null;
  const identities = new Map(view.hidden.map((path) => [path, entryIdentity(path)]));
  const known = new Set(protectedPaths(found));
  return {
    kind: "ready",
    note,
    written: bound.written,
    // Killed with us: a command that survives could create files after the next session has checked for them.
    argv: [...endingWithUs(line.argv)],
    env: line.env,
    cwd: "/",
    notices: [
      ...bound.notices,
      ...view.unjudged.map(({ directory, reason }) => `commands do not see ${directory}: it ${reason}`),
    ],
    async look() {
      protection.refresh();
      const now = (await protection.hidden()).add(await bound.walk());
      // A file replaced from outside is no longer covered by its mount, so the command can read it; the same is true of a
      // file that became protected meanwhile.
      const replaced = view.hidden.filter((path) => entryIdentity(path) !== identities.get(path));
      const added = protectedPaths(now).filter((path) => !known.has(path));
      const exposed = [...new Set([...replaced, ...added])];
      const made = before === null ? [] : madeSince(before, tamper.watch(now, { roots, programs }));
      const quarantined = made.length === 0 ? null : await quarantine(made, { ...place, now: Date.now() });
      return { quarantined, exposed };
    },
  };
}

function protectedPaths({ files, directories }: ProtectedPlaces): string[] {
  return [...files, ...directories];
}

/** Returns the identity of an entry, without following links; null if it does not exist. */
function entryIdentity(path: string): string | null {
  const status = quietly(() => lstatSync(path));
  return status === null ? null : lastingIdentityOf(status);
}

async function prepare(options: SessionSandboxOptions): Promise<Ready | SandboxRefusal> {
  const { io, roots, settings: { read, write } } = options;
  const found = await findCheckedBackend({ ...options, os: io.os });
  if ("problems" in found) return { ...noSandbox(io.os, found.problems), missing: true };
  const { backend, system } = found;
  const home = realOrNamed(options.home);
  const user = gitUserOf(io);
  const { userHome } = user;
  const bound = findBoundPlaces(
    { path: io.env("PATH") ?? "", read, write },
    { roots, home, userHome },
    options.projects?.all,
  );
  return {
    kind: "ready",
    backend,
    base: { system, bound: bound.steps, home, userHome, links: new HardLinkSearch() },
    bound,
    tamper: new StartedLater(userHome),
    user,
  };
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
  return why === ""
    ? refuse(
      "neither bubblewrap nor unshare and setpriv are installed by the system",
      "install bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap)",
    )
    : refuse(
      `no sandbox can be made here${why}`,
      "install bubblewrap and allow user namespaces (in a container: run it with permission for them)",
    );
}
