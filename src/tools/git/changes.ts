/** The changing commands of Git: the index, commits, branches and stashes, and open files of the working tree. */
import { PLAIN_DIFF } from "./call.ts";
import { shownName } from "../file_names.ts";
import type { ToolResult } from "../tool.ts";
import { showCommit, STATUS } from "./look.ts";
import type { GitWork } from "./repository.ts";

/** Most branches or stashes of a list. */
const MOST_LISTED = 100;
const FROM_INPUT = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/** Adds open files at or below paths to the index; what a directory holds is added file by file. */
export async function add(work: GitWork, paths: readonly string[]): Promise<ToolResult> {
  if (paths.length === 0) return work.fail("Name the paths to add.");
  const entries = await work.names([...STATUS, "-uall", "--", ...paths]);
  if (entries === null) return work.failed("add");
  const names = entries.map((entry) => entry.slice(3)).filter((name) => !work.isCovered(name));
  // What git does not see as it is: asked for by name, it is listed.
  const unseen = [...paths, ...(await work.protectedChanges(paths)).changed].filter((name) => work.isCovered(name));
  const nested = names.filter((name) => name.endsWith("/"));
  const sorted = await work.sorted([...new Set([...names.filter((name) => !name.endsWith("/")), ...unseen])]);
  const filtered = await work.filtered(sorted.open);
  if (filtered === null) return work.failed("add");
  const notes = [
    ...sorted.kept.map(({ name, reason }) => `${shownName(name)} was not added: ${reason}`),
    ...nested.map((name) => `${shownName(name)} was not added: it is a repository of its own`),
    ...filtered.map((words) => `not added: ${shownName(words)}; only the user can add it`),
  ];
  const open = sorted.open.filter((name) => !filtered.some((words) => words.startsWith(`${name}, which the program `)));
  const refusal = await work.refuseText(open.join("\n"), "a name in the repository");
  if (refusal !== null) return refusal;
  if (open.length > 0) {
    const options = { input: open.join("\0"), access: "repository" } as const;
    if (!await work.run(["add", "-A", ...FROM_INPUT], options)) return work.failed("add");
  }
  const lines = [...open.map((name) => `added ${shownName(name)}`), ...notes];
  if (notes.length > 0 && open.length === 0) return work.fail(lines.join("\n"));
  return work.show(lines.length === 0 ? "nothing to add" : lines.join("\n"));
}

/** Commits what is staged. */
export async function commit(work: GitWork, message: string): Promise<ToolResult> {
  if (message.trim() === "") return work.fail("A commit needs a message.");
  const staged = await work.ask(["diff", ...PLAIN_DIFF, "--cached", "--name-only", "-z"]);
  if (staged === null) return work.failed("commit");
  if (staged === "") return work.fail("Nothing is staged: add paths first.");
  const refusal = await work.refuseText(message, "the commit message");
  if (refusal !== null) return refusal;
  const settings = await identity(work);
  if (settings === null) {
    return work.fail("The user has no name and address for commits: git config --global user.name, user.email.");
  }
  const args = ["commit", "-q", "--no-verify", "--no-gpg-sign", "--no-status", "-F", "-"];
  if (!await work.run(args, { input: message, access: "repository", settings })) return work.failed("commit");
  const made = await work.ask(["log", "-n1", "--format=%h %s", "--no-show-signature"]);
  return work.show(`committed ${made?.trim() ?? ""}`);
}

/** Of the repository, else of the user: the only setting that is read from the user's own configuration. */
async function identity(work: GitWork): Promise<Record<string, string> | null> {
  const found: Record<string, string> = {};
  const last = (settings: readonly (readonly [string, string])[], key: string) =>
    settings.findLast(([name]) => name === key)?.[1] ?? "";
  for (const key of ["user.name", "user.email"]) {
    const value = last(work.settings, key) || last(await work.userSettings(), key);
    if (value === "") return null;
    found[key] = value;
  }
  return found;
}

/** Lists branches, or creates one at the current commit. */
export async function branch(work: GitWork, name: string | undefined): Promise<ToolResult> {
  if (name === undefined) {
    const form = "--format=%(if)%(HEAD)%(then)%(HEAD)%(else) %(end) %(refname:short) %(objectname:short) %(subject)";
    const text = await work.ask(["for-each-ref", `--count=${MOST_LISTED}`, form, "refs/heads"]);
    return text === null ? work.failed("branch") : work.show(text.trimEnd() || "no branches yet");
  }
  const problem = await unusableName(work, name);
  if (problem !== null) return problem;
  const made = await work.run(["branch", "--no-track", name], { access: "repository" });
  return made
    ? work.show(`made the branch ${name}`)
    : work.fail(`There is a branch ${name} already, or no commit yet.`);
}

async function unusableName(work: GitWork, name: string): Promise<ToolResult | null> {
  if (name.startsWith("-") || await work.ask(["check-ref-format", "--branch", name]) === null) {
    return work.fail(`${shownName(name)} cannot be the name of a branch.`);
  }
  return await work.refuseText(name, "the name of a branch");
}

