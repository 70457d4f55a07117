/** Making a session's sandbox: the first way that passes the self-check, found once, used for every command. */
import { AgentcliError } from "../../errors.ts";
import { lstatInPlace } from "../../platform/files_in_place.ts";
import { findExecutable } from "../../platform/process.ts";
import { isAbsolute } from "../../platform/path.ts";
import { lastingIdentityOf } from "../policy/inode_index.ts";
import { quietly, realOrNamed } from "../real_path.ts";
import type { SandboxBackend } from "./backends.ts";
import { findBoundPlaces } from "./bound.ts";
import { GIT_PLACES } from "./git_call.ts";
import { GitPrograms } from "./git_programs.ts";
import { HardLinkSearch } from "./hard_links.ts";
import { quarantine } from "./quarantine.ts";
import type { HiddenPlaces, SandboxedCommand, SandboxRefusal, SandboxRequest, TamperReport } from "./request.ts";
import { findCheckedBackend } from "./self_check.ts";
import type { SessionSandbox, SessionSandboxOptions } from "./session_sandbox.ts";
import { madeSince, TamperCheck, type WatchedFiles } from "./tamper_check.ts";
import { buildView, type View, type ViewBase } from "./view.ts";

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
      return await new Wrapping(request, { ready: found, options, told }).wrap();
    },
  };
}

/** One command on its way into the sandbox and back. */
class Wrapping {
  readonly #request: SandboxRequest;
  readonly #ready: Ready;
  readonly #options: SessionSandboxOptions;
  readonly #told: Set<string>;

  constructor(
    request: SandboxRequest,
    { ready, options, told }: { ready: Ready; options: SessionSandboxOptions; told: Set<string> },
  ) {
    this.#request = request;
    this.#ready = ready;
    this.#options = options;
    this.#told = told;
  }

  get #roots(): string[] {
    return [this.#request.root, ...this.#request.additional];
  }

  async wrap(): Promise<SandboxedCommand | SandboxRefusal> {
    const { base } = this.#ready;
    const programs = await this.#gitPrograms(this.#request.hide);
    if ("kind" in programs) return programs;
    const before = this.#watch(this.#request.hide, programs);
    const view = await buildView(this.#request, { base, frozen: before?.present ?? [] });
    if ("kind" in view) return view;
    const line = this.#ready.backend.line(view.plan);
    if (line === null) return cannotSay(this.#ready.backend);
    const identities = identitiesOf(view.hidden);
    return {
      kind: "ready",
      ...line,
      cwd: "/",
      notices: this.#notices(view),
      finish: (after) => this.#finish({ view, before, identities, programs }, after),
    };
  }

  /** Null where the settings of git and editors are the user's as they are outside of a sandbox. */
  #watch(places: HiddenPlaces, programs: readonly string[]): WatchedFiles | null {
    return this.#request.git === "open" ? null : this.#ready.tamper.watch(places, { roots: this.#roots, programs });
  }

  async #gitPrograms(hide: HiddenPlaces): Promise<readonly string[] | SandboxRefusal> {
    const places = (hide.repositories ?? []).filter((path) => !/\.(?:pack|bundle)$/i.test(path));
    const { git: access, access: reach } = this.#request;
    if (access === "open" || reach === "read" || places.length === 0) return [];
    const git = await findExecutable("git", `${GIT_PLACES}:${this.#options.path}`, { notBelow: this.#roots });
    if (git === null) return [];
    const { sh, base, backend, programs } = this.#ready;
    let refused: SandboxRefusal | null = null;
    const found = await programs.find({ git, sh, places, roots: this.#roots }, async (question) => {
      const view = await buildView({ ...this.#request, ...question, git: "hidden", access: "read" }, {
        base,
        frozen: [],
      });
      const line = "kind" in view ? view : backend.line(view.plan) ?? cannotSay(backend);
      if ("kind" in line) refused = line;
      return "kind" in line ? null : { ...line, cwd: "/" };
    });
    return refused ?? found;
  }

  #notices({ unjudged }: View): string[] {
    const notices = [
      ...this.#ready.base.bound.notices,
      ...unjudged.map(({ directory, reason }) => `commands do not see ${directory}: it ${reason}`),
    ].filter((notice) => !this.#told.has(notice));
    for (const notice of notices) this.#told.add(notice);
    return notices;
  }

  async #finish(
    { view, before, identities, programs }: {
      view: View;
      before: WatchedFiles | null;
      identities: ReadonlyMap<string, string | null>;
      programs: readonly string[];
    },
    after: HiddenPlaces,
  ): Promise<TamperReport> {
    const watched = this.#watch(after, programs);
    const made = before === null || watched === null ? [] : madeSince(before, watched);
    const quarantined = made.length === 0
      ? null
      : await quarantine(made, { home: this.#ready.base.home, root: this.#request.root, now: Date.now() });
    // A file that is replaced from outside slips out from under its mount, and its new content is there for the command;
    // so is what came to be protected meanwhile.
    const now = identitiesOf(view.hidden);
    const { files, directories } = this.#request.hide;
    const known = new Set([...files, ...directories]);
    const slipped = view.hidden.filter((path) => now.get(path) !== identities.get(path));
    const replaced = [
      ...slipped,
      ...[...after.files, ...after.directories].filter((path) => !known.has(path)),
    ];
    return { quarantined, replaced: [...new Set(replaced)], slipped };
  }
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
  const base = await baseOf(options, system);
  const { userHome } = base;
  return {
    kind: "ready",
    backend,
    base,
    sh,
    tamper: new TamperCheck(userHome),
    programs: new GitPrograms(userHome),
  };
}

async function baseOf(options: SessionSandboxOptions, system: ViewBase["system"]): Promise<ViewBase> {
  const home = realOrNamed(options.home);
  const userHome = isAbsolute(options.userHome ?? "") ? realOrNamed(options.userHome ?? "") : null;
  const { read, write } = options.settings;
  const bound = await findBoundPlaces(
    { path: options.path, read, write },
    { roots: options.roots, home, userHome },
    await options.projects?.all(),
  );
  return { system, bound, home, userHome, links: new HardLinkSearch(), heldLinks: new HardLinkSearch() };
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
    const found = quietly(() => lstatInPlace(path));
    return [path, found === null ? null : lastingIdentityOf(found)];
  }));
}
