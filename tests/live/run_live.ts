import assert from "node:assert/strict";
import { startClient } from "../helpers/client.ts";
import { runProgram, startProgram, temporaryHome } from "../helpers/program.ts";
import { answers, configureLlama, isIdle, MODEL, startLlama } from "./llama_server.ts";
import { promptTokens, STREAM_JSON, turnOf } from "./turn.ts";

/** Nothing is asked of what the model says: only of what must hold whatever it says. */
const SAY_HELLO = ["run", "Say hello.", "--tools", "none"];

Deno.test("an answer is streamed and ends with the server's own token counts", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama();
  await configureLlama(home, server, { model: { params: { temperature: 0 } } });
  const done = await runProgram([...SAY_HELLO, ...STREAM_JSON], { home });
  const { events, result } = turnOf(done.stdout);
  assert.equal(done.code, 0, done.stderr);
  assert.ok(result.subtype === "success");
  const pieces = events.flatMap((event) =>
    event.type === "stream_event" && event.event.type === "content_block_delta" &&
      event.event.delta.type === "text_delta"
      ? [event.event.delta.text]
      : []
  );
  // A tiny model writes all of it before the first piece is read: how many there are says nothing.
  assert.notEqual(pieces.length, 0);
  assert.equal(pieces.join("").trim(), result.result.trim());
  assert.ok(promptTokens(result.usage) > 0);
  assert.ok(result.usage.output_tokens > 0);
  assert.deepEqual(Object.keys(result.modelUsage), [MODEL]);
});

Deno.test("text output is the answer alone on stdout, ended by a newline, and the figures on stderr", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama();
  await configureLlama(home, server, { model: { params: { temperature: 0 } } });
  const done = await runProgram(SAY_HELLO, { home });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /\S\n$/);
  assert.match(done.stderr, /^[1-9][\d.]*k? in(?: \(\d[\d.]*k? cached\))?, [1-9][\d.]*k? out, 1 response, /m);
});

Deno.test("the model's calls run or are refused, each with one result, and the server takes the history", async () => {
  await using home = await temporaryHome();
  for (const name of ["README.md", "a.txt", "b.txt", "src/héllo.ts"]) await home.write(name, "hello world\n");
  await using server = await startLlama();
  await configureLlama(home, server, { model: { params: { temperature: 0 }, max_tokens: 300 } });
  let calls = 0;
  for (const prompt of ["Read README.md", "Read README.md and summarize it.", "Read both files."]) {
    const args = ["run", prompt, "--tools", "Read,Glob,Grep", "--max-turns", "3", ...STREAM_JSON];
    const done = await runProgram(args, { home });
    const { events, result } = turnOf(done.stdout);
    assert.equal(done.code, result.exit_code);
    assert.ok(["none", "max_turns", "empty_reply"].includes(result.error_code ?? "none"), done.stdout);
    const called = events.flatMap((event) =>
      event.type === "assistant" ? event.message.content.filter((block) => block.type === "tool_use") : []
    );
    const answered = events.flatMap((event) => "tool_use_result" in event ? event.message.content : []);
    assert.deepEqual(answered.map((block) => block.tool_use_id).sort(), called.map((call) => call.id).sort());
    // The server lets the model name no tool that it was not told of.
    assert.ok(called.every((call) => ["Read", "Glob", "Grep"].includes(call.name)));
    calls += called.length;
    const usages = events.flatMap((event) =>
      event.type === "stream_event" && event.event.type === "message_delta" ? [event.event.usage] : []
    );
    for (const [index, usage] of usages.entries()) {
      const before = usages[index - 1];
      // All of the request before is in the cache, but for its last token, which is always read again.
      if (before) assert.ok(usage.cache_read_input_tokens >= promptTokens(before) - 1, JSON.stringify(usages));
    }
  }
  assert.ok(calls > 0, "no prompt led to a call");
});

Deno.test("a call that the model writes as text runs, and its result goes back as text", async () => {
  await using home = await temporaryHome();
  await home.write("README.md", "hello world\n");
  await using server = await startLlama();
  const call = '<tool_call>\n{"name": "Read", "arguments": {"file_path": "README.md"}}\n</tool_call>';
  // The server lets the model write nothing else; it takes a grammar only where no tools are declared.
  const params = { grammar: `root ::= ${JSON.stringify(call)}` };
  await configureLlama(home, server, { model: { tool_calls: "text", params } });
  const done = await runProgram(["run", "Read README.md", "--max-turns", "2", ...STREAM_JSON], { home });
  const { events, result } = turnOf(done.stdout);
  assert.equal(result.error_code, "max_turns", done.stdout);
  const results = events.flatMap((event) => "tool_use_result" in event ? event.message.content : []);
  assert.equal(results.length, 2);
  for (const { content, is_error } of results) {
    assert.match(content, /hello world/);
    assert.equal(is_error, false);
  }
  assert.doesNotMatch(done.stdout, /api_retry/);
});

