import assert from "node:assert/strict";
import type { Discovered } from "../../provider/backends/discovery.ts";
import { asksForStudio, type Configured, planMerge } from "./plan.ts";

/** A server that was met on localhost. */
function met(port: number, more: Partial<Discovered> = {}): Discovered {
  const host = more.host ?? "localhost";
  return {
    runtime: port === 11434 ? "runtime_a" : null,
    host,
    port,
    baseUrl: `http://${host}:${port}/v1`,
    local: true,
    state: "serving",
    detail: "",
    server: null,
    models: [],
    ...more,
  };
}

const OLLAMA = { server: "ollama", label: "Ollama", gateway: false };
const models = (...ids: string[]) => ids.map((id) => ({ id, contextWindow: null }));
const configured = (name: string, port: number, ...ids: string[]): Configured => ({
  name,
  baseUrl: `http://localhost:${port}/v1`,
  models: ids.map((id) => ({ id, aliases: [] })),
});
const STUDIO = configured("studio_f", 8888);

const STUDIO_BLOCK = { name: "studio_f", baseUrl: "http://localhost:8888/v1", apiKey: "$STUDIO_F_API_KEY", models: [] };

Deno.test("a server on a usual port becomes the provider of the seed, and the studio a comment", () => {
  const plan = planMerge([], [met(11434, { models: [{ id: "qwen3:8b", contextWindow: 4096 }] })]);
  assert.deepEqual(plan.providers, [
    {
      name: "runtime_a",
      baseUrl: "http://localhost:11434/v1",
      apiKey: "local",
      models: [{ id: "qwen3:8b", contextWindow: 4096 }],
    },
  ]);
  assert.deepEqual(plan.commented, STUDIO_BLOCK);
});

Deno.test("nothing but the studio's comment comes of nothing, and nothing of a configured studio", () => {
  const absent = met(11434, { state: "nothing there" });
  assert.deepEqual([planMerge([], [absent]).providers, planMerge([], [absent]).commented], [[], STUDIO_BLOCK]);
  for (const studio of [STUDIO, configured("mine", 8888)]) {
    const plan = planMerge([studio, configured("runtime_a", 11434, "m")], [absent]);
    assert.deepEqual([plan.providers, plan.commented, plan.models, plan.gone], [[], null, [], []]);
  }
});

Deno.test("the studio is a provider where it is met or asked for", () => {
  const asked = planMerge([], [], { studioAsked: true });
  assert.deepEqual([asked.providers, asked.commented], [[STUDIO_BLOCK], null]);
  const unsloth = { server: "unsloth", label: "Unsloth Studio", gateway: false };
  for (const host of ["localhost", "127.0.0.1"]) {
    const plan = planMerge([], [met(8888, { host, state: "needs key", server: unsloth })]);
    assert.deepEqual([plan.providers, plan.commented], [[STUDIO_BLOCK], null]);
    assert.equal(plan.names.get(`http://${host}:8888/v1`), "studio_f");
  }
  // Something else listens there: notebooks do.
  for (const other of [null, OLLAMA]) {
    assert.notEqual(planMerge([], [met(8888, { state: "needs key", server: other })]).commented, null);
  }
});

Deno.test("the environment asks for the studio by its key or its address", () => {
  const asks = (given: Record<string, string>) => asksForStudio((name) => given[name]);
  assert.deepEqual(
    [
      asks({}),
      asks({ STUDIO_F_API_KEY: "" }),
      asks({ STUDIO_F_API_KEY: "k" }),
      asks({ STUDIO_F_BASE_URL: "http://h/v1" }),
    ],
    [false, false, true, true],
  );
});

Deno.test("new models are added to a configured provider, and those that are gone are reported", () => {
  const plan = planMerge([STUDIO, configured("runtime_a", 11434, "old", "kept")], [
    met(11434, { models: models("kept", "new") }),
  ]);
  assert.deepEqual(plan.providers, []);
  assert.deepEqual(plan.models, [{ provider: "runtime_a", models: models("new") }]);
  assert.deepEqual(plan.gone, [{ provider: "runtime_a", model: "old" }]);
});

Deno.test("a server belongs to the provider with its address, whatever its name and spelling", () => {
  const mine = { name: "mine", baseUrl: "http://127.0.0.1:11434/v1/", models: [{ id: "a", aliases: [] }] };
  const plan = planMerge([STUDIO, mine], [met(11434, { models: models("a", "b") })]);
  assert.deepEqual(plan.models, [{ provider: "mine", models: models("b") }]);
  assert.equal(plan.names.get("http://localhost:11434/v1"), "mine");
});

