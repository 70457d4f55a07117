/** The program for the hooks of an editor, and the editor's way of running them. */
import { runInProcess } from "./in_process.ts";
import { programCommand, type TemporaryHome } from "./program.ts";

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
  return await runInProcess(["editor", ...args], { home, env: { DENO_DIR } });
}

/** The same, and throws with what it said when the exit code is not 0. */
export async function done(home: TemporaryHome, ...args: string[]) {
  const finished = await editor(home, ...args);
  if (finished.code !== 0) {
    throw new Error(`${args.join(" ")}: exit ${finished.code}: ${finished.stderr}${finished.stdout}`);
  }
  return finished;
}

/** Runs what the script of a scaffolded hook calls, without a shell and a process. */
export async function callHook(
  home: TemporaryHome,
  { scaffold, event, assistant, settings = [] }: {
    scaffold: string;
    event: string;
    assistant?: string;
    settings?: readonly string[];
  },
  { input, env = {}, cwd }: LineOptions,
) {
  const given = settings.flatMap((setting) => ["--set", setting]);
  const words = [scaffold, event, ...assistant === undefined ? [] : [assistant]];
  return await runInProcess(["editor", "hook", ...words, ...given], { home, env, cwd, stdin: input });
}

/** How a line is run. */
export interface LineOptions {
  input: string | Uint8Array;
  /** Added to the environment; null removes a variable. */
  env?: Readonly<Record<string, string | null>>;
  cwd?: string;
  /** The program and the words before the line; bash unless told. */
  shell?: readonly [string, ...string[]];
}

/** Runs a command line as the editor does: in a shell, at the root of the project. */
export async function runLine(
  home: TemporaryHome,
  line: string,
  { input, env = {}, cwd, shell: [shell, ...words] = ["bash", "-c"] }: LineOptions,
) {
  const variables: Record<string, string | null> = {
    PATH: Deno.env.get("PATH") ?? null,
    HOME: home.home,
    AGENTCLI_HOME: home.agentcliHome,
    TMPDIR: home.tmp,
    DENO_NO_UPDATE_CHECK: "1",
    DENO_DIR,
    ...env,
  };
  const child = new Deno.Command(shell, {
    args: [...words, line],
    cwd: cwd ?? home.project,
    clearEnv: true,
    env: Object.fromEntries(
      Object.entries(variables).flatMap(([name, value]) => value === null ? [] : [[name, value]]),
    ),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  // Whoever does not read its input ends before it is written.
  const writer = child.stdin.getWriter();
  const written = writer.write(typeof input === "string" ? new TextEncoder().encode(input) : input)
    .then(() => writer.close()).catch(() => {});
  const { code, stdout, stderr } = await child.output();
  await written;
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** Does `work` for each of `items`, as many at a time as there are processors. */
export async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const next = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.max(2, navigator.hardwareConcurrency) }, next));
}