Deno.test("the same prompt in a second run is read from the server's cache", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama();
  await configureLlama(home, server, { model: { max_tokens: 16 } });
  const usages = [];
  for (let run = 0; run < 2; run++) {
    const done = await runProgram(["run", "Say hello.", "--max-turns", "1", "--json"], { home });
    usages.push(turnOf(done.stdout).result.usage);
  }
  const [first, second] = usages;
  assert.ok(first && second);
  assert.equal(first.cache_read_input_tokens, 0);
  assert.equal(second.cache_read_input_tokens, promptTokens(first) - 1);
});

/** Tokens at the end of a prompt that a server reads again whatever it has. */
const LAST_BLOCK = 1;

Deno.test("a chat of 12 turns is read from the server's cache, whichever way calls are sent", async () => {
  for (const toolCalls of ["native", "text"]) {
    await using home = await temporaryHome();
    for (const name of ["README.md", "a.txt"]) await home.write(name, "hello world\n");
    await using server = await startLlama({ contextWindow: 32_768 });
    const model = { params: { temperature: 0 }, max_tokens: 64, tool_calls: toolCalls, context_window: 32_768 };
    await configureLlama(home, server, { model });
    await using client = startClient(["--max-turns", "3"], { home });
    const read = { prompt: 0, cached: 0 };
    for (let turn = 0; turn < 12; turn++) {
      await client.say(turn % 3 === 0 ? "Read README.md" : `Say hello for the ${turn}th time.`);
      const { usage } = await client.result();
      // What the first turn begins with nobody can have read before.
      if (turn === 0) continue;
      read.prompt += promptTokens(usage);
      read.cached += usage.cache_read_input_tokens;
    }
    assert.ok(read.cached >= 0.95 * read.prompt, `${toolCalls}: ${read.cached} of ${read.prompt} tokens`);
    // Each request finds the prompt of the one before, but for its last block.
    const requests = client.lines().filter(({ type }) => type === "assistant").map(({ message }) => message);
    const usages = new Map(requests.map(({ id, usage }) => [id, usage])).values().toArray();
    assert.ok(usages.length > 12);
    for (const [at, usage] of usages.entries()) {
      const before = usages[at - 1];
      const again = before === undefined ? 0 : promptTokens(before) - usage.cache_read_input_tokens;
      assert.ok(again <= LAST_BLOCK, `${toolCalls}, request ${at}: ${again} tokens of the one before were read again`);
    }
  }
});

Deno.test("a window that is not configured is the one that the server gives a slot", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ contextWindow: 8192, parallel: 2 });
  await configureLlama(home, server, { model: { context_window: undefined } });
  const done = await runProgram([...SAY_HELLO, "--json"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(turnOf(done.stdout).result.modelUsage[MODEL]?.contextWindow, 4096);
});

Deno.test("two programs are answered side by side", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ parallel: 2 });
  await configureLlama(home, server, { model: { params: { ignore_eos: true }, max_tokens: 1000 } });
  const both = await Promise.all([1, 2].map(() => runProgram([...SAY_HELLO, ...STREAM_JSON], { home })));
  for (const done of both) {
    assert.equal(done.code, 0, done.stderr);
    assert.equal(turnOf(done.stdout).result.stop_reason, "max_tokens");
  }
});

Deno.test("a model that is still loading is waited for", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ ready: false, contextWindow: 2_000_000 });
  await configureLlama(home, server);
  await server.until("loading", () => answers(server, 503));
  // Frozen until the program is about to ask, so that the question meets a server that loads.
  server.signal("SIGSTOP");
  await using program = startProgram([...SAY_HELLO, ...STREAM_JSON], { home });
  await program.closeInput();
  await program.stdout.until(/"init"/);
  server.signal("SIGCONT");
  const done = await program.finished;
  assert.equal(done.code, 0, done.stderr);
  const retries = turnOf(done.stdout).events.flatMap((event) =>
    event.type === "system" && event.subtype === "api_retry" ? [event] : []
  );
  assert.ok(retries.length > 0);
  assert.ok(retries.every((retry) => retry.error_status === 503 && /loading/.test(retry.error)));
});

Deno.test("a name that the server does not know is answered by its one model, which is named", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama();
  await configureLlama(home, server, { model: { id: "another-name" } });
  const done = await runProgram([...SAY_HELLO, ...STREAM_JSON], { home });
  assert.equal(done.code, 0, done.stderr);
  const { events } = turnOf(done.stdout);
  const models = events.flatMap((event) => event.type === "assistant" ? [event.message.model] : []);
  assert.deepEqual([...new Set(models)], [MODEL]);
});

Deno.test("a reply that fills the context is an answer that was cut, and says so", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ contextWindow: 2048 });
  await configureLlama(home, server, { model: { params: { ignore_eos: true }, max_tokens: 100_000 } });
  const done = await runProgram([...SAY_HELLO, ...STREAM_JSON], { home });
  const { result } = turnOf(done.stdout);
  assert.equal(done.code, 0, done.stderr);
  assert.equal(result.stop_reason, "max_tokens");
  assert.ok(promptTokens(result.usage) + result.usage.output_tokens <= 2048);
  await server.until("its slot", () => isIdle(server));
});
