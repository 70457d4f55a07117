import assert from "node:assert/strict";
import { endpointAt, recorded, type StandInAnswer, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import { fetchModelList } from "./model_list.ts";
import { inquire } from "./inquiry.ts";

const owned = (owner: string) => ({ body: { object: "list", data: [{ id: "m", object: "model", owned_by: owner }] } });
const bare: StandInAnswer = { body: { object: "list", data: [{ id: "m", object: "model" }] } };
const nothing404: StandInAnswer = { status: 404, body: '{"detail":"Not Found"}' };

/** Asks as discovery does: list first, then recognition; paths are from the origin. */
async function met(port: number, answers: Record<string, StandInAnswer>, more: { local?: boolean } = {}) {
  const origin = `http://127.0.0.1:${port}`;
  const { client, sent } = standInClient(
    Object.fromEntries(Object.entries(answers).map(([path, answer]) => [origin + path, answer])),
  );
  const endpoint = endpointAt(`${origin}/v1`, { key: "sk-canary", ...more });
  const answer = await fetchModelList(client, endpoint, { timeoutMs: 1000 });
  const found = await inquire(client, endpoint, { answer, limits: { timeoutMs: 30 } }).recognize();
  return { found, asked: sent.slice(1) };
}

const fromList: [string, StandInAnswer][] = [
  ["ollama", owned("library")],
  ["lmstudio", owned("organization_owner")],
  ["vllm", owned("vllm")],
  ["sglang", owned("sglang")],
  ["mini-sglang", owned("mini-sglang")],
  ["freetoken", owned("FreeToken")],
  ["tabbyapi", owned("tabbyAPI")],
  ["koboldcpp", owned("koboldcpp")],
  ["llama-swap", owned("llama-swap")],
  ["docker", owned("docker")],
  ["lemonade", owned("lemonade")],
  ["llama.cpp", await recorded("llama-server/models")],
  ["llama.cpp", await recorded("llama-server/key_models_no_key")],
  ["llama.cpp", await recorded("llama-server/loading_chat")],
  ["llama.cpp", { body: { models: [], object: "list", data: [{ id: "q", owned_by: "llamacpp", meta: null }] } }],
  ["transformers", await recorded("transformers-serve/models")],
  ["mlx-lm", { headers: { server: "BaseHTTP/0.6 Python/3.12.1" }, body: { data: [{ id: "m", created: 1 }] } }],
  ["text-generation-webui", { body: { data: [{ id: "m", object: "model", created: 0, owned_by: "user" }] } }],
  ["vllm", { status: 401, body: { error: "Unauthorized" } }],
  ["jan", { status: 401, body: "Missing authorization header" }],
  ["litellm", { headers: { "x-litellm-version": "1.80.0" }, ...owned("openai") }],
  ["litellm", { headers: { "x-litellm-version": "1.80.0" }, ...owned("library") }],
];

for (const [server, answer] of fromList) {
  Deno.test(`${server} is recognized without another question: ${JSON.stringify(answer).slice(0, 60)}`, async () => {
    const { found, asked } = await met(4711, { "/v1/models": answer });
    assert.equal(found?.server, server);
    assert.deepEqual(asked, []);
  });
}

const byProbe: [string, number, Record<string, StandInAnswer>][] = [
  ["ollama", 11434, { "/v1/models": owned("bartowski"), "/": { body: "Ollama is running" } }],
  ["ollama", 4711, { "/v1/models": { body: { object: "list", data: null } }, "/": { body: "Ollama is running" } }],
  ["lmstudio", 1234, { "/v1/models": bare, "/lmstudio-greeting": { body: { lmstudio: true } } }],
  ["unsloth", 8888, {
    "/v1/models": { status: 401, body: { detail: "Not authenticated" } },
    "/api/health": { body: { status: "healthy", service: "Unsloth UI Backend" } },
  }],
  ["unsloth", 4711, {
    "/v1/models": { status: 403, body: "{}" },
    "/api/health": { body: { status: "healthy", service: "Unsloth UI Backend" } },
  }],
  ["tabbyapi", 5000, {
    "/v1/models": { status: 401, body: { detail: "Invalid API key" } },
    "/.well-known/serviceinfo": { body: { version: 0.1, software: { name: "TabbyAPI" } } },
  }],
  ["koboldcpp", 5001, {
    "/v1/models": { status: 503, body: { detail: { msg: "Server is busy; please try again later." } } },
    "/api/extra/version": { body: { result: "KoboldCpp", version: "1.90" } },
  }],
  ["litellm", 4000, { "/v1/models": owned("openai"), "/health/liveliness": { body: '"I\'m alive!"' } }],
  ["litellm", 8080, { "/v1/models": owned("openai"), "/health/liveliness": { body: '"I\'m alive!"' } }],
  ["localai", 8080, { "/v1/models": bare, "/version": { body: { version: "v3.4.0 (c1a2b3)" } } }],
];

for (const [server, port, answers] of byProbe) {
  Deno.test(`${server} on port ${port} is recognized by an endpoint of its own`, async () => {
    const { found, asked } = await met(port, answers);
    assert.equal(found?.server, server);
    assert(asked.length <= 2);
    for (const request of asked) {
      assert.equal(request.method, "GET");
      assert.equal(request.withoutKey, true);
      assert.equal(request.body, undefined);
    }
  });
}

Deno.test("gateways are distinguished from servers, whatever owner they pass on", async () => {
  const gateway = { headers: { "x-litellm-model-id": "x" }, ...owned("vllm") };
  assert.equal((await met(4000, { "/v1/models": gateway })).found?.gateway, true);
  assert.equal((await met(8000, { "/v1/models": owned("vllm") })).found?.gateway, false);
  const peer = { id: "m", owned_by: "llama-swap", meta: { llamaswap: { type: "peer", peerID: "other" } } };
  assert.equal((await met(8080, { "/v1/models": { body: { data: [peer] } } })).found?.gateway, true);
});

Deno.test("a success for an unknown path proves nothing", async () => {
  const unexpected = { body: { error: "Unexpected endpoint or method. (GET /x)" } };
  const { found } = await met(8080, {
    "/v1/models": bare,
    "/version": unexpected,
    "/health/liveliness": unexpected,
  });
  assert.equal(found, null);
});

Deno.test("a server written with Python's own library is not taken for another by that alone", async () => {
  const answer = { headers: { server: "BaseHTTP/0.6 Python/3.12.1" }, body: { data: [{ id: "m", object: "model" }] } };
  assert.equal((await met(4711, { "/v1/models": answer, "/health/liveliness": nothing404 })).found, null);
});

Deno.test("silence, pages and refusals at the special endpoints leave a server unrecognized", async () => {
  for (const answer of ["silence", "refused", nothing404, { body: "<html></html>" }] as const) {
    const { found } = await met(11434, { "/v1/models": owned("nobody"), "/": answer, "/health/liveliness": answer });
    assert.equal(found, null);
  }
});

Deno.test("services of the open net are not asked further", async () => {
  const { client, sent } = standInClient({ "https://api.example/v1/models": owned("openai") });
  const endpoint = endpointAt("https://api.example/v1", { local: false });
  const answer = await fetchModelList(client, endpoint, { timeoutMs: 1000 });
  assert(answer.kind === "list");
  assert.equal(await inquire(client, endpoint, { answer, limits: { timeoutMs: 1000 } }).recognize(), null);
  assert.equal(sent.length, 1);
});
