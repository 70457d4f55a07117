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
import { UNKNOWN_SERVER } from "./server.ts";
import type { Chat } from "../provider/types.ts";

const UNREADABLE = 'I look.\n<|plugin_call|>Read{path: "a"}';
const READABLE = '<tool_call>\n{"name": "Read", "arguments": {"path": "a"}}\n</tool_call>';

/** Runs a turn with a model that answers with these texts in turn. */
async function runWith(texts: readonly string[], server?: string) {
  const ran: string[] = [];
  const tools = [testTool("Read", ({ path }) => {
    ran.push(path);
    return "three lines";
  })];
  const asked: string[] = [];
  const model: Chat = (request) => {
    asked.push(wordsAt(request, -1));
    return Promise.resolve(replyOf({ text: texts[asked.length - 1] ?? "Done." }));
  };
  const session = testSession(32_768, {
    tools,
    server: { ...UNKNOWN_SERVER, recognize: () => Promise.resolve(server ?? null) },
  });
  const options = turnOptions(model);
  const result = await runPrompt(session, words("go"), options);
  const notices = options.events.flatMap((event) => event.kind === "notice" ? [event.text] : []);
  return { result, asked, ran, notices };
}

Deno.test("a written call that cannot be read is asked for once more, and then run", async () => {
  const { result, asked, ran, notices } = await runWith([UNREADABLE, READABLE]);
  assert.equal(result.outcome, "success");
  assert.equal(result.answer, "Done.");
  assert.deepEqual(ran, ["a"]);
  assert.equal(asked.length, 3);
  assert.match(asked[1] ?? "", /seems to call Read.*<tool_call>\n{"name":"Read"/s);
  assert.match(notices.join(), /a call of Read that cannot be read.*parses tool calls/);
});

Deno.test("an answer that is a call which cannot be read, again, is a failure that names what the server needs", async () => {
  const wanted = { "llama.cpp": /llama-server with --jinja/, vllm: /--tool-call-parser/, sglang: /--tool-call-parser/ };
  for (const [server, words] of Object.entries(wanted)) {
    const { result, asked, ran } = await runWith([UNREADABLE, UNREADABLE], server);
    assert.equal(result.exitCode, 1);
    assert.equal(result.errorCode, "invalid_reply");
    assert.match(result.hint ?? "", words);
    assert.equal(asked.length, 2);
    assert.deepEqual(ran, []);
  }
});

Deno.test("a call that is explained twice is the answer", async () => {
  const explained = `To read it I would send ${READABLE.replaceAll("\n", "")} and wait.`;
  const { result, asked, ran } = await runWith([explained, explained]);
  assert.equal(result.outcome, "success");
  assert.equal(result.answer, explained);
  assert.equal(asked.length, 2);
  assert.deepEqual(ran, []);
});

Deno.test("an answer that only shows a call is taken as it is", async () => {
  const shown = `The form is:\n\n\`\`\`json\n{"name": "Read", "arguments": {"path": "a"}}\n\`\`\`\n\nNothing was read.`;
  const { result, asked } = await runWith([shown]);
  assert.equal(result.answer, shown);
  assert.equal(asked.length, 1);
});
