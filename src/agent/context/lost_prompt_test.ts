import assert from "node:assert/strict";
import {
  isCompaction,
  replyOf,
  runPrompt,
  testSession,
  testTool,
  turnOptions,
  words,
} from "../../../tests/helpers/agent_session.ts";
import type { Chat, WireMessage } from "../../provider/types.ts";
import { UNKNOWN_SERVER } from "../server.ts";
import type { Session } from "../session.ts";

const TASK = "Find the heron among these birds.";
const tools = [testTool("Look", ({ path }) => `some words about ${path}, `.repeat(150))];
const tokensOf = (messages: readonly WireMessage[]) => Math.ceil(JSON.stringify(messages).length / 4);

/**
 * A server that leaves out the oldest messages, and a model that looks twelve times and then says what it was asked.
 */
function droppingModel(window: number) {
  const seen = { responses: 0, cut: 0 };
  const ask: Chat = (request) => {
    const [system, ...others] = request.messages;
    assert.ok(system !== undefined);
    let left = others;
    while (left.length > 1 && tokensOf([system, ...left]) > window) left = left.slice(1);
    if (left.length < others.length) seen.cut++;
    const promptTokens = tokensOf([system, ...left]);
    const usage = { promptTokens, completionTokens: 10, cachedTokens: 0 };
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "Some words were read.", usage }));
    const path = `${seen.responses++}`;
    if (seen.responses <= 12) return Promise.resolve(replyOf({ calls: [{ name: "Look", input: { path } }], usage }));
    const isKnown = left.some((message) => JSON.stringify(message).includes(TASK));
    return Promise.resolve(replyOf({ text: isKnown ? "the heron" : "what was I asked?", usage }));
  };
  return { ask, seen };
}

const told = (session: Session, window: number) =>
  testSession(session.model.contextWindow, {
    tools,
    server: { ...UNKNOWN_SERVER, findWindow: () => Promise.resolve(window) },
  });

Deno.test("a prompt that is cut in the middle of a session is seen, room made, and asked once more", async () => {
  for (const isTold of [true, false]) {
    const plain = testSession(32_768, { tools });
    const session = isTold ? told(plain, 4096) : plain;
    const { ask, seen } = droppingModel(4096);
    const options = turnOptions(ask);
    const result = await runPrompt(session, words(TASK), options);
    assert.equal(result.exitCode, 0, result.errors.join());
    assert.equal(result.answer, "the heron");
    assert.equal(seen.cut, 1);
    assert.ok(session.model.contextWindow <= 4096, `${session.model.contextWindow}`);
    assert.equal(options.events.filter((event) => event.kind === "truncated").length, 1);
    const restarts = options.events.filter((event) => event.kind === "retry" && event.notice.restart);
    assert.equal(restarts.length, 1);
    const responses = options.events.filter((event) => event.kind === "response");
    assert.equal(responses.length, seen.responses - 1, "the response to a part of the prompt counts for nothing");
  }
});

Deno.test("a server that reports a window with room for the prompt is believed, whatever it counts", async () => {
  const session = told(testSession(32_768), 32_768);
  const { ask } = droppingModel(4096);
  const options = turnOptions(ask);
  assert.equal((await runPrompt(session, words(TASK), options)).exitCode, 0);
  assert.equal(session.model.contextWindow, 32_768);
  assert.equal(options.events.filter((event) => event.kind === "truncated").length, 0);
});

Deno.test("a server that drops the prompt again ends the turn, with the way to a larger window", async () => {
  const long = testTool("Look", ({ path }) => `some words about ${path}, `.repeat(600));
  const session = testSession(32_768, { tools: [long] });
  let asked = 0;
  const ask: Chat = (request) => {
    const whole = tokensOf(request.messages);
    if (isCompaction(request)) return Promise.resolve(replyOf({ text: "Some words were read." }));
    const promptTokens = asked++ < 4 ? whole : Math.floor(whole / 4);
    const usage = { promptTokens, completionTokens: 10, cachedTokens: 0 };
    return Promise.resolve(replyOf(
      asked > 20 ? { text: "done", usage } : {
        calls: [{ name: "Look", input: { path: `${asked}` } }],
        usage,
      },
    ));
  };
  const result = await runPrompt(session, words(TASK), turnOptions(ask));
  assert.equal(result.exitCode, 7, result.errors.join());
  assert.match(result.errors.join(), /dropped a part of the prompt: it read \d+ of about \d+ tokens/);
  assert.match(result.hint ?? "", /context/);
  assert.ok(asked <= 10, `${asked} requests`);
});

Deno.test("counts that leave out what the server had cached change nothing", async () => {
  const session = testSession(32_768, { tools });
  let [asked, before] = [0, 0];
  const ask: Chat = (request) => {
    const whole = tokensOf(request.messages);
    const usage = { promptTokens: whole - before, completionTokens: 10, cachedTokens: 0 };
    before = whole;
    const path = `${asked++}`;
    return Promise.resolve(replyOf(
      asked > 12 ? { text: "done", usage } : {
        calls: [{ name: "Look", input: { path } }],
        usage,
      },
    ));
  };
  const options = turnOptions(ask);
  assert.equal((await runPrompt(session, words(TASK.repeat(200)), options)).exitCode, 0);
  assert.equal(session.model.contextWindow, 32_768);
  assert.equal(options.events.filter((event) => event.kind === "retry" || event.kind === "truncated").length, 0);
});
