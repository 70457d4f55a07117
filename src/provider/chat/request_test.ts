import assert from "node:assert/strict";
import { joinBytes } from "../../../tests/helpers/fake_http.ts";
import { type ChatCache, createChatCache, requestBody } from "./request.ts";
import type { ChatRequest, WireMessage } from "../types.ts";

function request(messages: WireMessage[], more: Partial<ChatRequest> = {}): ChatRequest {
  return { model: "m", messages, tools: [], maxTokens: 9, ...more };
}

function textOf(given: ChatRequest, known: ChatCache = createChatCache()): string {
  return new TextDecoder().decode(joinBytes(requestBody(given, known).pieces));
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
