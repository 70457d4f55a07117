/** What goes to a model without a prompt of the user, or beside its words: a history sent ahead, and kept reasoning. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_steps.ts";
import { assertSealed, openStage } from "./harness.ts";

Deno.test("a protected history is not sent ahead to a remote model, an open one may be", async () => {
  for (const [file, isOpen] of [[".env", false], ["pub.txt", true]] as const) {
    await using stage = await openStage();
    await stage.play("loc", { script: [ask(want("read", { path: file })), say("read")] });
    const remote = await stage.play("rem", {
      argv: ["chat", "--continue", "--model", "rem"],
      stdin: "go on\n",
      script: [say("ok"), say("ok")],
      block: { models: [{ id: "fake", warm_up: true }] },
    });
    assertSealed(remote);
    assert.equal(remote.requests.some(({ index }) => index >= 0), isOpen);
    assert.equal(remote.sent.includes("PUB_marker"), isOpen);
  }
});

Deno.test("kept reasoning with protected content does not go to a remote model of a family that keeps it", async () => {
  await using stage = await openStage();
  const secret = stage.canary("env");
  const block = { models: [{ id: "gpt-oss:20b" }] };
  const thought = (words: string) => [say("fine", { reasoning: words })];
  await stage.play("loc", { block, script: thought(`it says ${secret}`) });
  const refused = await stage.play("rem", { block, args: ["--continue"], script: [say("ok")] });
  assert.equal(refused.done.code, 6, refused.done.stderr);
  assertSealed(refused);
  await using open = await openStage();
  await open.play("loc", { block, script: thought("an open thought") });
  const passed = await open.play("rem", { block, args: ["--continue"], script: [say("ok")] });
  assert.equal(passed.done.code, 0, passed.done.stderr);
  assert.match(passed.sent, /"reasoning_content":"an open thought"/);
});
