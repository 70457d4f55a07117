/** Making a session's sandbox: the first way that passes the self-check, found once, used for every command. */
import { AgentcliError } from "../../errors.ts";
import { lstatSync } from "../../platform/files_sync.ts";
import { isAbsolute } from "../../platform/path.ts";
import { findProgram } from "../programs.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import { quietly, realOrNamed } from "../real_path.ts";
import type { SandboxBackend } from "./backends.ts";
import { findBoundPlaces } from "./bound.ts";
import { GIT_PLACES } from "./git_call.ts";
import { GitPrograms } from "./git_programs.ts";
import { HardLinkSearch } from "./hard_links.ts";
import { quarantine } from "./quarantine.ts";
import type { HiddenPlaces, SandboxedCommand, SandboxRefusal, SandboxRequest } from "./request.ts";
import { findCheckedBackend } from "./self_check.ts";
import type { SessionSandbox, SessionSandboxOptions } from "./session_sandbox.ts";
import { madeSince, TamperCheck } from "./tamper_check.ts";
import { buildView, type ViewBase } from "./view.ts";

interface Ready {
  kind: "ready";
  backend: SandboxBackend;
  base: ViewBase;
  sh: string;
  tamper: TamperCheck;
  programs: GitPrograms;
}

/** The sandbox; nothing is looked for until the first command. */
export function openSandbox(options: SessionSandboxOptions): Pick<SessionSandbox, "wrapCommand"> {
  let ready: Promise<Ready | SandboxRefusal> | null = null;
  const told = new Set<string>();
  return {
    async wrapCommand(request) {
      ready ??= prepare(options).catch(asRefusal);
      const found = await ready;
      if (found.kind === "refused") return found;
      const wrapped = await wrap(request, { ready: found, options });
      if (wrapped.kind === "refused") return wrapped;
      const notices = wrapped.notices.filter((notice) => !told.has(notice));
      for (const notice of notices) told.add(notice);
      return { ...wrapped, notices };
    },
  };
}

/** One command on its way into the sandbox, and what is looked at when it has ended. */
async function wrap(
  request: SandboxRequest,
  { ready, options }: { ready: Ready; options: SessionSandboxOptions },
): Promise<SandboxedCommand | SandboxRefusal> {
  const { base, backend, tamper } = ready;
  const roots = [request.root, ...request.additional];
  const programs = await gitPrograms(request, { ready, options, roots });
  if ("kind" in programs) return programs;
  // Null where the settings of git and editors are the user's as they are outside of a sandbox.
  const watch = (places: HiddenPlaces) => request.git === "open" ? null : tamper.watch(places, { roots, programs });
  const before = watch(request.hide);
  const view = await buildView(request, { base, frozen: before?.present ?? [] });
  if ("kind" in view) return view;
  const line = backend.line(view.plan);
  if (line === null) return cannotSay(backend);
  const identities = identitiesOf(view.hidden);
  const known = new Set([...request.hide.files, ...request.hide.directories]);
  return {
    kind: "ready",
    ...line,
    cwd: "/",
    notices: [
      ...base.bound.notices,
      ...view.unjudged.map(({ directory, reason }) => `commands do not see ${directory}: it ${reason}`),
    ],
    async finish(after) {
      const watched = watch(after);
      const made = before === null || watched === null ? [] : madeSince(before, watched);
      const place = { home: base.home, root: request.root, now: Date.now() };
      const quarantined = made.length === 0 ? null : await quarantine(made, place);
      // A file that is replaced from outside slips out from under its mount, and its new content is there for the command;
      // so is what came to be protected meanwhile.
      const now = identitiesOf(view.hidden);
      const slipped = view.hidden.filter((path) => now.get(path) !== identities.get(path));
      const added = [...after.files, ...after.directories].filter((path) => !known.has(path));
      return { quarantined, replaced: [...new Set([...slipped, ...added])], slipped };
    },
  };
}

/** What git says it would run in the roots; nothing for commands that cannot write there. */
async function gitPrograms(
  request: SandboxRequest,
  { ready: { sh, base, backend, programs }, options, roots }: {
    ready: Ready;
    options: SessionSandboxOptions;
    roots: readonly string[];
  },
): Promise<readonly string[] | SandboxRefusal> {
  const places = (request.hide.repositories ?? []).filter((path) => !/\.(?:pack|bundle)$/i.test(path));
  if (request.git === "open" || request.access === "read" || places.length === 0) return [];
  const known = (await options.projects?.all() ?? []).map(({ root }) => root);
  const search = { path: `${GIT_PLACES}:${options.path}`, roots: [...roots, ...known], io: null };
  const git = await findProgram("git", search);
  if (git === null) return [];
  let refused: SandboxRefusal | null = null;
  const found = await programs.find({ git, sh, places, roots }, async (question) => {
    const asked: SandboxRequest = { ...request, ...question, git: "hidden", access: "read" };
    const view = await buildView(asked, { base, frozen: [] });
    const line = "kind" in view ? view : backend.line(view.plan) ?? cannotSay(backend);
    if ("kind" in line) refused = line;
    return "kind" in line ? null : { ...line, cwd: "/" };
  });
  return refused ?? found;
}

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

async function prepare(options: SessionSandboxOptions): Promise<Ready | SandboxRefusal> {
  if (options.os === "windows") {
    return {
      kind: "refused",
      reason: "Windows has no way to hide protected paths from a command",
      hint: "run agentcli in WSL with bubblewrap installed, or work with Read, Edit, Glob and Grep",
    };
  }
  const found = await findCheckedBackend(options);
  if ("problems" in found) return noSandbox(options, found.problems);
  const { backend, system, sh } = found;
  const home = realOrNamed(options.home);
  const userHome = isAbsolute(options.userHome ?? "") ? realOrNamed(options.userHome ?? "") : null;
  const { read, write } = options.settings;
  const bound = await findBoundPlaces(
    { path: options.path, read, write },
    { roots: options.roots, home, userHome },
    await options.projects?.all(),
  );
  const base = { system, bound, home, userHome, links: new HardLinkSearch(), heldLinks: new HardLinkSearch() };
  return { kind: "ready", backend, base, sh, tamper: new TamperCheck(userHome), programs: new GitPrograms(userHome) };
}

function noSandbox({ os }: SessionSandboxOptions, problems: readonly string[]): SandboxRefusal {
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

function identitiesOf(paths: readonly string[]): Map<string, string | null> {
  return new Map(paths.map((path) => {
    const found = quietly(() => lstatSync(path));
    return [path, found === null ? null : lastingIdentityOf(found)];
  }));
}
