import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import {
  historyProblems,
  isCompaction,
  NO_DISK,
  replyOf,
  runPrompt,
  type ScriptedReply,
  testSession,
  testTool,
  turnOptions,
  words,
  wordsAt,
} from "../../tests/helpers/agent_session.ts";
import { AgentcliError } from "../errors.ts";
import { ProviderFailure } from "../provider/failure.ts";
import { callId } from "../session/item.ts";
import type { Tool } from "../tools/tool.ts";
import { buildMessages } from "./messages.ts";
import { UNKNOWN_SERVER } from "./server.ts";
import type { ToolProtocol } from "./chat_request.ts";
import type { Chat } from "../provider/types.ts";
import type { TurnHooks } from "./turn_options.ts";

const tools = [
  testTool("Look", ({ path }) => `content of ${path}\n`.repeat(40)),
  testTool("Fail", () => new Error("that did not work")),
  testTool("Huge", ({ path }) => `${path} `.repeat(20_000)),
];

type FailedStep = "context" | "no_tools" | "template" | "lost";
type Step =
  | { kind: "response"; response: ScriptedReply }
  | { kind: "failure"; failure: FailedStep }
  | { kind: "abort" };

const call = fc.record({
  name: fc.constantFrom("Look", "Look", "Fail", "Huge", "Unknown", "Stop", "Forbidden"),
  input: fc.oneof(
    fc.record({ path: fc.string({ maxLength: 8 }) }),
    fc.constant(null),
    fc.constant<Record<string, unknown>>({ wrong: 1 }),
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      text: fc.string({ maxLength: 20 }),
      reasoning: fc.constantFrom("", "hm"),
      calls: fc.array(call, { maxLength: 3 }),
      finish: fc.constantFrom("stop" as const, "tool_calls" as const, "length" as const),
    }).map((response): Step => ({ kind: "response", response })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<FailedStep>("context", "no_tools", "template", "lost").map((failure): Step => ({
      kind: "failure",
      failure,
    })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "abort" }) },
);

function failureOf(kind: FailedStep): ProviderFailure {
  const code = kind === "context" ? "context_overflow" : "provider_error";
  return new ProviderFailure(code, `it is ${kind}`, { kind, ...(kind === "context" ? { contextWindow: 4096 } : {}) });
}

Deno.test("the history is valid for every backend at every request and after every turn, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string({ maxLength: 2000 }), fc.array(step, { maxLength: 12 })), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.constantFrom(2048, 4096, 32_768),
      fc.constantFrom<ToolProtocol>("native", "native", "single", "text", "no_system"),
      async (turns, window, toolProtocol) => {
        let interrupt = new AbortController();
        const stop = testTool("Stop", () => {
          interrupt.abort(new AgentcliError("interrupted", "interrupted"));
          return "too late";
        });
        const forbidden: Tool = { ...testTool("Forbidden", () => "never"), kind: "execute" };
        const session = testSession(window, {
          tools: [...tools, stop, forbidden],
          policy: { mode: "default", allow: [], deny: [] },
          toolProtocol,
        });
        for (const [prompt, steps] of turns) {
          interrupt = new AbortController();
          let at = 0;
          const model: Chat = async (request, { onDelta }) => {
            const problems = historyProblems(request.messages);
            assert.deepEqual(problems, [], JSON.stringify(request.messages, null, 1).slice(0, 4000));
            if (isCompaction(request)) return replyOf({ text: "so far so good" });
            const next = steps[at++] ?? { kind: "response", response: { text: "done" } };
            if (next.kind === "failure") throw failureOf(next.failure);
            if (next.kind === "abort") {
              await onDelta({ kind: "text", text: "half a " });
              interrupt.abort(new AgentcliError("interrupted", "interrupted"));
              throw interrupt.signal.reason;
            }
            return replyOf(next.response);
          };
          const denied = { behavior: "deny", message: "no", interrupt: prompt.length % 2 === 0 } as const;
          const result = await runPrompt(
            session,
            words(prompt),
            turnOptions(model, { signal: interrupt.signal, ask: () => Promise.resolve(denied) }),
          );
          assert.notEqual(result.errorCode, "internal", result.errors.join());
          const after = [...session.items, words("next")];
          assert.deepEqual(historyProblems(buildMessages("s", after, { keepReasoning: false })), []);
        }
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("a session of 1,000 rounds stays in its window, and every break of the prefix is reported", async () => {
  const window = 16_384;
  let round = 0;
  const session = testSession(window, { tools });
  let previous = "";
  let breaks = 0;
  let largest = 0;
  let items = 0;
  const bytesPerToken = 3.2;
  const model: Chat = (request) => {
    const text = JSON.stringify(request.tools) + JSON.stringify(request.messages).slice(0, -1);
    const promptTokens = Math.ceil(text.length / bytesPerToken);
    assert.ok(promptTokens + (request.maxTokens ?? 0) <= window, `${promptTokens} tokens and the response`);
    const usage = { promptTokens, completionTokens: 10, cachedTokens: 0 };
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "What was done: ".repeat(50), usage }));
    const told = options.events.filter((event) => event.kind === "cache_invalidated").length;
    if (previous !== "" && !text.startsWith(previous)) {
      assert.ok(told > breaks, `round ${round}: the prefix broke without a word`);
    }
    breaks = told;
    previous = text;
    largest = Math.max(largest, promptTokens);
    items = Math.max(items, session.items.length);
    const path = `file${round}`;
    const done = round++ >= 1000;
    return Promise.resolve(
      replyOf(done ? { text: "done", usage } : { calls: [{ name: "Look", input: { path } }], usage }),
    );
  };
  const options = turnOptions(model);
  const result = await runPrompt(session, words("look at everything"), options);
  assert.equal(result.outcome, "success", result.errors.join());
  assert.ok(largest > window / 3, `${largest}`);
  assert.ok(items < 200, `${items} items at most`);
  assert.ok(breaks > 5 && breaks < 100, `${breaks} breaks`);
  assert.equal(session.context.invalidations, breaks);
  const compactions = options.events.filter((event) => event.kind === "compacted");
  for (const event of compactions) assert.ok(event.postTokens < event.preTokens * 0.6);
  const ids = options.events.flatMap((event) => event.kind === "response" ? event.item.calls.map((one) => one.id) : []);
  assert.equal(new Set(ids).size, ids.length, "ids of calls never repeat");
});

