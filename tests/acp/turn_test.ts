import assert from "node:assert/strict";
import { AcpClient, choose, type Message } from "../helpers/acp_client.ts";
import { ask, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { dataUrl, pngFile } from "../helpers/images.ts";
import { configure, temporaryHome } from "../helpers/program.ts";
import type { TemporaryHome } from "../helpers/home.ts";

const ASK = "session/request_permission";
const text = (words: string) => [{ type: "text", text: words }];

/** A home whose one server answers with these steps. */
async function stage(script: readonly Step[], model: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const server = startFakeServer({ script });
  await configure(home, {
    loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768, ...model }] },
  });
  return {
    home,
    server,
    async [Symbol.asyncDispose]() {
      await server.close();
      await home.dispose();
    },
  };
}

const exists = (home: TemporaryHome, name: string) =>
  Deno.stat(`${home.project}/${name}`).then(() => true, () => false);

Deno.test("words, thoughts and usage are sent as they come", async () => {
  await using set = await stage([{
    ...say("It is so."),
    reasoning: "Let me think.",
    usage: { prompt: 100, completion: 20 },
  } as Step]);
  await using client = new AcpClient({ home: set.home });
  const session = await client.session();
  assert.deepEqual(await client.prompt(session, "Is it so?"), { stopReason: "end_turn" });
  assert.equal(client.words, "It is so.");
  const thoughts = client.updates("agent_thought_chunk");
  assert.equal(thoughts.map(({ content }) => content.text).join(""), "Let me think.");
  const ids = [...thoughts, ...client.updates("agent_message_chunk")].map(({ messageId }) => messageId);
  assert.equal(new Set(ids).size, 1);
  assert.deepEqual(client.updates("usage_update")[0], { sessionUpdate: "usage_update", used: 120, size: 32768 });
});

Deno.test("a call is sent with kind, place and result, and a change as a diff", async () => {
  await using set = await stage([
    ask(want("read", { path: "src/a.ts" }), want("grep", { pattern: "nothing here" })),
    ask(want("edit", { path: "src/a.ts", old: "one", new: "two" })),
    ask(want("write", { path: "new.txt", content: "fresh\n" })),
    ask(want("read", { path: "missing.txt" })),
    say("Done."),
  ]);
  const { home } = set;
  await home.write("src/a.ts", "const x = 'one';\n");
  await using client = new AcpClient({ home, args: ["--permission-mode", "acceptEdits"] });
  const session = await client.session();
  await client.prompt(session, "Change it");
  const [read, grep, edit, write, missing] = client.calls().values();
  assert.deepEqual([read.kind, read.status, read.title], ["read", "completed", "Read src/a.ts"]);
  assert.deepEqual(read.locations, [{ path: `${home.project}/src/a.ts` }]);
  assert.match(read.content[0].content.text, /const x/);
  assert.deepEqual([grep.kind, grep.status], ["search", "completed"]);
  const path = `${home.project}/src/a.ts`;
  assert.deepEqual([edit.kind, edit.status], ["edit", "completed"]);
  const diff = { type: "diff", path, oldText: "const x = 'one';\n", newText: "const x = 'two';\n" };
  assert.deepEqual(edit.content, [diff]);
  assert.deepEqual(edit.locations, [{ path, line: 1 }]);
  assert.deepEqual(write.content, [
    { type: "diff", path: `${home.project}/new.txt`, oldText: null, newText: "fresh\n" },
  ]);
  assert.equal(missing.status, "failed");
});

