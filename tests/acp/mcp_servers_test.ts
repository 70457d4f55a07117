import assert from "node:assert/strict";
import { AcpClient } from "../helpers/acp_client.ts";
import { ask, say, startFakeServer } from "../helpers/fake_server.ts";
import { planServer, textArguments } from "../helpers/mcp.ts";
import { configure, temporaryHome } from "../helpers/program.ts";

Deno.test("a server that the client brings is used in its session, with its variables as they are, and in no other", async () => {
  await using home = await temporaryHome();
  const planned = await planServer(`${home.project}/servers`, "notes", {
    tools: [{ name: "read_note", description: "Reads a note.", inputSchema: textArguments("title") }],
  });
  await using server = startFakeServer({
    script: [
      ask({ name: "mcp__notes__read_note", input: { title: "plan" } }),
      say("Read."),
      say("Nothing there."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  await using client = new AcpClient({
    home,
    args: ["--permission-mode", "bypassPermissions"],
    capabilities: { session: { notices: {} } },
  });
  const { command, args } = planned.entry;
  const mcpServers = [
    { name: "notes", command, args, env: [{ name: "HAS", value: "${NOT_A_VARIABLE}" }] },
    { type: "sse", name: "old", url: "http://127.0.0.1:1/sse", headers: [] },
    { name: "empty" },
  ];
  await client.prompt(await client.session({ mcpServers }), "read the plan");
  const [call] = client.calls().values();
  assert.deepEqual([call.status, call.kind, call.name], ["completed", "other", "mcp__notes__read_note"]);
  assert.match(JSON.stringify(server.chats()[1]?.json.messages.at(-1)), /plan/);
  const notices = client.updates("notice").map(({ title }) => title).join(" ");
  assert.match(notices, /MCP server old of the client is left out[^]*MCP server empty of the client is left out/);
  await client.prompt(await client.session(), "and without");
  const names = server.chats()[2]?.json.tools.map((tool: { function: { name: string } }) => tool.function.name);
  assert.ok(!names.includes("mcp__notes__read_note"), names.join(" "));
});

Deno.test("the prompts of a server are commands of the editor, unless something is protected or only for local models", async () => {
  const prompts = [{
    name: "greet",
    description: "Greet somebody.",
    arguments: [{ name: "who", required: true }],
    messages: [{ role: "user", content: { type: "text", text: "Say hello to {who}." } }],
  }];
  for (const [isTold, more, marker] of [[true, {}, null], [false, { label: "no-cloud" }, null], [false, {}, ".env"]]) {
    await using home = await temporaryHome();
    if (marker !== null) await home.write(".agentclisecret", `no-cloud: ${marker}\n`);
    const { entry } = await planServer(`${home.root}/servers`, "fake", { tools: [], prompts });
    await using model = startFakeServer({ script: [say("Done.")] });
    await configure(home, { loc: { baseUrl: model.baseUrl, models: [{ id: "fake", context_window: 32768 }] } }, {
      mcp_servers: { hub: { ...entry, ...more as object } },
    });
    await using client = new AcpClient({ home });
    const sessionId = await client.session();
    await client.until(({ params }) => params?.update?.sessionUpdate === "available_commands_update");
    const [{ availableCommands }] = client.updates("available_commands_update");
    const told = availableCommands.filter(({ name }: { name: string }) => name === "hub:greet");
    const greet = { name: "hub:greet", description: "Greet somebody.", input: { hint: "who=…" } };
    assert.deepEqual(told, isTold ? [greet] : []);
    if (!isTold) continue;
    await client.prompt(sessionId, "/hub:greet Ann");
    assert.equal(model.chats()[0]?.json.messages.at(-1).content, "Say hello to Ann.");
  }
});
