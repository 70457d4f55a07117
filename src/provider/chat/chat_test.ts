import assert from "node:assert/strict";
import { answers, conversation, event, EVENTS, JSON_TYPE, refuses } from "../../../tests/helpers/chat_conversation.ts";
import type { WireMessage } from "../types.ts";

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

Deno.test("a connection that breaks after the reply gave its end is no failure", async () => {
  await using talk = conversation(async (reply) => {
    await reply.head(200, EVENTS);
    await reply.chunk(event({ content: "all" }, "stop"));
    reply.cut();
  });
  assert.equal((await talk.ask()).text, "all");
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