Deno.test("a permission is asked with its rule: once, for the session, for the project, or not", async () => {
  const writing = (name: string) => ask(want("write", { path: name, content: name }));
  await using set = await stage([
    ...[writing("1"), say("a"), writing("2"), say("b"), writing("3"), say("c"), writing("4"), say("d")],
    ...[writing("5"), say("e"), writing("6"), say("f")],
  ]);
  const { home } = set;
  const given = ["once", "deny", "session"];
  const asked: Message[] = [];
  const answer = (params: Message) => {
    asked.push(params);
    return choose(given.shift() ?? "project")(params);
  };
  await using client = new AcpClient({ home, answers: { [ASK]: answer } });
  const session = await client.session();
  for (let count = 0; count < 4; count++) await client.prompt(session, "write");
  assert.deepEqual(await Promise.all(["1", "2", "3", "4"].map((name) => exists(home, name))), [
    true,
    false,
    true,
    true,
  ]);
  assert.equal(asked.length, 3);
  const [{ sessionId, toolCall, options }] = asked;
  assert.equal(sessionId, session);
  assert.deepEqual(options.map(({ kind }: Message) => kind), [
    "allow_once",
    "allow_always",
    "allow_always",
    "reject_once",
  ]);
  assert.match(options[1].name, /session: Write/);
  assert.deepEqual(toolCall.content, [{ type: "diff", path: `${home.project}/1`, oldText: null, newText: "1" }]);
  assert.ok(client.calls().has(toolCall.toolCallId));
  await using later = new AcpClient({ home, answers: { [ASK]: answer } });
  await later.prompt(await later.session(), "write");
  await later.prompt(await later.session(), "write");
  assert.equal(asked.length, 4);
  assert.ok(await exists(home, "5") && await exists(home, "6"));
});

Deno.test("a client that cannot answer denies, and the turn continues", async () => {
  await using set = await stage([ask(want("shell", { command: "touch x" })), say("I could not.")]);
  for (const answer of [undefined, () => ({}), () => ({ outcome: { outcome: "cancelled" } }), () => "what?"]) {
    await using again = await stage([ask(want("shell", { command: "touch x" })), say("I could not.")]);
    const answers: Record<string, () => unknown> = answer === undefined ? {} : { [ASK]: answer };
    await using client = new AcpClient({ home: again.home, answers });
    const session = await client.session();
    assert.equal((await client.prompt(session, "touch")).stopReason, "end_turn");
    assert.ok(!await exists(again.home, "x"));
    assert.deepEqual([...client.calls().values()].map(({ status }) => status), ["failed"]);
  }
  assert.equal(set.server.chats().length, 0);
});

Deno.test("a cancel ends the turn as cancelled at every moment, and every call with it", async () => {
  const slow = ask(want("shell", { command: "sleep 60" }));
  const moments: readonly {
    script: Step[];
    until: (set: Awaited<ReturnType<typeof stage>>, client: AcpClient) => Promise<unknown>;
  }[] = [
    { script: [], until: () => Promise.resolve() },
    { script: [{ kind: "silence" }], until: ({ server }) => server.arrived(0) },
    { script: [slow], until: (_, client) => client.until(({ method }) => method === ASK) },
    {
      script: [slow],
      until: (_, client) => client.until(({ params }) => params?.update?.status === "in_progress"),
    },
    {
      script: [{ kind: "paused", events: 4, gate: new Promise(() => {}), message: say("a b c d e f") as never }],
      until: (_, client) => client.until(({ params }) => params?.update?.sessionUpdate === "agent_message_chunk"),
    },
  ];
  for (const [at, { script, until }] of moments.entries()) {
    await using set = await stage([...script, say("Next.")]);
    const answers = { [ASK]: at === 2 ? () => undefined : choose("once") };
    await using client = new AcpClient({ home: set.home, answers });
    const sessionId = await client.session();
    const { answer } = client.begin("session/prompt", { sessionId, prompt: text("go") });
    await until(set, client);
    await client.notify("session/cancel", { sessionId });
    // Clients send what was typed next without waiting.
    const next = client.begin("session/prompt", { sessionId, prompt: text("next") });
    assert.deepEqual((await answer).result, { stopReason: "cancelled" }, `moment ${at}`);
    assert.deepEqual((await next.answer).result?.stopReason, "end_turn", `moment ${at}`);
    for (const { status } of client.calls().values()) assert.equal(status, "failed", `moment ${at}`);
  }
});

