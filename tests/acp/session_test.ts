import assert from "node:assert/strict";
import { AcpClient, choose, type Message } from "../helpers/acp_client.ts";
import { ask, type RecordedRequest, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { configure, temporaryHome } from "../helpers/program.ts";

const MODELS = [{ id: "fake", context_window: 32768 }];
const kindsOf = (messages: readonly Message[]) =>
  messages.map(({ method, params, id }) => method === "session/update" ? params.update.sessionUpdate : `answer ${id}`);

Deno.test("the answer of a new session comes before anything else is sent about it, and no server is asked for it", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using client = new AcpClient({ home });
  await client.initialize();
  const result = await client.request("session/new", { cwd: home.project, mcpServers: [] });
  assert.equal(server.connectionCount(), 0);
  assert.match(result.sessionId, /^[0-9a-f-]{36}$/);
  await client.until(({ params }) => params?.update?.sessionUpdate === "available_commands_update");
  assert.deepEqual(kindsOf(client.messages), ["answer 1", "answer 2", "available_commands_update"]);
  const [{ availableCommands }] = client.updates("available_commands_update");
  const names = availableCommands.map(({ name }: Message) => name);
  assert.ok(names.includes("compact") && names.includes("context") && !names.includes("exit"), names.join(" "));
});

Deno.test("a stored session is listed, loaded with its whole history, and continues", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  const todos = [{ content: "Read it", status: "completed" }, { content: "Tell", status: "pending" }];
  await using server = startFakeServer({
    script: [
      { ...ask(want("read", { path: "a.txt" })), reasoning: "I should look." } as Step,
      ask({ name: "TodoWrite", input: { todos } }),
      say("It says alpha."),
      say("Again."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  let sessionId = "";
  {
    await using client = new AcpClient({ home });
    sessionId = await client.session();
    await client.prompt(sessionId, "What is in a.txt?");
    assert.deepEqual(client.updates("session_info_update")[0].title, "What is in a.txt?");
    const listed = await client.request("session/list", { cwd: home.project });
    assert.deepEqual(listed.sessions.map((session: Message) => session.sessionId), [sessionId]);
  }
  await using client = new AcpClient({ home });
  await client.initialize();
  const [listed] = (await client.request("session/list", {})).sessions;
  assert.deepEqual([listed.cwd, listed.title], [home.project, "What is in a.txt?"]);
  assert.match(listed.updatedAt, /^\d{4}-\d\d-\d\dT/);
  const elsewhere = await client.request("session/list", { cwd: home.tmp });
  assert.deepEqual(elsewhere, { sessions: [] });
  const loaded = await client.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  assert.equal(loaded.modes.currentModeId, "default");
  const before = client.messages.findIndex(({ result }) => result === loaded);
  assert.deepEqual(kindsOf(client.messages.slice(3, before)), [
    "user_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "tool_call",
    "tool_call_update",
    "agent_message_chunk",
    "plan",
  ]);
  assert.deepEqual(
    client.updates("plan")[0].entries.map(({ content, status }: Message) => ({ content, status })),
    todos,
  );
  for (const call of client.calls().values()) assert.equal(call.status, "completed");
  await client.until(({ params }) => params?.update?.sessionUpdate === "available_commands_update");
  await client.prompt(sessionId, "And again?");
  assert.match(client.words, /Again\.$/);
  assert.equal(server.chats()[3]?.json.messages.at(-2).content, "It says alpha.");
});

Deno.test("what a summary stands for is replayed too, and goes to the model as the summary", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), say("Two."), say("In short."), say("Three.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 8192 }] } });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  for (const word of ["first ", "second "]) await client.prompt(sessionId, word.repeat(1000));
  await client.prompt(sessionId, "/compact");
  await client.request("session/close", { sessionId });
  const before = client.messages.length;
  await client.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  const told = JSON.stringify(client.messages.slice(before));
  for (const words of ["first first", "One.", "second second", "Two."]) assert.ok(told.includes(words), words);
  assert.ok(!told.includes("In short."));
  await client.prompt(sessionId, "third");
  const sent = server.chats().at(-1)?.text ?? "";
  assert.ok(sent.includes("In short.") && !sent.includes("first first"), sent.slice(0, 500));
});

Deno.test("a session that is resumed is not replayed, and its commands are announced", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), say("Two.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  await client.prompt(sessionId, "first");
  await client.request("session/close", { sessionId });
  assert.equal((await client.failure("session/prompt", { sessionId, prompt: [] })).code, -32002);
  const told = client.updates().length;
  await client.request("session/resume", { sessionId, cwd: home.project });
  await client.prompt(sessionId, "second");
  const kinds = client.updates().slice(told).map(({ sessionUpdate }) => sessionUpdate);
  assert.ok(!kinds.includes("user_message_chunk") && kinds.includes("available_commands_update"), kinds.join(" "));
  assert.equal(server.chats()[1]?.json.messages.at(-2).content, "One.");
});

Deno.test("a session that another process has open is refused, and one of this connection is opened again", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using owner = new AcpClient({ home, isChild: true });
  const sessionId = await owner.session();
  await owner.prompt(sessionId, "first");
  await using other = new AcpClient({ home });
  await other.initialize();
  const load = { sessionId, cwd: home.project, mcpServers: [] };
  const refused = await other.failure("session/load", load);
  assert.deepEqual([refused.code, refused.data.code], [-32600, "session_in_use"]);
  assert.equal((await other.failure("session/delete", { sessionId })).data.code, "session_in_use");
  const said = owner.updates("user_message_chunk").length;
  await owner.request("session/load", load);
  assert.equal(owner.updates("user_message_chunk").length, said + 1);
});

