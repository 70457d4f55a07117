import assert from "node:assert/strict";
import { type Line, startClient } from "../helpers/client.ts";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { dataUrl, pngFile } from "../helpers/images.ts";
import { configure, type TemporaryHome, temporaryHome } from "../helpers/program.ts";

const ASKING = ["--permission-prompt-tool", "stdio"];
const model = { id: "fake", context_window: 32768 };

async function exists(home: TemporaryHome, name: string): Promise<boolean> {
  return await Deno.stat(`${home.project}/${name}`).then(() => true, () => false);
}

function toolResult(lines: Line[]): { content: string; is_error: boolean } {
  return lines.find((line) => line.type === "user").message.content[0];
}

Deno.test("the client allows a call, with other arguments if it likes, or denies it", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [
      ask(want("write", { path: "a.txt", content: "one" })),
      say("1"),
      ask(want("write", { path: "b.txt", content: "two" })),
      say("2"),
      ask(want("write", { path: "d.txt", content: "three" })),
      say("3"),
      ask(want("write", { path: "e.txt", content: "four" })),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient(ASKING, { home });
  await client.say("write");
  const asked = await client.answer("can_use_tool", { behavior: "allow" });
  assert.equal(asked.tool_name, "Write");
  assert.equal(asked.input.file_path, "a.txt");
  assert.equal(asked.description, "a.txt");
  await client.result();
  assert.equal(await home.read("a.txt"), "one");
  await client.say("write");
  await client.answer("can_use_tool", {
    behavior: "allow",
    updatedInput: { file_path: "c.txt", content: "changed" },
  });
  await client.result();
  assert.equal(await home.read("c.txt"), "changed");
  assert.ok(!await exists(home, "b.txt"));
  await client.say("write");
  await client.answer("can_use_tool", { behavior: "deny", message: "Not this one." });
  const denied = await client.result();
  assert.equal(denied.subtype, "success");
  assert.deepEqual(denied.permission_denials.map((denial: Line) => denial.tool_name), ["Write"]);
  assert.match(server.chats()[5]?.json.messages.at(-1).content, /Not this one/);
  await client.say("write");
  await client.answer("can_use_tool", { behavior: "deny", message: "Stop.", interrupt: true });
  assert.equal((await client.result()).error_code, "interrupted");
  const done = await client.end();
  assert.equal(done.code, 0, "the client wanted it so");
  assert.ok(!await exists(home, "d.txt") && !await exists(home, "e.txt"));
});

Deno.test("a question is withdrawn when the turn is interrupted, and a late answer means nothing", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask(want("write", { path: "a.txt", content: "x" })), say("After.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient(ASKING, { home });
  await client.say("write");
  const question = await client.next((line) => line.type === "control_request");
  await client.send({ type: "control_request", request_id: "i", request: { subtype: "interrupt" } });
  await client.next((line) => line.type === "control_cancel_request" && line.request_id === question.request_id);
  assert.equal((await client.result()).error_code, "interrupted");
  await client.send({
    type: "control_response",
    response: { subtype: "success", request_id: question.request_id, response: { behavior: "allow" } },
  });
  await client.say("go on");
  assert.equal((await client.result()).result, "After.");
  await client.end();
  assert.ok(!await exists(home, "a.txt"));
});

Deno.test("what nobody can be asked is denied, and so is what is open when the input ends", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: (request) =>
      request.index % 2 === 0 ? ask(want("write", { path: "a.txt", content: "x" })) : say("Then not."),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  for (const args of [[], ASKING]) {
    await using client = startClient(args, { home });
    await client.say("write");
    if (args.length > 0) await client.next((line) => line.type === "control_request");
    const done = await client.end();
    assert.equal(done.code, 0, done.stderr);
    assert.equal(done.lines.at(-1).result, "Then not.");
    assert.match(toolResult(done.lines).content, /Permission denied/);
  }
  assert.ok(!await exists(home, "a.txt"));
});

Deno.test("the mode of permission changes while the session runs", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [
      ask(want("write", { path: "a.txt", content: "x" })),
      say("1"),
      ask(want("write", { path: "b.txt", content: "x" })),
      say("2"),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient([], { home });
  await client.request({ subtype: "set_permission_mode", mode: "acceptEdits" });
  await client.say("write");
  await client.result();
  assert.ok(await exists(home, "a.txt"));
  assert.equal((await client.request({ subtype: "set_permission_mode", mode: "anything" })).subtype, "error");
  await client.request({ subtype: "set_permission_mode", mode: "plan" });
  await client.say("write");
  await client.result();
  await client.end();
  assert.ok(!await exists(home, "b.txt"));
});

