import assert from "node:assert/strict";
import { AcpClient } from "../helpers/acp_client.ts";
import { temporaryHome } from "../helpers/program.ts";
import { configureLlama, isIdle, MODEL, startLlama } from "./llama_server.ts";

Deno.test("an editor's session runs turns, is cancelled, and is loaded again", async () => {
  await using home = await temporaryHome();
  await home.write("README.md", "hello world\n");
  await using server = await startLlama();
  await configureLlama(home, server, { model: { params: { temperature: 0 }, max_tokens: 400 } });
  await using client = new AcpClient({ home, args: ["--tools", "Read,Glob,Grep", "--max-turns", "3"] });
  const sessionId = await client.session();
  const { configOptions } = client.messages.find(({ result }) => result?.sessionId === sessionId).result;
  const model = configOptions.find(({ id }: { id: string }) => id === "model");
  assert.equal(model.currentValue, `llama:${MODEL}`);
  const { stopReason } = await client.prompt(sessionId, "Read README.md");
  assert.ok(["end_turn", "max_tokens", "max_turn_requests"].includes(stopReason), stopReason);
  for (const { status } of client.calls().values()) assert.match(status, /completed|failed/);
  const [usage] = client.updates("usage_update");
  assert.ok(usage.used > 0 && usage.size === 16_384, JSON.stringify(usage));
  // From here on it does not end by itself.
  await configureLlama(home, server, { model: { params: { ignore_eos: true }, max_tokens: 14_000 } });
  await client.request("session/set_config_option", { sessionId, configId: "thinking", value: "off" });
  const told = client.messages.length;
  const { answer } = client.begin("session/prompt", { sessionId, prompt: [{ type: "text", text: "Say hello." }] });
  await client.until((message) =>
    client.messages.indexOf(message) >= told && /chunk$/.test(message.params?.update?.sessionUpdate ?? "")
  );
  await client.notify("session/cancel", { sessionId });
  assert.deepEqual((await answer).result, { stopReason: "cancelled" });
  await server.until("its slot", () => isIdle(server));
  await client.request("session/close", { sessionId });
  const before = client.updates("user_message_chunk").length;
  await client.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
  assert.equal(client.updates("user_message_chunk").length, before + 2);
});
