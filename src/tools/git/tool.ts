/** Git: the few things a model needs of git where commands may not see `.git`. Runs in a sandbox of its own. */
import { askGit, callGit, PLAIN_DIFF, type Repository } from "../../boundary/sandbox/git_call.ts";
import { join, relativeTo } from "../../platform/path.ts";
import { findExecutable } from "../../platform/process.ts";
import { failure, isRefusal, success } from "../result.ts";
import { shownName } from "../shown_name.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { sortPaths } from "./paths.ts";
import { type ProtectedChanges, protectedChanges } from "./protected_changes.ts";
import { openRepository } from "./repository.ts";
import { statusEntries } from "./status_entries.ts";
import { gitDeclaration, type GitInput } from "./declaration.ts";

export type { GitInput };

const PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";
const DEADLINE_MS = 30_000;
/** Most characters of one answer. */
const LIMIT = 20_000;
/** Characters that are taken from git at most; a longer answer is an error. */
const TAKEN = 4 * 1024 * 1024;
const MOST_COMMITS = 100;

/** Offered instead of git in commands where the history holds protected paths. */
export const gitTool: Tool<GitInput> = {
  ...gitDeclaration,
  async run(input, context) {
    context.signal.throwIfAborted();
    const { workspace, io } = context;
    const notBelow = [workspace.root, ...workspace.additional];
    const git = await findExecutable("git", `${PLACES}:${io.env("PATH") ?? ""}`, { notBelow });
    if (git === null) return failure("Git is not installed on this machine.", context);
    workspace.protection?.refresh();
    const repository = await openRepository(git, context);
    if (typeof repository === "string") return failure(repository, context);
    const paths = await namesOf(input.paths ?? [], context);
    if (typeof paths === "string") return failure(paths, context);
    return await new GitCalls(repository, context).run(input, paths);
  },
};

