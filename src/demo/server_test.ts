import assert from "node:assert/strict";
import { INTRODUCTION } from "./answer.ts";
import { startDemo } from "./server.ts";

const MESSAGES = [{ role: "user", content: "Hello" }];

async function chat(baseUrl: string, body: unknown): Promise<Response> {
  return await fetch(`${baseUrl}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
}

Deno.test("the demo lists its model and streams an answer in pieces with usage", async () => {
  const demo = await startDemo();
  try {
    const list = await (await fetch(`${demo.baseUrl}/models`)).json();
    assert.equal(list.data[0].id, "demo");
    const body = { messages: MESSAGES, stream: true, stream_options: { include_usage: true } };
    const text = await (await chat(demo.baseUrl, body)).text();
    const events = text.split("\n\n").filter((line) => line.startsWith("data: {")).map((line) =>
      JSON.parse(line.slice(6))
    );
    const pieces = events.flatMap((event) => event.choices[0]?.delta?.content ?? []);
    assert.ok(pieces.length > 10);
    assert.ok(pieces.join("").startsWith(INTRODUCTION));
    assert.ok(events.at(-1).usage.prompt_tokens > 0);
    assert.ok(text.endsWith("data: [DONE]\n\n"));
  } finally {
    await demo.close();
  }
});

Deno.test("a call comes with its arguments in pieces that join to JSON", async () => {
  const demo = await startDemo();
  try {
    const tools = [{ type: "function", function: { name: "Glob", parameters: {} } }];
    const text = await (await chat(demo.baseUrl, { messages: MESSAGES, tools, stream: true })).text();
    const deltas = [...text.matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g)].map((found) => JSON.parse(found[1]!));
    assert.deepEqual(JSON.parse(deltas.join("")), { pattern: "./*" });
    assert.match(text, /"finish_reason":"tool_calls"/);
  } finally {
    await demo.close();
  }
});

Deno.test("whoever does not know the random path gets nothing, and nonsense is refused", async () => {
  const demo = await startDemo();
  try {
    const guessed = await fetch(new URL("/v1/models", demo.baseUrl));
    assert.equal(guessed.status, 404);
    await guessed.body?.cancel();
    const wrong = await chat(demo.baseUrl, { prompt: "x" });
    assert.equal(wrong.status, 400);
    await wrong.body?.cancel();
  } finally {
    await demo.close();
  }
});

Deno.test("closing ends the demo while a reader is still waiting", async () => {
  const demo = await startDemo();
  const response = await chat(demo.baseUrl, { messages: MESSAGES, stream: true });
  await demo.close();
  await response.body?.cancel().catch(() => {});
  await assert.rejects(fetch(`${demo.baseUrl}/models`));
});
