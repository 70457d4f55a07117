import assert from "node:assert/strict";
import { classify, serverFailure } from "./errors.ts";
import { serverErrorFromBody } from "./server_error.ts";
import type { Endpoint } from "../types.ts";
import cases from "../../../tests/fixtures/wire/errors.json" with { type: "json" };

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

Deno.test("words about images mean images only where some were sent, and an overflow stays one", () => {
  const kindOf = (message: string, images: boolean, status = 400) =>
    classify(serverErrorFromBody(JSON.stringify({ error: { message } })), status, { images });
  for (
    const message of [
      "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
      "this model is missing data required for image input",
      "m is not a multimodal model",
      "This model does not support image input.",
      "Invalid content type. image_url is only supported by certain models.",
      "At most 0 image(s) may be provided in one prompt.",
      "Only 'text' content type is supported.",
      "body.messages.1.content: Input should be a valid string",
    ]
  ) {
    assert.equal(kindOf(message, true), "no_images", message);
    assert.notEqual(kindOf(message, false), "no_images", message);
  }
  for (const message of ["Failed to load image or audio file", "Invalid image data", "unsupported image format"]) {
    assert.equal(kindOf(message, true), "bad_image", message);
    assert.equal(kindOf(message, false), "request", message);
  }
  assert.equal(kindOf("the prompt with its image exceeds the available context size", true), "context");
  assert.equal(kindOf("model m not found", true, 404), "model");
  assert.equal(kindOf("Internal Server Error", true, 500), "transient");
});

Deno.test("an overflow inside a stream is recognized, with its numbers", () => {
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
  for (
    const name of ["llama.cpp exceed", "lmstudio ctx", "vllm ctx old", "vllm ctx new", "tabby ctx", "freetoken ctx"]
  ) {
    assert.equal(window(name), 4096, name);
  }
});

Deno.test("a refused key is reported in the server's words, without the key or a part of it", () => {
  const key = endpoint.key ?? "";
  for (
    const [said, shown] of [
      ["Incorrect API key provided: sk-very-secret-key", "Incorrect API key provided: …"],
      [`Incorrect API key provided: ${key}. See the docs`, "Incorrect API key provided: …. See the docs"],
      [`Token "${key.slice(0, 6)}" is unknown`, 'Token "…" is unknown'],
      [`${key.slice(0, 3)}********${key.slice(-4)} has expired`, "… has expired"],
      [`got ${key.slice(-5).toUpperCase()} at the end`, "got … at the end"],
      ["Invalid API Key", "Invalid API Key"],
      ["team-header-value is not known", "… is not known"],
    ] as const
  ) {
    const failure = serverFailure(serverErrorFromBody(JSON.stringify({ error: { message: said } })), {
      endpoint: { ...endpoint, headers: { "x-team": "team-header-value" } },
      model: "qwen3",
      texts: [],
      status: 401,
    });
    assert.equal(failure.exitCode, 5);
    assert.ok(failure.message.endsWith(`; the server says: ${shown}`), failure.message);
    assert.doesNotMatch(failure.message + failure.hint, /secret/);
    assert.match(failure.hint ?? "", /RUNTIME_D_KEY/);
  }
  assert.doesNotMatch(failureOf("", 401).message, /it says/);
});

Deno.test("a refused key is named by its source: a variable, the file, or the placeholder", () => {
  const refused = (more: Partial<Endpoint>) => {
    const failure = serverFailure(serverErrorFromBody("{}"), {
      endpoint: { ...endpoint, configFile: "/h/providers.yaml", ...more },
      model: "m",
      texts: [],
      status: 401,
    });
    assert.doesNotMatch(failure.message + failure.hint, /secret/);
    return `${failure.message}\n${failure.hint}`;
  };
  assert.match(refused({}), /refused the key \(HTTP 401\): env:RUNTIME_D_KEY\nset RUNTIME_D_KEY to a valid key$/);
  assert.match(
    refused({ keySource: "literal" }),
    /: literal in \/h\/providers\.yaml\nstore a valid key with `agentcli/,
  );
  assert.match(refused({ keySource: "local", key: "local" }), /local placeholder\nstore a valid key with `/);
  assert.match(refused({ keySource: "none", key: undefined }), /requires a key \(HTTP 401\)\nstore a valid key with `/);
});

Deno.test("a request that is too large in bytes says so, and what to do", () => {
  const failure = failureOf("", 413);
  assert.match(failure.message, /rejected the size of the request \(HTTP 413\)/);
  assert.match(failure.hint ?? "", /request size limit .*or start with less/);
});

Deno.test("an overflow is reported in the numbers of the server, and once", () => {
  const message = "the request exceeds the available context size. try increasing it";
  const body = { error: { code: 400, message, type: "exceed_context_size_error", n_prompt_tokens: 9000, n_ctx: 4096 } };
  assert.match(failureOf(body, 400).message, /\(HTTP 400\): 9,000 tokens are more than its window of 4,096$/);
  // Prompt and reply together are too long: the prompt alone would fit, so these numbers would explain nothing.
  const both = { ...body, error: { ...body.error, n_prompt_tokens: 3000 } };
  assert.match(failureOf(both, 400).message, /exceeds the available context size/);
});

Deno.test("a wait that is longer than ours is reported as the server asked for it", () => {
  const told = (retryAfterMs: number) =>
    serverFailure(serverErrorFromBody('{"error":"slow down"}'), {
      endpoint,
      model: "m",
      texts: [],
      status: 429,
      retryAfterMs,
    });
  assert.match(told(86_400_000).message, /slow down; it requests a wait of 24 h$/);
  assert.match(told(86_400_000).hint ?? "", /try again in 24 h/);
  assert.match(told(90_000).message, /wait of 90 s$/);
  assert.doesNotMatch(told(1000).message, /asks/);
  assert.equal(told(1000).facts.retryAfterMs, 1000);
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
