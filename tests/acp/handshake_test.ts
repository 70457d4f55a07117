import assert from "node:assert/strict";
import { AcpClient } from "../helpers/acp_client.ts";
import { say, startFakeServer } from "../helpers/fake_server.ts";
import { configure, startProgram, temporaryHome } from "../helpers/program.ts";

Deno.test("initialize offers what there is, and answers another version with its own", async () => {
  await using home = await temporaryHome();
  await using client = new AcpClient({ home });
  for (const protocolVersion of [1, 2, 0, 99]) {
    const result = await client.request("initialize", { protocolVersion, clientCapabilities: {} });
    assert.equal(result.protocolVersion, 1);
    assert.equal(result.agentCapabilities.loadSession, true);
    assert.deepEqual(result.agentCapabilities.promptCapabilities, { image: true, audio: false, embeddedContext: true });
    assert.deepEqual(
      Object.keys(result.agentCapabilities.sessionCapabilities).sort(),
      ["additionalDirectories", "close", "delete", "list", "resume"],
    );
    assert.equal(result.agentInfo.name, "agentcli");
  }
  assert.equal((await client.failure("initialize", { protocolVersion: "1" })).code, -32602);
});

Deno.test("with an empty home there is a method of authentication, as the registry wants it", async () => {
  await using home = await temporaryHome();
  await using client = new AcpClient({ home, isChild: true });
  const { authMethods } = await client.initialize();
  const types = authMethods.map(({ type = "agent" }: { type?: string }) => type);
  assert.ok(types.some((type: string) => type === "agent" || type === "terminal"), JSON.stringify(authMethods));
  assert.equal((await client.end()).code, 0);
});

Deno.test("the method for terminals is offered where the client has them, and is never called", async () => {
  await using home = await temporaryHome();
  await using client = new AcpClient({ home, capabilities: { auth: { terminal: true } } });
  const { authMethods } = await client.initialize();
  const terminal = authMethods.find(({ type }: { type?: string }) => type === "terminal");
  assert.deepEqual(terminal.args, ["--setup"]);
  assert.equal((await client.failure("authenticate", { methodId: terminal.id })).code, -32602);
});

Deno.test("without a model server a session asks to authenticate, which looks for servers", async () => {
  await using home = await temporaryHome();
  await using client = new AcpClient({ home });
  await client.initialize();
  const refused = await client.failure("session/new", { cwd: home.project, mcpServers: [] });
  assert.equal(refused.code, -32000);
  assert.match(refused.message, /init-providers/);
  await configure(home, { loc: { baseUrl: "http://127.0.0.1:1/v1" } });
  assert.deepEqual(await client.request("authenticate", { methodId: "setup-local" }), {});
  assert.ok((await client.request("session/new", { cwd: home.project, mcpServers: [] })).sessionId);
});

Deno.test("unknown methods are answered, those with an underscore too, and unknown notifications are ignored", async () => {
  await using home = await temporaryHome();
  await using client = new AcpClient({ home });
  await client.initialize();
  for (const method of ["session/fork", "providers/set", "_vendor/thing", "logout", "session/set_model", ""]) {
    assert.equal((await client.failure(method, {})).code, -32601, method);
  }
  await client.notify("_vendor/told", { x: 1 });
  await client.notify("session/cancel", { sessionId: "nobody" });
  await client.notify("session/cancel", {});
  assert.ok(await client.initialize());
});

