import assert from "node:assert/strict";
import { endpointAt, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import { findServerWindow } from "./window.ts";

const ollama = "http://127.0.0.1:11434";
const signal = new AbortController().signal;
const list = (entry: Record<string, unknown>) => ({ body: { object: "list", data: [{ id: "m", ...entry }] } });

Deno.test("a list with the window is all that is requested from vLLM", async () => {
  const { client, sent } = standInClient({
    "http://127.0.0.1:8000/v1/models": list({ owned_by: "vllm", max_model_len: 40_960 }),
  });
  const found = await findServerWindow(client, endpointAt("http://127.0.0.1:8000/v1"), { model: "m", signal });
  assert.deepEqual(found, { server: "vllm", window: 40_960, facts: null, settled: true });
  assert.equal(sent.length, 1);
});

Deno.test("Ollama reports the window of a loaded model", async () => {
  const { client, sent } = standInClient({
    [`${ollama}/v1/models`]: list({ owned_by: "library" }),
    [`${ollama}/api/ps`]: { body: { models: [{ name: "m:latest", context_length: 4096 }] } },
  });
  let loading = 0;
  const load = { onLoading: () => void loading++ };
  const found = await findServerWindow(client, endpointAt(`${ollama}/v1`), { model: "m", signal, load });
  assert.deepEqual(found, { server: "ollama", window: 4096, facts: null, settled: true });
  assert.equal(loading, 0);
  assert.ok(sent.every((request) => request.method === "GET"));
});

Deno.test("a model that Ollama has not loaded is loaded where that is wanted, and never one of its cloud", async () => {
  const answers = {
    [`${ollama}/v1/models`]: list({ owned_by: "library" }),
    [`${ollama}/api/ps`]: { body: { models: [] } },
    [`${ollama}/api/generate`]: { body: { done: true, done_reason: "load" } },
  };
  const loaded = async (model: string, wanted: boolean) => {
    const { client, sent } = standInClient(answers);
    const load = wanted ? { load: { onLoading() {} } } : {};
    await findServerWindow(client, endpointAt(`${ollama}/v1`), { model, signal, ...load });
    return sent.filter((request) => request.method === "POST").length;
  };
  assert.equal(await loaded("m", true), 1);
  assert.equal(await loaded("m", false), 0);
  assert.equal(await loaded("big:120b-cloud", true), 0);
});

Deno.test("a dead server, a stranger and an abort are no errors", async () => {
  const strange = "http://127.0.0.1:9999/v1";
  const nothing = { server: null, window: null, facts: null, settled: false };
  assert.deepEqual(
    await findServerWindow(standInClient({}).client, endpointAt(strange), { model: "m", signal }),
    nothing,
  );
  const { client } = standInClient({ [`${strange}/models`]: { body: "<html>" } });
  assert.deepEqual(await findServerWindow(client, endpointAt(strange), { model: "m", signal }), nothing);
  const aborted = AbortSignal.abort(new Error("stop"));
  assert.deepEqual(await findServerWindow(client, endpointAt(strange), { model: "m", signal: aborted }), nothing);
});

Deno.test("what may be known another time is not settled, what never will be is", async () => {
  const at = "http://127.0.0.1:9999/v1";
  const settled = async (answer: { status?: number; body: unknown }, loaded = false) => {
    const { client } = standInClient({ [`${at}/models`]: answer });
    return (await findServerWindow(client, endpointAt(at), { model: "m", signal, loaded })).settled;
  };
  assert.equal(await settled(list({ owned_by: "somebody" })), true);
  assert.equal(await settled({ status: 404, body: {} }), true);
  assert.equal(await settled({ status: 503, body: {} }), false);
  assert.equal(await settled({ status: 503, body: {} }, true), false);
  assert.equal(await settled(list({ owned_by: "vllm" })), false);
  assert.equal(await settled(list({ owned_by: "vllm" }), true), true);
});
