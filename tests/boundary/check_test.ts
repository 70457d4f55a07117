/** The check of a project, as a way by which protected content could reach a remote model. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { assertSealed, openStage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const CHECK = "cat .env secrets/k.txt; base64 .env; env; false";
const script = [ask(want("write", { path: "new.txt", content: "new\n" })), say("Done."), say("It cannot pass.")];
const args = ["--permission-mode", "acceptEdits"];

Deno.test("the output of a check holds nothing that is protected", bubblewrap, async () => {
  await using stage = await openStage({ git: true });
  for (const settings of [{ check: CHECK }, {}]) {
    const given = "check" in settings ? args : [...args, "--check", CHECK];
    const played = await stage.play("rem", { script, args: given, settings });
    assert.equal(played.done.code, 8, played.done.stderr);
    assertSealed(played);
    assert.match(played.sent, /The check `cat \.env/);
    await Deno.remove(`${stage.project}/new.txt`);
  }
});

Deno.test("the control: without a marker the same check brings it", bubblewrap, async () => {
  await using stage = await openStage({ git: true, marker: null });
  const played = await stage.play("rem", { script, args: [...args, "--check", CHECK] });
  assert.ok(played.sent.includes(stage.canary("env")), played.done.stderr);
});

Deno.test(
  "a copy of protected content that a check prints goes to no remote model, and is stored nowhere",
  bubblewrap,
  async () => {
    await using stage = await openStage({ git: true });
    await stage.write("copy.txt", `${await Deno.readTextFile(`${stage.project}/.env`)}\n`);
    stage.exempt("copy.txt");
    const check = "cat copy.txt; false";
    const remote = await stage.play("rem", { script, args: [...args, "--check", check] });
    assert.equal(remote.done.code, 6, remote.done.stderr);
    assertSealed(remote);
    await Deno.remove(`${stage.project}/new.txt`);
    const local = await stage.play("loc", { script, args: [...args, "--check", check] });
    assert.equal(local.done.code, 8, local.done.stderr);
    assert.ok(local.sent.includes(stage.canary("env")), "the control: a local model is told");
    assert.deepEqual(local.leaks.disk, []);
  },
);

Deno.test("a protected AGENTS.md names no check", bubblewrap, async () => {
  const matter = "---\ncheck: touch of-project\n---\n";
  const marker = "no-cloud: AGENTS.md\nno-cloud: .env\nno-cloud: secrets\n";
  for (const protect of [true, false]) {
    await using stage = await openStage(protect ? { marker } : {});
    await stage.write("AGENTS.md", matter);
    await stage.play("loc", { script, args: ["--permission-mode", "bypassPermissions"] });
    const ran = await Deno.stat(`${stage.project}/of-project`).then(() => true, () => false);
    assert.equal(ran, !protect);
  }
});