/** Checks another branch out, as long as no file changes that is protected, or that decides what other programs run. */
export async function switchTo(
  work: GitWork,
  { name, create }: { name: string; create: boolean },
): Promise<ToolResult> {
  if (name === "") return work.fail("Name the branch in rev.");
  if (create) {
    const problem = await unusableName(work, name);
    if (problem !== null) return problem;
    const made = await work.run(["switch", "-q", "--no-track", "-c", name], { access: "repository" });
    return made ? work.show(`on ${name}`) : work.fail(`There is a branch ${name} already.`);
  }
  const target = await work.commit(`refs/heads/${name}`);
  const head = await work.commit("HEAD");
  if (target === null || head === null) return work.fail(`There is no branch ${shownName(name)}.`);
  const names = await work.names(["diff-tree", "-r", ...PLAIN_DIFF, "--name-only", "-z", head, target]);
  if (names === null) return work.failed("switch");
  const problem = await work.untouchable(names, target);
  if (problem !== null) return forUser(work, { problem, command: `git switch ${name}` });
  const args = ["switch", "-q", "--no-guess", "--no-recurse-submodules", name];
  if (await work.run(args, { access: "tree" })) return work.show(`on ${name}`);
  return work.fail(`git switch failed: commit or stash the changes that it would overwrite.`);
}

function forUser(work: GitWork, { problem, command }: { problem: string; command: string }): ToolResult {
  return work.fail(`This would change ${shownName(problem)}. Ask the user to run: ${command}`);
}

/** Puts changes of open files aside, or restores them. */
export async function stash(
  work: GitWork,
  { what = "push", message, paths }: { what?: string | undefined; message: string; paths: readonly string[] },
): Promise<ToolResult> {
  const [, action, number = "0"] = /^(push|list|show|apply|pop)(?: (?:stash@\{)?(\d{1,4})\}?)?$/.exec(what.trim()) ??
    [];
  if (action === undefined) return work.fail("For stash, rev is push, list, show, apply or pop, with a number: pop 1.");
  if (action === "push") return await pushStash(work, { message, paths });
  if (action === "list") {
    const text = await work.ask(["stash", "list", `-n${MOST_LISTED}`, "--no-show-signature"]);
    return text === null ? work.failed("stash") : work.show(text.trimEnd() || "no stashes");
  }
  const name = `stash@{${number}}`;
  const kept = await work.commit(name);
  if (kept === null) return work.fail(`There is no ${name}.`);
  if (action === "show") return await showCommit(work, { commit: kept, paths });
  const changed = await work.names(["diff-tree", "-r", ...PLAIN_DIFF, "--name-only", "-z", `${kept}^1`, kept]);
  const other = await work.names(["diff", ...PLAIN_DIFF, "--name-only", "-z", kept]);
  // What is already as the stash has it, such as a staged marker, does not change.
  const names = other === null ? null : changed?.filter((name) => other.includes(name)) ?? null;
  const untracked = await work.commit(`${kept}^3`);
  const more = untracked === null ? [] : await work.names(["ls-tree", "-r", "--name-only", "-z", untracked]);
  if (names === null || more === null) return work.failed("stash");
  const problem = await work.untouchable(names, kept) ?? await work.untouchable(more, untracked ?? kept);
  if (problem !== null) return forUser(work, { problem, command: `git stash ${action} ${name}` });
  const settings = await identity(work) ?? {};
  if (await work.run(["stash", action, "-q", name], { access: "tree", settings })) return work.show(`${action}: done`);
  return work.fail("git stash failed or left conflicts: look at status and diff. A stash with conflicts is kept.");
}

async function pushStash(
  work: GitWork,
  { message, paths }: { message: string; paths: readonly string[] },
): Promise<ToolResult> {
  const refusal = await work.refuseText(message, "the message of a stash");
  if (refusal !== null) return refusal;
  const names = await work.names(["diff", ...PLAIN_DIFF, "--name-only", "-z", "HEAD", "--", ...paths]);
  if (names === null) return work.fail("There is no commit yet.");
  const changeable: string[] = [];
  for (const name of names) if (!await work.onlyUserChanges(name)) changeable.push(name);
  const { open } = await work.sorted(changeable);
  const filtered = await work.filtered(open);
  if (filtered === null) return work.failed("stash");
  if (filtered.length > 0) return forUser(work, { problem: filtered[0] ?? "", command: "git stash" });
  if (open.length === 0) {
    return work.fail("There is nothing to stash: only changes of tracked files that are open are.");
  }
  const args = ["stash", "push", "-q", ...message === "" ? [] : ["-m", message], ...FROM_INPUT];
  const settings = await identity(work) ?? {};
  if (!await work.run(args, { input: open.join("\0"), access: "tree", settings })) return work.failed("stash");
  return work.show(open.map((name) => `stashed ${shownName(name)}`).join("\n"));
}
