/** A project with something protected, where `agentcli mcp install` finds the program on PATH. */
import assert from "node:assert/strict";
import type { Artifact } from "../../src/editor/resources/artifact.ts";
import { handlersOf } from "../../src/editor/resources/hook_entry.ts";
import { installProgram } from "./editor_program.ts";
import { runInProcess } from "./in_process.ts";
import { type TemporaryHome, temporaryHome } from "./program.ts";

/** The home of a test, and the command there. */
export type PreparedHome = TemporaryHome & { mcp: (...args: string[]) => ReturnType<typeof runInProcess> };

/** Makes it: `.env` is protected, and nothing is installed. */
export async function prepared(): Promise<PreparedHome> {
  const home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", "TOKEN=correct-horse-battery-staple-42\n");
  await installProgram(home);
  const env = { PATH: `${home.root}:${Deno.env.get("PATH")}` };
  return Object.assign(home, { mcp: (...args: string[]) => runInProcess(["mcp", ...args], { home, env }) });
}

/** Returns the lines for PowerShell of a guard that was made for Windows. */
export function windowsLines({ resources }: Artifact): { event: string; line: string }[] {
  return resources.flatMap((resource) => {
    if (resource.kind !== "item") return [];
    const [handler = {}] = handlersOf(resource.value);
    return [{ event: resource.at.at(-1) ?? "", line: String(handler.commandWindows ?? handler.command) }];
  });
}

/** Waits for a command that has to go well. */
export async function done(finished: ReturnType<typeof runInProcess>): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await finished;
  assert.equal(code, 0, stderr + stdout);
  return { stdout, stderr };
}
