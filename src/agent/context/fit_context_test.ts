import assert from "node:assert/strict";
import {
  historyProblems,
  isCompaction,
  replyOf,
  runPrompt,
  testSession,
  testTool,
  turnOptions,
  words,
} from "../../../tests/helpers/agent_session.ts";
import * as fc from "../../../tests/property.ts";
import { ProviderFailure } from "../../provider/failure.ts";
import type { Chat, ChatRequest } from "../../provider/types.ts";
import { compactSession } from "./compact.ts";
import { startTurnState } from "../turn_result.ts";

const TASK = "Find the heron.";

/** A model behind a window that refuses what is too long, with or without its numbers. */
function strictModel(given: { window: number; ratio: number; named: boolean; next(): ReturnType<typeof replyOf> }) {
  let requests = 0;
  const tokensOf = ({ tools, messages }: ChatRequest) =>
    Math.ceil((JSON.stringify(tools).length + JSON.stringify(messages).length) / given.ratio);
  const ask: Chat = (request) => {
    requests++;
    assert.deepEqual(historyProblems(request.messages), []);
    const promptTokens = tokensOf(request);
    if (promptTokens >= given.window) {
      const facts = given.named ? { contextWindow: given.window, promptTokens } : {};
      throw new ProviderFailure("context_overflow", "too long", { kind: "context", ...facts });
    }
    const usage = { promptTokens, completionTokens: 10, cachedTokens: 0 };
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "it went well ".repeat(20), usage }));
    assert.ok(JSON.stringify(request.messages).includes(TASK));
    return Promise.resolve({ ...given.next(), usage });
  };
  return { ask, requests: () => requests };
}

Deno.test("a turn ends well after few requests, whatever the tools give, the window and the tokenizer are", async () => {
  const round = fc.array(fc.nat(60_000), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(round, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 2048, max: 20_000 }),
      fc.double({ min: 2, max: 6, noNaN: true }),
      fc.boolean(),
      async (rounds, window, ratio, named) => {
        let [at, call] = [0, 0];
        const sizes = new Map<string, number>();
        const tools = [testTool("Look", ({ path }) => "some words, ".repeat((sizes.get(path) ?? 0) / 12))];
        const { ask, requests } = strictModel({
          window,
          ratio,
          named,
          next() {
            const calls = (rounds[at++] ?? []).map((size) => {
              const path = `${call++}`;
              sizes.set(path, size);
              return { name: "Look", input: { path } };
            });
            return replyOf(calls.length === 0 ? { text: "done" } : { calls });
          },
        });
        const result = await runPrompt(testSession(window, { tools }), words(TASK), turnOptions(ask));
        assert.equal(result.exitCode, 0, result.errors.join());
        assert.ok(requests() <= (rounds.length + 1) * 4, `${requests()} requests for ${rounds.length} rounds`);
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("a model that only repeats what was summarized ends the turn", async () => {
  let at = 0;
  const tools = [testTool("Look", ({ path }) => `${path} `.repeat(2000))];
  const { ask, requests } = strictModel({
    window: 4096,
    ratio: 4,
    named: true,
    next: () => replyOf({ text: "hm ".repeat(200), calls: [{ name: "Look", input: { path: `${at++ % 7}` } }] }),
  });
  const result = await runPrompt(testSession(4096, { tools }), words(TASK), turnOptions(ask));
  assert.equal(result.errorCode, "loop_detected", result.errors.join());
  assert.ok(requests() < 60, `${requests()} requests`);
});

Deno.test("the first words of the user and the todo list outlast summaries, word by word", async () => {
  const session = testSession(4096, { tools: [testTool("Look", ({ path }) => `${path} `.repeat(400))] });
  const todos = [{ content: "look behind the reeds", status: "pending" as const }];
  session.memory.todos.push(...todos);
  const call = { id: "call00000", name: "TodoWrite", input: { todos } };
  session.items.push(
    words("hello"),
    { kind: "assistant", id: "0", text: "", reasoning: "", calls: [call], label: "open" },
    { kind: "tool_result", callId: call.id, name: call.name, content: "1 todo", isError: false, label: "open" },
  );
  let at = 0;
  let asked: ChatRequest | null = null;
  const ask: Chat = (request) => {
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "Nothing yet." }));
    assert.deepEqual(historyProblems(request.messages), []);
    asked = request;
    return Promise.resolve(replyOf(
      at++ % 8 === 7 ? { text: "done" } : {
        text: "and so on ".repeat(60),
        calls: [{ name: "Look", input: { path: `${at}` } }],
      },
    ));
  };
  const options = turnOptions(ask);
  for (const prompt of ["go", "go on", "and on"]) {
    assert.equal((await runPrompt(session, words(prompt), options)).exitCode, 0);
  }
  assert.ok(options.events.filter((event) => event.kind === "compacted").length >= 3);
  const sent = JSON.stringify(asked);
  for (const text of ["hello", "and on", "- [pending] look behind the reeds"]) assert.ok(sent.includes(text), text);
  assert.equal(sent.split("look behind the reeds").length, 2, "the list stands there once");
});

Deno.test("a summary longer than what it would replace is not taken", async () => {
  const session = testSession(32_768);
  session.items.push(words("hello"), {
    kind: "assistant",
    id: "1",
    text: "Hello, what can I do for you?",
    reasoning: "",
    calls: [],
    label: "open",
  }, words("nothing"));
  const before = [...session.items];
  const options = turnOptions(() => Promise.resolve(replyOf({ text: "The user said hello. ".repeat(50) })));
  const done = await compactSession(session, {
    ...options,
    trigger: "manual",
    state: startTurnState(options.io.clock),
  });
  assert.equal(done, false);
  assert.deepEqual(session.items, before);
});
