import { joined } from "../../platform/text.ts";
import { type ChatCache, createChatCache, requestBody } from "./request_body.ts";
import type { ChatRequest, WireMessage } from "../types.ts";
import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";

function request(messages: WireMessage[], more: Partial<ChatRequest> = {}): ChatRequest {
  return { model: "m", messages, tools: [], maxTokens: 9, ...more };
}

function textOf(given: ChatRequest, known: ChatCache = createChatCache()): string {
  return new TextDecoder().decode(joined(requestBody(given, known).pieces));
}

Deno.test("the body is one JSON object with messages, limits and the parameters of the model", () => {
  const messages: WireMessage[] = [{ role: "system", content: 's "quoted"' }, { role: "user", content: "caf\u00e9" }];
  const text = textOf(request(messages, { params: { top_k: 40, messages: [] } }));
  assert.deepEqual(JSON.parse(text), {
    model: "m",
    messages,
    stream: true,
    top_k: 40,
    max_tokens: 9,
    stream_options: { include_usage: true },
  });
});

Deno.test("a body without messages is JSON too", () => {
  assert.deepEqual(JSON.parse(textOf(request([]))).messages, []);
});

Deno.test("a longer history begins with the bytes of the shorter one, and each message is serialized once", () => {
  let serialized = 0;
  const counted = (content: string): WireMessage => ({
    role: "user",
    get content() {
      serialized++;
      return content;
    },
  });
  const [first, second] = [counted("one"), counted("two")];
  const known = createChatCache();
  const short = textOf(request([first]), known);
  const before = serialized;
  const long = textOf(request([first, second]), known);
  const end = short.indexOf("]");
  assert.equal(long.slice(0, end), short.slice(0, end));
  assert.equal(serialized, before * 2);
});

Deno.test("half a surrogate pair is replaced in what is sent", () => {
  const text = textOf(request([{ role: "user", content: "a\ud800b" }]));
  assert.equal(JSON.parse(text).messages[0].content, "a\ufffdb");
});

const text = fc.oneof(
  fc.string({ unit: fc.codePoint }),
  fc.tuple(fc.constantFrom("a", "ä", "€", "\u{1f600}"), fc.integer({ min: 0, max: 70_000 }))
    .map(([sign, count]) => sign.repeat(count)),
);
const message: fc.Arbitrary<WireMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom("user" as const, "assistant" as const), content: text }),
  fc.record({ role: fc.constant("tool" as const), tool_call_id: fc.string(), content: text }),
);

/**
 * A history becomes the next one: so many messages of it stay, these follow; copies are other objects of the same text.
 */
const step = fc.record({ kept: fc.nat({ max: 12 }), added: fc.array(message, { maxLength: 4 }), copied: fc.boolean() });

Deno.test("whatever becomes of a history, its bytes are those of all its messages, and earlier ones stay", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const known = createChatCache();
      const earlier: { pieces: Uint8Array[]; messages: WireMessage[] }[] = [];
      let messages: WireMessage[] = [];
      for (const { kept, added, copied } of steps) {
        const start = messages.slice(0, kept);
        messages = [...copied ? start.map((each) => ({ ...each })) : start, ...added];
        earlier.push({ pieces: requestBody(request(messages), known).pieces, messages });
        for (const { pieces, messages } of earlier) {
          const decoded = new TextDecoder("utf-8", { fatal: true }).decode(joined(pieces));
          assert.deepEqual(JSON.parse(decoded).messages, JSON.parse(JSON.stringify(messages)));
        }
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("bytes of earlier messages are not encoded again", () => {
  const known = createChatCache();
  const messages: WireMessage[] = [{ role: "user", content: "one" }, { role: "assistant", content: "two" }];
  const before = requestBody(request(messages), known).pieces;
  const after = requestBody(request([...messages, { role: "user", content: "more" }]), known).pieces;
  assert.deepEqual(after.slice(1, 3).map(({ buffer }) => buffer), before.slice(1, 3).map(({ buffer }) => buffer));
});
