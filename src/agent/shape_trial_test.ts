import assert from "node:assert/strict";
import {
  replyOf,
  runPrompt,
  testSession,
  testTool,
  turnOptions,
  words,
  wordsAt,
} from "../../tests/helpers/agent_session.ts";
import { type FailureKind, ProviderFailure } from "../provider/failure.ts";
import type { Chat, ChatRequest } from "../provider/types.ts";
import { UNKNOWN_SERVER } from "./server.ts";

const looking = { calls: ["a", "b"].map((path) => ({ name: "Look", input: { path } })) };

function refusal(kind: FailureKind): ProviderFailure {
  return new ProviderFailure("provider_error", `it is ${kind}`, { kind, status: 500 });
}

function mostCalls(request: ChatRequest): number {
  const counts = request.messages.map((message) => message.role === "assistant" ? message.tool_calls?.length ?? 0 : 0);
  return Math.max(0, ...counts);
}

/** A session with a tool, and what it is to remember of its server. */
function sessionWithTool() {
  const remembered: unknown[] = [];
  const session = testSession(32_768, {
    tools: [testTool("Look", ({ path }) => `content of ${path}`)],
    server: { ...UNKNOWN_SERVER, remember: (facts) => Promise.resolve(void remembered.push(facts)) },
  });
  return { session, remembered };
}

/** A model whose template is asked first; it looks twice at once, then answers. */
function modelWith(template: (request: ChatRequest) => void): Chat & { requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  const model: Chat = (request) => {
    requests.push(request);
    template(request);
    return Promise.resolve(replyOf(request.messages.length === 2 ? looking : { text: "It is there." }));
  };
  return Object.assign(model, { requests });
}

Deno.test("a history with parallel calls that the template refuses is sent with one call a message, for good", async () => {
  const { session, remembered } = sessionWithTool();
  const model = modelWith((request) => {
    if (mostCalls(request) > 1) throw refusal("template");
  });
  const options = turnOptions(model);
  assert.equal((await runPrompt(session, words("look"), options)).answer, "It is there.");
  assert.equal((await runPrompt(session, words("again"), options)).answer, "It is there.");
  assert.deepEqual(model.requests.map(mostCalls), [0, 2, 1, 1]);
  assert.deepEqual(remembered, [{ toolCalls: "single" }]);
  const [, , second, third] = model.requests.map((request) => JSON.stringify(request.messages).slice(0, -1));
  assert.ok(third?.startsWith(second ?? "?"), "the prefix stays");
  const [broken] = options.events.filter((event) => event.kind === "cache_invalidated");
  assert.equal(broken?.reason, "one_call_a_message");
  assert.ok((broken?.bytesKept ?? 0) > 0 && broken?.count === 1);
  const [retry] = options.events.filter((event) => event.kind === "retry");
  assert.match(retry?.notice.reason ?? "", /sent again with one tool call per message/);
});

Deno.test("a template that refuses the tools gets them as text, and one that refuses all changes nothing", async () => {
  for (const [takesText, remember] of [[true, [{ toolCalls: "text" }]], [false, []]] as const) {
    const { session, remembered } = sessionWithTool();
    const model = modelWith((request) => {
      if (request.tools.length > 0 || !takesText) throw refusal("template");
    });
    const options = turnOptions(model);
    const result = await runPrompt(session, words("look"), options);
    assert.equal(result.exitCode === 0, takesText, result.errors.join());
    assert.equal(session.context.toolProtocol, takesText ? "text" : "native");
    assert.deepEqual(remembered, remember);
    // Without calls in the history one call a message is the same request: it is not sent.
    assert.deepEqual(model.requests.slice(0, 2).map((request) => request.tools.length), [1, 0]);
    assert.match(wordsAt(model.requests[1] as ChatRequest, 0), /<tool_call>[^]*"name":"Look"/);
    assert.equal(options.events.filter((event) => event.kind === "cache_invalidated").length, takesText ? 1 : 0);
  }
});

Deno.test("a template without a system message gets its words with the user's first, with tools and without", async () => {
  for (const withTools of [true, false]) {
    const { session, remembered } = sessionWithTool();
    if (!withTools) session.schemas.length = 0;
    const model: Chat = (request) => {
      if (request.messages[0]?.role === "system" || request.tools.length > 0) throw refusal("template");
      assert.match(wordsAt(request, 0), /^You are tested\.\n\n[^]*look$/);
      assert.equal(/<tool_call>/.test(wordsAt(request, 0)), withTools);
      return Promise.resolve(replyOf({ text: "It is there." }));
    };
    const options = turnOptions(model);
    assert.equal((await runPrompt(session, words("look"), options)).answer, "It is there.");
    assert.deepEqual(remembered, [{ toolCalls: "no_system" }]);
    assert.equal(options.events.filter((event) => event.kind === "notice").length, withTools ? 1 : 0);
  }
});

Deno.test("another failure in the next shape teaches nothing of the shape", async () => {
  for (const kind of ["lost", "transient", "busy", "auth"] as const) {
    const { session, remembered } = sessionWithTool();
    const model = modelWith((request) => {
      if (mostCalls(request) > 1) throw refusal("template");
      if (mostCalls(request) === 1) throw refusal(kind);
    });
    const options = turnOptions(model);
    const result = await runPrompt(session, words("look"), options);
    assert.deepEqual(result.errors, [`it is ${kind}`]);
    assert.equal(session.context.toolProtocol, "native");
    assert.deepEqual(remembered, []);
  }
});

Deno.test("failures that are not of the template are not tried in another shape", async () => {
  for (const kind of ["request", "transient", "auth", "model", "stream", "tool_parse"] as const) {
    const { session } = sessionWithTool();
    const model = modelWith(() => {
      throw refusal(kind);
    });
    await runPrompt(session, words("look"), turnOptions(model));
    assert.equal(model.requests.length, 1, kind);
  }
});
