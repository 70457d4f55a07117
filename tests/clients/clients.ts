/**
 * The real clients of stream-json against the real program and a scripted server: `deno task test-clients`. Installs
 * them from npm into a temporary directory (or uses AGENTCLI_CLIENTS, where an earlier run put them); needs Node and
 * the network.
 */
import assert from "node:assert/strict";
import { exists, installed, PICTURE, scene } from "./stage.ts";

for (const version of ["0.1.77", "0.2.50", "0.3"]) {
  Deno.test(`the agent SDK ${version} drives the program`, async () => {
    const packages = await installed(`sdk-${version}`, [
      `@anthropic-ai/claude-agent-sdk@${version}`,
      version === "0.1.77" ? "zod@3" : "zod@4",
    ]);
    await using stage = await scene();
    const { home } = stage;
    const args = [packages, stage.executable, "other", PICTURE.toBase64()];
    const seen = JSON.parse(await stage.node("agent_sdk.mjs", args));
    assert.equal(seen.plain.result, "Echo: hello");
    assert.equal(await home.read("allowed.txt"), "a");
    assert.equal(await home.read("changed.txt"), "a");
    assert.ok(!await exists(home, "asked.txt") && !await exists(home, "denied.txt"));
    assert.match(seen.deny.result, /Never/);
    assert.equal(seen.deny.permission_denials.length, 1);
    assert.ok(!await exists(home, "vetoed.txt"));
    assert.match(seen.veto.result, /Vetoed by the hook/);
    assert.equal(seen.own.result, "Result: sum 5");
    assert.equal(seen.shown.result, "Seen: look true");
    assert.equal(seen.shot.result, "Seen: Image 1 of mcp__sums__shot true");
    for (const type of ["message_start", "content_block_start", "content_block_delta", "message_stop"]) {
      assert.ok(seen.partial.includes(type), type);
    }
    for (const failed of [seen.failed, seen.unknownModel]) {
      assert.ok(
        failed.some((message: { type: string; is_error?: boolean }) => message.type === "result" && message.is_error),
        JSON.stringify(failed),
      );
    }
    assert.deepEqual(seen.turns.map((turn: { subtype: string }) => turn.subtype), [
      "error_during_execution",
      "success",
      "success",
    ]);
    assert.deepEqual(seen.turns[2].models, ["other"]);
    assert.equal(await home.read("edited.txt"), "a");
    assert.deepEqual(seen.models, ["default", "loc:fake", "loc:other"]);
    const [first, resumed, forked, continued] = seen.sessions;
    assert.equal(resumed, first);
    assert.notEqual(forked, first);
    assert.ok([first, forked].includes(continued));
    assert.equal(seen.flags.subtype, "success");
  });
}

Deno.test("the AI SDK's provider drives the program", async () => {
  const packages = await installed("ai", ["ai", "ai-sdk-provider-claude-code", "zod@4"]);
  await using stage = await scene();
  const seen = JSON.parse(await stage.node("ai_sdk.mjs", [packages, stage.executable]));
  assert.match(seen.text, /^Echo: .*hello/s);
  assert.match(seen.pieces.join(""), /hello again/);
  assert.ok(seen.pieces.length > 1, "it streams");
  assert.ok(seen.usage.outputTokens > 0);
  assert.equal(await stage.home.read("ai.txt"), "a");
  assert.ok(seen.parts.includes("tool-call") && seen.parts.includes("tool-result"), seen.parts.join(" "));
  assert.notEqual(seen.failed, null);
});

Deno.test("the Qwen SDK drives the program", async () => {
  const packages = await installed("qwen", ["@qwen-code/sdk"]);
  await using stage = await scene();
  const { home } = stage;
  const seen = JSON.parse(await stage.node("qwen_sdk.mjs", [packages, stage.executable]));
  assert.equal(seen.plain.result, "Echo: hello", JSON.stringify(seen.plain));
  assert.ok(seen.partial.includes("stream_event"));
  assert.equal(await home.read("qwen.txt"), "a");
  assert.equal(await home.read("allowed.txt"), "a", JSON.stringify(seen.allow));
  assert.ok(!await exists(home, "denied.txt"));
  assert.deepEqual(seen.turns, ["Echo: one", "Echo: two"]);
  assert.equal(seen.flags.subtype, "success", JSON.stringify(seen.flags));
});

Deno.test("the ACP adapter under acpx drives the program", async () => {
  const packages = await installed("acp", ["@agentclientprotocol/claude-agent-acp", "acpx"]);
  const modules = `${packages}/node_modules`;
  await using stage = await scene();
  const { home } = stage;
  const agent = `node ${modules}/@agentclientprotocol/claude-agent-acp/dist/index.js`;
  const acpx = (...args: string[]) =>
    stage.node(`${modules}/acpx/dist/cli.js`, ["--agent", agent, "--format", "quiet", "--timeout", "60", ...args]);
  assert.match(await acpx("--approve-all", "exec", "hello"), /Echo: hello/);
  const write = (name: string) => `CALL Write {"file_path":"${name}","content":"a"}`;
  await acpx("--approve-all", "exec", write("approved.txt"));
  assert.equal(await home.read("approved.txt"), "a");
  await acpx("--deny-all", "exec", write("denied.txt")).catch(() => {});
  assert.ok(!await exists(home, "denied.txt"));
});
