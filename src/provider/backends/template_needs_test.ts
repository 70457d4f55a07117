import assert from "node:assert/strict";
import { endpointAt, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import { findTemplate } from "./inquiry.ts";

const origin = "http://127.0.0.1:8080";
const asked = { model: "my model", signal: new AbortController().signal };

/** As llama-server gives them for templates of these models. */
const CAPABILITIES = {
  llama3: { supports_tools: true, supports_tool_calls: true, supports_parallel_tool_calls: false },
  gemma2: { supports_tools: false, supports_tool_calls: false, supports_parallel_tool_calls: false },
  qwen3: { supports_tools: true, supports_tool_calls: true, supports_parallel_tool_calls: true },
};

async function needsWith(answers: Record<string, { status?: number; body: unknown }>) {
  const { client, sent } = standInClient(
    Object.fromEntries(Object.entries(answers).map(([path, answer]) => [`${origin}${path}`, answer])),
  );
  return { needs: (await findTemplate(client, endpointAt(`${origin}/v1`), asked)).needs, sent };
}

Deno.test("tools that a template drops go as text, and calls that it refuses together go one by one", async () => {
  for (const [model, wanted] of [["gemma2", "text"], ["llama3", "single"], ["qwen3", "native"]] as const) {
    const { needs, sent } = await needsWith({ "/props": { body: { chat_template_caps: CAPABILITIES[model] } } });
    assert.equal(needs, wanted, model);
    assert.equal(sent.length, 1);
  }
});

Deno.test("a server that does not tell is not known to need anything", async () => {
  for (
    const answer of [
      { body: { chat_template: "{{ x }}" } },
      { body: { error: "Unexpected endpoint or method. (GET /props)" } },
      { body: { chat_template_caps: { supports_tools: "no" } } },
      { body: { chat_template_caps: { supports_tools: true } } },
      { status: 404, body: {} },
      { status: 503, body: { error: { message: "Loading model" } } },
      { status: 401, body: { chat_template_caps: CAPABILITIES.gemma2 } },
    ]
  ) {
    const { needs } = await needsWith({ "/props": answer });
    assert.equal(needs, null, JSON.stringify(answer));
  }
});

Deno.test("a router is asked for the model by name, which is not loaded for that", async () => {
  const named = "/props?model=my%20model&autoload=false";
  const loaded = {
    "/props": { body: { role: "router" } },
    [named]: { body: { chat_template_caps: CAPABILITIES.gemma2 } },
  };
  assert.equal((await needsWith(loaded)).needs, "text");
  const unloaded = { "/props": { body: { role: "router" } }, [named]: { status: 400, body: { error: {} } } };
  assert.equal((await needsWith(unloaded)).needs, null);
});
