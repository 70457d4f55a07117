import assert from "node:assert/strict";
import { startClient, STREAM } from "../helpers/client.ts";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { planServer } from "../helpers/mcp.ts";
import { configure, temporaryHome } from "../helpers/program.ts";

const user = (text: string) => JSON.stringify({ type: "user", message: { role: "user", content: text } }) + "\n";

Deno.test("each message is a turn with one result, and the end of input waits for those that were sent", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), say("Two."), say("Three.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(STREAM, { home, stdin: user("a") + user("b") + user("c") });
  assert.equal(done.code, 0, done.stderr);
  const lines = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.filter((line) => line.type === "result").map((line) => line.result),
    ["One.", "Two.", "Three."],
  );
  assert.equal(lines.filter((line) => line.subtype === "init").length, 3);
  assert.equal(new Set(lines.map((line) => line.session_id)).size, 1);
  assert.equal(server.chats()[2]?.json.messages.length, 6);
});

Deno.test("workflows and skills of the project are listed in init, and a message that begins with one is its text", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/workflows/ship.md", "---\ndescription: Ship it\n---\nRun the release steps.\n");
  await home.write(".agents/skills/survey/SKILL.md", "---\nname: survey\ndescription: Count\n---\nCount all.\n");
  await using server = startFakeServer({ script: () => say("Done.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const words = ["/ship to the moon", "/survey", "/compact", "/tmp is full", "!date", " /ship"];
  const done = await runInProcess(STREAM, { home, stdin: words.map(user).join("") });
  assert.equal(done.code, 0, done.stderr);
  const lines = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  for (const init of lines.filter(({ subtype }) => subtype === "init")) {
    assert.deepEqual([init.slash_commands, init.skills], [["ship", "survey"], ["survey"]]);
  }
  assert.deepEqual(server.chats().map(({ json }) => json.messages.at(-1).content), [
    "Run the release steps.\n\nArguments: to the moon",
    "Count all.\n\nFiles that this names lie beside .agents/skills/survey/SKILL.md.",
    ...words.slice(2),
  ]);
});

Deno.test("prompts of MCP servers are listed in init and can be sent, and are not listed where they are only for local models", async () => {
  const prompts = [{
    name: "greet",
    description: "Greet somebody.",
    arguments: [{ name: "who", required: true }],
    messages: [{ role: "user", content: { type: "text", text: "Say hello to {who}." } }],
  }];
  for (const [more, told] of [[{}, ["hub:greet"]], [{ label: "no-cloud" }, []]] as const) {
    await using home = await temporaryHome();
    const { entry } = await planServer(`${home.root}/servers`, "fake", { tools: [], prompts });
    await using server = startFakeServer({ script: () => say("Done.") });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } }, {
      mcp_servers: { hub: { ...entry, ...more } },
    });
    const done = await runInProcess(STREAM, { home, stdin: user("/hub:greet Ada") + user("/hub:nothing") });
    const lines = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(lines.find(({ subtype }) => subtype === "init").slash_commands, told);
    assert.equal(server.chats()[0]?.json.messages.at(-1).content, "Say hello to Ada.");
    assert.match(lines.at(-1).errors[0], /the MCP server hub has no prompt "nothing"/);
    assert.equal(server.chats().length, 1);
  }
});

