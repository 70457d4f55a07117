import assert from "node:assert/strict";
import { ask, type FakeServerOptions, refuse, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const json = (status: number, body: unknown): Step => ({
  kind: "status",
  status,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});
const list = (entry: Record<string, unknown>) => json(200, { object: "list", data: [{ id: "fake", ...entry }] });

/** The window of a run, as its result says. */
async function windowOfRun(home: TemporaryHome): Promise<number> {
  const done = await runInProcess(["run", "read a.txt", "--json"], { home });
  assert.equal(done.code, 0, done.stderr + done.stdout);
  return JSON.parse(done.stdout).modelUsage.fake.contextWindow;
}

/** What is remembered of the models. */
async function remembered(home: TemporaryHome): Promise<Record<string, unknown>[]> {
  const text = await Deno.readTextFile(`${home.agentcliHome}/cache/servers.json`).catch(() => '{"models":{}}');
  return Object.values(JSON.parse(text).models);
}

/**
 * A server that answers other questions as `before` says until it has given a reply, and then as `after` says. Two
 * replies a run: a call, and the answer.
 */
function waking(before: Record<string, Step>, after: Record<string, Step>, loading: Step[] = []) {
  const routes: FakeServerOptions["routes"] = { ...before };
  const server = startFakeServer({
    routes,
    script({ json: { messages } }) {
      const wait = loading.shift();
      if (wait !== undefined) return wait;
      Object.assign(routes, after);
      return messages.at(-1).role === "tool" ? say("Done.") : ask(want("read", { path: "a.txt" }));
    },
  });
  return { server, questions: () => server.requests.length - server.chats().length };
}

const LOADING = json(503, { error: { message: "Loading model", type: "unavailable_error", code: 503 } });
const props = json(200, { default_generation_settings: { n_ctx: 16_384 } });
const SITUATIONS: Record<string, Parameters<typeof waking>> = {
  "is loading": [{ "/v1/models": LOADING, "/props": LOADING }, {
    "/v1/models": list({ owned_by: "llamacpp" }),
    "/props": props,
  }, [LOADING]],
  "is a router without the model loaded": [
    {
      "/v1/models": list({ owned_by: "llamacpp", status: { value: "unloaded" } }),
      "/props": json(200, { role: "router" }),
    },
    { "/v1/models": list({ owned_by: "llamacpp", status: { value: "loaded" } }), "/props": props },
  ],
  "loads when it is asked": [
    {
      "/v1/models": list({ owned_by: "organization_owner" }),
      "/api/v1/models": json(200, { models: [{ key: "fake" }] }),
    },
    {
      "/api/v1/models": json(200, {
        models: [{ key: "fake", loaded_instances: [{ id: "fake", config: { context_length: 16_384 } }] }],
      }),
    },
  ],
  "is slow at first": [
    { "/v1/models": { kind: "silence", beforeHead: true } },
    { "/v1/models": list({ owned_by: "vllm", max_model_len: 16_384 }) },
  ],
};

for (const [name, situation] of Object.entries(SITUATIONS)) {
  Deno.test(`the window of a server that ${name} is known after its first reply, and in the next run`, async () => {
    await using home = await temporaryHome();
    await home.write("a.txt", "alpha\n");
    const { server, questions } = waking(...situation);
    await using _ = server;
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    assert.equal(await windowOfRun(home), 16_384);
    const asked = questions();
    assert.equal(await windowOfRun(home), 16_384);
    assert.equal(questions(), asked, "nothing is asked again");
  });
}

Deno.test("what a server could not be asked is not remembered", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  const routes: FakeServerOptions["routes"] = { "/v1/models": refuse(500, "out of order") };
  await using server = startFakeServer({ routes, script: () => say("Done.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  assert.equal(await windowOfRun(home), 32_768);
  assert.deepEqual((await remembered(home)).filter((entry) => "window" in entry), []);
  routes["/v1/models"] = list({ owned_by: "vllm", max_model_len: 16_384 });
  assert.equal(await windowOfRun(home), 16_384);
});

Deno.test("a server that is known to tell no window is asked once in half an hour", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  const { server, questions } = waking({}, {});
  await using _ = server;
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  assert.equal(await windowOfRun(home), 32_768);
  const asked = questions();
  assert.ok(asked <= 2, `${asked} questions`);
  assert.equal(await windowOfRun(home), 32_768);
  assert.equal(questions(), asked);
});

Deno.test("a window that a refusal taught is kept for the next start, also against the configuration", async () => {
  for (const configured of [undefined, 32_768]) {
    await using home = await temporaryHome();
    await home.write("a.txt", "some words of a text\n".repeat(4000));
    const routes: FakeServerOptions["routes"] = {};
    let refused = 0;
    let calls = 0;
    await using server = startFakeServer({
      routes,
      script({ text, json: { tools } }) {
        if (text.length > 14_000) {
          refused++;
          const type = "exceed_context_size_error";
          return json(400, { error: { code: 400, message: "too long", type, n_ctx: 4096, n_prompt_tokens: 4800 } });
        }
        if (tools === undefined) return say("Some words were read.");
        return calls++ > 8 ? say("Done.") : ask({ name: "Read", input: { file_path: "a.txt", offset: calls * 50 } });
      },
    });
    const entry = configured === undefined ? "fake" : { id: "fake", context_window: configured };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [entry] } });
    assert.equal(await windowOfRun(home), 4096);
    assert.ok(refused > 0);
    refused = calls = 0;
    assert.equal(await windowOfRun(home), 4096);
    assert.equal(refused, 0, "the second run knows the window");
    if (configured === undefined) continue;
    routes["/v1/models"] = list({ owned_by: "vllm", max_model_len: 65_536 });
    assert.equal(await windowOfRun(home), configured, "a server that was started anew with more room is believed");
  }
});

