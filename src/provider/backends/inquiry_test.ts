import assert from "node:assert/strict";
import { endpointAt, recorded, type StandInAnswer, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import { type ModelList, readModelList } from "./model_list.ts";
import { findWindows, inquire } from "./inquiry.ts";
import { ollama } from "./ollama.ts";

const ORIGIN = "http://127.0.0.1:8080";
const LIMITS = { timeoutMs: 30 };

function listOf(body: unknown): ModelList {
  return { kind: "list", models: readModelList(body), status: 200, headers: new Map(), text: "", json: body };
}

/** Asks for one window; paths are from the origin. */
async function window(
  server: string | null,
  answers: Record<string, StandInAnswer>,
  more: { model?: string; list?: ModelList | null } = {},
) {
  const { client, sent } = standInClient(
    Object.fromEntries(Object.entries(answers).map(([path, answer]) => [ORIGIN + path, answer])),
  );
  const { model = "m", list = null } = more;
  const inquiry = inquire(client, endpointAt(`${ORIGIN}/v1`), { answer: list, limits: LIMITS });
  const found = (await findWindows(inquiry, server, [model])).get(model);
  return {
    tokens: found?.tokens ?? null,
    source: found?.source,
    paths: sent.map((one) => one.url.slice(ORIGIN.length)),
  };
}

Deno.test("Ollama reports the window of loaded models only, whatever the spelling of the name", async () => {
  const running = { body: { models: [{ name: "Qwen3:latest", model: "qwen3:latest", context_length: 32768 }] } };
  const answers = { "/api/ps": running };
  assert.equal((await window("ollama", answers, { model: "qwen3" })).tokens, 32768);
  assert.equal((await window("ollama", answers, { model: "qwen3:latest" })).tokens, 32768);
  assert.equal((await window("ollama", answers, { model: "qwen3:8b" })).tokens, null);
  assert.deepEqual((await window("ollama", answers, { model: "qwen3" })).paths, ["/api/ps"]);
});

Deno.test("Ollama's trained maximum is never asked for", async () => {
  const show = { body: { model_info: { "qwen3.context_length": 262144 } } };
  const found = await window("ollama", { "/api/ps": { body: { models: [] } }, "/api/show": show });
  assert.equal(found.tokens, null);
});

Deno.test("llama.cpp's window comes from the list, without another question", async () => {
  const { body } = await recorded("llama-server/models");
  const list = listOf(JSON.parse(body));
  const found = await window("llama.cpp", {}, { model: "tiny-agent.gguf", list });
  assert.deepEqual(found, { tokens: 1024, source: "/models", paths: [] });
});

Deno.test("llama.cpp's window comes from its settings where the list has none", async () => {
  const list = listOf({ data: [{ id: "m", owned_by: "llamacpp", meta: null }] });
  const props = { body: { default_generation_settings: { n_ctx: 4096 }, total_slots: 1 } };
  const found = await window("llama.cpp", { "/props": props }, { list });
  assert.deepEqual(found, { tokens: 4096, source: "/props", paths: ["/props"] });
});

Deno.test("a llama.cpp router is asked about loaded models only, and never made to load one", async () => {
  const list = listOf({
    data: [{ id: "a/b:Q4", status: { value: "loaded" } }, { id: "cold", status: { value: "unloaded" } }],
  });
  const path = "/props?model=a%2Fb%3AQ4&autoload=false";
  const answers = { [path]: { body: { default_generation_settings: { n_ctx: 8192 } } } };
  assert.deepEqual(await window("llama.cpp", answers, { model: "a/b:Q4", list }), {
    tokens: 8192,
    source: "/props",
    paths: [path],
  });
  assert.deepEqual((await window("llama.cpp", answers, { model: "cold", list })).paths, []);
});

Deno.test("the placeholder of a router's own settings is no window", async () => {
  const props = { body: { role: "router", default_generation_settings: { n_ctx: 4096 } } };
  assert.equal((await window("llama.cpp", { "/props": props })).tokens, null);
});

Deno.test("LM Studio reports the window of loaded instances, not the maximum of the model", async () => {
  const models = {
    body: {
      models: [
        { key: "m", max_context_length: 262144, loaded_instances: [{ id: "mine", config: { context_length: 4096 } }] },
        { key: "cold", max_context_length: 262144, loaded_instances: [] },
      ],
    },
  };
  const answers = { "/api/v1/models": models };
  assert.equal((await window("lmstudio", answers)).tokens, 4096);
  assert.equal((await window("lmstudio", answers, { model: "mine" })).tokens, 4096);
  assert.equal((await window("lmstudio", answers, { model: "cold" })).tokens, null);
});

Deno.test("an older LM Studio is asked in its older form", async () => {
  const older = {
    body: { data: [{ id: "m", state: "loaded", loaded_context_length: 8192, max_context_length: 131072 }] },
  };
  const unexpected = { body: { error: "Unexpected endpoint or method. (GET /api/v1/models)" } };
  const found = await window("lmstudio", { "/api/v1/models": unexpected, "/api/v0/models": older });
  assert.deepEqual([found.tokens, found.source], [8192, "/api/v0/models"]);
});

for (
  const [server, field] of [["vllm", "max_model_len"], ["sglang", "max_model_len"], [
    "unsloth",
    "context_length",
  ]] as const
) {
  Deno.test(`${server} reports the window in its list, which is requested when it is not at hand`, async () => {
    const body = { object: "list", data: [{ id: "m", [field]: 32768 }] };
    assert.equal((await window(server, {}, { list: listOf(body) })).tokens, 32768);
    assert.equal((await window(server, { "/v1/models": { body } })).tokens, 32768);
  });
}

Deno.test("TabbyAPI, KoboldCpp and LiteLLM are asked at their own places", async () => {
  const tabby = { "/v1/model": { body: { id: "m", parameters: { max_seq_len: 16384 } } } };
  assert.equal((await window("tabbyapi", tabby)).tokens, 16384);
  assert.equal((await window("tabbyapi", tabby, { model: "another" })).tokens, null);
  const kobold = { "/api/extra/true_max_context_length": { body: { value: 6144 } } };
  assert.equal((await window("koboldcpp", kobold, { model: "koboldcpp/m" })).tokens, 6144);
  const lite = { "/model/info": { body: { data: [{ model_name: "m", model_info: { max_input_tokens: 128000 } }] } } };
  assert.equal((await window("litellm", lite)).tokens, 128000);
});

Deno.test("a window that no server reports is unknown", async () => {
  assert.equal((await window(null, {})).tokens, null);
  assert.equal((await window("mini-sglang", {})).tokens, null);
  assert.equal((await window("constructor", {})).tokens, null);
  for (const answer of ["silence", "refused", { body: "<html>" }, { status: 401, body: "{}" }] as const) {
    assert.equal((await window("ollama", { "/api/ps": answer })).tokens, null);
  }
  for (const context_length of ["8192", 0, -1, 1.5, 1e300, null, {}]) {
    const answers = { "/api/ps": { body: { models: [{ name: "m", context_length }] } } };
    assert.equal((await window("ollama", answers)).tokens, null);
  }
});

Deno.test("several windows cost one question", async () => {
  const running = { body: { models: [{ name: "a:1", context_length: 1000 }, { name: "b:1", context_length: 2000 }] } };
  const { client, sent } = standInClient({ [`${ORIGIN}/api/ps`]: running });
  const inquiry = inquire(client, endpointAt(`${ORIGIN}/v1`), { limits: LIMITS });
  const found = await findWindows(inquiry, "ollama", ["a:1", "b:1", "c:1"]);
  assert.deepEqual([...found].map(([model, one]) => [model, one.tokens]), [["a:1", 1000], ["b:1", 2000]]);
  assert.equal(sent.length, 1);
});

Deno.test("preloading asks Ollama for the model without a prompt", async () => {
  const { client, sent } = standInClient({ [`${ORIGIN}/api/generate`]: { body: { done: true, done_reason: "load" } } });
  const endpoint = endpointAt(`${ORIGIN}/v1`);
  assert.equal(await ollama.loadModel?.(inquire(client, endpoint, { limits: LIMITS }), "m", () => {}), true);
  assert.deepEqual([sent[0]?.method, JSON.parse(String(sent[0]?.body))], ["POST", { model: "m", stream: false }]);
  const { client: absent } = standInClient({});
  assert.equal(await ollama.loadModel?.(inquire(absent, endpoint, { limits: LIMITS }), "m", () => {}), false);
});
