import assert from "node:assert/strict";
import { eventSchema, type ProtocolEvent } from "../src/protocol/schema.ts";
import { EVENTS, JSON_TYPE } from "./helpers/chat_conversation.ts";
import { listenHttp } from "./helpers/fake_http.ts";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, startProgram, temporaryHome } from "./helpers/program.ts";

/** The lines of a stream-json run, each checked against the published schema. */
function events(stdout: string): ProtocolEvent[] {
  assert.ok(stdout.endsWith("\n"), "the last line is complete");
  return stdout.trimEnd().split("\n").map((line) => eventSchema.parse(JSON.parse(line)));
}

Deno.test("run prints the answer alone on stdout", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Hello there.", { reasoning: "thinking hard" })] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.stdout, "Hello there.\n");
  assert.equal(done.code, 0, done.stderr);
  assert.doesNotMatch(done.stderr, /thinking hard/);
});

Deno.test("run streams: the first words arrive while the server still writes", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const event = 'data: {"choices":[{"index":0,"delta":{"content":"first "},"finish_reason":null}]}\n\n';
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    const connection = await listener.accept();
    await connection.read(new Uint8Array(65536));
    const encode = (text: string) => new TextEncoder().encode(text);
    await connection.write(encode(`${head}${event.length.toString(16)}\r\n${event}\r\n`));
    await gate.promise;
    const rest =
      'data: {"choices":[{"index":0,"delta":{"content":"last"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    await connection.write(encode(`${rest.length.toString(16)}\r\n${rest}\r\n0\r\n\r\n`));
    connection.close();
  })();
  const { port } = listener.addr as Deno.NetAddr;
  // The listener takes one connection: a known window leaves nothing to ask besides the reply.
  await configure(home, {
    loc: { baseUrl: `http://127.0.0.1:${port}/v1`, models: [{ id: "fake", context_window: 32768 }] },
  });
  await using program = startProgram(["run", "hi"], { home });
  await program.closeInput();
  await program.stdout.until(/first /);
  gate.resolve();
  const done = await program.finished;
  assert.equal(done.stdout, "first last\n");
  await serving;
  listener.close();
});

Deno.test("a turn uses tools on the project's files and sends their results back", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await home.write("b.txt", "beta\n");
  await using server = startFakeServer({
    script: [ask(want("read", { path: "a.txt" }), want("read", { path: "b.txt" })), say("Both read.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "read them"], { home });
  assert.equal(done.stdout, "Both read.\n");
  const messages = server.chats()[1]?.json.messages;
  const results = messages.filter((message: { role: string }) => message.role === "tool");
  assert.match(results[0].content, /alpha/);
  assert.match(results[1].content, /beta/);
  assert.deepEqual(
    results.map((result: { tool_call_id: string }) => result.tool_call_id),
    messages[2].tool_calls.map((call: { id: string }) => call.id),
  );
});

Deno.test("each request of a session begins with the bytes of the one before", async () => {
  await using home = await temporaryHome();
  const rounds = 6;
  for (let i = 0; i < rounds; i++) await home.write(`f${i}.txt`, `file ${i}\n`);
  await using server = startFakeServer({
    script: (request) =>
      request.index < rounds
        ? ask(want("read", { path: `f${request.index}.txt` }), want("list", { pattern: `*${request.index}` }))
        : say("Done."),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "go"], { home });
  assert.equal(done.code, 0, done.stderr);
  const sent = server.chats().map(({ json }) =>
    JSON.stringify(json.tools) + JSON.stringify(json.messages).slice(0, -1)
  );
  assert.equal(sent.length, rounds + 1);
  for (let i = 1; i < sent.length; i++) {
    assert.ok(sent[i]?.startsWith(sent[i - 1] ?? "?"), `request ${i} breaks the prefix`);
  }
  const bodies = server.chats().map(({ text }) => text);
  assert.ok(
    bodies[1]?.startsWith(bodies[0]?.replace(/\][^\]]*$/, "") ?? "?"),
    "the whole body keeps its prefix as well",
  );
});

Deno.test("the first request holds at most 4 KB of system prompt and tools", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Hi.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "hi", "--verbose"], { home });
  const { tools, messages } = server.chats()[0]?.json;
  assert.equal(tools.length, 7);
  const bytes = new TextEncoder().encode(JSON.stringify(tools) + messages[0].content).length;
  assert.ok(bytes <= 4096, `${bytes} bytes`);
  assert.match(done.stderr, /prompt before your words: \d+ bytes/);
});