Deno.test("a session of another project is not loaded from here", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  await client.prompt(sessionId, "first");
  await client.request("session/close", { sessionId });
  const failed = await client.failure("session/load", { sessionId, cwd: home.tmp, mcpServers: [] });
  assert.equal(failed.code, -32002);
});

Deno.test("a deleted session is gone, with the one that is open", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  await client.prompt(sessionId, "first");
  for (let twice = 0; twice < 2; twice++) {
    assert.deepEqual(await client.request("session/delete", { sessionId }), {});
    assert.deepEqual(await client.request("session/list", {}), { sessions: [] });
  }
});

Deno.test("the list comes in pages", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("One.") });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using client = new AcpClient({ home });
  await client.initialize();
  for (let count = 0; count < 52; count++) {
    const { sessionId } = await client.request("session/new", { cwd: home.project, mcpServers: [] });
    await client.prompt(sessionId, `prompt ${count}`);
    await client.request("session/close", { sessionId });
  }
  const first = await client.request("session/list", {});
  const second = await client.request("session/list", { cursor: first.nextCursor });
  assert.deepEqual([first.sessions.length, second.sessions.length, second.nextCursor], [50, 2, undefined]);
  const ids = [...first.sessions, ...second.sessions].map((session: Message) => session.sessionId);
  assert.equal(new Set(ids).size, 52);
  assert.equal((await client.failure("session/list", { cursor: "nothing" })).code, -32602);
});

