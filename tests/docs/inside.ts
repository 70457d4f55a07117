/**
 * Runs blocks of commands one after another, where nothing but loopback can be reached: started by `docs_test.ts` in a
 * network of its own, with a plan as JSON on standard input. Prints what came of each as JSON.
 */
import { join } from "../../src/platform/path.ts";
import { runInProcess } from "../helpers/in_process.ts";
import type { TemporaryHome } from "../helpers/home.ts";

/** What is to be run. */
export interface Plan {
  /** Holds `home` and `project`. */
  place: string;
  /** For each block the place is put back to what the setup made of it. */
  fresh: boolean;
  /** Run first, in the place itself. */
  setup: string;
  /** Every block is run by a shell, so that its output and errors come as on a terminal. */
  inShell?: boolean;
  blocks: string[];
  /** Of the blocks: PATH and the like. */
  env: Record<string, string>;
}

/** What came of a block. */
export interface Outcome {
  code: number;
  /** Standard output and errors as they came. */
  output: string;
}

/** Where servers of models are looked for, and where the pages say that one listens. */
const PORTS = [11434, 1234, 1919];

/** What a reader would type or pipe in: a key, or a line of a chat. */
const TYPED = "typed-in-4711\n";

/** Longest that one block may take, in seconds. */
const LIMIT = 60;

/** A server with the models of the pages that answers each prompt with the same words. */
function startModelServers(): void {
  const models = ["qwen3:8b", "qwen3:1.7b", "qwen3-coder:30b", "my-model"].map((id) => ({ id, object: "model" }));
  const answer = async (request: Request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/v1/models") return Response.json({ object: "list", data: models });
    if (pathname !== "/v1/chat/completions") return new Response("", { status: 404 });
    const { stream } = await request.json();
    const piece = { id: "c1", object: "chat.completion.chunk", created: 1, model: "qwen3:8b" };
    const choice = { index: 0, finish_reason: "stop" };
    const content = { role: "assistant", content: "Said by the stand-in server." };
    if (stream !== true) return Response.json({ ...piece, choices: [{ ...choice, message: content }] });
    const events = `data: ${
      JSON.stringify({ ...piece, choices: [{ ...choice, delta: content }] })
    }\n\ndata: [DONE]\n\n`;
    return new Response(events, { headers: { "content-type": "text/event-stream" } });
  };
  for (const port of PORTS) Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, answer);
}

type Place = Pick<Plan, "place" | "env" | "inShell">;

/** A word that means itself in a shell, quoted or not. */
const WORD = /'([^']*)'|"([^"$`\\]*)"|([^\s'"$`\\|&;<>()*?~#{}[\]!]+)(?=\s|$)/y;

/** Returns the arguments of a line that only calls the program; null when the line needs a shell. */
function argumentsOf(line: string): string[] | null {
  const [name, ...words] = wordsOf(line.trim()) ?? [];
  return name === "agentcli" ? words : null;
}

function wordsOf(line: string): string[] | null {
  const words: string[] = [];
  for (let at = 0; at < line.length;) {
    WORD.lastIndex = at;
    const found = WORD.exec(line);
    if (found === null) return null;
    words.push(found[1] ?? found[2] ?? found[3] ?? "");
    at = WORD.lastIndex;
    while (line[at] === " ") at += 1;
  }
  return words;
}

/** Runs lines that only call the program, without a process for each. */
async function runLines(lines: readonly string[][], { place, env }: Place): Promise<Outcome> {
  const [home, project, tmp] = [join(place, "home"), join(place, "project"), join(place, "tmp")];
  const directories = { root: place, home, project, tmp, agentcliHome: join(home, ".agentcli") } as TemporaryHome;
  const variables = { ...env, AGENTCLI_HOME: null, USER: "reader", NO_COLOR: "1" };
  let output = "";
  for (const args of lines) {
    const done = await runInProcess([...args, "--yes"], { home: directories, env: variables, stdin: TYPED });
    output += done.stdout + done.stderr;
    if (done.code !== 0) return { code: done.code, output };
  }
  return { code: 0, output };
}

async function runBlock(text: string, { place, env, inShell = false }: Place): Promise<Outcome> {
  const lines = text.split("\n").map(argumentsOf);
  if (!inShell && lines.every((args) => args !== null)) return await runLines(lines, { place, env });
  const script = join(place, "block.sh");
  // As at a prompt: aliases count; and the first command that fails ends the block.
  await Deno.writeTextFile(script, `exec 2>&1\nset -eo pipefail\nshopt -s expand_aliases\n${text}\n`);
  const home = join(place, "home");
  const child = new Deno.Command("timeout", {
    args: [String(LIMIT), "bash", script],
    cwd: join(place, "project"),
    clearEnv: true,
    env: { ...env, HOME: home, USER: "reader", TMPDIR: join(place, "tmp"), NO_COLOR: "1", LANG: "C.UTF-8" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(TYPED)).catch(() => {});
  await writer.close().catch(() => {});
  const output = await new Response(child.stdout).text();
  return { code: (await child.status).code, output };
}

/** Puts a copy of `from` in place of `to`: what was stored under its path is found there again. */
async function replace(to: string, from: string): Promise<void> {
  await Deno.remove(to, { recursive: true }).catch(() => {});
  const { success } = await new Deno.Command("cp", { args: ["-a", from, to] }).output();
  if (!success) throw new Error(`${from} could not be copied`);
}

if (import.meta.main) {
  const plan: Plan = await new Response(Deno.stdin.readable).json();
  startModelServers();
  const outcomes = [await runBlock(plan.setup, plan)];
  if (plan.fresh) await replace(`${plan.place}-prepared`, plan.place);
  for (const text of plan.blocks) {
    if (plan.fresh) await replace(plan.place, `${plan.place}-prepared`);
    outcomes.push(await runBlock(text, plan));
  }
  console.log(JSON.stringify(outcomes));
  Deno.exit(0);
}