Deno.test("broken lines are answered or ignored, and the next one is read", async () => {
  await using home = await temporaryHome();
  await using client = new AcpClient({ home });
  await client.raw('{"jsonrpc":"2.0","id":\n\n[]\n"x"\n');
  await client.raw('[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}]\n');
  await client.raw('{"jsonrpc":"2.0","id":"p","method":"session/new","params":[1]}\n');
  await client.raw(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"${"x".repeat(20_000_000)}"}}\n`);
  await client.initialize();
  const codes = client.messages.slice(0, -1).map(({ id, error }) => [id, error.code]);
  assert.deepEqual(codes, [[null, -32700], [null, -32600], [null, -32600], [null, -32600], ["p", -32602]]);
});

Deno.test("a line of 20 MB is a prompt like another", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Short.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 8192 }] } });
  await using client = new AcpClient({ home });
  const session = await client.session();
  const { stopReason } = await client.prompt(session, "word ".repeat(4_000_000));
  assert.equal(stopReason, "max_tokens");
  assert.match(client.words, /larger window/);
  assert.equal((await client.prompt(session, "hi")).stopReason, "end_turn");
});

Deno.test("cwd has to be an absolute directory, and a session has to be known", async () => {
  await using home = await temporaryHome();
  await configure(home, { loc: { baseUrl: "http://127.0.0.1:1/v1" } });
  await using client = new AcpClient({ home });
  await client.initialize();
  for (const cwd of [undefined, 5, "relative", `${home.project}/nowhere`]) {
    assert.equal((await client.failure("session/new", { cwd, mcpServers: [] })).code, -32602, String(cwd));
  }
  const additionalDirectories = ["relative"];
  assert.equal((await client.failure("session/new", { cwd: home.project, additionalDirectories })).code, -32602);
  const sessionId = "00000000-0000-4000-8000-000000000000";
  for (
    const [method, params] of Object.entries({
      "session/prompt": { prompt: [] },
      "session/set_mode": { modeId: "plan" },
      "session/set_config_option": { configId: "mode", value: "plan" },
      "session/close": {},
      "session/load": { cwd: home.project, mcpServers: [] },
      "session/resume": { cwd: home.project },
    })
  ) {
    for (const id of [sessionId, "../../etc/passwd", 7]) {
      assert.equal((await client.failure(method, { sessionId: id, ...params })).code, -32002, method);
    }
  }
  assert.deepEqual(await client.request("session/delete", { sessionId }), {});
  assert.deepEqual(await client.request("session/list", {}), { sessions: [] });
});

Deno.test("a client that dies ends the agent and the turn that runs", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [{ kind: "silence" }] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 8192 }] } });
  await using client = new AcpClient({ home, isChild: true });
  const session = await client.session();
  const { answer } = client.begin("session/prompt", { sessionId: session, prompt: [{ type: "text", text: "hi" }] });
  const request = await server.arrived(0);
  const { code } = await client.end();
  assert.equal(code, 0);
  assert.equal((await answer).result.stopReason, "cancelled");
  await request.gone;
});

Deno.test("an agent whose client has gone does not wait for a server that does not answer", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ routes: { "/v1/models": { kind: "silence" } } });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [] } }, { default_provider: "loc" });
  await using client = new AcpClient({ home });
  await client.initialize();
  await client.request("session/new", { cwd: home.project, mcpServers: [] });
  assert.equal((await client.end()).code, 0);
  // Told once the server has been waited for.
  assert.deepEqual(client.updates("available_commands_update"), []);
});

Deno.test({
  name: "variables that copy text out are gone before a session can be in a protected project",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using home = await temporaryHome();
    const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } };
    const environmentOf = async (env: Record<string, string>) => {
      await using program = startProgram(["acp"], { home, env });
      await program.write(JSON.stringify(initialize) + "\n");
      await program.stdout.until(/"result"/);
      const children = await Deno.readTextFile(`/proc/${program.pid}/task/${program.pid}/children`);
      const environment = await Deno.readTextFile(`/proc/${children.trim() || program.pid}/environ`);
      await program.closeInput();
      assert.equal((await program.finished).code, 0);
      return environment;
    };
    assert.doesNotMatch(await environmentOf({ NODE_DEBUG: "net" }), /NODE_DEBUG/);
    assert.match(await environmentOf({ HARMLESS: "net" }), /HARMLESS/);
  },
});

Deno.test("a signal ends the agent with its code", async () => {
  await using home = await temporaryHome();
  await using client = new AcpClient({ home, isChild: true });
  await client.initialize();
  client.kill("SIGTERM");
  assert.equal((await client.finished).code, 143);
});