Deno.test("an overflow leads to one compaction and one retry, with the window that the server named", async () => {
  const session = testSession(32_768, { tools });
  const asked: number[] = [];
  let overflowed = false;
  const model: Chat = (request) => {
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "summary" }));
    asked.push(JSON.stringify(request.messages).length);
    if (asked.length < 6) {
      return Promise.resolve(replyOf({ calls: [{ name: "Look", input: { path: `${asked.length}`.repeat(80) } }] }));
    }
    if (overflowed) return Promise.resolve(replyOf({ text: "done" }));
    overflowed = true;
    throw failureOf("context");
  };
  const options = turnOptions(model);
  const result = await runPrompt(session, words("go"), options);
  assert.equal(result.outcome, "success", result.errors.join());
  assert.equal(asked.length, 7);
  assert.ok((asked[6] ?? Infinity) < (asked[5] ?? 0) / 2);
  assert.equal(options.events.filter((event) => event.kind === "compacted").length, 1);
  assert.equal(session.model.contextWindow, 4096);
  const notices = options.events.flatMap((event) => event.kind === "notice" ? [event.text] : []);
  assert.ok(notices.some((text) => /context_window: 32768 in providers\.yaml/.test(text)), notices.join("\n"));
});

Deno.test("a server that never has room ends the turn with context_overflow after few retries", async () => {
  const session = testSession(32_768, { tools });
  let asked = 0;
  const model: Chat = (request) => {
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "summary" }));
    if (asked++ < 10) return Promise.resolve(replyOf({ calls: [{ name: "Look", input: { path: `${asked}` } }] }));
    throw failureOf("context");
  };
  const result = await runPrompt(session, words("go"), turnOptions(model));
  assert.equal(result.errorCode, "context_overflow");
  assert.equal(result.exitCode, 7);
  assert.ok(asked <= 14, `${asked} requests`);
});

Deno.test("a result larger than the window is cut before it is sent, and says how to ask for less", async () => {
  const window = 8192;
  const session = testSession(window, { tools });
  let asked = 0;
  const model: Chat = (request) => {
    const text = JSON.stringify(request.tools) + JSON.stringify(request.messages);
    assert.ok(text.length / 4 + (request.maxTokens ?? 0) <= window, `${text.length} bytes`);
    if (asked++ > 0) assert.match(wordsAt(request, -1), /left out: .*Ask for a part/);
    return Promise.resolve(replyOf(asked === 1 ? { calls: [{ name: "Huge", input: { path: "x" } }] } : { text: "ok" }));
  };
  const options = turnOptions(model);
  assert.equal((await runPrompt(session, words("go"), options)).outcome, "success");
  assert.equal(asked, 2);
  assert.equal(session.context.invalidations, 0, "a request that was never sent invalidates no cache");
});

