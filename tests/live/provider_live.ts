import assert from "node:assert/strict";
import { denoIo } from "../../src/platform/deno_io.ts";
import { discover } from "../../src/provider/backends/discovery.ts";
import { HttpClient } from "../../src/provider/http/client.ts";
import { listModels } from "../../src/provider/backends/model_list.ts";
import type { Endpoint } from "../../src/provider/types.ts";
import { findWindows, inquire } from "../../src/provider/backends/inquiry.ts";
import { runProgram, temporaryHome } from "../helpers/program.ts";
import { answers, configureLlama, isIdle, type LlamaServer, MODEL, startLlama } from "./llama_server.ts";

const TIMEOUT = { timeoutMs: 5000 };

/** A client that the test closes. */
function clientOf(): HttpClient & Disposable {
  const client = new HttpClient(denoIo());
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

function endpointOf(server: LlamaServer, key?: string): Endpoint {
  return {
    provider: "llama",
    baseUrl: server.baseUrl,
    ...(key === undefined ? {} : { key }),
    keySource: "literal",
    headers: {},
    caCerts: [],
    timeout: { connect: 5, firstByte: 60, idle: 60 },
    local: true,
  };
}

function hostOf(server: LlamaServer): string {
  return new URL(server.origin).host;
}

Deno.test("the server is recognized, and its window is that of one slot, from the list and from /props", async () => {
  await using server = await startLlama({ contextWindow: 8192, parallel: 2 });
  using client = clientOf();
  const endpoint = endpointOf(server);
  const list = await listModels(client, endpoint, TIMEOUT);
  assert.deepEqual(list.models.map((model) => model.id), [MODEL]);
  const recognized = await inquire(client, endpoint, { answer: list, limits: TIMEOUT }).recognize();
  assert.equal(recognized?.server, "llama.cpp");
  assert.equal(recognized?.gateway, false);
  for (const known of [list, null]) {
    const inquiry = inquire(client, endpoint, { answer: known, limits: TIMEOUT });
    const windows = await findWindows(inquiry, "llama.cpp", [MODEL]);
    assert.equal(windows.get(MODEL)?.tokens, 4096, known === null ? "from /props" : "listed");
  }
  assert.ok((await server.slots()).every((slot) => slot.n_ctx === 4096));
});

Deno.test("discovery distinguishes a server that serves, one that needs a key, and one that loads", async () => {
  await using serving = await startLlama({ contextWindow: 4096 });
  await using locked = await startLlama({ key: "sk-some-key-000000" });
  await using loading = await startLlama({ ready: false, contextWindow: 2_000_000 });
  await loading.until("loading", () => answers(loading, 503));
  using client = clientOf();
  const hosts = [loading, serving, locked].map(hostOf);
  const found = await discover(client, { hosts, ...TIMEOUT });
  assert.deepEqual(found.map(({ state, server }) => [state, server?.server]), [
    ["loading", "llama.cpp"],
    ["serving", "llama.cpp"],
    ["needs key", "llama.cpp"],
  ]);
  assert.deepEqual(found[1]?.models, [{ id: MODEL, contextWindow: 4096 }]);
});

Deno.test("init-providers finds the server, validate accepts it, and run needs nothing more", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama();
  const found = await runProgram(["init-providers", "--host", hostOf(server)], { home });
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /llama\.cpp/);
  const checked = await runProgram(["providers", "validate"], { home });
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  const done = await runProgram(["run", "Say hello.", "--tools", "none", "--json"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(JSON.parse(done.stdout).modelUsage[MODEL].contextWindow, 16_384);
});

Deno.test("validate reports a wrong key as an error", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ key: "sk-some-key-000000" });
  await configureLlama(home, server, { apiKey: "sk-wrong-key-111111" });
  const done = await runProgram(["providers", "validate"], { home });
  assert.equal(done.code, 1);
  assert.match(done.stdout, /\[ERR\] llama\n[^]*key/);
  assert.doesNotMatch(done.stdout + done.stderr, /sk-/);
});

Deno.test("probe measures the server to the end and claims nothing that the server denies", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ contextWindow: 8192 });
  await configureLlama(home, server);
  const done = await runProgram(["providers", "probe", "llama", "--json", "--timeout", "50"], { home });
  assert.equal(done.code, 0, done.stderr);
  const { checks, error, interrupted } = JSON.parse(done.stdout);
  assert.deepEqual([error, interrupted], [null, false]);
  assert.equal(checks.reachable.found.server.server, "llama.cpp");
  assert.deepEqual(checks.window_claimed.found, { tokens: 8192, source: "/models" });
  assert.equal(checks.prompt_cache.found.kept, "yes");
  assert.equal(checks.stop.found.stopped, true);
  await server.until("its slots", () => isIdle(server));
});
