import assert from "node:assert/strict";
import {
  type Answer,
  answers,
  conversation,
  event,
  EVENTS,
  JSON_TYPE,
  refuses,
} from "../../../tests/helpers/chat_conversation.ts";
import type { Reply } from "../../../tests/helpers/fake_http.ts";

const half = (ending: (reply: Reply) => void | Promise<void>): Answer => async (reply) => {
  await reply.head(200, EVENTS);
  await reply.chunk(event({ content: "Hel" }) + event({ reasoning: "why" }));
  await ending(reply);
};

Deno.test("a reply that is cut after its first words is asked for from the start, once", async () => {
  const failing = `data: ${JSON.stringify({ error: { message: "the worker died", code: 500 } })}\n\ndata: [DONE]\n\n`;
  for (
    const ending of [
      (reply: Reply) => reply.cut(),
      (reply: Reply) => reply.end(),
      async (reply: Reply) => {
        await reply.chunk(failing);
        await reply.end();
      },
    ]
  ) {
    await using talk = conversation(half(ending), answers);
    assert.equal((await talk.ask()).text, "Hello");
    assert.equal(talk.bodies.length, 2);
    assert.deepEqual(talk.bodies[0], talk.bodies[1]);
    const [notice] = talk.notices;
    assert.equal(notice?.restart, true);
    assert.deepEqual(talk.deltas.map((delta) => delta.kind), ["reasoning", "text", "text"]);
  }
});

Deno.test("a reply that is cut twice is a failure that keeps what came and says how it was cut", async () => {
  for (
    const [ending, hint] of [
      [(reply: Reply) => reply.cut(), /memory or been stopped$/],
      [(reply: Reply) => reply.end(), /without a finish_reason and without \[DONE\]$/],
    ] as const
  ) {
    await using talk = conversation(half(ending));
    const failure = await talk.failure();
    assert.equal(failure.code, "connection_lost");
    assert.match(failure.message, /before it was complete; two attempts failed$/);
    assert.match(failure.hint ?? "", hint);
    assert.deepEqual(failure.partial, { text: "Hel", reasoning: "why" });
    assert.equal(talk.bodies.length, 2);
    assert.equal(talk.notices.length, 1);
  }
});

Deno.test("a reply that is refused half-way for what was asked is not asked for again", async () => {
  const refused = `data: ${JSON.stringify({ error: { message: "Context size has been exceeded.", code: 500 } })}\n\n`;
  await using talk = conversation(half(async (reply) => {
    await reply.chunk(refused);
    await reply.end();
  }));
  assert.equal((await talk.failure()).kind, "context");
  assert.equal(talk.bodies.length, 1);
});

Deno.test("a connection that is closed before any answer is tried once more", async () => {
  await using talk = conversation((reply) => Promise.resolve(reply.cut()), answers);
  assert.equal((await talk.ask()).text, "Hello");
  assert.equal(talk.notices.length, 1);
});

Deno.test("a refused connection is tried once more after a short while, then reported", async () => {
  await using talk = conversation(answers);
  // A released port may be another test's now; nobody listens on this one.
  talk.endpoint.baseUrl = "http://127.0.0.1:1/v1";
  const failure = await talk.failure();
  assert.equal(failure.code, "provider_unreachable");
  assert.equal(talk.notices.length, 1);
  assert((talk.notices[0]?.delayMs ?? 1000) < 200);
});

Deno.test("a busy server is asked again after the time it names, three times at most", async () => {
  await using talk = conversation(refuses(429, { error: "slow down" }, { "retry-after-ms": "1234" }));
  const failure = await talk.failure();
  assert.equal(failure.code, "provider_busy");
  assert.deepEqual(talk.notices.map((notice) => [notice.attempt, notice.maxRetries, notice.delayMs, notice.status]), [
    [1, 3, 1234, 429],
    [2, 3, 1234, 429],
    [3, 3, 1234, 429],
  ]);
});

