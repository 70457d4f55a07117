/** Git: what a model needs of git where commands do not see `.git`. Runs in a sandbox of its own. */
import { failure } from "../result.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { add, branch, commit, stash, switchTo } from "./changes.ts";
import { gitDeclaration, type GitInput } from "../declarations.ts";
import { diff, log, show, status } from "./look.ts";
import { type GitWork, namesOf, openGitWork } from "./repository.ts";

export const gitTool: Tool<GitInput> = {
  ...gitDeclaration,
  async run(input, context) {
    context.signal.throwIfAborted();
    const work = await openGitWork(context);
    if (typeof work === "string") return failure(work, context);
    const paths = await namesOf(input.paths ?? [], context);
    if (typeof paths === "string") return failure(paths, context);
    return await ACTIONS[input.action](work, input, paths);
  },
};

type Action = (work: GitWork, input: GitInput, paths: string[]) => Promise<ToolResult>;

const ACTIONS: Record<GitInput["action"], Action> = {
  status: (work, _, paths) => status(work, paths),
  diff: (work, { rev, staged }, paths) => diff(work, { rev, staged: staged === true, paths }),
  log: (work, { rev, count }, paths) => log(work, { rev, count, paths }),
  show: (work, { rev }, paths) => show(work, { rev, paths }),
  add: (work, _, paths) => add(work, paths),
  commit: (work, { message }) => commit(work, message ?? ""),
  branch: (work, { rev }) => branch(work, rev),
  switch: (work, { rev, create }) => switchTo(work, { name: rev ?? "", create: create === true }),
  stash: (work, { rev, message }, paths) => stash(work, { what: rev, message: message ?? "", paths }),
};
