/** What a bench needs around the children: a mock server, a home, a project, and the two programs to compare. */
import { measure, type Measured, openChildClock } from "./child.ts";
import type { MockRecord } from "./mock.ts";

/** One of the programs, doing the same. */
export interface Subject {
  name: string;
  argv: string[];
  /** Variables of its own. */
  env?: Record<string, string>;
}

/** A run with what the server saw of it. */
export interface Run extends Measured {
  log: MockRecord[];
}

/** The stage; `await using` takes it down. */
export interface Stage extends AsyncDisposable {
  /** The program of ours with these arguments. */
  ours(...args: string[]): Subject;
  /** The bare client asking for this model. */
  floor(model: string): Subject;
  /** The empty program. */
  hello: Subject;
  /** Where the children run. */
  project: string;
  /** Of the server, with `/v1`. */
  baseUrl: string;
  /** A folder of the stage's own. */
  root: string;
  /** Throws with the child's errors when it fails, unless it `mayFail`. */
  run(subject: Subject, options?: { mayFail?: boolean; tree?: boolean; deadlineMs?: number }): Promise<Run>;
}

const HERE = new URL(".", import.meta.url);
const MODELS = ["short", "stream-20000", "stream-200000", "rounds-30", "rounds-1000", "grep"];

function pathOf(name: string): string {
  return decodeURIComponent(new URL(name, HERE).pathname);
}

async function denoDirectory(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

async function startMock(project: string): Promise<{ port: number; stop(): Promise<void> }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", "--no-config", pathOf("mock.ts"), project],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  return {
    port: Number(value),
    async stop() {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
    },
  };
}

async function makeProject(root: string): Promise<string> {
  const project = `${root}/project`;
  await Deno.mkdir(project);
  const line = "A line of a note that is read by a tool and sent back to the model.\n";
  for (let at = 1; at <= 1000; at++) {
    await Deno.writeTextFile(`${project}/note-${at}.txt`, `note ${at}\n${line.repeat(8)}`);
  }
  return project;
}

async function writeConfiguration(home: string, port: number): Promise<void> {
  const models = MODELS.map((id) => ({ id, context_window: 10_000_000, tool_calls: "native" }));
  const bench = { type: "openai_compat", base_url: `http://127.0.0.1:${port}/v1`, api_key: "local", models };
  // Nothing listens at its port.
  const nobody = { ...bench, base_url: "http://127.0.0.1:9/v1" };
  await Deno.mkdir(`${home}/.agentcli`, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(
    `${home}/.agentcli/providers.yaml`,
    JSON.stringify({ version: 1, providers: { bench, nobody } }),
    { mode: 0o600 },
  );
}

/** Sets the stage for the program in the file `program` (a bundle or a binary). */
export async function openStage(program: string): Promise<Stage> {
  const root = await Deno.makeTempDir({ prefix: "agentcli-bench-" });
  await Deno.mkdir(`${root}/tmp`);
  const project = await makeProject(root);
  const mock = await startMock(project);
  await writeConfiguration(root, mock.port);
  const env = {
    HOME: root,
    AGENTCLI_HOME: `${root}/.agentcli`,
    PATH: Deno.env.get("PATH") ?? "",
    TMPDIR: `${root}/tmp`,
    DENO_DIR: await denoDirectory(),
    DENO_NO_UPDATE_CHECK: "1",
  };
  const clock = openChildClock();
  const server = `http://127.0.0.1:${mock.port}`;
  const deno = [Deno.execPath(), "run", "--quiet", "-A", "--no-config"];
  const start = /\.[jt]s$/.test(program) ? [...deno, program] : [program];
  return {
    ours: (...args) => ({ name: "ours", argv: [...start, ...args] }),
    floor: (model) => ({ name: "floor", argv: [...deno, pathOf("floor_client.js"), `${server}/v1`, model, "Hello"] }),
    hello: { name: "floor", argv: [...deno, pathOf("floor_hello.js")] },
    project,
    root,
    baseUrl: `${server}/v1`,
    async run(subject, options) {
      await (await fetch(`${server}/clear`)).body?.cancel();
      const measured = await measure(subject.argv, {
        cwd: project,
        env: { ...env, ...subject.env },
        clock,
        ...options,
      });
      if (measured.code !== 0 && options?.mayFail !== true) {
        throw new Error(`${subject.argv.join(" ")} ended with ${measured.code}:\n${measured.stderr.slice(-2000)}`);
      }
      return { ...measured, log: await (await fetch(`${server}/log`)).json() };
    },
    async [Symbol.asyncDispose]() {
      await mock.stop();
      await Deno.remove(root, { recursive: true });
    },
  };
}
