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
import type { Chat } from "../provider/types.ts";

const tools = [testTool("Fail", () => new Error("that did not work"))];

Deno.test("an answer is asked for once after reasoning alone, and its lack is an error", async () => {
  for (const [finish, wording] of [["stop", /only reasoning/], ["length", /length limit/]] as const) {
    const session = testSession(8192);
    const seen: string[] = [];
    const model: Chat = (request) => {
      seen.push(wordsAt(request, -1));
      return Promise.resolve(replyOf({ reasoning: "hm", finish }));
    };
    const result = await runPrompt(session, words("go"), turnOptions(model));
    assert.equal(result.errorCode, "empty_reply");
    assert.equal(seen.length, 2);
    assert.match(seen[1] ?? "", wording);
  }
});

Deno.test("eight failed calls in a row end the turn; at the fifth the model is told", async () => {
  const session = testSession(32_768, { tools });
  let asked = 0;
  const model: Chat = () => Promise.resolve(replyOf({ calls: [{ name: "Fail", input: { path: `${asked++}` } }] }));
  const options = turnOptions(model);
  const result = await runPrompt(session, words("go"), options);
  assert.equal(result.errorCode, "loop_detected");
  assert.equal(result.exitCode, 7);
  assert.equal(asked, 8);
  const told = options.events.flatMap((event) =>
    event.kind === "tool_result" && /Five calls in a row/.test(event.item.content) ? [event.item.callId] : []
  );
  assert.equal(told.length, 1);
});

Deno.test("many wrong calls in one response do not end the turn", async () => {
  const session = testSession(32_768, { tools });
  let asked = 0;
  const model: Chat = () =>
    Promise.resolve(replyOf(
      asked++ === 0
        ? { calls: Array.from({ length: 10 }, (_, at) => ({ name: "Fail", input: { path: `${at}` } })) }
        : { text: "I see." },
    ));
  assert.equal((await runPrompt(session, words("go"), turnOptions(model))).outcome, "success");
});

Deno.test("a call in a session without tools is answered by a whole sentence", async () => {
  const session = testSession(8192);
  let asked = 0;
  const model: Chat = () =>
    Promise.resolve(replyOf(asked++ === 0 ? { calls: [{ name: "Write", input: {} }] } : { text: "I see." }));
  const options = turnOptions(model);
  await runPrompt(session, words("go"), options);
  const told = options.events.flatMap((event) => event.kind === "tool_result" ? [event.item.content] : []);
  assert.deepEqual(told, ['There is no tool "Write". There are none in this session; answer in words.']);
});

Deno.test("calls above the limit of one response are reported to the user and, after the last result, to the model", async () => {
  const session = testSession(32_768, { tools: [testTool("Look", () => "seen")] });
  let asked = 0;
  const model: Chat = () =>
    Promise.resolve(
      asked++ === 0
        ? {
          ...replyOf({ calls: [{ name: "Look", input: { path: "a" } }, { name: "Look", input: { path: "b" } }] }),
          droppedCalls: 7,
        }
        : replyOf({ text: "I see." }),
    );
  const options = turnOptions(model);
  assert.equal((await runPrompt(session, words("go"), options)).outcome, "success");
  const notices = options.events.flatMap((event) => event.kind === "notice" ? [event.text] : []);
  assert.deepEqual(notices, ["the response has too many tool calls: ran the first 2, dropped 7"]);
  const results = options.events.flatMap((event) => event.kind === "tool_result" ? [event.item.content] : []);
  assert.equal(results[0], "seen");
  assert.match(results[1] ?? "", /^seen\n\n7 more calls of your reply were left out/);
});