Deno.test("a refusal that names no number makes no window: none is shown, and none is kept", async () => {
  for (const configured of [undefined, 32_768]) {
    await using home = await temporaryHome();
    const refused = json(400, { error: { message: "context_length_exceeded" } });
    await using server = startFakeServer({ script: () => refused });
    const entry = configured === undefined ? "fake" : { id: "fake", context_window: configured };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [entry] } });
    for (let run = 0; run < 2; run++) {
      const done = await runInProcess(["run", "hi", "--json"], { home });
      const result = JSON.parse(done.stdout);
      assert.equal(result.exit_code, 7);
      assert.deepEqual(result.errors, [
        "loc reports that the context window is full (HTTP 400): context_length_exceeded",
      ]);
      assert.equal(result.modelUsage.fake.contextWindow, configured ?? 32_768);
      const told = await runInProcess(["run", "hi"], { home });
      assert.doesNotMatch(told.stderr, /window (?:of )?\d|\d+ tokens/);
    }
    assert.deepEqual((await remembered(home)).filter(({ window = null }) => window !== null), []);
  }
});

Deno.test("a service with an unknown window counts as large and is asked for no limit of its own", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ host: "127.0.0.2", script: [say("Hi."), say("Hi."), say("Hi.")] });
  await configure(home, { far: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "hi", "--json"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(JSON.parse(done.stdout).modelUsage.fake.contextWindow, 131_072);
  const asked = await runInProcess(["run", "hi", "--max-tokens", "300"], { home });
  assert.equal(asked.code, 0, asked.stderr);
  assert.deepEqual(server.chats().map(({ json }) => json.max_tokens), [undefined, 300]);
});

Deno.test("a response has room for 8,192 tokens where the window allows", async () => {
  for (const [window, limit] of [[undefined, 8192], [16_384, 8192], [4096, 2048], [131_072, 32_768]] as const) {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: [say("Hi.")] });
    const entry = window === undefined ? "fake" : { id: "fake", context_window: window };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [entry] } });
    const done = await runInProcess(["run", "hi"], { home });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(server.chats()[0]?.json.max_tokens, limit);
  }
});

Deno.test("a window that a refusal taught is kept for days where the server reports none, and gives way to one that it reports", async () => {
  await using home = await temporaryHome();
  const routes: FakeServerOptions["routes"] = { "/v1/models": list({}) };
  const long = {
    error: { message: "the request exceeds the available context size (9000 > 8192 tokens)", n_ctx: 8192 },
  };
  let isRefused = false;
  await using server = startFakeServer({
    routes,
    script: () => {
      if (isRefused) return say("Done.");
      isRefused = true;
      return json(400, { error: { ...long.error, type: "exceed_context_size_error", n_prompt_tokens: 9000 } });
    },
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await home.write("a.txt", "a");
  await runInProcess(["run", "read a.txt", "--json"], { home });
  const file = `${home.agentcliHome}/cache/servers.json`;
  const aged = (text: string, days: number) =>
    text.replace(/"windowAt":(\d+)/, (_, at: string) => `"windowAt":${Number(at) - days * 86_400_000}`);
  const stored = await Deno.readTextFile(file);
  assert.match(stored, /"refusedWindow":8192/, "control");
  await Deno.writeTextFile(file, aged(stored, 2));
  assert.equal(await windowOfRun(home), 8192);
  Object.assign(routes, { "/v1/models": list({ owned_by: "vllm", max_model_len: 16_384 }) });
  assert.equal(await windowOfRun(home), 16_384);
  Object.assign(routes, { "/v1/models": list({}) });
  await Deno.writeTextFile(file, aged(stored, 20));
  assert.equal(await windowOfRun(home), 32_768);
});
