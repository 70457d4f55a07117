import assert from "node:assert/strict";
import { endpointAt, recorded, standInClient } from "../../../tests/helpers/stand_in_client.ts";
import * as fc from "../../../tests/property.ts";
import { AgentcliError, type ErrorCode } from "../../errors.ts";
import { listModels, readModelList } from "./model_list.ts";

const BASE = "http://127.0.0.1:8080/v1";
const LIST = `${BASE}/models`;

interface WireCase {
  name: string;
  body: unknown;
  want: "error" | { id: string; ctx: number | null }[];
}

const cases: WireCase[] = JSON.parse(
  await Deno.readTextFile(new URL("../../../tests/fixtures/wire/models.json", import.meta.url)),
);

function thrown(code: ErrorCode, text?: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof AgentcliError && error.code === code && (text?.test(error.message) ?? true);
}

for (const { name, body, want } of cases) {
  Deno.test(`a list of models is read as recorded: ${name}`, () => {
    if (want === "error") assert.throws(() => readModelList(body), thrown("invalid_reply"));
    else assert.deepEqual(readModelList(body).map((model) => ({ id: model.id, ctx: model.contextWindow })), want);
  });
}

Deno.test("a list of models in the server's own form is read", () => {
  const models = readModelList({
    models: [{ key: "a", type: "llm" }, { key: "e", type: "embedding" }, { name: "b" }, "c"],
  });
  assert.deepEqual(models.map((model) => model.id), ["a", "b", "c"]);
});

Deno.test("the states of a router's models are read", () => {
  const states = ["loaded", "unloaded", "loading", "sleeping", "downloading"];
  const models = readModelList({ data: states.map((value) => ({ id: value, status: { value } })) });
  assert.deepEqual(models.map((model) => model.state), ["loaded", "unloaded", "loading", "unloaded", "unloaded"]);
});

Deno.test("a trained maximum in a list is not taken for the window", () => {
  const models = readModelList([
    { id: "a", owned_by: "FreeToken", max_model_len: 262144, context_length: 262144 },
    { id: "b", max_context_length: 262144 },
    { id: "c", meta: { n_ctx_train: 262144 } },
    { id: "d", max_model_len: "8192" },
    { id: "e", max_model_len: -1 },
    { id: "f", max_model_len: 1e300 },
  ]);
  assert.deepEqual(models.map((model) => model.contextWindow), [null, null, null, null, null, null]);
});

Deno.test("unusable and repeated ids are left out of a list, and it is bounded", () => {
  const models = readModelList({
    data: [{ id: "x".repeat(1_000_000) }, { id: "" }, { id: 7 }, {}, null, { id: "a" }, { id: "a" }, { id: "b" }],
  });
  assert.deepEqual(models.map((model) => model.id), ["a", "b"]);
  assert.equal(readModelList(Array.from({ length: 20_000 }, (_, at) => ({ id: `m${at}` }))).length, 10_000);
});

Deno.test("names of the language's own are data in a list", () => {
  const body = JSON.parse('{"data":[{"id":"__proto__","__proto__":{"owned_by":"x"}},{"id":"constructor"}]}');
  const models = readModelList(body);
  assert.deepEqual(models.map((model) => [model.id, model.owner]), [["__proto__", null], ["constructor", null]]);
});

Deno.test("anything is a list of models or an invalid reply", () => {
  fc.assert(fc.property(fc.jsonValue(), (body) => {
    try {
      const models = readModelList(body);
      return new Set(models.map((model) => model.id)).size === models.length;
    } catch (error) {
      return error instanceof AgentcliError && error.code === "invalid_reply";
    }
  }));
});

Deno.test("the list of a provider carries headers and body for those who recognize", async () => {
  const { client } = standInClient({ [LIST]: await recorded("llama-server/models") });
  const list = await listModels(client, endpointAt(BASE), { timeoutMs: 1000 });
  assert.deepEqual(list.models, [{ id: "tiny-agent.gguf", contextWindow: 1024, owner: "llamacpp" }]);
  assert.equal(list.headers.get("server"), "llama.cpp");
});

Deno.test("a byte order mark before a list does no harm", async () => {
  const { client } = standInClient({ [LIST]: { body: '\uFEFF{"data":[{"id":"m"}]}' } });
  assert.equal((await listModels(client, endpointAt(BASE), { timeoutMs: 1000 })).models[0]?.id, "m");
});

Deno.test("a refused key is distinguished from a missing one, without showing the key", async () => {
  const { client } = standInClient({ [LIST]: await recorded("llama-server/key_models_no_key") });
  await assert.rejects(
    listModels(client, endpointAt(BASE), { timeoutMs: 1000 }),
    thrown("auth_failed", /requires a key/),
  );
  const endpoint = endpointAt(BASE, { key: "sk-canary", keySource: "env:K" });
  await assert.rejects(listModels(client, endpoint, { timeoutMs: 1000 }), (error) => {
    assert(error instanceof AgentcliError);
    assert.match(error.message, /refused the key \(HTTP 40[13]\): env:K/);
    assert.doesNotMatch(error.message + error.hint, /canary/);
    return true;
  });
});

for (
  const [what, answer, code, text] of [
    ["a loading server", { status: 503, body: '{"error":{"message":"Loading model"}}' }, "provider_busy", /loading/],
    ["a wrong path", { status: 404, body: "{}" }, "provider_error", /404/],
    ["a refused host name", { status: 403, body: "Invalid host header" }, "provider_error", /host name/],
    ["a web page", { body: "<!doctype html><html></html>" }, "invalid_reply", /web page/],
    ["text", { body: "hello" }, "invalid_reply", /not JSON/],
    ["an error inside a success", { body: { error: "Unexpected endpoint" } }, "invalid_reply", /an error came/],
    ["a list without end", { body: "x".repeat(9 * 1024 * 1024) }, "invalid_reply", /longer/],
    ["silence", "silence", "provider_timeout", /within 20 ms/],
    ["nothing", "refused", "provider_unreachable", /refused/],
  ] as const
) {
  Deno.test(`asking for models meets ${what}: ${code}`, async () => {
    const { client } = standInClient({ [LIST]: answer });
    await assert.rejects(listModels(client, endpointAt(BASE), { timeoutMs: 20 }), thrown(code, text));
  });
}

Deno.test("an error about a list never repeats what the server wrote", async () => {
  for (const status of [200, 400, 401, 403, 404, 500, 503]) {
    const { client } = standInClient({ [LIST]: { status, body: { error: { message: "CANARY \u001b]0;x\u0007" } } } });
    await assert.rejects(listModels(client, endpointAt(BASE), { timeoutMs: 1000 }), (error) => {
      assert(error instanceof AgentcliError);
      assert.doesNotMatch(`${error.message} ${error.hint}`, /CANARY/);
      return true;
    });
  }
});

Deno.test("stopping the question throws the reason of the stop", async () => {
  const { client } = standInClient({ [LIST]: "silence" });
  const stop = new AbortController();
  const asked = listModels(client, endpointAt(BASE), { timeoutMs: 60_000, signal: stop.signal });
  stop.abort(new Error("stopped"));
  await assert.rejects(asked, /stopped/);
});