/** The paths from the top of the repository; or which cannot be used. */
async function namesOf(paths: readonly string[], { workspace }: ToolContext): Promise<string[] | string> {
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

/** Submodules are never looked into: git would run in them, with their settings. */
const STATUS: readonly string[] = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"];

class GitCalls {
  readonly #repository: Repository;
  readonly #context: ToolContext;

  constructor(repository: Repository, context: ToolContext) {
    this.#repository = repository;
    this.#context = context;
  }

  async run(input: GitInput, paths: string[]): Promise<ToolResult> {
    switch (input.action) {
      case "status":
        return await this.#status(paths);
      case "diff":
        return await this.#diff(input.staged === true, paths);
      case "log":
        return await this.#log(Math.min(Math.max(input.count ?? 10, 1), MOST_COMMITS), paths);
      case "add":
        return await this.#add(paths);
      case "commit":
        return await this.#commit(input.message ?? "");
    }
  }

  #ask(args: string[], more: { input?: string; access?: "write" } = {}): Promise<string | null> {
    const { signal } = this.#context;
    return askGit(this.#repository, { args, timeoutMs: DEADLINE_MS, limit: TAKEN, signal, ...more });
  }

  /** What git says of protected files in the working tree is about what hides them; this is what is so. */
  async #protected(paths: string[]): Promise<ProtectedChanges> {
    const listed = await this.#ask(["ls-files", "-z", "--", ...paths]);
    const tracked = listed?.split("\0").filter((name) => name !== "") ?? [];
    return await protectedChanges({ tracked, paths }, this.#context);
  }

  #covered(name: string): boolean {
    const { root, protection } = this.#context.workspace;
    return (protection?.rule(join(root, name)) ?? null) !== null;
  }

  #failed(action: string): ToolResult {
    return failure(`git ${action} failed, or its answer was too long. Name fewer paths.`, this.#context);
  }

  #show(text: string): ToolResult {
    const limit = Math.min(LIMIT, this.#context.resultBytes);
    const cut = text.length <= limit ? text : `${text.slice(0, limit)}\n[the rest is left out; name fewer paths]`;
    return success(cut.trimEnd(), this.#context);
  }

  async #status(paths: string[]): Promise<ToolResult> {
    const branch = await this.#ask(["symbolic-ref", "--short", "-q", "HEAD"]);
    const text = await this.#ask([...STATUS, "--", ...paths]);
    if (text === null) return this.#failed("status");
    const { changed, gone } = await this.#protected(paths);
    const entries = statusEntries(text, { changed, gone, covered: (name) => this.#covered(name) });
    const kept = await sortPaths(entries.map((entry) => entry.slice(3)), this.#context);
    const marked = new Set(kept.kept.filter(({ reason }) => reason === "protected").map(({ name }) => name));
    const lines = entries.map((entry) => `${shownName(entry)}${marked.has(entry.slice(3)) ? " [no-cloud]" : ""}`);
    const head = branch === null ? "no branch" : `on ${shownName(branch.trim())}`;
    return this.#show([lines.length === 0 ? `${head}, nothing changed` : head, ...lines].join("\n"));
  }

  async #diff(staged: boolean, paths: string[]): Promise<ToolResult> {
    const base = ["diff", ...PLAIN_DIFF, ...staged ? ["--cached"] : []];
    const names = await this.#ask([...base, "--name-only", "-z", "--", ...paths]);
    if (names === null) return this.#failed("diff");
    const { changed, gone } = staged ? { changed: [], gone: [] } : await this.#protected(paths);
    const seen = names.split("\0").filter((name) => name !== "" && (staged || !this.#covered(name)));
    const sorted = await sortPaths([...changed, ...gone, ...seen], this.#context);
    const notes = sorted.kept.map(({ name, reason }) => `[${shownName(name)} has changed; not shown: ${reason}]`);
    if (sorted.open.length === 0) return this.#show(["no changes to show", ...notes].join("\n"));
    const text = await this.#ask([...base, "--", ...sorted.open]);
    return text === null ? this.#failed("diff") : this.#show([...notes, text].join("\n"));
  }

  async #log(count: number, paths: string[]): Promise<ToolResult> {
    const form = "--format=%h %ad %an: %s";
    const args = ["log", `-n${count}`, form, "--date=short", "--no-show-signature", ...PLAIN_DIFF, "--", ...paths];
    const text = await this.#ask(args);
    return text === null ? failure("There is no commit yet.", this.#context) : this.#show(text || "no commits");
  }

  async #add(paths: string[]): Promise<ToolResult> {
    if (paths.length === 0) return failure("Name the paths to add.", this.#context);
    // What a directory holds is added file by file: protected ones stay out.
    const listed = await this.#ask([...STATUS, "-uall", "--", ...paths]);
    if (listed === null) return this.#failed("add");
    const names = listed.split("\0").filter((entry) => entry !== "").map((entry) => entry.slice(3));
    const { changed, gone, untracked } = await this.#protected(paths);
    const seen = names.filter((name) => !this.#covered(name));
    const sorted = await sortPaths(
      [...seen.filter((name) => !name.endsWith("/")), ...changed, ...gone, ...untracked],
      this.#context,
    );
    const nested = seen.filter((name) => name.endsWith("/"));
    sorted.kept.push(...nested.map((name) => ({ name, reason: "it is a repository of its own" })));
    if (sorted.open.length > 0) {
      const args = ["add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"];
      if (await this.#ask(args, { input: sorted.open.join("\0"), access: "write" }) === null) {
        return this.#failed("add");
      }
    }
    const notes = sorted.kept.map(({ name, reason }) => `${shownName(name)} was not added: ${reason}`);
    const added = sorted.open.map((name) => `added ${shownName(name)}`);
    const lines = [...added, ...notes];
    return notes.length > 0 && added.length === 0
      ? failure(lines.join("\n"), this.#context)
      : this.#show(lines.length === 0 ? "nothing to add" : lines.join("\n"));
  }

  async #commit(message: string): Promise<ToolResult> {
    if (message.trim() === "") return failure("A commit needs a message.", this.#context);
    const staged = await this.#ask(["diff", ...PLAIN_DIFF, "--cached", "--name-only", "-z"]);
    if (staged === null) return this.#failed("commit");
    if (staged === "") return failure("Nothing is staged: add paths first.", this.#context);
    const settings = await this.#identity();
    if (settings === null) {
      return failure(
        "The user has no name and address for commits: git config --global user.name, user.email.",
        this.#context,
      );
    }
    const outcome = await callGit(this.#repository, {
      args: ["commit", "-q", "--no-verify", "--no-gpg-sign", "--no-status", "-F", "-"],
      input: message,
      access: "write",
      settings,
      timeoutMs: DEADLINE_MS,
      signal: this.#context.signal,
      onOutput: () => {},
    });
    if (outcome.ended !== "exit" || outcome.code !== 0) return this.#failed("commit");
    const made = await this.#ask(["log", "-n1", "--format=%h %s", "--no-show-signature"]);
    return this.#show(`committed ${made?.trim() ?? ""}`);
  }

  /** Of the repository, else of the user: the one thing that is asked of the user's own configuration. */
  async #identity(): Promise<Record<string, string> | null> {
    const identity: Record<string, string> = {};
    // The sandbox has no home of the user's; reading one file of settings starts nothing.
    const { git, top } = this.#repository;
    const plain = { git, top };
    const home = this.#context.io.env("HOME") ?? "";
    for (const key of ["user.name", "user.email"]) {
      const own = await this.#ask(["config", "--get", key]);
      const users = [`${home}/.gitconfig`, `${home}/.config/git/config`];
      let value = own?.trim() ?? "";
      for (const file of users) {
        if (value === "") {
          value = (await askGit(plain, {
            args: ["config", "--file", file, "--get", key],
            timeoutMs: DEADLINE_MS,
            limit: TAKEN,
          }))?.trim() ?? "";
        }
      }
      if (value === "") return null;
      identity[key] = value;
    }
    return identity;
  }
}
