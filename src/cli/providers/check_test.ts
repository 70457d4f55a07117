import assert from "node:assert/strict";
import { isLocal } from "../../boundary/policy/locality.ts";
import { demoProvider } from "../../config/find.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { HttpClient } from "../../provider/http/client.ts";
import {
  type FakeServer,
  type FakeServerOptions,
  refuse,
  say,
  startFakeServer,
} from "../../../tests/helpers/fake_server.ts";
import { checkProvider, type ProviderCheck } from "./check.ts";
import { checkText } from "./run.ts";

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds)),
};

/** Checks a provider that points at `server`. */
async function checked(
  server: Pick<FakeServer, "baseUrl">,
  more: Partial<ProviderEntry> = {},
  env: Record<string, string> = {},
): Promise<ProviderCheck> {
  const variable = (name: string) => env[name];
  const client = new HttpClient({ env: variable, clock });
  const provider = { ...demoProvider(), name: "p", baseUrl: server.baseUrl, apiKey: undefined, models: [], ...more };
  try {
    return await checkProvider(provider, {
      client,
      env: variable,
      isLocal: (url) => isLocal(url, []),
      readMetadata: ({ model }) => Promise.resolve(model === "learnt" ? { window: 3000 } : {}),
      timeoutMs: 500,
    });
  } finally {
    client.close();
  }
}

const model = (id: string, more: Partial<ProviderEntry["models"][number]> = {}) => ({ id, aliases: [], ...more });
const serving = (options: FakeServerOptions) => startFakeServer({ script: [], ...options });
const list = (entries: Record<string, unknown>[]) => ({ object: "list", data: entries });

Deno.test("a server with a list is in order, in the lines of the seed", async () => {
  await using server = await serving({ models: ["a"] });
  const check = await checked(server);
  assert.equal(check.state, "ok");
  assert.equal(
    checkText(check),
    `[OK ] p\n  ok: API key resolved via local\n  ok: reachable (${server.baseUrl}/models)\n  ok: serves: a\n` +
      "  try: agentcli providers model add p a\n",
  );
});

Deno.test("what a server has is shown where no model of it is configured, a long list in part", async () => {
  const ids = Array.from({ length: 12 }, (_, at) => `m${at}`);
  await using server = await serving({ models: ids });
  const text = checkText(await checked(server));
  assert.match(text, /ok: serves: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more\n/);
  await using empty = await serving({ models: [] });
  assert.match(checkText(await checked(empty)), /warn: it serves no models\n/);
});

Deno.test("a key that a llama-server with an open list rejects is an error, and one that it takes is none", async () => {
  const routes = { "/props": refuse(401, "Invalid API Key") };
  await using server = await serving({ models: list([{ id: "a", owned_by: "llamacpp" }]), routes });
  const wrong = await checked(server, { apiKey: "$KEY" }, { KEY: "wrong" });
  assert.equal(wrong.state, "error");
  assert.ok(wrong.reachable);
  assert.match(checkText(wrong), /API key: the server rejected the one from env:KEY \(HTTP 401\)/);
  assert.match(checkText(await checked(server)), /API key: the server requires one \(HTTP 401\)/);
  routes["/props"] = { kind: "status", status: 200, body: "{}" };
  assert.equal((await checked(server, { apiKey: "$KEY" }, { KEY: "right" })).state, "ok");
});

Deno.test("the window of each model is shown with where it is from", async () => {
  await using server = await serving({
    models: list([
      { id: "a", owned_by: "vllm", max_model_len: 4096 },
      { id: "b", owned_by: "vllm", max_model_len: 32768 },
      { id: "c", owned_by: "vllm" },
      { id: "d", owned_by: "vllm" },
      { id: "learnt", owned_by: "vllm" },
    ]),
  });
  const { lines } = await checked(server, {
    models: [
      model("a"),
      model("b", { contextWindow: 8192 }),
      model("c", { contextWindow: 2048 }),
      model("d"),
      model("learnt"),
    ],
  });
  assert.deepEqual(lines.slice(3).map(({ kind, text }) => `${kind}: ${text}`), [
    "ok: context window of a: 4,096 tokens, from the server (/models)",
    "ok: context window of b: 8,192 tokens, from providers.yaml; the server provides 32,768 tokens (/models)",
    "ok: context window of c: 2,048 tokens, from providers.yaml",
    "ok: context window of learnt: 3,000 tokens, learned from a rejected prompt; context_window in providers.yaml overrides it",
  ]);
});