const HOOKS = {
  PreToolUse: [{ matcher: "Write|Edit", hookCallbackIds: ["pre"] }],
  PostToolUse: [{ hookCallbackIds: ["post"] }],
  UserPromptSubmit: [{ hookCallbackIds: ["prompt"] }],
  Stop: [{ hookCallbackIds: ["stop"] }],
};

Deno.test("hooks veto, change, add and make the turn go on", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [
      ask(want("write", { path: "a.txt", content: "x" })),
      ask(want("write", { path: "b.txt", content: "x" })),
      say("Done?"),
      say("Done."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient([], { home });
  await client.request({ subtype: "initialize", hooks: HOOKS });
  await client.say("write");
  const prompt = await client.answer("hook_callback", {
    hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "It is Monday." },
  });
  assert.equal(prompt.callback_id, "prompt");
  assert.equal(prompt.input.prompt, "write");
  const pre = await client.answer("hook_callback", {
    hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "No a." },
  });
  assert.equal(pre.input.tool_input.file_path, "a.txt");
  const second = await client.answer("hook_callback", {
    hookSpecificOutput: {
      permissionDecision: "allow",
      updatedInput: { file_path: "c.txt", content: "hooked" },
      additionalContext: "Mind the gap.",
    },
  });
  assert.equal(second.callback_id, "pre");
  const post = await client.answer("hook_callback", { decision: "block", reason: "Too short." });
  assert.equal(post.input.hook_event_name, "PostToolUse");
  assert.equal(post.input.tool_input.file_path, "c.txt");
  const stop = await client.answer("hook_callback", { decision: "block", reason: "One more." });
  assert.equal(stop.input.stop_hook_active, false);
  assert.equal((await client.answer("hook_callback", {})).input.stop_hook_active, true);
  assert.equal((await client.result()).result, "Done.");
  const done = await client.end();
  assert.equal(done.code, 0, done.stderr);
  const [first, denied, changed, last] = server.chats().map(({ json }) => json.messages.at(-1).content);
  assert.equal(first, "write\n\nIt is Monday.");
  assert.match(denied, /No a\./);
  assert.match(changed, /Mind the gap\.\n\nToo short\./);
  assert.equal(last, "One more.");
  assert.equal(await home.read("c.txt"), "hooked");
  assert.ok(!await exists(home, "a.txt") && !await exists(home, "b.txt"));
});

Deno.test("a hook can end the turn, and refuse a prompt", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [ask(want("write", { path: "a.txt", content: "x" }))] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient(["--permission-mode", "bypassPermissions"], { home });
  await client.request({
    subtype: "initialize",
    hooks: { PreToolUse: HOOKS.PreToolUse, UserPromptSubmit: HOOKS.UserPromptSubmit },
  });
  await client.say("no");
  await client.answer("hook_callback", { decision: "block", reason: "Not today." });
  const refused = await client.result();
  assert.match(refused.errors[0], /Not today/);
  assert.equal(server.chats().length, 0);
  await client.say("yes");
  await client.answer("hook_callback", {});
  await client.answer("hook_callback", { continue: false, stopReason: "Enough." });
  assert.equal((await client.result()).error_code, "interrupted");
  await client.end();
  assert.ok(!await exists(home, "a.txt"));
});

Deno.test("a hook that cannot be asked vetoes", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask(want("write", { path: "a.txt", content: "x" })), say("Not then.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient(["--permission-mode=bypassPermissions"], { home });
  await client.request({ subtype: "initialize", hooks: { PreToolUse: HOOKS.PreToolUse } });
  await client.say("write");
  await client.next((line) => line.type === "control_request");
  const done = await client.end();
  assert.equal(done.lines.at(-1).result, "Not then.");
  assert.ok(!await exists(home, "a.txt"));
});

const PLUS = {
  name: "plus",
  description: "Adds numbers.",
  inputSchema: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" }, how: { type: "string", enum: ["fast", null] } },
    required: ["a", "b"],
  },
};