Deno.test("what a command prints is shown while it runs, but not where something is protected", async () => {
  const isShown = ({ params }: Message) => /hello/.test(JSON.stringify(params?.update?.content ?? ""));
  await using set = await stage([ask(want("shell", { command: "echo hello; sleep 60" }))]);
  await using client = new AcpClient({ home: set.home, answers: { [ASK]: choose("once") } });
  const sessionId = await client.session();
  const { answer } = client.begin("session/prompt", { sessionId, prompt: text("run it") });
  await client.until((message) => isShown(message) && message.params.update.sessionUpdate === "tool_call_update");
  await client.notify("session/cancel", { sessionId });
  assert.equal((await answer).result.stopReason, "cancelled");
  await using guarded = await stage([ask(want("shell", { command: "echo hel''lo" })), say("Ran.")]);
  await guarded.home.write(".agentclisecret", "no-cloud: .env\n");
  await using other = new AcpClient({ home: guarded.home, answers: { [ASK]: choose("once") } });
  await other.prompt(await other.session(), "run it");
  const shown = other.messages.filter(isShown).map(({ params }) => params.update.status);
  assert.deepEqual(shown, ["completed"]);
});

Deno.test("a canceled request is answered with -32800", async () => {
  await using set = await stage([{ kind: "silence" }]);
  await using client = new AcpClient({ home: set.home });
  const sessionId = await client.session();
  const { id, answer } = client.begin("session/prompt", { sessionId, prompt: text("go") });
  await set.server.arrived(0);
  await client.notify("$/cancel_request", { requestId: id });
  assert.equal((await answer).error.code, -32800);
});

Deno.test("a second prompt while one runs is refused, and does not disturb it", async () => {
  const gate = Promise.withResolvers<void>();
  await using set = await stage([
    { kind: "paused", events: 2, gate: gate.promise, message: say("One two three.") as never },
  ]);
  await using client = new AcpClient({ home: set.home });
  const sessionId = await client.session();
  const { answer } = client.begin("session/prompt", { sessionId, prompt: text("go") });
  await set.server.arrived(0);
  assert.equal((await client.failure("session/prompt", { sessionId, prompt: text("and") })).code, -32600);
  gate.resolve();
  assert.equal((await answer).result.stopReason, "end_turn");
  assert.equal(client.words, "One two three.");
});

Deno.test("two sessions work side by side", async () => {
  const gate = Promise.withResolvers<void>();
  await using set = await stage([
    { kind: "paused", events: 2, gate: gate.promise, message: say("Slow words.") as never },
    say("Quick."),
  ]);
  await using client = new AcpClient({ home: set.home });
  const [slow, quick] = [await client.session(), await client.session()];
  const { answer } = client.begin("session/prompt", { sessionId: slow, prompt: text("go") });
  await set.server.arrived(0);
  await client.prompt(quick, "go");
  gate.resolve();
  assert.equal((await answer).result.stopReason, "end_turn");
});

Deno.test("limits and failures of a turn have their own ends", async () => {
  const failed = {
    kind: "status" as const,
    status: 400,
    body: JSON.stringify({ error: { message: "no such thing" } }),
  };
  await using set = await stage([
    { ...say("This was c"), finish: "length" } as Step,
    ...[1, 2].map((at) => ask(want("read", { path: `${at}.txt` }))),
    failed,
  ]);
  await using client = new AcpClient({ home: set.home, args: ["--max-turns", "2"] });
  const sessionId = await client.session();
  assert.equal((await client.prompt(sessionId, "long")).stopReason, "max_tokens");
  assert.equal((await client.prompt(sessionId, "read")).stopReason, "max_turn_requests");
  const error = await client.failure("session/prompt", { sessionId, prompt: text("fail") });
  assert.equal(error.code, -32603);
  assert.equal(error.data.code, "provider_error");
  for (const { status } of client.calls().values()) assert.match(status, /completed|failed/);
});