Deno.test("summaries that do not help end the turn instead of repeating forever", async () => {
  // Nearly the whole window is the system prompt: each summary is full again after one round.
  const system = { text: "x".repeat(2900), label: "open" as const, files: [], parts: [] };
  const session = testSession(1400, { tools, system });
  let asked = 0;
  const model: Chat = (request) => {
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "long ".repeat(400) }));
    asked++;
    const text = "thinking aloud ".repeat(60);
    return Promise.resolve(replyOf({ text, calls: [{ name: "Look", input: { path: `${asked}` } }] }));
  };
  const result = await runPrompt(session, words("go"), turnOptions(model));
  assert.equal(result.errorCode, "context_overflow", result.errors.join());
  assert.match(result.errors.join(), /full again after each summary/);
  assert.ok(asked < 20, `${asked} responses`);
});

Deno.test("a summary is as protected as what it was made from, and made where that may go", async () => {
  const seen: string[] = [];
  const side = (local: boolean): Chat => () => {
    seen.push(local ? "local side" : "remote side");
    return Promise.resolve(replyOf({ text: "summary" }));
  };
  for (const label of ["open", "no-cloud"] as const) {
    const session = testSession(4096, {
      tools: [{
        ...testTool("Look", () => ""),
        run: () => Promise.resolve({ content: "word ".repeat(500), isError: false, label }),
      }],
      server: {
        ...UNKNOWN_SERVER,
        compactModel: () =>
          Promise.resolve({
            chat: side(false),
            provider: "cloud",
            local: false,
            id: "c",
            contextWindow: 100_000,
            maxTokens: undefined,
            params: undefined,
          }),
      },
    });
    let asked = 0;
    const model: Chat = (request) => {
      if (isCompaction(request)) return side(true)(request, { ...turnOptions(model), onDelta() {}, onRetry() {} });
      const text = "and so on ".repeat(100);
      return Promise.resolve(
        replyOf(asked++ < 30 ? { text, calls: [{ name: "Look", input: { path: `${asked}` } }] } : { text: "done" }),
      );
    };
    const result = await runPrompt(session, words("go"), turnOptions(model));
    assert.equal(result.outcome, "success", result.errors.join());
    assert.ok(seen.length > 0);
    assert.deepEqual(new Set(seen), new Set([label === "open" ? "remote side" : "local side"]));
    const [summary] = session.items;
    assert.ok(summary?.kind === "user" && summary.origin === "summary" && summary.label === label);
    seen.length = 0;
  }
});

Deno.test("ids of calls do not repeat in a session that was read back after a compaction", async () => {
  const session = testSession(32_768, { tools });
  const id = callId(500, 0);
  session.items.push(
    words("before"),
    {
      kind: "assistant",
      id: "m",
      text: "",
      reasoning: "",
      calls: [{ id, name: "Look", input: { path: "a" } }],
      label: "open",
    },
    { kind: "tool_result", callId: id, name: "Look", content: "x", isError: false, label: "open" },
  );
  let asked = 0;
  const model: Chat = (request) => {
    assert.deepEqual(historyProblems(request.messages), []);
    return Promise.resolve(
      replyOf(asked++ < 600 ? { calls: [{ name: "Look", input: { path: `${asked}` } }] } : { text: "done" }),
    );
  };
  assert.equal((await runPrompt(session, words("go"), turnOptions(model))).outcome, "success");
});

Deno.test("a file of a call that ends late is noted no later than with its own result", async () => {
  const used: string[] = [];
  const workspace = {
    ...NO_DISK,
    noteUsed: ({ real }: { real: string }) => void used.push(real),
    takeUsed: () => used.splice(0),
  };
  const gate = Promise.withResolvers<void>();
  const look: Tool = {
    ...testTool("Look", () => ""),
    kind: "read",
    async run({ path }) {
      workspace.noteUsed({ real: path });
      if (path === "late") await gate.promise;
      return { content: path, isError: false, label: "open" };
    },
  };
  const session = testSession(20_000, { tools: [look], workspace });
  const calls = ["late", "early"].map((path) => ({ name: "Look", input: { path } }));
  const replies = [replyOf({ calls }), replyOf({ text: "Done." })];
  const hooks: TurnHooks = {
    before: () => Promise.resolve({ behavior: "pass", message: "", context: "", stop: false }),
    after({ input }) {
      if (input.path === "early") gate.resolve();
      return Promise.resolve({ context: "", stop: false });
    },
    end: () => Promise.resolve(null),
  };
  const chat: Chat = () => Promise.resolve(replies.shift()!);
  await runPrompt(session, words("look"), turnOptions(chat, { hooks }));
  const files = session.items.filter((item) => item.kind === "tool_result").map((item) => item.files);
  assert.deepEqual(files, [["late", "early"], ["late", "early"]]);
});
