import assert from "node:assert/strict";
import {
  replyOf,
  runPrompt,
  testSession,
  testTool,
  turnOptions,
  words,
  wordsAt,
} from "../../../tests/helpers/agent_session.ts";
import { ProviderFailure } from "../../provider/failure.ts";
import { UNKNOWN_SERVER } from "../server.ts";
import type { Chat } from "../../provider/types.ts";

Deno.test("a server without tools gets them described as text, once for all", async () => {
  const remembered: unknown[] = [];
  const session = testSession(32_768, {
    tools: [testTool("Look", ({ path }) => `content of ${path}`)],
    server: { ...UNKNOWN_SERVER, remember: (facts) => Promise.resolve(void remembered.push(facts)) },
  });
  let asked = 0;
  const model: Chat = (request) => {
    asked++;
    if (asked === 1) {
      assert.equal(request.tools.length, 1);
      throw new ProviderFailure("provider_error", "no tools", { kind: "no_tools" });
    }
    assert.equal(request.tools.length, 0);
    assert.match(wordsAt(request, 0), /<tool_call>[^]*"name":"Look"/);
    assert.ok(request.messages.every((message) => message.role !== "tool"));
    const text = '<tool_call>\n{"name": "Look", "arguments": {"path": "a"}}\n</tool_call>';
    return Promise.resolve(replyOf({ text: asked === 2 ? text : "It is there." }));
  };
  const options = turnOptions(model);
  const result = await runPrompt(session, words("look"), options);
  assert.equal(result.answer, "It is there.");
  assert.deepEqual(remembered, [{ toolCalls: "text" }]);
  assert.equal(options.events.filter((event) => event.kind === "tool_result").length, 1);
  assert.equal(
    options.events.filter((event) => event.kind === "notice" && /does not support tool calling/.test(event.text))
      .length,
    1,
  );
});

Deno.test("a prompt that the server cut is reported once, with the command for that server", async () => {
  const session = testSession(32_768, {
    server: {
      ...UNKNOWN_SERVER,
      recognize: () => Promise.resolve("ollama"),
      findWindow: () => Promise.resolve(4096),
    },
  });
  const model: Chat = () =>
    Promise.resolve(replyOf({ text: "ok", usage: { promptTokens: 4000, completionTokens: 1, cachedTokens: 0 } }));
  const options = turnOptions(model);
  await runPrompt(session, words("some words of a long text ".repeat(2000)), options);
  await runPrompt(session, words("again ".repeat(9000)), options);
  const told = options.events.filter((event) => event.kind === "truncated");
  assert.equal(told.length, 1);
  assert.match(told[0]?.hint ?? "", /OLLAMA_CONTEXT_LENGTH=65536.*context_window: 32768/);
  assert.equal(session.model.contextWindow, 4096);
});

Deno.test("counts that are made up or leave out the cache do not shrink the window", async () => {
  const session = testSession(100_000);
  const model: Chat = () =>
    Promise.resolve(replyOf({ text: "ok", usage: { promptTokens: 1000, completionTokens: 1, cachedTokens: 0 } }));
  const options = turnOptions(model);
  for (let turn = 0; turn < 6; turn++) {
    const result = await runPrompt(session, words("some words of a text ".repeat(800)), options);
    assert.equal(result.exitCode, 0);
  }
  assert.equal(session.model.contextWindow, 100_000);
  assert.deepEqual(
    options.events.filter((event) => event.kind === "compacted" || event.kind === "cache_invalidated"),
    [],
  );
});

Deno.test("a guess after a refusal without numbers lasts as long as its turn", async () => {
  const session = testSession(32_768, { model: { windowSource: "assumed" } });
  let refused = false;
  const model: Chat = (request) => {
    if (!refused) {
      refused = true;
      throw new ProviderFailure("context_overflow", "too long", { kind: "context" });
    }
    const promptTokens = Math.ceil(JSON.stringify(request.messages).length / 4);
    return Promise.resolve(replyOf({ text: "ok", usage: { promptTokens, completionTokens: 1, cachedTokens: 0 } }));
  };
  const first = await runPrompt(session, words("some words ".repeat(300)), turnOptions(model));
  assert.equal(first.outcome, "error_during_execution");
  assert.equal(first.contextWindow, 32_768);
  const second = await runPrompt(session, words("more words ".repeat(300)), turnOptions(model));
  assert.equal(second.outcome, "success", second.errors.join());
  const third = await runPrompt(session, words("and more words ".repeat(200)), turnOptions(model));
  assert.equal(third.outcome, "success", third.errors.join());
  assert.deepEqual(session.items.filter((item) => item.kind === "user" && item.origin === "summary"), []);
});

Deno.test("an assumed window grows with what the server proves to take", async () => {
  const session = testSession(8192, { model: { windowSource: "assumed" } });
  const model: Chat = (request) => {
    const promptTokens = Math.ceil(JSON.stringify(request.messages).length / 4);
    return Promise.resolve(replyOf({ text: "ok", usage: { promptTokens, completionTokens: 1, cachedTokens: 0 } }));
  };
  await runPrompt(session, words("some words ".repeat(2000)), turnOptions(model));
  assert.ok(session.model.contextWindow > 10_000, `${session.model.contextWindow}`);
});
