import assert from "node:assert/strict";
import { oneCallEach } from "./content.ts";
import type { WireMessage, WireToolCall } from "../types.ts";

function call(id: string): WireToolCall {
  return { id, type: "function", function: { name: "Read", arguments: "{}" } };
}

function result(id: string): WireMessage {
  return { role: "tool", tool_call_id: id, name: "Read", content: `content ${id}` };
}

const messages: WireMessage[] = [
  { role: "system", content: "s" },
  { role: "user", content: "hi" },
  { role: "assistant", content: "I look.", reasoning_content: "hm", tool_calls: [call("a"), call("b"), call("c")] },
  result("a"),
  result("b"),
  result("c"),
  { role: "assistant", content: "", tool_calls: [call("d")] },
  result("d"),
  { role: "assistant", content: "done" },
  { role: "user", content: "more" },
];

Deno.test("each call stands in a message of its own with its result behind it, words and reasoning with the first", () => {
  assert.deepEqual(oneCallEach(messages), [
    ...messages.slice(0, 2),
    { role: "assistant", content: "I look.", reasoning_content: "hm", tool_calls: [call("a")] },
    result("a"),
    { role: "assistant", content: "", tool_calls: [call("b")] },
    result("b"),
    { role: "assistant", content: "", tool_calls: [call("c")] },
    result("c"),
    ...messages.slice(6),
  ]);
});

Deno.test("a longer history begins with the same messages, and a message is split once", () => {
  const whole = oneCallEach(messages);
  for (const end of [2, 6, 8, 9]) {
    const part = oneCallEach(messages.slice(0, end));
    part.forEach((message, at) => assert.equal(message, whole[at], `message ${at} of ${end}`));
  }
});
