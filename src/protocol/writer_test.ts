import assert from "node:assert/strict";
import { eventSchema } from "./schema.ts";
import type { TurnEvent, TurnResult } from "./turn_event.ts";
import { createProtocolWriter } from "./writer.ts";

const options = { sessionId: "s", partial: true, version: "1.2.3", model: "m" };
const usage = { promptTokens: 10, completionTokens: 2, cachedTokens: 4 };

const everything: TurnEvent[] = [
  {
    kind: "start",
    sessionId: "s",
    cwd: "/p",
    tools: ["Read"],
    provider: "p",
    model: "m",
    local: true,
    label: "open",
    permissionMode: "default",
    keySource: "local",
  },
  { kind: "request", messageId: "msg_1", turn: 1, position: 1 },
  { kind: "delta", messageId: "msg_1", delta: { kind: "prefill", processed: 1, total: 2 } },
  { kind: "delta", messageId: "msg_1", delta: { kind: "reasoning", text: "r" } },
  { kind: "delta", messageId: "msg_1", delta: { kind: "text", text: "t\u2028\n" } },
  { kind: "delta", messageId: "msg_1", delta: { kind: "tool_call", index: 0, name: "Read", arguments: "" } },
  { kind: "delta", messageId: "msg_1", delta: { kind: "tool_call", index: 0, arguments: "{}" } },
  {
    kind: "response",
    item: {
      kind: "assistant",
      id: "msg_1",
      text: "t",
      reasoning: "r",
      calls: [{ id: "c", name: "Read", input: null }],
      label: "open",
    },
    model: "m",
    usage,
    stopReason: "tool_use",
  },
  { kind: "tool_start", callId: "c", toolName: "Read", subject: "a" },
  { kind: "permission_denied", denial: { toolName: "Read", callId: "c", input: {} }, subject: "a", message: "no" },
  {
    kind: "tool_result",
    item: { kind: "tool_result", callId: "c", name: "Read", content: "x", isError: false, label: "open" },
    details: { filePath: "a" },
  },
  {
    kind: "retry",
    notice: { kind: "refused", attempt: 1, maxRetries: 3, delayMs: 500, status: null, reason: "refused" },
  },
  { kind: "recovered", family: "hermes", toolNames: ["Read"] },
  {
    kind: "cache_invalidated",
    reason: "shortened",
    bytesKept: 10,
    bytesBefore: 30,
    bytesAfter: 20,
    count: 1,
    callIds: ["c"],
  },
  {
    kind: "compacted",
    trigger: "auto",
    preTokens: 100,
    postTokens: 20,
    summary: { kind: "user", text: "SUMMARY_TEXT", label: "no-cloud", origin: "summary" },
    replaced: 5,
  },
  { kind: "status", status: "compacting" },
  { kind: "status", status: null },
  { kind: "truncated", estimatedTokens: 100, promptTokens: 20, hint: "h" },
  { kind: "check", command: "c", state: "failed", exitCode: 1, rounds: 1, isForModel: true },
  { kind: "notice", text: "n" },
];

const result: TurnResult = {
  outcome: "success",
  sessionId: "s",
  answer: "a",
  durationMs: 1,
  apiMs: 1,
  turns: 1,
  usage,
  reread: { tokens: 0, ms: 0 },
  model: "m",
  contextWindow: 1,
  maxTokens: 1,
  denials: [{ toolName: "Read", callId: "c", input: {} }],
  stopReason: "end_turn",
  label: "open",
  exitCode: 0,
  errorCode: null,
  hint: null,
  errors: [],
};

Deno.test("every line of every event fits the schema and is one line", () => {
  const writer = createProtocolWriter(options);
  const text = everything.map((event) => writer.lines(event)).join("") + writer.result(result) +
    writer.result({ ...result, outcome: "error_max_turns", errors: ["e"], errorCode: "max_turns" });
  const lines = text.split("\n");
  assert.equal(lines.pop(), "");
  for (const line of lines) eventSchema.parse(JSON.parse(line));
  assert.ok(!text.includes("SUMMARY_TEXT"), "a summary holds what the session read");
  assert.equal(lines.filter((line) => line.includes('"type":"stream_event"')).length, 12);
});

Deno.test("a message whose request failed on the way is ended before the next one starts", () => {
  const writer = createProtocolWriter(options);
  const text = [
    { kind: "request", messageId: "msg_1", turn: 1, position: 1 },
    { kind: "delta", messageId: "msg_1", delta: { kind: "text", text: "half" } },
    { kind: "request", messageId: "msg_2", turn: 1, position: 1 },
  ].map((event) => writer.lines(event as TurnEvent)).join("");
  const types = text.trimEnd().split("\n").map((line) => JSON.parse(line).event.type);
  assert.deepEqual(types, [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "message_start",
  ]);
});

Deno.test("the result of a tool that is no-cloud is not on a line, neither its content nor its details", () => {
  const writer = createProtocolWriter(options);
  const secret = "CNRY_0123456789";
  const line = writer.lines({
    kind: "tool_result",
    item: {
      ...{ kind: "tool_result", callId: "c", name: "Read", content: secret, isError: false, label: "no-cloud" },
      source: { path: ".env", rule: ".agentclisecret:1 no-cloud: .env" },
    },
    details: { content: secret },
  });
  assert.ok(!line.includes(secret));
  const [redacted, result] = line.trim().split("\n").map((text) => eventSchema.parse(JSON.parse(text)));
  assert.ok(redacted?.type === "system" && redacted.subtype === "agentcli_redacted");
  assert.deepEqual([redacted.tool_use_id, redacted.path], ["c", ".env"]);
  assert.match(JSON.stringify(result), /stays with the local model/);
});

Deno.test("without partial messages no pieces are sent", () => {
  const writer = createProtocolWriter({ ...options, partial: false });
  assert.ok(!everything.map((event) => writer.lines(event)).join("").includes("stream_event"));
});
