/** Background commands: none starts where something is protected, and none is heard once something is. */
import assert from "node:assert/strict";
import { ask, say } from "../helpers/fake_server.ts";
import { assertSealed, openStage } from "./harness.ts";

const unix = { ignore: Deno.build.os === "windows" };
const block = { models: [{ id: "fake", context_window: 32_768 }] };
const args = ["--permission-mode", "bypassPermissions"];
const start = (command: string) => ask({ name: "Bash", input: { command, background: true } });
const look = ask({ name: "BashOutput", input: { id: "bg1" } });
/** Prints the protected file when there is a file `go`, so that nothing depends on time. */
const PRINTS = "echo up; while [ ! -e go ]; do sleep 0.02; done; cat .env; sleep 1000";

for (const provider of ["loc", "rem"] as const) {
  Deno.test(`none starts in a project with protected paths: ${provider}`, unix, async () => {
    await using stage = await openStage();
    const script = [start("touch ran; cat .env"), look, say("No.")];
    const played = await stage.play(provider, { block, args, script });
    assert.match(played.results[0] ?? "", /not started: no background commands/);
    assertSealed(played);
    assert.ok(!played.sent.includes(stage.canary("env")));
    await assert.rejects(Deno.stat(`${stage.project}/ran`), Deno.errors.NotFound);
  });

  Deno.test(`what one printed is given to nobody once a path is protected: ${provider}`, unix, async () => {
    await using stage = await openStage({ marker: null });
    const script = [start(PRINTS), look, look, look, say("No.")];
    // The marker comes while the model writes its third response, and the file is printed after it.
    const work = async () => {
      await stage.write(".agentclisecret", "no-cloud: .env\n");
      await stage.write("go", "");
    };
    const played = await stage.play(provider, { block, args, script, during: { index: 2, work } });
    assert.match(played.results[1] ?? "", /^up\n\[bg1 is running\]$/);
    assert.match(played.results[2] ?? "", /their output is redacted/);
    assert.ok(!played.sent.includes(stage.canary("env")));
    assertSealed(played);
  });
}

Deno.test("control: without a marker it is printed and given", unix, async () => {
  await using stage = await openStage({ marker: null });
  const work = async () => void await stage.write("go", "");
  const script = [start(PRINTS), look, look, say("Yes.")];
  const played = await stage.play("rem", { block, args, script, during: { index: 2, work } });
  assert.match(played.results[0] ?? "", /^Started bg1/);
  assert.ok(played.sent.includes(stage.canary("env")));
});

Deno.test("a session that holds protected content starts none, and those it has are ended", unix, async () => {
  await using stage = await openStage({ marker: null });
  const secret = stage.canary("env");
  const pidOf = async () => (await Deno.readTextFile(`${stage.project}/pid`).catch(() => "")).trim();
  const work = async () => {
    for (let at = 0; at < 500 && await pidOf() === ""; at++) await new Promise((resolve) => setTimeout(resolve, 10));
    await stage.write(".agentclisecret", "no-cloud: .env\n");
  };
  const read = ask({ name: "Read", input: { file_path: ".env" } });
  const again = start(`echo ${secret} > copy.txt`);
  const script = [start("echo $$ > pid; echo up; exec sleep 1000"), look, read, again, say("No.")];
  const played = await stage.play("loc", { block, args, script, during: { index: 1, work } });
  assert.ok(played.sent.includes(secret), "control: it was read");
  assert.match(played.results[1] ?? "", /they were ended/);
  assert.match(played.results[3] ?? "", /not started/);
  const pid = await pidOf();
  assert.ok(Number(pid) > 1, "control: it ran");
  const alive = await new Deno.Command("kill", { args: ["-0", pid], stderr: "null" }).output();
  assert.equal(alive.success, false);
  await assert.rejects(Deno.stat(`${stage.project}/copy.txt`), Deno.errors.NotFound);
  assertSealed(played);
});
