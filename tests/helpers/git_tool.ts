/** The Git tool in a repository with protected files. */
import { createSessionSandbox } from "../../src/boundary/sandbox/sandbox.ts";
import { hasBubblewrap } from "../boundary/sandbox_project.ts";
import { inToolProject, type ToolProject } from "./tool_project.ts";
import type { GitInput } from "../../src/tools/declarations.ts";
import { gitTool } from "../../src/tools/git/tool.ts";

/** For tests that need a sandbox. */
export const sandboxed = { ignore: !hasBubblewrap() };
/** The marker of the repository. */
export const marker = "no-cloud: .env\nno-cloud: secrets\n";

/** Runs `work` in a repository with one commit, in which `.env` and `secrets` are protected. */
export async function withRepository(work: (project: ToolProject) => Promise<void>): Promise<void> {
  await inToolProject(async (project) => {
    await project.write(".env", "A=CANARY\n");
    await project.write("secrets/k.txt", "CANARY\n");
    await project.write("pub.txt", "one\n");
    const setup = [
      "init -q -b main",
      "config user.name t",
      "config user.email t@example.com",
      "add -A",
      "commit -qm first",
    ];
    for (const line of setup) await git(project, ...line.split(" "));
    const { root, context } = project;
    context.sandbox = createSessionSandbox({
      io: { os: "linux", env: (name: string) => ({ PATH: "/usr/bin:/bin" } as Record<string, string>)[name] },
      settings: { mode: "auto", network: false, read: [], write: [], env: [] },
      home: `${root}/../never-made-home`,
      roots: [root],
    });
    await work(project);
  }, { marker });
}

/** Runs git as the user would, without a sandbox. */
export async function git(project: ToolProject, ...args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command("git", {
    args: ["-c", "safe.directory=*", ...args],
    cwd: project.root,
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
  }).output();
  return new TextDecoder().decode(stdout);
}

/** Calls the Git tool. */
export function run(project: ToolProject, input: GitInput) {
  return project.run(gitTool, input);
}