Deno.test("a server that asks for an hour is not waited for", async () => {
  await using talk = conversation(refuses(429, { error: "slow down" }, { "retry-after": "3600" }));
  assert.equal((await talk.failure()).code, "provider_busy");
  assert.deepEqual(talk.notices, []);
});

Deno.test("a model that loads is waited for", async () => {
  const loading = refuses(503, { error: { message: "Loading model", code: 503 } });
  await using talk = conversation(...Array.from({ length: 20 }, () => loading), answers);
  assert.equal((await talk.ask()).text, "Hello");
  assert.deepEqual(talk.notices.map(({ kind }) => kind), Array(20).fill("loading"));
});

Deno.test("a model that never finishes to load is given up after the time for the first byte", async () => {
  await using talk = conversation(refuses(503, { error: { message: "Loading model", code: 503 } }));
  assert.equal((await talk.failure()).code, "provider_busy");
  assert(talk.clock.monotonic() <= 600_000);
});

Deno.test("requests that fail for what they hold are not sent again", async () => {
  for (const status of [400, 401, 404, 413]) {
    await using talk = conversation(refuses(status, { error: "no" }));
    await talk.failure();
    assert.equal(talk.bodies.length, 1, String(status));
  }
});

Deno.test("a field that the server refuses by name is dropped, and left out of later requests", async () => {
  await using talk = conversation(
    refuses(400, { error: { message: "Unknown field: stream_options", type: "invalid_request_error" } }),
    answers,
  );
  assert.equal((await talk.ask()).text, "Hello");
  assert.equal((await talk.ask()).text, "Hello");
  assert.deepEqual(talk.bodies.map((body) => "stream_options" in body), [true, false, false]);
});

Deno.test("max_tokens goes out under its newer name where the server asks for that", async () => {
  await using talk = conversation(
    refuses(400, { error: { message: "Unsupported parameter: 'max_tokens'", param: "max_tokens" } }),
    answers,
  );
  await talk.ask({ maxTokens: 9 });
  assert.equal(talk.bodies[1]?.["max_completion_tokens"], 9);
  assert(!("max_tokens" in (talk.bodies[1] ?? {})));
});

Deno.test("a field that is refused under both its names is dropped, and then the failure is final", async () => {
  await using talk = conversation((reply, body) => {
    const name = "max_tokens" in body ? "max_tokens" : "max_completion_tokens";
    return reply.whole(400, JSON_TYPE, JSON.stringify({ error: { message: `no ${name}`, param: name } }));
  });
  await talk.failure({ maxTokens: 9 });
  assert.equal(talk.bodies.length, 3);
});

Deno.test("a reply limit that does not fit beside the prompt is lowered once", async () => {
  const message = "You passed 3000 input tokens and requested 2000 output tokens. " +
    "However, the model's context length is only 4096 tokens";
  await using talk = conversation(refuses(400, { error: { message } }), answers);
  await talk.ask({ maxTokens: 2000 });
  assert.equal(talk.bodies[1]?.["max_tokens"], 1080);
});

Deno.test("an overflow says so with its numbers", async () => {
  const error = { message: "exceeds", type: "exceed_context_size_error", n_prompt_tokens: 9000, n_ctx: 4096 };
  await using talk = conversation(refuses(400, { error }));
  const failure = await talk.failure();
  assert.equal(failure.code, "context_overflow");
  assert.equal(failure.facts.contextWindow, 4096);
});

Deno.test("a bare [DONE] is asked for once more", async () => {
  await using talk = conversation((reply) => reply.whole(200, EVENTS, "data: [DONE]\n\n"), answers);
  assert.equal((await talk.ask()).text, "Hello");
  assert.equal(talk.notices.length, 1);
});

Deno.test("a bare [DONE], twice, is a failure that names the likely reasons", async () => {
  await using talk = conversation((reply) => reply.whole(200, EVENTS, "data: [DONE]\n\n"));
  const failure = await talk.failure();
  assert.equal(failure.code, "empty_reply");
  assert.match(failure.message, /two attempts failed$/);
  assert.match(failure.hint ?? "", /log.*window/);
  assert.equal(talk.bodies.length, 2);
});