Deno.test("a bound that is no window is not reported as one", async () => {
  await using server = await serving({ models: list([{ id: "a", owned_by: "FreeToken", context_length: 131072 }]) });
  const { lines } = await checked(server, { models: [model("a")] });
  assert.deepEqual(lines.slice(2), [{ kind: "ok", text: "server recognized: FreeToken" }]);
});

Deno.test("a server that lists nothing but answers is reachable, with a warning", async () => {
  for (const status of [500, 404, 501]) {
    await using server = await serving({
      script: () => say("Hi."),
      routes: { "/v1/models": { kind: "status", status, body: '{"error":"no"}' } },
    });
    const check = await checked(server, { models: [model("a")] });
    assert.equal(check.state, "ok");
    assert.equal(check.reachable, true);
    assert.deepEqual(check.lines.slice(1), [
      { kind: "ok", text: `reachable (${server.baseUrl}/chat/completions)` },
      { kind: "warn", text: `it does not list its models (${server.baseUrl}/models: HTTP ${status})` },
    ]);
    const [asked] = server.chats();
    assert.equal(asked?.json.model, "a");
    assert.equal(asked?.json.max_tokens, 1);
  }
});

Deno.test("a server that lists nothing and says that it does not have the model is reachable, too", async () => {
  await using server = await serving({ script: () => refuse(404, "model 'default' not found"), models: null });
  const check = await checked(server);
  assert.equal(check.reachable, true);
  await using keyed = await serving({ script: () => refuse(401, "Invalid API Key"), models: null });
  assert.match(
    checkText(await checked(keyed)),
    /error: API key: the server requires one \(HTTP 401\); the server says: Invalid/,
  );
});

Deno.test("the server, models it does not have and windows it does not give are reported", async () => {
  await using server = await serving({
    models: list([{ id: "a", owned_by: "vllm", max_model_len: 4096 }, { id: "b", owned_by: "vllm" }]),
  });
  const check = await checked(server, { models: [model("a", { contextWindow: 8192 }), model("gone")] });
  assert.equal(check.state, "ok");
  assert.equal(check.server, "vllm");
  assert.deepEqual(check.lines.slice(2), [
    { kind: "ok", text: "server recognized: vLLM" },
    { kind: "warn", text: "gone is configured but not served" },
    { kind: "warn", text: "a is configured with 8,192 tokens, the server provides 4,096 tokens (/models)" },
  ]);
});

Deno.test("a name without tag stands for the one tagged latest", async () => {
  await using server = await serving({ models: list([{ id: "a:latest", owned_by: "library" }]) });
  const { lines } = await checked(server, { models: [model("a")] });
  assert.deepEqual(lines.filter((line) => line.kind === "warn"), []);
});

Deno.test("gateways and cloud models behind a local address are warned about", async () => {
  await using gateway = await serving({
    routes: {
      "/v1/models": {
        kind: "status",
        status: 200,
        body: JSON.stringify(list([{ id: "a", owned_by: "x" }])),
        headers: { "content-type": "application/json", "x-litellm-version": "1" },
      },
    },
  });
  const warned = await checked(gateway);
  assert.match(checkText(warned), /warn: LiteLLM passes requests on/);
  assert.doesNotMatch(checkText(await checked(gateway, { local: true })), /warn/);
  await using ollama = await serving({ models: list([{ id: "a:120b-cloud", owned_by: "library" }]) });
  assert.match(
    checkText(await checked(ollama, { models: [model("a:120b-cloud")] })),
    /warn: a:120b-cloud runs in the cloud/,
  );
});