Deno.test("json prints one result object", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Hi.", { usage: { prompt: 50, completion: 7, cached: 40 } })] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  for (const spelling of [["--output-format", "json"], ["--json"]]) {
    await using again = startFakeServer({ script: [say("Hi.", { usage: { prompt: 50, completion: 7, cached: 40 } })] });
    await configure(home, { loc: { baseUrl: again.baseUrl } });
    const done = await runInProcess(["run", "hi", ...spelling], { home });
    const [result, ...more] = events(done.stdout);
    assert.equal(more.length, 0);
    assert.ok(result?.type === "result" && result.subtype === "success");
    assert.equal(result.result, "Hi.");
    assert.equal(result.exit_code, 0);
    assert.deepEqual(result.usage, {
      input_tokens: 10,
      output_tokens: 7,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 0,
    });
  }
});

Deno.test("stream-json reports the turn event by event, with one result at the end", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await using server = startFakeServer({
    script: [
      { kind: "message", text: "Looking. ", reasoning: "hm", calls: [want("read", { path: "a.txt" })] },
      say("It says alpha."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "hi", "--output-format", "stream-json"], { home });
  const lines = events(done.stdout);
  const kinds = lines.map((line) =>
    line.type === "assistant" ? `assistant ${line.message.content[0]?.type}` : line.type
  );
  assert.deepEqual(kinds, [
    "system",
    "assistant thinking",
    "assistant text",
    "assistant tool_use",
    "user",
    "assistant text",
    "result",
  ]);
  const [init] = lines;
  assert.ok(init?.type === "system" && init.subtype === "init" && init.local && init.label === "open");
  assert.equal(new Set(lines.map((line) => line.session_id)).size, 1);
  assert.equal(new Set(lines.map((line) => line.uuid)).size, lines.length);
});

Deno.test("partial messages nest into blocks that make up the whole messages", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await using server = startFakeServer({
    script: [
      { kind: "message", text: "Look. ", reasoning: "hm", calls: [want("read", { path: "a.txt" })] },
      say("Done."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "hi", "--output-format", "stream-json", "--include-partial-messages"], {
    home,
  });
  const lines = events(done.stdout);
  let text = "";
  let input = "";
  let open: number | null = null;
  let tool = "";
  for (const line of lines) {
    if (line.type !== "stream_event") continue;
    const { event } = line;
    if (event.type === "message_start") assert.equal(open, null);
    if (event.type === "content_block_start") {
      assert.equal(open, null, "blocks do not overlap");
      open = event.index;
      if (event.content_block.type === "tool_use") tool = event.content_block.id;
    }
    if (event.type === "content_block_delta") {
      assert.equal(event.index, open);
      if (event.delta.type === "text_delta") text += event.delta.text;
      if (event.delta.type === "input_json_delta") input += event.delta.partial_json;
    }
    if (event.type === "content_block_stop") open = null;
  }
  assert.equal(text, "Look. Done.");
  assert.match(input, /"file_path":\s*"a.txt"/);
  const call = lines.find((line) => line.type === "assistant" && line.message.content[0]?.type === "tool_use");
  assert.ok(call?.type === "assistant" && call.message.content[0]?.type === "tool_use");
  assert.equal(call.message.content[0].id, tool, "the call has one id");
});

Deno.test("stream-json says how far a server that reports it has read the prompt", async () => {
  await using home = await temporaryHome();
  const line = (delta: object, more: object = {}, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ model: "fake", choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
  const progress = (processed: number) => ({ prompt_progress: { total: 900, cache: 0, processed, time_ms: 1 } });
  const server = listenHttp("127.0.0.1", async (request, reply) => {
    if (request.method !== "POST") return await reply.whole(200, JSON_TYPE, '{"data":[{"id":"fake"}]}');
    await reply.head(200, EVENTS);
    await reply.chunk(line({ role: "assistant", content: null }, progress(512)));
    await reply.chunk(
      line({}, progress(900)) + line({ content: "Read it." }) + line({}, {}, "stop") + "data: [DONE]\n\n",
    );
    await reply.end();
  });
  await configure(home, { loc: { baseUrl: `http://127.0.0.1:${server.port}/v1` } });
  const done = await runInProcess(["run", "hi", "--output-format", "stream-json"], { home });
  await server.close();
  const told = events(done.stdout).filter((event) => event.type === "system" && event.subtype === "agentcli_prefill");
  assert.ok(told.length > 0, done.stdout);
  for (const event of told) assert.ok("elapsed_ms" in event && event.elapsed_ms >= 0);
  const last = told.at(-1);
  assert.ok(last !== undefined && "processed" in last);
  assert.deepEqual([last.processed, last.total], [900, 900]);
});

Deno.test("the prompt comes from standard input, or from both", async () => {
  await using home = await temporaryHome();
  for (
    const [args, stdin, wanted] of [
      [["run"], "from stdin", "from stdin"],
      [["run", "-"], "from stdin\n", "from stdin\n"],
      [["run", "explain"], "piped", "explain\n\npiped"],
      [["run", "alone"], "", "alone"],
    ] as const
  ) {
    await using server = startFakeServer({ script: [say("Ok.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const done = await runInProcess(args, { home, stdin });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(server.chats()[0]?.json.messages[1].content, wanted);
  }
});

Deno.test("attached files and instruction files are in the request", async () => {
  await using home = await temporaryHome();
  await home.write("AGENTS.md", "Answer in French.");
  await home.write("notes.txt", "remember this");
  await using server = startFakeServer({ script: [say("Oui.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await runInProcess(["run", "hi", "--file", "notes.txt", "--append-system-prompt", "Be brief."], { home });
  const [system, user] = server.chats()[0]?.json.messages;
  assert.match(system.content, /Instructions from AGENTS\.md:\nAnswer in French\.[^]*Be brief\.$/);
  assert.match(user.content, /^hi\n\nFile notes\.txt:\nremember this/);
});

Deno.test("--max-turns ends the turn with exit 7 and says so", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await using server = startFakeServer({
    script: (request) => ask(want("list", { pattern: `*${request.index}` })),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "go", "--max-turns", "2", "--json"], { home });
  assert.equal(done.code, 7);
  const [result] = events(done.stdout);
  assert.ok(result?.type === "result" && result.subtype === "error_max_turns");
  assert.equal(result.num_turns, 2);
  assert.equal(server.chats().length, 2);
});

Deno.test("--timeout ends a silent server's turn with exit 7", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [{ kind: "silence" }] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "go", "--timeout", "0.3"], { home });
  assert.equal(done.code, 7);
  assert.match(done.stderr, /0\.3 s \(--timeout\)/);
});

Deno.test("the same call again and again ends the turn with exit 7", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await using server = startFakeServer({ script: () => ask(want("read", { path: "a.txt" })) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "go"], { home });
  assert.equal(done.code, 7);
  assert.equal(server.chats().length, 5);
  assert.match(done.stderr, /same call of Read five times/);
});

Deno.test("Ctrl-C writes the closing result line and ends with 130, SIGTERM with 143", async () => {
  for (const [signal, code, name] of [["SIGINT", 130, "interrupted"], ["SIGTERM", 143, "terminated"]] as const) {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: [{ kind: "silence" }] });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using program = startProgram(["run", "go", "--output-format", "stream-json"], { home });
    await program.closeInput();
    const request = await server.arrived(0);
    program.kill(signal);
    const done = await program.finished;
    assert.equal(done.code, code, done.stderr);
    const last = events(done.stdout).at(-1);
    assert.ok(last?.type === "result" && last.error_code === name);
    await request.gone;
  }
});

Deno.test("@ in the prompt attaches what it names, as in a chat; what is piped in is left alone", async () => {
  await using home = await temporaryHome();
  await home.write("src/pump.ts", "export const RATE = 3;\n");
  await using server = startFakeServer({ script: () => say("Three.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "what is @src/pump.ts for, @nobody?"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /attached: src\/pump\.ts\n/);
  await runInProcess(["run", "look"], { home, stdin: "see @src/pump.ts" });
  const [attached, piped] = server.chats().map(({ json }) => json.messages.at(-1).content);
  assert.equal(
    attached,
    "what is @src/pump.ts for, @nobody?\n\nFile src/pump.ts:\n1\texport const RATE = 3;",
  );
  assert.equal(piped, "look\n\nsee @src/pump.ts");
});

Deno.test("a missing path that the prompt names with @ is reported, words are not", async () => {
  await using home = await temporaryHome();
  await home.write("src/pump.ts", "");
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const prompt = "(@nope.ts), @src/nope, @std/assert @Component @param. @1.5 and (@src/pump.ts)?";
  const done = await runInProcess(["run", prompt], { home });
  assert.equal(done.code, 0, done.stderr);
  const told = done.stderr.split("\n").filter((line) => /attached/.test(line));
  const missing = ["nope.ts", "src/nope"].map((path) => `agentcli: ${path} is not attached: there is no such file`);
  assert.deepEqual(told, [...missing, "agentcli: attached: src/pump.ts"]);
  const quoted = await runInProcess(["run", 'see @"a b"', "--quiet"], { home });
  assert.equal(quoted.stderr, "");
  assert.match((await runInProcess(["run", 'see @"a b"'], { home })).stderr, /^agentcli: a b is not attached: there/);
});

Deno.test("a protected file that the prompt names with @ keeps it from a remote model", async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: keys.txt\n");
  await home.write("keys.txt", "hippopotamus-4711-zebra-violin\n");
  await home.write("open.txt", "open words\n");
  await using server = startFakeServer({ script: () => say("Fine."), host: "127.0.0.2" });
  await configure(home, { far: { baseUrl: server.baseUrl, apiKey: "key" } });
  const refused = await runInProcess(["run", "what is in @keys.txt?"], { home });
  assert.deepEqual([refused.code, server.chats().length], [6, 0], refused.stderr);
  assert.equal((await runInProcess(["run", "what is in @open.txt?"], { home })).code, 0);
  assert.match(server.chats()[0]?.text ?? "", /open words/);
});

Deno.test("run says which model elsewhere answers when nobody named one, and nothing else about models", async () => {
  await using home = await temporaryHome();
  await using far = startFakeServer({ host: "127.0.0.2", script: () => say("Hello.") });
  await using near = startFakeServer({ script: () => say("Hello.") });
  const remote = { baseUrl: far.baseUrl, models: ["big"] };
  const local = { baseUrl: near.baseUrl, models: ["small"] };
  const modelLines = async (args: readonly string[] = [], env = {}) => {
    const done = await runInProcess(["run", "hi", ...args], { home, env });
    assert.equal(done.code, 0, done.stderr);
    return done.stderr.split("\n").filter((line) => line.includes("far:big"));
  };
  // The other one is configured too, but has no models of its own.
  await configure(home, { far: remote, near: { ...local, models: [] } });
  assert.deepEqual(await modelLines(), [`agentcli: no model was named; using far:big at ${far.baseUrl} (remote)`]);
  assert.deepEqual(await modelLines(["--model", "far"]), []);
  assert.deepEqual(await modelLines([], { AGENTCLI_MODEL: "far:big" }), []);
  assert.deepEqual(await modelLines(["--quiet"]), []);
  await configure(home, { far: remote }, { default_provider: "far" });
  assert.deepEqual(await modelLines(), []);
  await configure(home, { near: { ...local, models: ["far:big"] } });
  assert.deepEqual(await modelLines(), [], "on this machine");
  assert.equal([far.chats().length, near.chats().length].join(), "5,1");
});
