/** The project's repository in a sandbox of its own: what a repository can make git run sees nothing protected. */
import { commandProtection } from "../../boundary/policy/write_protected.ts";
import { GIT_PLACES, userGitSettings } from "../../shell/git.ts";
import { gitDirectory, pointsBack } from "../../boundary/policy/git_directory.ts";
import type { ProtectedPlaces } from "../../boundary/policy/protected_tree.ts";
import type { SandboxRequest } from "../../boundary/sandbox/open_sandbox.ts";
import { findProgram } from "../../boundary/programs.ts";
import { AgentcliError } from "../../errors.ts";
import { lstatSync, statSync } from "../../platform/files.ts";
import { isWithin, join, relativeTo } from "../../platform/path.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { askGit, callGit, filtersOff, type GitCall, parseSettings, type PlainCall, type Repository } from "./call.ts";
import { failure, isRefusal, success } from "../result.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import { notifyOnce } from "../bash/start.ts";
import type { Refusal } from "../../boundary/workspace/workspace.ts";

/** Files that make git run programs: not writable even where the repository is. */
const SETTINGS = ["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];
const DEADLINE_MS = 30_000;
/** Characters of one answer. */
const LIMIT = 20_000;
const TAKEN = 4 * 1024 * 1024;

/** Further options of one call of git. */
type AskOptions = Partial<Pick<GitCall, "input" | "access" | "settings" | "env" | "see">>;

/** Names relative to the top of the repository. */
interface SortedPaths {
  open: string[];
  /** With the reason, a few words. */
  kept: { name: string; reason: string }[];
}

/** Why git takes no file, as a few words after its name. */
const REASONS: Readonly<Record<Refusal["refused"], string>> = {
  outside: "it leads out of the project",
  absent: "it is not there",
  not_a_file: "it is not a regular file",
  not_a_directory: "it is not a directory",
  protected: "protected",
  write_protected: "only the user may change it",
  unreadable: "it cannot be read",
};

/** One call of the tool. */
export class GitWork {
  readonly context: ToolContext;
  readonly #repository: Repository;
  readonly #hide: ProtectedPlaces;
  /** Of the repository. */
  readonly settings: readonly (readonly [string, string])[];
  /** Notices about the sandbox, when they are new. */
  readonly #notices: readonly string[];

  constructor(
    repository: Repository,
    { context, hide, settings, notices }: Pick<GitWork, "context" | "settings"> & {
      hide: ProtectedPlaces;
      notices: readonly string[];
    },
  ) {
    this.#repository = repository;
    this.context = context;
    this.#hide = hide;
    this.settings = settings;
    this.#notices = notices;
  }

  async ask(args: readonly string[], options: AskOptions = {}): Promise<string | null> {
    const { signal } = this.context;
    return await askGit(this.#repository, { args, timeoutMs: DEADLINE_MS, limit: TAKEN, signal, ...options });
  }

  async names(args: readonly string[], options: AskOptions = {}): Promise<string[] | null> {
    return (await this.ask(args, options))?.split("\0").filter((name) => name !== "") ?? null;
  }

  async run(args: readonly string[], options: AskOptions): Promise<boolean> {
    return await this.ask(args, options) !== null;
  }

  /** The contents of objects by their ids, at most a number of bytes together; none where git fails. */
  async blobs(ids: readonly string[], limit: number): Promise<Uint8Array<ArrayBuffer>[]> {
    if (ids.length === 0) return [];
    const { signal } = this.context;
    const input = ids.map((id) => `${id}\n`).join("");
    const call = { args: ["cat-file", "--batch"], input, timeoutMs: DEADLINE_MS, signal };
    const bytes = await callGit(this.#repository, { ...call, limit: limit + ids.length * 128 });
    return bytes === null ? [] : objectsIn(bytes);
  }

  /** The commit that a name means; null for none, and for what would be taken as an option. */
  async commit(rev: string): Promise<string | null> {
    // deno-lint-ignore no-control-regex -- control characters are what is searched for
    if (!/^[^-\s\x00-\x1f][^\s\x00-\x1f]*$/.test(rev) || rev.includes("..")) return null;
    const name = (await this.ask(["rev-parse", "--verify", "--quiet", `${rev}^{commit}`]))?.trim() ?? "";
    return /^[0-9a-f]{40,64}$/.test(name) ? name : null;
  }

  /** Whether git does not see a file as it is: a rule covers it, or it is where the content is unknown. */
  isCovered(name: string): boolean {
    const path = join(this.context.workspace.root, name);
    const { protection } = this.context.workspace;
    return protection.rule(path) !== null ||
      this.#hide.unjudged.some(({ directory }) => isWithin(directory, path));
  }

  /**
   * Sorts names by whether their content may be shown and taken in. The reader is asked about each, so that hard links,
   * links and deny rules count as everywhere; a file that is gone counts by its path alone.
   */
  async sorted(names: readonly string[]): Promise<SortedPaths> {
    const sorted: SortedPaths = { open: [], kept: [] };
    for (const name of names) {
      const reason = await this.#whyKept(name);
      if (reason === null) sorted.open.push(name);
      else sorted.kept.push({ name, reason });
    }
    return sorted;
  }

  async #whyKept(name: string): Promise<string | null> {
    if (this.isCovered(name)) return "protected";
    const { workspace, readDenied } = this.context;
    const path = await workspace.resolve(join(workspace.root, name));
    if (isRefusal(path)) return REASONS[path.refused];
    if ((readDenied?.(path) ?? null) !== null) return "denied by a rule";
    const read = await workspace.read(path, { limit: 0 });
    if (!isRefusal(read)) return read.label === "open" ? null : "protected";
    // Git stores only the target of a link to a directory.
    const isLink = read.refused === "not_a_file" && lstatSync(path.path)?.kind === "symlink";
    if (isLink && statSync(path.real)?.kind === "directory") {
      return workspace.protection.rule(path.real) === null ? null : "protected";
    }
    if (read.refused !== "absent") return REASONS[read.refused];
    // A commit can have it anyway.
    workspace.noteUsed(path);
    return null;
  }

  /** Returns why git must not change these files: a few words after the first such name; null when it may. */
  async untouchable(names: readonly string[], commit: string): Promise<string | null> {
    for (const name of names) {
      if (this.isCovered(name)) return `${name}, which is protected`;
      if (await this.onlyUserChanges(name)) return `${name}, which only the user may change`;
      if (!/(?:^|\/)\.gitattributes$/.test(name)) continue;
      const text = await this.ask(["cat-file", "blob", `${commit}:${name}`]);
      if (text === null || /filter=/.test(text)) return `${name}, which says that a program filters files`;
    }
    const filtered = await this.filtered(names);
    return filtered === null ? "files that git does not tell of" : filtered[0] ?? null;
  }

  /** Whether a file may neither be changed by tools nor made by commands. */
  async onlyUserChanges(name: string): Promise<boolean> {
    const { workspace } = this.context;
    const path = join(workspace.root, name);
    return commandProtection(path, null) !== null ||
      await workspace.writeProtection({ path, real: realOrNamed(path) }) !== null;
  }

  /**
   * Returns the names that a program of the user filters, with the filter; without it git would store or write
   * something else.
   */
  async filtered(names: readonly string[]): Promise<string[] | null> {
    if (names.length === 0) return [];
    const input = names.join("\0");
    const found = await this.names(["check-attr", "-z", "--stdin", "filter"], { input });
    if (found === null || found.length !== names.length * 3) return null;
    return names.flatMap((name, index) => {
      const value = found[index * 3 + 2] ?? "";
      return ["unspecified", "unset"].includes(value) ? [] : [`${name}, which the program ${value} filters`];
    });
  }

  /** Git's configuration from the user's own files. */
  async userSettings(): Promise<[key: string, value: string][]> {
    const found: [string, string][] = [];
    const { env } = this.context.io;
    for (const file of userGitSettings({ userHome: env("HOME") || null, env })) {
      if (quietly(() => lstatSync(file)) === null) continue;
      const text = await this.ask(["config", "--null", "--list"], { env: { GIT_CONFIG_GLOBAL: file }, see: [file] });
      found.push(...parseSettings(text ?? ""));
    }
    return found;
  }

  /**
   * Returns why a text must not go into the repository; null when it may. Throws `policy_refused` for a remote model,
   * which could otherwise guess protected content and ask whether it is right.
   */
  async refuseText(text: string, display: string): Promise<ToolResult | null> {
    const refusal = await this.context.checkWrite?.(text, display) ?? null;
    if (refusal === null) return null;
    if (!this.context.workspace.local) throw new AgentcliError("policy_refused", refusal.message);
    return failure(`${refusal.message}.`, this.context);
  }

  /**
   * Tracked protected files that are not as git last saw them, judging by size and time: git itself does not see them.
   */
  async protectedChanges(paths: readonly string[]): Promise<{ changed: string[]; gone: string[] }> {
    const { root } = this.context.workspace;
    const tracked = (await this.names(["ls-files", "-z", "--", ...paths]) ?? []).filter((name) => this.isCovered(name));
    const [changed, gone] = [[] as string[], [] as string[]];
    if (tracked.length === 0) return { changed, gone };
    const text = await this.ask(["ls-files", "--debug", "-z", "--", ...tracked.slice(0, MOST_NAMES)]) ?? "";
    for (const [, name = "", seconds, size] of text.matchAll(INDEX_ENTRY)) {
      const found = quietly(() => lstatSync(join(root, name)));
      // Git records no size of a file that it saw in the second of its change.
      const same = Math.floor((found?.modified ?? 0) / 1000) === Number(seconds) &&
        (size === "0" || found?.size === Number(size));
      if (found === null) gone.push(name);
      else if (!same) changed.push(name);
    }
    return { changed, gone };
  }

  show(text: string): ToolResult {
    const limit = Math.min(LIMIT, this.context.resultBytes);
    const cut = text.length <= limit ? text : `${text.slice(0, limit)}\n[the rest is left out; name fewer paths]`;
    return success([...this.#notices.map((notice) => `[${notice}]`), cut.trimEnd()].join("\n"), this.context);
  }

  /** A failure that the model can act on. */
  fail(text: string): ToolResult {
    return failure(text, this.context);
  }

  /** A failure of git itself, whose own words can quote content. */
  failed(action: string): ToolResult {
    return this.fail(`git ${action} failed, or its answer was too long. Name fewer paths.`);
  }
}

/** Splits the output of `git cat-file --batch`: a line of id, kind and size, the bytes, a line end. */
function objectsIn(output: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const objects: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(0x0a, at);
    const size = Number(/ blob (\d+)$/.exec(new TextDecoder().decode(output.subarray(at, end)))?.[1]);
    if (end < 0 || !Number.isSafeInteger(size)) break;
    objects.push(output.subarray(end + 1, end + 1 + size));
    at = end + size + 2;
  }
  return objects;
}

/** Most names that are checked; a protected directory can hold thousands. */
const MOST_NAMES = 200;
/** An entry of `git ls-files --debug -z`: the name, seconds of its time, bytes. */
const INDEX_ENTRY =
  /([^\0]+)\0 {2}ctime: \d+:\d+\n {2}mtime: (\d+):\d+\n {2}dev: \d+\tino: \d+\n.*\n {2}size: (\d+)\t.*\n/g;

/**
 * The repository of the project; or, as text for the model, why there is none to work with. Its calls see the project
 * without protected paths and the network, and change only what they ask for.
 */
export async function openGitWork(context: ToolContext): Promise<GitWork | string> {
  const { workspace, sandbox, io } = context;
  const roots = [workspace.root, ...workspace.additional];
  const git = await findProgram("git", { path: `${GIT_PLACES}:${io.env("PATH") ?? ""}`, roots, io });
  if (git === null) return "Git is not installed on this machine.";
  const place = gitDirectory(join(workspace.root, ".git"));
  if (place === null) return "The project root is no git repository.";
  if (!pointsBack(place)) {
    return "The repository that .git names does not name this directory as its working tree, so it is not opened. Tell the " +
      "user: if it is the right one, set core.worktree in it (git config core.worktree).";
  }
  workspace.protection.refresh();
  const hide = await workspace.protection.hidden();
  const notices: string[] = [];
  const inSandbox = async (call: PlainCall) => {
    const sandboxed = await sandbox?.wrapCommand(
      requestOf(call, { context, places: [place.common, place.directory] }),
    );
    if (sandboxed?.kind === "ready") {
      notices.push(...sandboxed.notices);
      return sandboxed;
    }
    const { reason, hint } = sandboxed ?? { reason: "there is no sandbox for commands", hint: "see agentcli doctor" };
    throw new AgentcliError("policy_refused", reason, { hint });
  };
  const repository: Repository = { git, ...place, off: {}, inSandbox };
  try {
    const text = await askGit(repository, {
      args: ["config", "--null", "--list"],
      timeoutMs: DEADLINE_MS,
      limit: TAKEN,
      signal: context.signal,
    });
    if (text === null) return "git cannot read the settings of this repository.";
    const settings = parseSettings(text);
    return new GitWork({ ...repository, off: filtersOff(settings) }, { context, hide, settings, notices });
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
    await notifyOnce(context, `Git does not run: ${error.message}; ${error.hint}`);
    return `Git was not run: this project has protected paths, and ${error.message}.`;
  }
}

function requestOf(
  { argv, env, access, see }: PlainCall,
  { context, places }: { context: ToolContext; places: readonly string[] },
): SandboxRequest {
  const { workspace } = context;
  return {
    root: workspace.root,
    additional: workspace.additional,
    cwd: workspace.root,
    argv,
    env,
    protection: workspace.protection,
    git: false,
    network: false,
    gitTool: {
      roots: access === "tree" ? "write" : "read",
      places: [
        ...[...new Set(places)].map((path) => ({ kind: access === "read" ? "read" as const : "write" as const, path })),
        ...see.map((path) => ({ kind: "read" as const, path })),
      ],
      readOnly: places.flatMap((place) => SETTINGS.map((name) => join(place, name))),
    },
  };
}

/** The paths from the top of the repository; or those that cannot be used. */
export async function namesOf(paths: readonly string[], { workspace }: ToolContext): Promise<string[] | string> {
  const names: string[] = [];
  for (const given of paths) {
    const path = await workspace.resolve(given);
    if (isRefusal(path)) return `${path.message}.`;
    const name = relativeTo(workspace.root, path.path);
    if (name.startsWith("/")) return `${given} is not in the repository of the project.`;
    names.push(name);
  }
  return names;
}