Deno.test("mode, model and thinking are settings, the mode is sent to clients that only know modes, and each counts", async () => {
  await using home = await temporaryHome();
  await using one = startFakeServer({ script: [say("From one.")] });
  await using two = startFakeServer({
    script: [ask(want("write", { path: "b.txt", content: "b" })), say("From two.")],
  });
  await configure(home, {
    far: { baseUrl: "https://models.example.invalid/v1", models: ["big"] },
    one: { baseUrl: one.baseUrl, models: MODELS },
    two: { baseUrl: two.baseUrl, models: [{ id: "other", alias: "quick", context_window: 32768 }] },
  }, { default_provider: "one", default_model: "fake" });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  const { configOptions } = client.messages.find(({ result }) => result?.sessionId === sessionId).result;
  const optionOf = (options: Message[], id: string) => options.find((option) => option.id === id);
  assert.deepEqual(configOptions.map(({ id, category }: Message) => [id, category]), [
    ["mode", "mode"],
    ["model", "model"],
    ["thinking", "thought_level"],
  ]);
  const model = optionOf(configOptions, "model");
  assert.equal(model.currentValue, "one:fake");
  assert.deepEqual(model.options.map(({ value, name }: Message) => [value, name]), [
    ["one:fake", "fake"],
    ["two:other", "quick"],
    ["far:big", "big (remote)"],
  ]);
  await client.prompt(sessionId, "hi");
  const set = async (configId: string, value: string) =>
    (await client.request("session/set_config_option", { sessionId, configId, value })).configOptions;
  assert.equal(optionOf(await set("model", "quick"), "model").currentValue, "two:other");
  assert.equal(optionOf(await set("thinking", "off"), "thinking").currentValue, "off");
  assert.deepEqual(await client.request("session/set_mode", { sessionId, modeId: "acceptEdits" }), {});
  const changed = await client.until(({ params }) => params?.update?.sessionUpdate === "config_option_update");
  assert.equal(optionOf(changed.params.update.configOptions, "mode").currentValue, "acceptEdits");
  await client.prompt(sessionId, "write");
  await set("mode", "plan");
  await client.until(({ params }) => params?.update?.currentModeId === "plan");
  assert.equal(await home.read("b.txt"), "b");
  assert.deepEqual(two.chats()[0]?.json.chat_template_kwargs, { enable_thinking: false });
  assert.equal(one.chats()[0]?.json.chat_template_kwargs, undefined);
  for (const [configId, value] of [["model", "nowhere:x"], ["mode", "yolo"], ["thinking", "much"], ["x", "y"]]) {
    assert.equal((await client.failure("session/set_config_option", { sessionId, configId, value })).code, -32602);
  }
  assert.equal((await client.failure("session/set_mode", { sessionId, modeId: "yolo" })).code, -32602);
});

Deno.test("how much to reason is a setting with the levels of /think, which stay with another model", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), say("Two."), say("Three.")] });
  const models = ["gpt-oss-20b", "gpt-oss-120b"].map((id) => ({ id, context_window: 32768 }));
  await configure(home, { loc: { baseUrl: server.baseUrl, models } }, {
    default_provider: "loc",
    default_model: "gpt-oss-20b",
  });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  const set = async (configId: string, value: string) => {
    const { configOptions } = await client.request("session/set_config_option", { sessionId, configId, value });
    return configOptions.find(({ id }: Message) => id === "thinking");
  };
  const { options } = await set("thinking", "high");
  assert.deepEqual(options.map(({ value }: Message) => value), ["default", "on", "off", "low", "medium", "high"]);
  await client.prompt(sessionId, "hi");
  await client.prompt(sessionId, "/think low");
  const told = client.updates("config_option_update").at(-1)?.configOptions;
  assert.equal(told.find(({ id }: Message) => id === "thinking").currentValue, "low");
  await client.prompt(sessionId, "again");
  assert.equal((await set("model", "loc:gpt-oss-120b")).currentValue, "low");
  await client.prompt(sessionId, "and again");
  const sent = server.chats().map(({ json }) => [json.model, json.reasoning_effort]);
  assert.deepEqual(sent, [["gpt-oss-20b", "high"], ["gpt-oss-20b", "low"], ["gpt-oss-120b", "low"]]);
});

Deno.test("what is chosen at once after the answer of a new session counts, and what is chosen in a turn counts after it", async () => {
  await using home = await temporaryHome();
  const run = (name: string) => ask(want("shell", { command: `touch ${name}` }));
  await using one = startFakeServer({ script: [run("a"), run("b"), say("From one."), run("c"), say("Planned.")] });
  await using two = startFakeServer({ script: [say("From two."), say("Again two.")] });
  await configure(home, {
    one: { baseUrl: one.baseUrl, models: MODELS },
    two: { baseUrl: two.baseUrl, models: [{ id: "other", context_window: 32768 }] },
  }, { default_provider: "one", default_model: "fake" });
  const asked = Promise.withResolvers<void>();
  const changed = Promise.withResolvers<void>();
  const answer = async (params: Message) => {
    asked.resolve();
    await changed.promise;
    return choose("once")(params);
  };
  await using client = new AcpClient({ home, answers: { "session/request_permission": answer } });
  await client.initialize();
  const begin = async () => (await client.request("session/new", { cwd: home.project, mcpServers: [] })).sessionId;
  const set = (sessionId: string, value: string) =>
    client.request("session/set_config_option", { sessionId, configId: "model", value });
  const early = await begin();
  await set(early, "two:other");
  await client.prompt(early, "hi");
  assert.equal(client.words, "From two.");
  const late = await begin();
  const prompt = [{ type: "text", text: "go" }];
  const { answer: ended } = client.begin("session/prompt", { sessionId: late, prompt });
  await asked.promise;
  await set(late, "two:other");
  changed.resolve();
  assert.equal((await ended).result?.stopReason, "end_turn", JSON.stringify(await ended));
  assert.match(client.words, /From one\.$/);
  await client.prompt(late, "and now");
  assert.match(client.words, /Again two\.$/);
  const planned = await begin();
  await client.request("session/set_mode", { sessionId: planned, modeId: "plan" });
  await client.prompt(planned, "go");
  const touched = ["a", "b", "c"].filter((name) =>
    [...Deno.readDirSync(home.project)].some((file) => file.name === name)
  );
  assert.deepEqual(touched, ["a", "b"]);
});

