import assert from "node:assert/strict";
import { classify, serverFailure } from "./errors.ts";
import { serverErrorFromBody } from "./server_error.ts";
import type { Endpoint } from "./types.ts";
import cases from "../../tests/fixtures/wire/errors.json" with { type: "json" };

const endpoint: Endpoint = {
  provider: "runtime_d",
  baseUrl: "http://localhost:8080/v1",
  key: "sk-very-secret-key",
  keySource: "env:RUNTIME_D_KEY",
  headers: {},
  caCerts: [],
  timeout: { connect: 1, firstByte: 1, idle: 1 },
  local: true,
};

function failureOf(body: unknown, status: number, texts: string[] = []) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return serverFailure(serverErrorFromBody(text), { endpoint, model: "qwen3", texts, status });
}

for (const { name, status, body, kind } of cases) {
  Deno.test(`${name} (HTTP ${status}) is of kind ${kind}`, () => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    assert.equal(classify(serverErrorFromBody(text), status), kind);
  });
}

Deno.test("an overflow inside a stream is one, and tells its numbers", () => {
  const error = {
    error: { message: "request (9000 tokens) exceeds the available context size (4096 tokens)", code: 500 },
  };
  const failure = failureOf(error, 200);
  assert.equal(failure.code, "context_overflow");
  assert.equal(failure.facts.contextWindow, 4096);
  assert.equal(failure.facts.promptTokens, 9000);
});

Deno.test("the window is found in each server's words", () => {
  const window = (name: string) => {
    const found = cases.find((each) => each.name === name);
    return failureOf(found?.body, found?.status ?? 0).facts.contextWindow;
  };
  for (const name of ["llama.cpp exceed", "lmstudio ctx", "vllm ctx old", "vllm ctx new", "tabby ctx"]) {
    assert.equal(window(name), 4096, name);
  }
});

Deno.test("a refused key is reported without the server's words and without the key", () => {
  const failure = failureOf({ error: { message: "Incorrect API key provided: sk-very-secret-key" } }, 401);
  assert.equal(failure.exitCode, 5);
  assert.doesNotMatch(failure.message + failure.hint, /secret/);
  assert.match(failure.hint ?? "", /RUNTIME_D_KEY/);
});

Deno.test("the request is not shown when a server echoes it", () => {
  const prompt = "the launch code is 8412-ALPHA,\nkeep it safe";
  const bodies: unknown[] = [
    { error: { message: `Failed to parse messages: [{"content":"the launch code is 8412-ALPHA,\\nkeep it safe"}]` } },
    { error: { message: `bad input near 'launch code is 8412-A'` } },
    { error: { message: "syntax error; last read: 'safe'" } },
    { detail: [{ loc: ["body", "messages"], msg: "bad", input: prompt }] },
    `oops: THE LAUNCH CODE IS 8412-ALPHA, keep it safe`,
  ];
  for (const body of bodies) {
    const { message } = failureOf(body, 500, [prompt]);
    assert.doesNotMatch(message, /8412|'safe'/i, message);
  }
});

Deno.test("messages are one bounded line without control characters, and pages are not shown", () => {
  const { message } = failureOf({ error: `\u001b[31mred\n${"x".repeat(5000)}` }, 500);
  assert(message.length < 400);
  // deno-lint-ignore no-control-regex -- what must not be there
  assert.doesNotMatch(message, /[\u0000-\u001f]/);
  assert.doesNotMatch(failureOf("<html><h1>nginx</h1></html>", 502).message, /nginx|</);
});
