import assert from "node:assert/strict";
import { type FakeServerOptions, refuse, say, startFakeServer, type Step } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

const json = (body: unknown): Step => ({
  kind: "status",
  status: 200,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});
const BUILT_IN = { temperature: 0.800000011920929, top_k: 40, top_p: 0.949999988079071, min_p: 0.0500000007450581 };
const llama = (params: Record<string, number> = BUILT_IN): FakeServerOptions["routes"] => ({
  "/v1/models": json({ object: "list", data: [{ id: "x", object: "model", owned_by: "llamacpp" }] }),
  "/props": json({ default_generation_settings: { n_ctx: 32_768, params }, total_slots: 1 }),
});
const vllm: FakeServerOptions["routes"] = {
  "/v1/models": json({ object: "list", data: [{ id: "x", object: "model", owned_by: "vllm", max_model_len: 32_768 }] }),
};

/** The fields of the first request for this model, without what each request has. */
async function fieldsFor(
  model: string,
  given: {
    routes?: FakeServerOptions["routes"];
    host?: "127.0.0.2";
    entry?: Record<string, unknown>;
    words?: readonly string[];
  },
) {
  await using home = await temporaryHome();
  const { host, routes = {} } = given;
  await using server = startFakeServer({ ...host === undefined ? {} : { host }, script: () => say("Hi."), routes });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: model, ...given.entry }] } });
  const done = await runInProcess(["run", "hi", "--model", `loc:${model}`, ...given.words ?? []], { home });
  assert.equal(done.code, 0, done.stderr);
  const { model: _, messages: _1, tools: _2, stream: _3, stream_options: _4, max_tokens: _5, ...fields } = server
    .chats()[0]?.json;
  return fields;
}

const LIMIT = {
  reasoning_budget_tokens: 4096,
  reasoning_budget_message: "\nThat is enough reasoning. Now I act or answer.\n",
};

Deno.test("a model is sampled as its family wants it, under the names of its server", async () => {
  const coder = "Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf";
  assert.deepEqual(await fieldsFor(coder, { routes: llama() }), {
    temperature: 0.7,
    top_p: 0.8,
    top_k: 20,
    repeat_penalty: 1.05,
    return_progress: true,
    ...LIMIT,
  });
  assert.deepEqual(await fieldsFor("Qwen/Qwen3.6-35B-A3B", { routes: vllm }), {
    temperature: 0.6,
    top_p: 0.95,
    top_k: 20,
    thinking_token_budget: 4096,
    chat_template_kwargs: { preserve_thinking: true },
  });
  assert.deepEqual(await fieldsFor("gpt-oss:20b", { routes: llama() }), {
    temperature: 1,
    top_p: 1,
    top_k: 0,
    min_p: 0,
    return_progress: true,
    ...LIMIT,
  });
  assert.deepEqual(await fieldsFor("gpt-oss:20b", {}), { temperature: 1, top_p: 1 });
  for (const unknown of ["fake", "llama-3.1-8b-instruct", "phi-4", "qwen3-embedding-8b", "qwen2.5-coder:7b"]) {
    assert.deepEqual(await fieldsFor(unknown, {}), {}, unknown);
  }
});

Deno.test("no family gets a penalty for what stands in the prompt: edits repeat it", async () => {
  for (
    const model of ["qwen3.5:9b", "qwen3.6:27b", "qwen3:8b", "gemma-4-26b-a4b-it", "lfm2.5-8b-a1b", "glm-4.7-flash"]
  ) {
    const fields = await fieldsFor(model, { routes: llama() });
    assert.ok(fields.temperature !== undefined, model);
    assert.equal(fields.presence_penalty ?? 0, 0);
    assert.equal(fields.frequency_penalty ?? 0, 0);
  }
});

Deno.test("what a person, the server or the model's file says stands above the family", async () => {
  const model = "qwen3:8b";
  const more = { return_progress: true, ...LIMIT };
  const set = { routes: llama(), entry: { params: { top_k: 3 } } };
  assert.deepEqual(await fieldsFor(model, set), { top_k: 3, ...more });
  assert.deepEqual(await fieldsFor(model, { routes: llama(), words: ["--temperature", "0.2"] }), {
    temperature: 0.2,
    ...more,
  });
  assert.deepEqual(await fieldsFor(model, { routes: llama({ ...BUILT_IN, temperature: 0.33 }) }), more);
  const kwargs = { chat_template_kwargs: { preserve_thinking: false, mine: 1 } };
  const fields = await fieldsFor("qwen3.6:27b", { routes: vllm, entry: { params: kwargs } });
  assert.deepEqual(fields.chat_template_kwargs, kwargs.chat_template_kwargs);
  const unlimited = await fieldsFor(model, { routes: llama(), entry: { max_reasoning: 0 } });
  assert.equal("reasoning_budget_tokens" in unlimited, false);
  const limited = await fieldsFor(model, { routes: llama(), entry: { max_reasoning: 99 } });
  assert.equal(limited.reasoning_budget_tokens, 99);
});

Deno.test("a service elsewhere gets nothing about sampling and reasoning", async () => {
  assert.deepEqual(await fieldsFor("qwen3.6-27b", { host: "127.0.0.2" }), {});
});

Deno.test("a field that a server refuses is left out, also in the next run", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: ({ json }) =>
      json.reasoning_budget_tokens === undefined ? say("Hi.") : refuse(400, "unknown field: reasoning_budget_tokens"),
    routes: llama(),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: ["x"] } });
  for (let run = 0; run < 2; run++) {
    const done = await runInProcess(["run", "hi"], { home });
    assert.equal(done.code, 0, done.stderr);
  }
  assert.deepEqual(server.chats().map(({ json }) => "reasoning_budget_tokens" in json), [true, false, false]);
  assert.deepEqual(server.chats().map(({ json }) => json.return_progress), [true, true, true]);
});