Deno.test("without a default the first local model is taken", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Here.")] });
  await configure(home, {
    far: { baseUrl: "https://models.example.invalid/v1", models: ["big"] },
    loc: { baseUrl: server.baseUrl, models: [...MODELS, "second"] },
  });
  await using client = new AcpClient({ home });
  const sessionId = await client.session();
  await client.prompt(sessionId, "hi");
  assert.equal(client.words, "Here.");
});

Deno.test("a stored session is loaded while its server is down, also where the server would have to name the model", async () => {
  await using home = await temporaryHome();
  let sessionId = "";
  {
    await using server = startFakeServer({ script: [say("One.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
    await using client = new AcpClient({ home });
    sessionId = await client.session();
    await client.prompt(sessionId, "first");
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [] } }, { default_provider: "loc" });
  }
  await using client = new AcpClient({ home });
  await client.initialize();
  const loaded = await client.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  assert.equal(client.words, "One.");
  assert.equal(loaded.configOptions.find(({ id }: Message) => id === "model").currentValue, "loc:fake");
});

Deno.test("additional directories can be read", async () => {
  await using home = await temporaryHome();
  await Deno.writeTextFile(`${home.tmp}/note.txt`, "from outside\n");
  const read = (request: RecordedRequest): Step =>
    request.json.messages.at(-1).role === "tool" ? say("Read.") : ask(want("read", { path: `${home.tmp}/note.txt` }));
  await using server = startFakeServer({ script: read });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using client = new AcpClient({ home });
  const [inside, outside] = [await client.session({ additionalDirectories: [home.tmp] }), await client.session()];
  await client.prompt(inside, "read");
  assert.match(client.everything, /from outside/);
  const before = client.messages.length;
  await client.prompt(outside, "read");
  assert.doesNotMatch(JSON.stringify(client.messages.slice(before)), /from outside/);
});

Deno.test("commands of the chat and of the project are prompts that begin with a slash", async () => {
  await using home = await temporaryHome();
  await home.write(".windsurf/workflows/greet.md", "---\ndescription: Greets\n---\nSay hello to everyone.\n");
  await using server = startFakeServer({ script: [say("Hello.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  await using client = new AcpClient({ home, answers: { "session/request_permission": choose("deny") } });
  const sessionId = await client.session();
  const [{ availableCommands }] = client.updates("available_commands_update");
  assert.ok(availableCommands.some(({ name, description }: Message) => name === "greet" && description === "Greets"));
  assert.equal((await client.prompt(sessionId, "/greet loudly")).stopReason, "end_turn");
  assert.match(server.chats()[0]?.json.messages.at(-1).content, /Say hello to everyone\.[^]*loudly/);
  assert.equal((await client.prompt(sessionId, "/context")).stopReason, "end_turn");
  assert.match(client.words, /system prompt/);
  assert.equal((await client.prompt(sessionId, "/permissions plan")).stopReason, "end_turn");
  assert.equal(client.updates("current_mode_update").at(-1).currentModeId, "plan");
  for (const wrong of ["/contxt", "/clear", "/exit"]) {
    assert.equal((await client.prompt(sessionId, wrong)).stopReason, "refusal", wrong);
  }
  assert.equal(server.chats().length, 1);
});