Deno.test("tools of the client's own process are offered, allowed by rule, called and answered", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask({ name: "mcp__my_sums__plus", input: { a: 2, b: 3 } }), say("Five.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  const config = JSON.stringify({ mcpServers: { "my sums": { type: "sdk", name: "my sums" }, far: { command: "x" } } });
  await using client = startClient(["--mcp-config", config, "--allowedTools", "mcp__my_sums__plus"], { home });
  await client.request({ subtype: "initialize", sdkMcpServers: ["my sums"] });
  await client.say("sum");
  const result = (id: number, value: unknown) => ({ mcp_response: { jsonrpc: "2.0", id, result: value } });
  const hello = await client.answer(
    "mcp_message",
    result(0, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: {} }),
  );
  assert.equal(hello.server_name, "my sums");
  assert.equal(hello.message.method, "initialize");
  assert.equal((await client.answer("mcp_message", result(0, {}))).message.method, "notifications/initialized");
  assert.equal(
    (await client.answer("mcp_message", result(1, { tools: [PLUS, PLUS, {}] }))).message.method,
    "tools/list",
  );
  const init = await client.next((line) => line.subtype === "init");
  assert.ok(init.tools.includes("mcp__my_sums__plus"));
  assert.deepEqual(init.mcp_servers, [{ name: "my sums", status: "connected" }, { name: "far", status: "failed" }]);
  const called = await client.answer(
    "mcp_message",
    result(2, { content: [{ type: "text", text: "5" }, { type: "image" }] }),
  );
  assert.deepEqual(called.message.params, { name: "plus", arguments: { a: 2, b: 3 } });
  assert.equal((await client.result()).result, "Five.");
  const status = await client.request({ subtype: "mcp_status" });
  assert.equal(status.response.mcpServers[0].status, "connected");
  const done = await client.end();
  assert.equal(done.code, 0, done.stderr);
  assert.equal(toolResult(done.lines).content, "5\n[image left out]");
  const [offered] = server.chats()[0]?.json.tools.slice(-1);
  assert.deepEqual(offered.function.parameters.required, ["a", "b"]);
});

Deno.test("images that a tool of the client gives are shown to a model that sees", async () => {
  await using home = await temporaryHome();
  const png = pngFile({ width: 8, height: 8 });
  for (const images of [true, false]) {
    await using server = startFakeServer({
      script: [ask({ name: "mcp__calc__shot", input: {} }), say("Grey.")],
    });
    const seeing = { ...model, tool_calls: "native", images };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [seeing] } });
    await using client = startClient([], { home });
    await client.request({ subtype: "initialize", sdkMcpServers: ["calc"] });
    await client.request({ subtype: "set_permission_mode", mode: "bypassPermissions" });
    const answer = (result: Record<string, unknown>, id: number) =>
      client.answer("mcp_message", { mcp_response: { jsonrpc: "2.0", id, result } });
    await client.say("look");
    await answer({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "calc" } }, 0);
    await answer({}, 1);
    await answer({ tools: [{ name: "shot", inputSchema: { type: "object" } }] }, 1);
    const block = { type: "image", mimeType: "image/png", data: png.toBase64() };
    await answer({ content: [{ type: "text", text: "here" }, block] }, 2);
    assert.equal((await client.result()).result, "Grey.");
    const sent = server.chats()[1]?.text ?? "";
    assert.equal(sent.includes(dataUrl("image/png", png)), images);
    assert.ok(sent.includes(images ? "[image 1 of mcp__calc__shot follows]" : "[image left out]"), sent);
    await client.end();
  }
});

Deno.test("tools of the client hear nothing of a session that read protected content, and neither do hooks", async () => {
  await using home = await temporaryHome();
  const canary = "CNRY_91f3a8c27e5b4d60";
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${canary}\n`);
  await using server = startFakeServer({
    script: [
      ask(want("read", { path: ".env" })),
      ask({ name: "mcp__out__send", input: { text: canary } }),
      say("I kept it."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient(["--permission-mode", "bypassPermissions"], { home });
  await client.request({
    subtype: "initialize",
    sdkMcpServers: ["out"],
    hooks: { PostToolUse: HOOKS.PostToolUse, PreToolUse: [{ hookCallbackIds: ["all"] }] },
  });
  await client.say("leak");
  const result = (id: number, value: unknown) => ({ mcp_response: { jsonrpc: "2.0", id, result: value } });
  await client.answer("mcp_message", result(0, { protocolVersion: "2025-11-25", capabilities: { tools: {} } }));
  await client.answer("mcp_message", result(0, {}));
  await client.answer("mcp_message", result(1, { tools: [{ name: "send", inputSchema: { type: "object" } }] }));
  for (let hook = 0; hook < 4; hook++) {
    const told = await client.answer("hook_callback", {});
    assert.ok(!JSON.stringify(told).includes(canary), JSON.stringify(told));
  }
  assert.equal((await client.result()).label, "no-cloud");
  const done = await client.end();
  const asked = done.lines.filter((line) => line.type === "control_request");
  assert.ok(!asked.some((line) => line.request.message?.method === "tools/call"));
  assert.ok(!JSON.stringify(done.lines.filter((line) => line.type === "user")).includes(canary));
});
