/** The project's repository in a sandbox of its own: what a repository can make git run sees nothing that is protected. */
import { commonDirectory, gitDirectory } from "../../boundary/sandbox/git_stores.ts";
import type { PlainCall, Repository } from "../../boundary/sandbox/git_call.ts";
import type { SandboxRefusal, SandboxRequest } from "../../boundary/sandbox/request.ts";
import { AgentcliError } from "../../errors.ts";
import { realPath } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import type { ToolContext } from "../tool.ts";

/** What makes git run something: not writable even where the repository is. */
const SETTINGS = ["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];

/**
 * The repository; or, as text for the model, why there is none to work with. Its calls see the project read-only, without
 * protected paths and the network, and the repository read-only too but for calls that ask for more.
 */
export async function openRepository(git: string, context: ToolContext): Promise<Repository | string> {
  const { workspace, sandbox } = context;
  const named = gitDirectory(workspace.root);
  const directory = named === null ? null : await realPath(named);
  if (directory === null) return "The project root is no git repository.";
  const common = await realPath(commonDirectory(directory));
  if (sandbox === undefined || common === null) {
    return refused({ reason: "there is no sandbox for commands", hint: null });
  }
  const places = [...new Set([common, directory])];
  const request = async (call: PlainCall): Promise<SandboxRequest> => ({
    root: workspace.root,
    additional: workspace.additional,
    cwd: workspace.root,
    argv: call.argv,
    env: call.env,
    hide: await workspace.protection?.hidden() ?? { files: [], directories: [] },
    readOnly: [
      ...workspace.protection?.markers ?? [],
      ...places.flatMap((place) => SETTINGS.map((name) => join(place, name))),
    ],
    git: "open",
    network: false,
    access: "read",
    more: places.map((path) => ({ kind: call.access, path })),
  });
  // Asked before the first call, so that a refusal is an answer and not a failure half-way.
  const first = await sandbox.wrapCommand(await request({ argv: [git, "--version"], env: {}, access: "read" }));
  if (first.kind === "refused") return refused(first);
  return {
    git,
    top: workspace.root,
    directory,
    async inSandbox(call) {
      const sandboxed = await sandbox.wrapCommand(await request(call));
      if (sandboxed.kind === "ready") return sandboxed;
      throw new AgentcliError("policy_refused", `git was not run: ${sandboxed.reason}`, { hint: sandboxed.hint });
    },
  };
}

function refused({ reason, hint }: Pick<SandboxRefusal, "reason"> & { hint: string | null }): string {
  return `Git was not run: this project has protected paths, and ${reason}.${
    hint === null ? "" : ` Tell the user: ${hint}.`
  }`;
}
