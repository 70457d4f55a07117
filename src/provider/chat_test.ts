import assert from "node:assert/strict";
import { listenHttp, type Reply, type WireRequest } from "../../tests/helpers/fake_http.ts";
import { manualClock } from "../../tests/helpers/manual_clock.ts";
import { chat } from "./chat.ts";
import { ProviderFailure } from "./failure.ts";
import { openDoor } from "./http.ts";
import type { ChatDelta, ChatReply, ChatRequest, Endpoint, RetryNotice, WireMessage } from "./types.ts";

type Answer = (reply: Reply, body: Record<string, unknown>) => Promise<void>;

/** A server that gives these answers in order, the last one again and again, and a client for it. */
function conversation(...answers: Answer[]) {
  const bodies: Record<string, unknown>[] = [];
  const server = listenHttp("127.0.0.1", async (request: WireRequest, reply) => {
    const body = JSON.parse(new TextDecoder().decode(request.body));
    const answer = answers[Math.min(bodies.length, answers.length - 1)];
    bodies.push(body);
    await answer?.(reply, body);
  });
  const clock = manualClock();
  clock.skipBelow(10_000);
  const door = openDoor({ env: () => undefined, clock });
  const endpoint: Endpoint = {
    provider: "p",
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    keySource: "none",
    headers: {},
    caCerts: [],
    timeout: { connect: 10, firstByte: 600, idle: 300 },
    local: true,
  };
  const deltas: ChatDelta[] = [];
  const notices: RetryNotice[] = [];
  const controller = new AbortController();
  return {
    bodies,
    deltas,
    notices,
    clock,
    controller,
    door,
    endpoint,
    ask(more: Partial<ChatRequest> = {}, onDelta?: (delta: ChatDelta) => void | Promise<void>): Promise<ChatReply> {
      const request: ChatRequest = { model: "m", messages: [{ role: "user", content: "hi" }], tools: [], ...more };
      return chat(door, { endpoint, request }, {
        signal: controller.signal,
        clock,
        onDelta: (delta) => {
          deltas.push(delta);
          return onDelta?.(delta);
        },
        onRetry: (notice) => void notices.push(notice),
      });
    },
    async failure(more: Partial<ChatRequest> = {}): Promise<ProviderFailure> {
      try {
        await this.ask(more);
      } catch (error) {
        assert(error instanceof ProviderFailure, String(error));
        return error;
      }
      assert.fail("it did not fail");
    },
    async [Symbol.asyncDispose]() {
      door.close();
      await server.close();
    },
  };
}

const EVENTS = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };

