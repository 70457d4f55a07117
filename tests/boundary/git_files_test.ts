/** What git keeps beside its objects is plain text that can hold copies: messages, patches, configuration. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { assertArrived, assertRefusedRun, assertSealed, openStage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };

Deno.test("files in .git are out of reach of a remote model wherever anything is protected", linux, async () => {
  await using stage = await openStage({ git: true });
  const old = await stage.plant(".git/rebase-apply/0001", "old", (canary) => `+API_TOKEN=${canary}\n`);
  await Deno.symlink(`${stage.project}/.git`, `${stage.project}/g`);
  const script = [
    ask(
      want("read", { path: ".git/rebase-apply/0001" }),
      want("read", { path: old }),
      want("read", { path: "g/rebase-apply/0001" }),
      want("read", { path: ".git/config" }),
      want("grep", { pattern: "TOKEN", path: ".git" }),
    ),
    say("Done."),
  ];
  const remote = await stage.play("rem", { script });
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assertSealed(remote);
  for (const result of remote.results.slice(0, 4)) assert.match(result, /\.git can hold copies .*\.agentclisecret/);
  const local = await stage.play("loc", { script });
  assertSealed(local);
  assertArrived(local, stage.canary("old"));
});

Deno.test("a file in .git is not attached for a remote model", linux, async () => {
  await using stage = await openStage({ git: true });
  await stage.plant(".git/COMMIT_EDITMSG", "msg");
  const script = [say("Done.")];
  const args = ["--file", ".git/COMMIT_EDITMSG"];
  const remote = await stage.play("rem", { script, args });
  assertRefusedRun(remote, /\.git can hold copies/);
  assertSealed(remote);
  const local = await stage.play("loc", { script, args });
  assertSealed(local);
  assertArrived(local, stage.canary("msg"));
});

Deno.test("files in .git are out of reach too where it is a directory that was added", linux, async () => {
  await using stage = await openStage({ git: true });
  const message = await stage.plant(".git/COMMIT_EDITMSG", "msg");
  const cwd = `${stage.home.root}/beside`;
  await Deno.mkdir(cwd);
  const script = [ask(want("read", { path: message })), say("Done.")];
  const args = ["--add-dir", `${stage.project}/.git`];
  const remote = await stage.play("rem", { script, args, cwd });
  assert.match(remote.results[0] ?? "", /\.git can hold copies/);
  assertSealed(remote);
  const local = await stage.play("loc", { script, args, cwd });
  assertSealed(local);
  assertArrived(local, stage.canary("msg"));
});

Deno.test("files in .git are read where nothing is protected", linux, async () => {
  await using stage = await openStage({ git: true, marker: null });
  const remote = await stage.play("rem", { script: [ask(want("read", { path: ".git/HEAD" })), say("Done.")] });
  assert.match(remote.results[0] ?? "", /refs\/heads\/main/);
});
