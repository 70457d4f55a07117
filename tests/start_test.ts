/**
 * What a short turn loads, and what it asks: each module makes all turns slower, and so does each request before the
 * first one.
 */
import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, environmentOf, temporaryHome } from "./helpers/program.ts";

const ROOT = new URL("../", import.meta.url);

/** The modules of ours that a short turn has loaded when it ends, as the engine saw it, with a server that is known. */
async function loadedByTurn(): Promise<string[]> {
  await using home = await temporaryHome();
  await using server = startFakeServer();
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "plain", context_window: 131_072 }] } });
  // A file that was changed just now is not cached yet.
  await Deno.utime(`${home.agentcliHome}/providers.yaml`, 1, 1);
  // On a busy machine the turn can end before the server was asked, or it answers too late to be remembered.
  const asked: number[] = [];
  while (asked.length < 30 && !(asked.some((count) => count > 1) && asked.at(-1) === 1)) {
    const before = server.requests.length;
    await runInProcess(["run", "Hello"], { home });
    asked.push(server.requests.length - before);
  }
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

Deno.test("a short turn loads no more than it did, and no leak scanner where nothing is protected", async () => {
  const loaded = await loadedByTurn();
  for (const path of ["main.ts", "src/cli/run/run.ts", "src/session/transcript.ts"]) assert.ok(loaded.includes(path));
  const bytes = loaded.reduce((sum, path) => sum + Deno.statSync(new URL(path, ROOT)).size, 0);
  // Load what is new where it is first needed; raise these for what every turn needs.
  assert.ok(loaded.length <= 123, `${loaded.length} modules: ${loaded.join(" ")}`);
  assert.ok(bytes <= 840_000, `${bytes} bytes of sources`);
  assert.deepEqual(loaded.filter((path) => path.startsWith("src/boundary/scan/")), []);
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
