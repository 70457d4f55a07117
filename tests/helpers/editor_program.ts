/** The program for the hooks of an editor, and the editor's way of running them. */
import { programCommand, runProgram, type TemporaryHome } from "./program.ts";

const DENO_DIR = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;

/** A script that starts the program of this checkout. */
export async function installProgram(home: TemporaryHome): Promise<string> {
  const path = `${home.root}/agentcli`;
  const command = programCommand().map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(path, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  return path;
}

/** Runs `agentcli editor …` in the project. */
export async function editor(home: TemporaryHome, ...args: string[]) {
  return await runProgram(["editor", ...args], { home, env: { DENO_DIR } });
}

/** The same, and throws with what it said when the exit code is not 0. */
export async function done(home: TemporaryHome, ...args: string[]) {
  const finished = await editor(home, ...args);
  if (finished.code !== 0) {
    throw new Error(`${args.join(" ")}: exit ${finished.code}: ${finished.stderr}${finished.stdout}`);
  }
  return finished;
}

/** Runs a command line as the editor does: in bash, at the root of the project. */
export async function runLine(home: TemporaryHome, line: string, { input }: { input: string }) {
  const child = new Deno.Command("bash", {
    args: ["-c", line],
    cwd: home.project,
    env: { HOME: home.home, AGENTCLI_HOME: home.agentcliHome, DENO_NO_UPDATE_CHECK: "1", DENO_DIR },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input)).catch(() => {});
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}
