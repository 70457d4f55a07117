import assert from "node:assert/strict";
import { endpointAt, type StandInAnswer, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import { findVision } from "./inquiry.ts";

const ORIGIN = "http://127.0.0.1:8080";

/** Returns what is found of model `m`, and the paths that were asked. */
async function visionOf(answers: Record<string, StandInAnswer>, origin = ORIGIN) {
  const { client, sent } = standInClient(
    Object.fromEntries(Object.entries(answers).map(([path, answer]) => [origin + path, answer])),
  );
  const signal = new AbortController().signal;
  const sees = await findVision(client, endpointAt(`${origin}/v1`), { model: "m", signal });
  return { sees, paths: sent.map((one) => one.url.slice(origin.length)) };
}

const listOf = (owner: string, more: Record<string, unknown> = {}): StandInAnswer => ({
  body: { object: "list", data: [{ id: "m", object: "model", owned_by: owner, ...more }] },
});

Deno.test("llama.cpp reports it by the modalities of its settings", async () => {
  for (const vision of [true, false]) {
    const answers = { "/v1/models": listOf("llamacpp"), "/props": { body: { modalities: { vision, audio: false } } } };
    assert.deepEqual(await visionOf(answers), { sees: vision, paths: ["/v1/models", "/props"] });
  }
  const list = {
    body: { models: [{ name: "m", capabilities: ["completion"] }], data: [{ id: "m", owned_by: "llamacpp" }] },
  };
  assert.equal((await visionOf({ "/v1/models": list, "/props": { body: {} } })).sees, false);
});

Deno.test("a llama.cpp router is asked by name, without making it load the model", async () => {
  const answers = {
    "/v1/models": listOf("llamacpp", { status: { value: "loaded" } }),
    "/props?model=m&autoload=false": { body: { modalities: { vision: true } } },
  };
  assert.equal((await visionOf(answers)).sees, true);
});

Deno.test("Ollama reports it by the capabilities of a model; older ones report nothing", async () => {
  const asked = (show: unknown) => visionOf({ "/v1/models": listOf("library"), "/api/show": { body: show } });
  assert.equal((await asked({ capabilities: ["completion", "vision"] })).sees, true);
  assert.equal((await asked({ capabilities: ["completion", "tools"] })).sees, false);
  assert.equal((await asked({ details: {} })).sees, null);
});

Deno.test("LM Studio reports it in both of its APIs", async () => {
  const list = listOf("organization_owner");
  const newer = { body: { models: [{ key: "m", capabilities: { vision: true } }] } };
  assert.equal((await visionOf({ "/v1/models": list, "/api/v1/models": newer })).sees, true);
  for (const [type, sees] of [["vlm", true], ["llm", false]] as const) {
    const older = { body: { data: [{ id: "m", type }] } };
    assert.equal((await visionOf({ "/v1/models": list, "/api/v0/models": older })).sees, sees);
  }
});

Deno.test("services tell in their list", async () => {
  const list = (more: Record<string, unknown>) => visionOf({ "/v1/models": listOf("any", more) });
  assert.equal((await list({ architecture: { input_modalities: ["text", "image"] } })).sees, true);
  assert.equal((await list({ architecture: { input_modalities: ["text"] } })).sees, false);
  assert.deepEqual(await list({ capabilities: { vision: false } }), { sees: false, paths: ["/v1/models"] });
});

Deno.test("what no server reports is not known, and no answer of a server throws", async () => {
  assert.equal((await visionOf({ "/v1/models": listOf("vllm") })).sees, null);
  assert.equal((await visionOf({ "/v1/models": { status: 500, body: "x" } })).sees, null);
  assert.equal((await visionOf({})).sees, null);
});