Deno.test("run with stream-json input gives the same events as the root", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await configure(home, { loc: { baseUrl: "http://127.0.0.1:1/v1" } });
  const shapes: string[][] = [];
  for (const args of [["run", ...STREAM], [...STREAM], ["-p", ...STREAM], ["--print", ...STREAM, ""]]) {
    await using server = startFakeServer({ script: [ask(want("read", { path: "a.txt" })), say("Done.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const done = await runInProcess(args, { home, stdin: user("read") });
    assert.equal(done.code, 0, done.stderr);
    shapes.push(
      done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).map((line) =>
        `${line.type} ${line.subtype ?? ""} ${line.message?.content?.[0]?.type ?? ""}`
      ),
    );
  }
  assert.deepEqual(shapes[0], [
    "system init ",
    "assistant  tool_use",
    "user  tool_result",
    "assistant  text",
    "result success ",
  ]);
  for (const shape of shapes) assert.deepEqual(shape, shapes[0]);
});

Deno.test("initialize lists the models and the commands of the project, and its prompt is the system message", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Hi.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", alias: "quick" }] } });
  await home.write(".agentclisecret", "no-cloud: keys.md\n");
  for (const [name, brief] of [["ship", "Ship it"], ["keys", "CANARY"], ["sign", "CANARY"]]) {
    await home.write(`.ide/workflows/${name}.md`, `---\ndescription: ${brief}\n---\nSteps.\n`);
  }
  await using client = startClient(["--disallowed-tools", "Read(.ide/workflows/sign.md)"], { home });
  const answer = await client.request({
    subtype: "initialize",
    systemPrompt: ["You are", "terse."],
    appendSystemPrompt: "Be kind.",
  });
  assert.deepEqual(answer.response.models.map((model: { value: string }) => model.value), ["default", "loc:fake"]);
  assert.deepEqual(answer.response.commands, [
    { name: "keys", description: "[no-cloud]", argumentHint: "what it is about" },
    { name: "ship", description: "Ship it", argumentHint: "what it is about" },
    { name: "sign", description: "[denied]", argumentHint: "what it is about" },
  ]);
  await client.say("hi");
  await client.result();
  const done = await client.end();
  assert.equal(done.code, 0, done.stderr);
  assert.match(server.chats()[0]?.json.messages[0].content, /^You are\n\nterse\.[^]*Be kind\.$/);
});

Deno.test("an interrupt ends the running turn with its result, and the next turn runs", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [{ kind: "silence" }, say("Second.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  await using client = startClient([], { home });
  await client.say("first");
  await server.arrived(0);
  const answer = await client.request({ subtype: "interrupt" });
  assert.deepEqual(answer, { subtype: "success", request_id: answer.request_id, response: { still_queued: [] } });
  const result = await client.result();
  assert.equal(result.subtype, "error_during_execution");
  assert.equal(result.error_code, "interrupted");
  await client.say("second");
  assert.equal((await client.result()).result, "Second.");
  assert.equal((await client.end()).code, 0);
});

Deno.test("the model is switched between turns and the history goes along", async () => {
  await using home = await temporaryHome();
  await using one = startFakeServer({ script: [say("From one.")] });
  await using two = startFakeServer({ script: [say("From two."), say("Again two.")] });
  await configure(home, {
    one: { baseUrl: one.baseUrl, models: [{ id: "fake-one", alias: "first" }] },
    two: { baseUrl: two.baseUrl, models: ["fake-two"] },
  }, { default_provider: "one" });
  await using client = startClient(["--model", "first"], { home });
  await client.say("a");
  const first = await client.result();
  assert.deepEqual(Object.keys(first.modelUsage), ["fake-one"], JSON.stringify(first));
  const wrong = await client.request({ subtype: "set_model", model: "nowhere:x" });
  assert.equal(wrong.subtype, "error");
  assert.equal((await client.request({ subtype: "set_model", model: "two:fake-two" })).subtype, "success");
  await client.say("b");
  const init = await client.next((line) => line.subtype === "init");
  assert.equal(init.model, "fake-two");
  assert.equal((await client.result()).result, "From two.");
  await client.say("c");
  assert.equal((await client.result()).result, "Again two.");
  const done = await client.end();
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(two.chats()[0]?.json.messages.slice(1).map((message: { content: string }) => message.content), [
    "a",
    "From one.",
    "b",
  ]);
  assert.equal(new Set(done.lines.filter((line) => line.type === "result").map((line) => line.session_id)).size, 1);
});

Deno.test("broken lines are noted once each and the session continues", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Fine.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using client = startClient([], { home });
  await client.send(
    { type: "keep_alive" },
    "{broken",
    { type: "never heard of" },
    [],
    { type: "control_response", response: { subtype: "success", request_id: "never asked", response: {} } },
    { type: "control_cancel_request", request_id: "never asked" },
    { type: "user" },
  );
  const answer = await client.request({ subtype: "do_magic" });
  assert.deepEqual(answer, {
    subtype: "error",
    request_id: answer.request_id,
    error: "Unsupported control request subtype: do_magic",
    error_code: "unsupported_request",
  });
  await client.say("x\u2028y");
  assert.equal((await client.result()).result, "Fine.");
  const done = await client.end();
  assert.equal(done.code, 0);
  assert.equal(done.stderr.match(/is ignored/g)?.length, 4, done.stderr);
  assert.equal(server.chats()[0]?.json.messages[1].content, "x\u2028y");
});

Deno.test("a first line that is no JSON is wrong usage", async () => {
  await using home = await temporaryHome();
  const done = await runInProcess(STREAM, { home, stdin: "hello\n" });
  assert.equal(done.code, 2);
  const [result] = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(result.error_code, "usage");
});

Deno.test("with nothing to do the program ends at once, and no session is left", async () => {
  await using home = await temporaryHome();
  const done = await runInProcess(STREAM, { home, stdin: "" });
  assert.equal(done.code, 0);
  assert.equal(done.stdout, "");
});

Deno.test("a turn that cannot begin has its result, and its code is the process's", async () => {
  await using home = await temporaryHome();
  const done = await runInProcess(STREAM, { home, stdin: user("a") + user("b") });
  assert.equal(done.code, 3, done.stderr);
  const lines = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((line) => `${line.type} ${line.error_code}`), [
    "result no_provider",
    "result no_provider",
  ]);
});