Deno.test("Ollama's unnamed tag is the one called latest, and only Ollama's", () => {
  const owner = configured("runtime_a", 11434, "qwen3");
  const ollama = planMerge([STUDIO, owner], [met(11434, { server: OLLAMA, models: models("qwen3:latest") })]);
  assert.deepEqual([ollama.models, ollama.gone], [[], []]);
  const other = planMerge([STUDIO, owner], [met(11434, { models: models("qwen3:latest") })]);
  assert.equal(other.models.length, 1);
});

Deno.test("a served id that is an alias already is left out, with a note", () => {
  const owner = { ...configured("runtime_a", 11434), models: [{ id: "qwen3:8b", aliases: ["coder"] }] };
  const plan = planMerge([STUDIO, owner], [met(11434, { models: models("qwen3:8b", "coder") })]);
  assert.deepEqual([plan.models, plan.gone], [[], []]);
  assert.match(plan.notes[0] ?? "", /'coder', which is already an alias/);
});

Deno.test("a name that is taken for another address is left alone, with a note", () => {
  const elsewhere = configured("runtime_a", 9999, "a");
  const plan = planMerge([STUDIO, elsewhere], [met(11434, { models: models("b") })]);
  assert.deepEqual([plan.providers, plan.models, plan.gone], [[], [], []]);
  assert.match(plan.notes[0] ?? "", /runtime_a is configured for another address/);
});

Deno.test("servers elsewhere get names that say where, and no placeholder key", () => {
  const plan = planMerge([STUDIO], [
    met(11434, { host: "GPU_box.lan", local: false }),
    met(9000, { host: "10.0.0.5", local: false, server: { server: "llama.cpp", label: "llama.cpp", gateway: false } }),
    met(9001),
  ]);
  assert.deepEqual(plan.providers.map((block) => [block.name, block.apiKey]), [
    ["runtime_a-gpu_box.lan", "none"],
    ["llama.cpp-10.0.0.5-9000", "none"],
    ["server-9001", "local"],
  ]);
});

Deno.test("one server under two names of this machine is written once", () => {
  const plan = planMerge([STUDIO], [
    met(11434, { models: models("a") }),
    met(11434, { host: "127.0.0.1", models: models("a") }),
  ]);
  assert.equal(plan.providers.length, 1);
});

Deno.test("servers that want a key, load or serve no models are not written, but for the last", () => {
  const plan = planMerge([STUDIO], [
    met(8000, { state: "needs key" }),
    met(8001, { state: "loading" }),
    met(8002, { state: "not a model server" }),
    met(11434, { state: "serving" }),
  ]);
  assert.deepEqual(plan.providers.map((block) => block.name), ["runtime_a"]);
});

Deno.test("of thousands of models the first hundreds are written, and more the next time", () => {
  const many = models(...Array.from({ length: 2000 }, (_, at) => `m${at}`));
  const plan = planMerge([STUDIO], [met(11434, { models: many })]);
  assert.equal(plan.providers[0]?.models.length, 500);
  assert.match(plan.notes[0] ?? "", /2000 new models; 500 were added/);
  const known = configured("runtime_a", 11434, ...many.slice(0, 500).map((model) => model.id));
  const next = planMerge([STUDIO, known], [met(11434, { models: many })]);
  assert.deepEqual(next.models[0]?.models, many.slice(500, 600));
});

Deno.test("names that hold control or direction characters, or never end, are not written", () => {
  const bad = ["a\u001b[31m", "a\nb", "a\u202eb", "a\u200bb", "x".repeat(201)];
  const plan = planMerge([STUDIO, configured("runtime_a", 11434, "kept")], [
    met(11434, { models: models("kept", "new", ...bad) }),
    met(8080, { runtime: "runtime_d", models: models("fine", ...bad.slice(0, 1)) }),
  ]);
  assert.deepEqual(plan.models, [{ provider: "runtime_a", models: models("new") }]);
  assert.deepEqual(plan.providers.map((block) => block.models), [models("fine")]);
  assert.match(plan.notes[0] ?? "", /^localhost:11434 lists 5 invalid model names/);
  assert.match(plan.notes[1] ?? "", /^localhost:8080 lists an invalid model name/);
});