function event(delta: unknown, finish: string | null = null): string {
  return `data: ${JSON.stringify({ model: "real", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

const answers: Answer = async (reply) => {
  await reply.head(200, EVENTS);
  await reply.chunk(event({ content: "Hello" }));
  await reply.chunk(event({}, "stop") + "data: [DONE]\n\n");
  await reply.end();
};

function refuses(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (reply) => reply.whole(status, { ...JSON_TYPE, ...headers }, JSON.stringify(body));
}

Deno.test("a reply is read, its deltas are handed on, and the connection is used again", async () => {
  await using talk = conversation(answers);
  const reply = await talk.ask();
  assert.deepEqual(reply, { text: "Hello", reasoning: "", calls: [], finish: "stop", usage: null, model: "real" });
  assert.deepEqual(talk.deltas, [{ kind: "text", text: "Hello" }]);
  assert.equal((await talk.ask()).text, "Hello");
});

Deno.test("a history that grows, is retried, shortened and replaced arrives each time as it was given", async () => {
  await using talk = conversation(refuses(503, {}), answers);
  const turn = (at: number): WireMessage[] => [
    { role: "user", content: `${at} \u20ac `.repeat(3000) },
    { role: "assistant", content: `answer ${at}` },
  ];
  const last: WireMessage = { role: "user", content: "and now?" };
  const long = Array.from({ length: 12 }, (_, at) => turn(at)).flat();
  const shortened = long.with(6, { role: "user", content: "shorter" });
  const summary: WireMessage[] = [{ role: "system", content: "s" }, { role: "user", content: "Summary" }];
  const histories = [long.slice(0, 4), long.slice(0, 8), long, shortened, summary, [...summary, ...turn(99)], long];
  for (const history of histories) {
    const messages: WireMessage[] = [...history, last];
    await talk.ask({ messages });
    assert.deepEqual(talk.bodies.at(-1)?.["messages"], messages);
  }
  assert.equal(talk.notices.length, 1);
});

Deno.test("a request streams, asks for token counts, and sends the fields of the model", async () => {
  await using talk = conversation(answers);
  await talk.ask({ maxTokens: 100, temperature: 0.5, params: { top_p: 0.9, stream: false, model: "x" } });
  assert.deepEqual(talk.bodies[0], {
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
  });
});

Deno.test("half a surrogate pair is not sent as an escape that servers refuse", async () => {
  await using talk = conversation(answers);
  await talk.ask({ messages: [{ role: "user", content: "a\ud83d" }] });
  assert.deepEqual(talk.bodies[0]?.["messages"], [{ role: "user", content: "a\ufffd" }]);
});

Deno.test("a cut stream delivers what came and keeps it with the failure; it is not asked again", async () => {
  for (
    const ending of [(reply: Reply) => reply.cut(), (reply: Reply) => reply.end()]
  ) {
    await using talk = conversation(async (reply) => {
      await reply.head(200, EVENTS);
      await reply.chunk(event({ content: "Hel" }) + event({ reasoning: "why" }));
      await ending(reply);
    });
    const failure = await talk.failure();
    assert.equal(failure.code, "connection_lost");
    assert.deepEqual(failure.partial, { text: "Hel", reasoning: "why" });
    assert.deepEqual(talk.deltas.map((delta) => delta.kind), ["reasoning", "text"]);
    assert.equal(talk.bodies.length, 1);
  }
});

Deno.test("a connection that breaks after the reply gave its end is no failure", async () => {
  await using talk = conversation(async (reply) => {
    await reply.head(200, EVENTS);
    await reply.chunk(event({ content: "all" }, "stop"));
    reply.cut();
  });
  assert.equal((await talk.ask()).text, "all");
});

Deno.test("a connection that is closed before any answer is tried once more", async () => {
  await using talk = conversation((reply) => Promise.resolve(reply.cut()), answers);
  assert.equal((await talk.ask()).text, "Hello");
  assert.equal(talk.notices.length, 1);
});

Deno.test("a refused connection is tried once more after a short while, then reported", async () => {
  const talk = conversation(answers);
  await talk[Symbol.asyncDispose]();
  const failure = await talk.failure();
  assert.equal(failure.code, "provider_unreachable");
  assert.equal(talk.notices.length, 1);
  assert((talk.notices[0]?.delayMs ?? 1000) < 200);
  talk.door.close();
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

Deno.test("a field that the server refuses by name is dropped, and not sent again through that door", async () => {
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

Deno.test("what the server echoes of the request is not in the failure", async () => {
  await using talk = conversation((reply, body) =>
    reply.whole(
      500,
      JSON_TYPE,
      JSON.stringify({ error: { message: `Failed to parse messages: ${JSON.stringify(body)}` } }),
    )
  );
  const failure = await talk.failure({ messages: [{ role: "user", content: "the code word is xylophone" }] });
  assert.doesNotMatch(`${failure.message}${failure.hint}`, /xylophone/);
});

Deno.test("an empty reply is a failure that names the likely reason", async () => {
  await using talk = conversation((reply) => reply.whole(200, EVENTS, "data: [DONE]\n\n"));
  const failure = await talk.failure();
  assert.equal(failure.code, "empty_reply");
  assert.match(failure.hint ?? "", /window/);
});

Deno.test("a page instead of a reply is a failure that names the address", async () => {
  await using talk = conversation((reply) => reply.whole(200, { "content-type": "text/html" }, "<html>\n<p>hi\n"));
  assert.equal((await talk.failure()).code, "invalid_reply");
});

Deno.test("an abort ends the reading with the signal's reason, and the server sees it", async () => {
  const left = Promise.withResolvers<void>();
  await using talk = conversation(async (reply) => {
    await reply.head(200, EVENTS);
    await reply.chunk(event({ content: "Hel" }));
    await reply.gone;
    left.resolve();
  });
  const reason = new Error("enough");
  await assert.rejects(talk.ask({}, () => talk.controller.abort(reason)), (error) => error === reason);
  await left.promise;
});

Deno.test("an abort during a wait ends it", async () => {
  await using talk = conversation(refuses(429, { error: "later" }, { "retry-after": "30" }));
  const asking = talk.ask();
  asking.catch(() => {});
  await talk.clock.sleeping(30_000);
  talk.controller.abort(new Error("enough"));
  await assert.rejects(asking, /enough/);
});

Deno.test("silence between bytes is a timeout, with what had come", async () => {
  await using talk = conversation(async (reply) => {
    await reply.head(200, EVENTS);
    await reply.chunk(event({ content: "Hel" }));
    await reply.gone;
  });
  const asking = talk.failure();
  await talk.clock.sleeping(300_000);
  await talk.clock.advance(300_000);
  const failure = await asking;
  assert.equal(failure.code, "provider_timeout");
  assert.deepEqual(failure.partial, { text: "Hel", reasoning: "" });
});

Deno.test("comments are signs of life", async () => {
  const alive = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  await using talk = conversation(async (reply) => {
    await reply.head(200, EVENTS);
    await reply.chunk(event({ content: "a" }));
    await alive.promise;
    await reply.chunk(": ping\n\n" + event({ content: "b" }));
    await finish.promise;
    await reply.chunk(event({}, "stop"));
    await reply.end();
  });
  const second = Promise.withResolvers<void>();
  const asking = talk.ask({}, (delta) => {
    if (delta.kind === "text" && delta.text === "b") second.resolve();
  });
  await talk.clock.sleeping(300_000);
  await talk.clock.advance(200_000);
  alive.resolve();
  await second.promise;
  await talk.clock.advance(200_000);
  finish.resolve();
  assert.equal((await asking).text, "ab");
});

Deno.test("a server that keeps the connection open after its reason to end is not waited for long", async () => {
  await using talk = conversation(async (reply) => {
    await reply.head(200, EVENTS);
    await reply.chunk(event({ content: "all" }, "stop"));
    await reply.gone;
  });
  const asking = talk.ask();
  await talk.clock.sleeping(10_000);
  await talk.clock.advance(10_000);
  assert.equal((await asking).text, "all");
});

Deno.test("the server is read no faster than its words are used", async () => {
  await using talk = conversation(answers);
  const release = Promise.withResolvers<void>();
  const order: string[] = [];
  const asking = talk.ask({}, async () => {
    order.push("delta");
    await release.promise;
    order.push("used");
  }).then(() => order.push("reply"));
  await talk.clock.sleeping(300_000);
  // However long the use takes, it is not the server's silence.
  await talk.clock.advance(900_000);
  release.resolve();
  await asking;
  assert.deepEqual(order, ["delta", "used", "reply"]);
});

Deno.test("what onDelta throws goes to the caller as it is", async () => {
  await using talk = conversation(answers);
  const thrown = new Error("the reader has gone");
  await assert.rejects(talk.ask({}, () => Promise.reject(thrown)), (error) => error === thrown);
});