Deno.test("a refused key is reachable, and the key line says what the server said", async () => {
  const body = '{"error":{"message":"Invalid API Key sk-CANARY"}}';
  await using server = await serving({ routes: { "/v1/models": { kind: "status", status: 401, body } } });
  const literal = checkText(await checked(server, { apiKey: "sk-CANARY" }));
  assert.equal(
    literal,
    `[ERR] p\n  error: API key: the server rejected the one from literal (HTTP 401); the server says: Invalid API Key …\n` +
      `  ok: reachable (${server.baseUrl}/models)\n` +
      "  try: store a valid key with `agentcli providers set-key p`\n",
  );
  assert.match(checkText(await checked(server)), /error: API key: the server requires one \(HTTP 401\)/);
  assert.doesNotMatch(checkText(await checked(server, { apiKey: "sk-CANARY" })), /CANARY/);
});

Deno.test("a 200 without a model list, a missing path and a page are not reachable", async () => {
  const bodies: [number, string][] = [[200, '{"error":"Unexpected endpoint"}'], [404, "{}"], [200, "<html>"], [
    503,
    "{}",
  ]];
  for (const [status, body] of bodies) {
    await using server = await serving({ routes: { "/v1/models": { kind: "status", status, body } } });
    const check = await checked(server);
    assert.equal(check.state, "error", body);
    assert.equal(check.reachable, false);
    assert.match(checkText(check), /error: not reachable \(http/);
    assert.doesNotMatch(checkText(check), /is the server running/);
    assert.equal(/try: wait until the model is loaded/.test(checkText(check)), status === 503);
  }
});

Deno.test("a server that does not listen and one that never answers are reported with what to try", async () => {
  const closed = await serving({});
  await closed.close();
  const refused = checkText(await checked(closed, { apiKey: "$GONE" }));
  assert.equal(
    refused,
    `[ERR] p\n  error: API key: environment variable GONE is not set\n` +
      `  error: not reachable (${closed.baseUrl}/models): connection refused\n` +
      `  try: is the server running? curl ${closed.baseUrl}/models\n`,
  );
  await using silent = await serving({ routes: { "/v1/models": { kind: "silence" } } });
  assert.match(checkText(await checked(silent)), /error: not reachable .*\n {2}try: is the server running\?/);
});

Deno.test("what a server and a file supply is shown with control characters escaped", async () => {
  await using server = await serving({ models: ["x"] });
  const check = await checked(server, { models: [model("a\x1b]0;t\x07\u202e")] });
  // deno-lint-ignore no-control-regex -- this is what is looked for
  assert.doesNotMatch(checkText(check), /[\x00-\x09\x0b-\x1f\u202e]/);
});

Deno.test("the studio block is skipped only while nobody has set it up", async () => {
  const shipped = { name: "studio_f", apiKey: "$STUDIO_F_API_KEY" };
  const untouched = await checked({ baseUrl: "http://localhost:8888/v1" }, shipped);
  assert.equal(checkText(untouched), "[-- ] studio_f\n  skip: STUDIO_F_API_KEY is not set\n");
  await using server = await serving({ models: ["a"] });
  const moved = await checked({ baseUrl: "http://localhost:8888/v1" }, shipped, { STUDIO_F_BASE_URL: server.baseUrl });
  assert.equal(moved.state, "error");
  assert.equal(moved.baseUrl, server.baseUrl);
  const keyed = await checked(server, shipped, { STUDIO_F_API_KEY: "sk" });
  assert.equal(keyed.state, "ok");
  const asked = server.requests.find((request) =>
    request.path === "/v1/models" && request.headers.has("authorization")
  );
  assert.equal(asked?.headers.get("authorization"), "Bearer sk");
  const broken = await checked(server, shipped, { STUDIO_F_BASE_URL: "http://u:CANARY@h" });
  assert.match(checkText(broken), /error: STUDIO_F_BASE_URL: expected/);
  assert.doesNotMatch(checkText(broken), /CANARY/);
});