Deno.test("a server that does not answer is an error that says what to do, and the session stays", async () => {
  await using home = await temporaryHome();
  await configure(home, { loc: { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "fake", context_window: 8192 }] } });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  const error = await client.failure("session/prompt", { sessionId, prompt: text("hi") });
  assert.equal(error.data.code, "provider_unreachable");
  await using server = startFakeServer({ script: [say("Here.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 8192 }] } });
  await client.request("session/set_config_option", { sessionId, configId: "thinking", value: "off" });
  await client.prompt(sessionId, "hi");
  assert.equal(client.words, "Here.");
});

Deno.test("the check of a turn is a call that ends", async () => {
  await using set = await stage([ask(want("write", { path: "a.txt", content: "a" })), say("Written."), say("Sorry.")]);
  await using client = new AcpClient({
    home: set.home,
    args: ["--permission-mode", "acceptEdits", "--check", "test -e b.txt"],
  });
  const session = await client.session();
  await client.prompt(session, "write");
  const check = client.calls().get("check1");
  assert.deepEqual([check.title, check.status], ["check: test -e b.txt", "failed"]);
});

Deno.test("images and texts of a prompt reach a model that sees them", async () => {
  const picture = pngFile({ width: 4, height: 4 });
  await using set = await stage([say("Seen."), say("Read.")], { images: true });
  const { home } = set;
  const uri = `file://${await home.write("a b.txt", "on the disk\n")}`;
  await using client = new AcpClient({ home });
  const session = await client.session();
  await client.prompt(session, [
    { type: "text", text: "Look" },
    { type: "image", mimeType: "image/png", data: picture.toBase64() },
  ]);
  const [words, image] = set.server.chats()[0]?.json.messages.at(-1).content;
  assert.match(words.text, /Look/);
  assert.equal(image.image_url.url, dataUrl("image/png", picture));
  await client.prompt(session, [
    { type: "text", text: "Compare" },
    { type: "resource_link", uri, name: "a b.txt" },
    { type: "resource", resource: { uri: `file://${home.project}/draft.txt`, text: "as it is typed\n" } },
    { type: "resource_link", uri: "https://example.invalid/page", name: "page" },
    { type: "resource_link", uri: `file://${home.project}`, name: "all" },
  ]);
  const sent = set.server.chats()[1]?.json.messages.at(-1).content;
  for (
    const part of ["File a b.txt:\non the disk", "File draft.txt:\nas it is typed", "https://example.invalid/page"]
  ) {
    assert.ok(sent.includes(part), `${part} in ${sent}`);
  }
  for (const [block, stop] of [[{ type: "image", mimeType: "image/png", data: "AAAA" }, "refusal"]] as const) {
    assert.equal((await client.prompt(session, [block])).stopReason, stop);
  }
  for (const prompt of [undefined, "words", [{ type: "audio", data: "", mimeType: "audio/wav" }]]) {
    assert.equal((await client.failure("session/prompt", { sessionId: session, prompt })).code, -32602);
  }
});

Deno.test("a summary that is given up is reported as failed", async () => {
  await using set = await stage([say("One."), say("Two."), { kind: "silence" }], { context_window: 8192 });
  await using client = new AcpClient({ home: set.home, capabilities: { session: { compaction: {} } } });
  const sessionId = await client.session();
  for (const _ of [1, 2]) await client.prompt(sessionId, "words ".repeat(1200));
  const { answer } = client.begin("session/prompt", { sessionId, prompt: text("/compact") });
  await set.server.arrived(2);
  await client.notify("session/cancel", { sessionId });
  assert.equal((await answer).result.stopReason, "cancelled");
  const told = client.updates("compaction_update").map(({ compactionId, status }) => `${compactionId} ${status}`);
  assert.deepEqual(told, ["compaction1 in_progress", "compaction1 failed"]);
});

Deno.test("notices and summaries are sent to clients that show them, and to no other", async () => {
  for (const capabilities of [{}, { session: { notices: {}, compaction: {} } }]) {
    await using set = await stage([say("One."), say("Two."), say("A summary of what was said.")], {
      context_window: 8192,
    });
    await using client = new AcpClient({ home: set.home, capabilities });
    const session = await client.session();
    for (const _ of [1, 2]) await client.prompt(session, "words ".repeat(1200));
    await client.prompt(session, "/compact");
    const told = client.updates("compaction_update").map(({ status }) => status);
    assert.deepEqual(told, "session" in capabilities ? ["in_progress", "completed"] : [], client.words);
  }
});
