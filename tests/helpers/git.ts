/** Git for tests, with no configuration but that of the repository. */
import { outputOf } from "../../src/platform/process_group.ts";

/** Runs git, and throws with what it said when it fails. */
export async function git(cwd: string, ...args: string[]): Promise<void> {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@t.invalid", "-c", "init.defaultBranch=main"];
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const output = await outputOf(new Deno.Command("git", { args: [...identity, ...args], cwd, env }));
  if (!output?.success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(output?.stderr)}`);
}

/** Whether there is a git to run. */
export const HAS_GIT =
  (await outputOf(new Deno.Command("git", { args: ["--version"], stdout: "null", stderr: "null" })))?.success === true;
