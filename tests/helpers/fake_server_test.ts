import assert from "node:assert/strict";
import { listenHttp } from "./fake_http.ts";
import { always, ask, refuse, say, startFakeServer, want } from "./fake_server.ts";

const TOOLS = [{
  type: "function",
  function: {
    name: "Read",
    description: "Reads",
    parameters: { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] },
  },
}];

async function chat(baseUrl: string, body: Record<string, unknown> = {}): Promise<Response> {
  return await fetch(`${baseUrl}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
}

function events(text: string): Record<string, unknown>[] {
  return text.split("\n\n").filter((event) => event.startsWith("data: {")).map((event) => JSON.parse(event.slice(6)));
}

Deno.test("a scripted text arrives as a finished stream and the request is recorded", async () => {
  await using server = startFakeServer({ script: [say("Hello there", { usage: { prompt: 7, completion: 2 } })] });
  const response = await chat(server.baseUrl, { model: "m", messages: [] });
  const text = await response.text();
  assert.equal(response.status, 200);
  assert.match(text, /"content":"Hello "/);
  assert.match(text, /"prompt_tokens":7/);
  assert.ok(text.endsWith("data: [DONE]\n\n"));
  assert.equal(server.chats()[0]?.json.model, "m");
  assert.equal(server.connectionCount(), 1);
  assert.match(new TextDecoder().decode(server.received()[0]), /^POST \/v1\/chat\/completions HTTP\/1.1/);
});

Deno.test("a capability becomes a call of the offered tool, in pieces, and an absent one is noted", async () => {
  await using server = startFakeServer({
    script: [ask(want("read", { path: "a.txt" }), want("shell", { command: "ls" }))],
  });
  const text = await (await chat(server.baseUrl, { tools: TOOLS })).text();
  // deno-lint-ignore no-explicit-any -- events of a known shape
  const deltas = events(text).flatMap((event: any) => event.choices[0]?.delta?.tool_calls ?? []);
  assert.equal(deltas[0].function.name, "Read");
  assert.equal(deltas.map((delta) => delta.function.arguments).join(""), '{"file_path":"a.txt"}');
  assert.ok(deltas.length > 2);
  assert.deepEqual(server.absent, ["shell"]);
});

Deno.test("the script continues step by step, repeats at the end, and says when it is over", async () => {
  await using server = startFakeServer({
    script: [refuse(429, "slow down", { "retry-after": "1" }), always(say("on"))],
  });
  const refused = await chat(server.baseUrl);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "1");
  await refused.body?.cancel();
  for (let round = 0; round < 3; round++) assert.match(await (await chat(server.baseUrl)).text(), /"content":"on"/);
  await using short = startFakeServer({ script: [say("one")] });
  await (await chat(short.baseUrl)).text();
  assert.equal((await (await chat(short.baseUrl)).json()).error.message, "no step for request 1");
});

Deno.test("a cut stream breaks off and silence ends when the client leaves", async () => {
  await using server = startFakeServer({
    script: [{ kind: "cut", events: 2, message: { kind: "message", text: "a b c d" } }, { kind: "silence" }],
  });
  await assert.rejects(async () => await (await chat(server.baseUrl)).text());
  const silent = await chat(server.baseUrl);
  await silent.body?.cancel();
  await (await server.arrived(1)).gone;
});

Deno.test("a gated step waits for its gate", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({ script: [{ kind: "gated", gate: gate.promise, then: say("now") }] });
  const answer = chat(server.baseUrl);
  await server.arrived(0);
  gate.resolve();
  assert.match(await (await answer).text(), /"content":"now"/);
});

Deno.test("the model list and other paths are answered", async () => {
  await using server = startFakeServer({
    models: ["a:1b"],
    routes: { "/api/ps": { kind: "status", status: 200, body: '{"models":[]}' } },
  });
  assert.equal((await (await fetch(`${server.baseUrl}/models`)).json()).data[0].id, "a:1b");
  assert.deepEqual(await (await fetch(`http://127.0.0.1:${server.port}/api/ps`)).json(), { models: [] });
  const missing = await fetch(`http://127.0.0.1:${server.port}/else`);
  assert.equal(missing.status, 404);
  await missing.body?.cancel();
});

Deno.test({
  name: "whoever writes until the client is gone ends, also when every write fails at once",
  timeout: 10_000,
  async fn() {
    const asked = Promise.withResolvers<void>();
    const server = listenHttp("127.0.0.1", async (_, reply) => {
      let gone = false;
      reply.gone.then(() => gone = true);
      asked.resolve();
      while (!gone) await reply.raw("x");
    });
    const client = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    await client.write(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
    await asked.promise;
    client.close();
    await server.close();
  },
});