Deno.test("reasoning goes back under the name that it came with, and not at all where it is refused", async () => {
  const calls = [{ name: "Read", input: { file_path: "a.txt" } }];
  const events = (name: string) =>
    [
      { choices: [{ index: 0, delta: { [name]: "Look at it." } }] },
      {
        choices: [{
          index: 0,
          delta: {
            tool_calls: [{ index: 0, id: "c", function: { name: "Read", arguments: JSON.stringify(calls[0]?.input) } }],
          },
        }],
      },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + "data: [DONE]\n\n";
  for (const name of ["reasoning", "reasoning_content"]) {
    for (const refused of [false, true]) {
      await using home = await temporaryHome();
      await home.write("a.txt", "alpha\n");
      await using server = startFakeServer({
        script({ index, text }) {
          if (index === 0) {
            const headers = { "content-type": "text/event-stream" };
            return { kind: "status", status: 200, body: events(name), headers };
          }
          const holds = text.includes("Look at it.");
          return refused && holds ? refuse(400, `property 'messages.2.${name}' is unsupported`) : say("Alpha.");
        },
      });
      await configure(home, { loc: { baseUrl: server.baseUrl, models: ["gpt-oss:20b"] } });
      const done = await runInProcess(["run", "read a.txt"], { home });
      assert.equal(done.code, 0, done.stderr);
      const sent = server.chats().slice(1).map(({ json }) => json.messages[2][name]);
      assert.deepEqual(sent, refused ? ["Look at it.", undefined] : ["Look at it."]);
    }
  }
});

Deno.test("a model that reasons forever is asked once more without reasoning, and nothing of it stays", async () => {
  const forever = "Wait, let me think again. ".repeat(40);
  for (const stubborn of [false, true]) {
    await using home = await temporaryHome();
    const broken: Promise<void>[] = [];
    await using server = startFakeServer({
      script(request) {
        const { chat_template_kwargs: kwargs } = request.json;
        if (kwargs?.enable_thinking === false) {
          return say("Four.", stubborn ? { reasoning: forever } : {});
        }
        broken.push(request.gone);
        const message = { kind: "message" as const, reasoning: forever.repeat(20) };
        return { kind: "paused", events: 400, gate: new Promise(() => {}), message };
      },
    });
    const entry = { id: "qwen3.6:27b", context_window: 32_768, max_reasoning: 100 };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [entry] } });
    const done = await runInProcess(["run", "2+2?"], { home });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(done.stdout, "Four.\n");
    assert.match(done.stderr, /reasoned for more than 100 tokens; asked again without reasoning; retrying/);
    assert.equal(broken.length, 1);
    await broken[0];
    const [first, second, ...more] = server.chats().map(({ json }) => json);
    assert.deepEqual(more, []);
    assert.deepEqual(second.messages, first.messages);
  }
});

Deno.test("reasoning within the limit is left alone, also where there is no limit", async () => {
  const reasoning = "Some words of a thought. ".repeat(60);
  for (const max_reasoning of [1000, 0]) {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Four.", { reasoning }) });
    const entry = { id: "qwen3.6:27b", context_window: 32_768, max_reasoning };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [entry] } });
    const done = await runInProcess(["run", "2+2?"], { home });
    assert.equal(done.stdout, "Four.\n");
    assert.equal(server.chats().length, 1);
  }
});

Deno.test("run --explain shows the settings of requests with their sources, and sends none", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Hi."), routes: llama() });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: ["qwen3:8b"] } });
  const done = await runInProcess(["run", "--explain"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(server.chats(), []);
  assert.match(done.stdout, /^SETTING +VALUE +SOURCE$/m);
  assert.match(done.stdout, /^model +loc:qwen3:8b +local$/m);
  assert.match(done.stdout, /^window +32,768 tokens +reported by the server$/m);
  assert.match(
    done.stdout,
    /^sampling +temperature 0\.6, top_p 0\.95, top_k 20, min_p 0 +Qwen3: card of Qwen\/Qwen3-8B/m,
  );
  assert.match(done.stdout, /^reasoning +not sent back +Qwen3$/m);
  assert.match(done.stdout, /^reasoning limit +4,096 tokens, enforced by the server/m);
  assert.match(done.stdout, /^response limit +[\d,]+ tokens +from the window$/m);
  const machine = await runInProcess(["run", "--explain", "--json", "--temperature", "0.1"], { home });
  const told = JSON.parse(machine.stdout);
  assert.equal(told.profile.sampling.why, "--temperature");
  assert.equal(told.fields.return_progress, true);
  assert.deepEqual(server.chats(), []);
});

Deno.test("a transcript says once how requests were made", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Hi."), routes: llama() });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: ["qwen3:8b"] } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 0, done.stderr);
  const notes: string[] = [];
  for await (const slug of Deno.readDir(`${home.agentcliHome}/projects`)) {
    for await (const file of Deno.readDir(`${home.agentcliHome}/projects/${slug.name}`)) {
      if (!file.name.endsWith(".jsonl")) continue;
      const text = await Deno.readTextFile(`${home.agentcliHome}/projects/${slug.name}/${file.name}`);
      notes.push(...text.split("\n").filter((line) => line.includes("temperature 0.6")));
    }
  }
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /Qwen3: card of Qwen/);
});
