/** Threats 41 to 56 through the program itself: a remote model with a shell, and everything that left the process. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runProgram } from "../helpers/program.ts";
import { assertSealed, openStage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const allowed = ["--permission-mode", "bypassPermissions"];

const COMMANDS = [
  "cat pub.txt; cat .env secrets/k.txt",
  "cat .e* h.txt; base64 .env; xxd .env; rev .env",
  "git show HEAD:.env; git log -p --all; git cat-file --batch-all-objects --batch; cp -r .git /tmp/g; git --git-dir=/tmp/g log -p",
  "cat /proc/*/root$PWD/.env; tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/*/environ; env",
  "mv secrets s2; cat s2/k.txt; unshare -Urm sh -c 'umount .env; cat .env'",
  "echo 'local-endpoints: 127.0.0.2' >> .agentclisecret; rm .agentclisecret; mkdir -p .ide; echo x > .ide/hooks.json",
  "find / -name providers.yaml 2>/dev/null | xargs cat; cat .env > copy.txt; cp -r secrets public; sleep 0.2",
];

Deno.test(
  "a remote model with a shell gets no protected content, and the rules stay as they were",
  bubblewrap,
  async () => {
    await using stage = await openStage({ git: true });
    await Deno.link(`${stage.project}/.env`, `${stage.project}/h.txt`);
    stage.exempt("h.txt");
    const marker = await Deno.readTextFile(`${stage.project}/.agentclisecret`);
    const script = [ask(...COMMANDS.map((command) => want("shell", { command }))), say("Done.")];
    const remote = await stage.play("rem", { script, args: allowed });
    assert.equal(remote.done.code, 0, remote.done.stderr);
    assertSealed(remote);
    assert.deepEqual(remote.absent, []);
    assert.equal(remote.results.length, COMMANDS.length);
    assert.match(remote.results[0] ?? "", /PUB_marker[^]*Permission denied/);
    assert.equal(await Deno.readTextFile(`${stage.project}/.agentclisecret`), marker);
    await assert.rejects(Deno.stat(`${stage.project}/.ide/hooks.json`), Deno.errors.NotFound);
    // In a local session the sandbox stays.
    const local = await stage.play("loc", { script, args: allowed });
    assertSealed(local);
    assert.deepEqual(local.leaks.wire, []);
    assert.match(local.results[0] ?? "", /PUB_marker[^]*Permission denied/);
  },
);

Deno.test("the control: without a marker the same commands bring it", bubblewrap, async () => {
  await using stage = await openStage({ git: true, marker: null });
  const script = [ask(...COMMANDS.slice(0, 3).map((command) => want("shell", { command }))), say("Done.")];
  const played = await stage.play("rem", { script, args: allowed });
  assert.ok(played.sent.includes(stage.canary("env")), played.done.stderr);
  assert.ok(played.sent.includes(stage.canary("key")));
});

Deno.test("the Git tool is offered and shows nothing that is protected", bubblewrap, async () => {
  await using stage = await openStage({ git: true });
  await Deno.writeTextFile(`${stage.project}/.env`, `API_TOKEN=${stage.canary("env")}2\n`);
  await stage.write("pub.txt", "PUB_marker changed\n");
  const calls = ["status", "diff", "log"].map((action) => ({ name: "Git", input: { action } }));
  const played = await stage.play("rem", { script: [ask(...calls), say("Done.")], args: allowed });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertSealed(played);
  assert.match(played.results[0] ?? "", /\.env \[no-cloud\]/);
  assert.match(played.results[1] ?? "", /\+PUB_marker changed/);
  assert.match(played.results[2] ?? "", /: first/);
});

Deno.test("a tree with the repository of a protected project has its rules", bubblewrap, async () => {
  for (const pointer of ["file", "link"]) {
    await using stage = await openStage({ git: true });
    const other = `${stage.home.root}/other`;
    await stage.write(`${other}/.agentclisecret`, "no-cloud: own.txt\n");
    if (pointer === "link") await Deno.symlink(`${stage.project}/.git`, `${other}/.git`);
    else await stage.write(`${other}/.git`, `gitdir: ${stage.project}/.git\n`);
    await stage.plant(`${other}/.env`, "other");
    await stage.write(`${other}/pub.txt`, "PUB_marker\n");
    const show = { name: "Git", input: { action: "show", rev: "HEAD:pub.txt" } };
    const script = [ask(want("read", { path: ".env" }), show, want("read", { path: "pub.txt" })), say("Done.")];
    const played = await stage.play("rem", { script, args: allowed, cwd: other });
    assertSealed(played, pointer);
    assert.match(played.results[0] ?? "", /protected/, pointer);
    assert.match(played.results[1] ?? "", /is not opened/, pointer);
    assert.match(played.results[2] ?? "", /PUB_marker/, "control: open files are shown");
  }
});

Deno.test(
  "without a place for the proof of a sandbox the command does not run, and the turn continues",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const args = ["run", "--model", "demo", "--allowed-tools", "Bash", "run `cat .env`"];
    const env = { TMPDIR: `${stage.home.root}/nowhere` };
    const { code, stdout } = await runProgram(args, { home: stage.home, env });
    assert.equal(code, 0);
    assert.match(stdout, /The command was not run: .* no temporary directory can be made/);
    assert.ok(!stdout.includes(stage.canary("env")));
  },
);
