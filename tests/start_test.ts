/** What a start loads, and what it asks: each module and each request before the first one of a turn makes all turns slower. */
import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, environmentOf, temporaryHome } from "./helpers/program.ts";

const ROOT = new URL("../", import.meta.url);
/** What a turn loads before its first request: the program, the command, the turn, and where its session is stored. */
const START = ["main.ts", "src/cli/run/command.ts", "src/cli/reexec.ts", "src/cli/run/run.ts", "src/runtime/store.ts"];

/** The modules of ours that these import at once, with themselves. */
async function loadedAtOnce(start: readonly string[]): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
    cwd: ROOT,
    stderr: "inherit",
  }).output();
  interface Module {
    specifier: string;
    dependencies?: { code?: { specifier?: string }; isDynamic?: boolean }[];
  }
  const modules: Module[] = JSON.parse(new TextDecoder().decode(stdout)).modules;
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const loaded = new Set<string>();
  const waiting = start.map((path) => new URL(path, ROOT).href);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (loaded.has(next)) continue;
    loaded.add(next);
    for (const { code, isDynamic } of known.get(next)?.dependencies ?? []) {
      if (code?.specifier !== undefined && isDynamic !== true) waiting.push(code.specifier);
    }
  }
  return [...loaded].filter((specifier) => specifier.startsWith(ROOT.href))
    .map((specifier) => decodeURIComponent(specifier.slice(ROOT.href.length)));
}

Deno.test("a turn loads no more before its first request than it did", async () => {
  const loaded = await loadedAtOnce(START);
  for (const path of START) assert.ok(loaded.includes(path), path);
  const sizes = await Promise.all(loaded.map(async (path) => (await Deno.stat(new URL(path, ROOT))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  // Load what is new where it is first needed; raise these for what every turn needs before it asks anything.
  assert.ok(loaded.length <= 124, `${loaded.length} modules: ${loaded.join(" ")}`);
  assert.ok(bytes <= 676_500, `${bytes} bytes of sources`);
});

/** The modules of ours that a short turn has loaded when it ends, as the engine saw it. */
async function loadedByTurn(): Promise<string[]> {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Hello.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "plain", context_window: 131_072 }] } });
  const coverage = `${home.tmp}/coverage`;
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-config", `--coverage=${coverage}`, "main.ts", "run", "Hello"],
    cwd: ROOT,
    clearEnv: true,
    env: environmentOf({ home }),
    stdin: "null",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const files = [...Deno.readDirSync(coverage)].map(({ name }) => `${coverage}/${name}`);
  const urls = files.map((file): string => JSON.parse(Deno.readTextFileSync(file)).url);
  return urls.filter((url) => url.startsWith(ROOT.href)).map((url) => decodeURIComponent(url.slice(ROOT.href.length)));
}

Deno.test("a short turn loads no leak scanner where nothing is protected, and little else that it did not", async () => {
  const loaded = await loadedByTurn();
  for (const path of START) assert.ok(loaded.includes(path), path);
  assert.deepEqual(loaded.filter((path) => path.startsWith("src/boundary/scan/")), []);
  assert.ok(loaded.length <= 133, `${loaded.length} modules: ${loaded.join(" ")}`);
});

/** How many requests each of two runs in a fresh home sends before its chat request. */
async function questionsOfTwoRuns(model: Record<string, unknown>): Promise<number[]> {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), say("Two.")], models: [String(model["id"])] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  const starts: number[] = [];
  for (const word of ["One", "Two"]) {
    starts.push(server.requests.length);
    const done = await runInProcess(["run", word, "--model", `loc:${model["id"]}`], { home });
    assert.equal(done.code, 0, done.stderr);
  }
  return server.chats().map((chat, run) => server.requests.indexOf(chat) - (starts[run] ?? 0));
}

Deno.test("a model whose window is configured is asked at once", async () => {
  assert.deepEqual(await questionsOfTwoRuns({ id: "plain", context_window: 32_768 }), [0, 0]);
});

Deno.test("a server is asked who it is before the first request where that changes it, and once", async () => {
  const known = await questionsOfTwoRuns({ id: "qwen3-coder", context_window: 32_768 });
  assert.equal(known[1], 0);
  const unknown = await questionsOfTwoRuns({ id: "plain" });
  assert.equal(unknown[1], 0);
  assert.ok(Math.max(...known, ...unknown) <= 3, `${known} ${unknown}`);
});

Deno.test("the first request of a short prompt has at most 4,096 bytes, with every tool", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Hello.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "plain", context_window: 131_072 }] } });
  const { code, stderr } = await runInProcess(["run", "Hello"], { home });
  assert.equal(code, 0, stderr);
  const { text, json } = server.chats()[0] ?? { text: "", json: {} };
  // The root of a usual project, whatever this one's is.
  const root = /Project root: (.*) \(/.exec(json.messages?.[0].content)?.[1] ?? "";
  const bytes = new TextEncoder().encode(text.replace(root, "/home/somebody/projects/a-project")).length;
  assert.ok(root !== "" && bytes <= 4096, `${bytes} bytes`);
  const names = json.tools.map((tool: { function: { name: string } }) => tool.function.name);
  assert.deepEqual(names.slice(-2), ["BashOutput", "Explore"]);
});