Deno.test("a second process on one session gets an error result and exit 3", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), { kind: "silence" }] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  await using client = startClient([], { home });
  await client.say("a");
  const { session_id } = await client.result();
  const second = await runInProcess([...STREAM, "--resume", session_id], { home, stdin: user("b") });
  assert.equal(second.code, 3, second.stderr);
  assert.equal(JSON.parse(second.stdout).error_code, "session_in_use");
  await client.end();
});

Deno.test("a signal ends the running turn and those that wait with one result each", async () => {
  await using home = await temporaryHome();
  for (const [signal, code, name] of [["SIGINT", 130, "interrupted"], ["SIGTERM", 143, "terminated"]] as const) {
    await using again = startFakeServer({ script: [{ kind: "silence" }] });
    await configure(home, { loc: { baseUrl: again.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
    await using client = startClient([], { home });
    await client.say("a");
    await client.say("b");
    await client.request({ subtype: "mcp_status" });
    await again.arrived(0);
    client.program.kill(signal);
    const done = await client.program.finished;
    assert.equal(done.code, code);
    const results = client.lines().filter((line) => line.type === "result");
    assert.deepEqual(results.map((line) => line.error_code), [name, name]);
  }
});

Deno.test("a client that has gone ends the program", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("word ".repeat(20000)), say("Never.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const command = new Deno.Command("sh", {
    args: ["-c", `"$@" | head -c 100 >/dev/null; echo over >&2`, "sh", ...programArguments()],
    cwd: home.project,
    env: { HOME: home.home, AGENTCLI_HOME: home.agentcliHome, DENO_NO_UPDATE_CHECK: "1" },
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const input = command.stdin.getWriter();
  await input.write(new TextEncoder().encode(user("a") + user("b")));
  const { code } = await command.output();
  await input.close().catch(() => {});
  assert.equal(code, 0);
  assert.ok(server.chats().length <= 1, "what waits is not begun for nobody");

  function programArguments(): string[] {
    return [Deno.execPath(), "run", "--no-config", "--quiet", "-A", new URL("../../main.ts", import.meta.url).href]
      .concat(STREAM, "--include-partial-messages");
  }
});
