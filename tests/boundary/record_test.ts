/** What the home remembers: files of a project only tighten what holds there. Each attack has its control. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import {
  assertArrived,
  assertRefusedResult,
  assertSealed,
  MARKER,
  openStage,
  type Played,
  type Stage,
} from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const READ = [ask(want("read", { path: ".env" })), say("Done.")];
const OPTED = "local-endpoints: 127.0.0.2\n";

/** The remote provider gets nothing, and the same read by a local one brings the canary. */
async function assertHeld(stage: Stage, { cwd, file = ".env" }: { cwd?: string; file?: string } = {}): Promise<Played> {
  const script = [ask(want("read", { path: file })), say("Done.")];
  const played = await stage.play("rem", { script, ...(cwd === undefined ? {} : { cwd }) });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertSealed(played);
  assert.match(played.results[0] ?? "", /is protected/);
  const control = await stage.play("loc", { script, ...(cwd === undefined ? {} : { cwd }) });
  assertSealed(control);
  assert.ok(stage.canaries.some(({ value }) => control.sent.includes(value)), "the control is empty");
  return played;
}

/** The first session of a project: a local one, which remembers what it sees. */
async function firstSight(stage: Stage, cwd?: string): Promise<void> {
  const played = await stage.play("loc", { script: [say("Hello.")], ...(cwd === undefined ? {} : { cwd }) });
  assert.equal(played.done.code, 0, played.done.stderr);
}

Deno.test("local-endpoints count as they stand at the first sight, and are named", linux, async () => {
  await using stage = await openStage({ marker: MARKER + OPTED });
  for (const _ of [1, 2]) {
    const played = await stage.play("lan", { script: READ });
    assertArrived(played, stage.canary("env"));
    assert.match(played.done.stderr, /counts as local here: 127\.0\.0\.2/);
  }
});

for (const git of [true, false]) {
  const kind = git ? "with a repository of its own" : "without one";
  Deno.test(`a marker left in a sub-directory ${kind} opens nothing for a session there`, linux, async () => {
    await using stage = await openStage();
    await firstSight(stage);
    await stage.plant("sub/key.txt", "sub");
    await stage.write("sub/.agentclisecret", `no-cloud: key.txt\n${OPTED}`);
    if (git) await stage.write("sub/.git/HEAD", "ref: refs/heads/main\n");
    if (git) stage.exempt("sub/.git");
    const cwd = `${stage.project}/sub`;
    const played = await assertHeld(stage, { cwd, file: "key.txt" });
    assert.match(played.done.stderr, /"local-endpoints: 127\.0\.0\.2" has no effect: .*agentcli secrets trust/);
    assert.doesNotMatch(played.results[0] ?? "", /local-endpoints|secrets trust/, "nothing for the model");
  });
}

Deno.test(
  "a line that comes later, by an editor or by git, opens nothing until the user trusts it",
  linux,
  async () => {
    await using stage = await openStage({ git: true });
    await stage.git("add", ".agentclisecret");
    await stage.git("commit", "--quiet", "--message=marker");
    await firstSight(stage);
    const marker = await stage.write(".agentclisecret", MARKER + OPTED);
    await assertHeld(stage);
    await Deno.writeTextFile(marker, OPTED);
    await stage.git("commit", "--quiet", "--all", "--message=other");
    await Deno.remove(marker);
    await stage.git("checkout", "--quiet", ".");
    await assertHeld(stage);
    await assertHeld(stage, { file: "secrets/k.txt" });
  },
);

Deno.test("what a marker protected stays protected in later sessions when it is gone", linux, async () => {
  await using stage = await openStage();
  await firstSight(stage);
  await Deno.remove(`${stage.project}/.agentclisecret`);
  await assertHeld(stage);
  const sub = await stage.plant("secrets/deep/x.txt", "deep");
  stage.exempt(sub);
  await assertHeld(stage, { cwd: `${stage.project}/secrets/deep`, file: "x.txt" });
});

Deno.test("a marker that is a link or has a second name opens nothing", linux, async (test) => {
  await test.step("link", async () => {
    await using stage = await openStage({ marker: null });
    await stage.write("rules.txt", MARKER + OPTED);
    await Deno.symlink("rules.txt", `${stage.project}/.agentclisecret`);
    await assertHeld(stage);
  });
  await test.step("second name", async () => {
    await using stage = await openStage({ marker: MARKER + OPTED });
    await Deno.link(`${stage.project}/.agentclisecret`, `${stage.project}/notes.txt`);
    const played = await assertHeld(stage);
    assert.match(played.done.stderr, /has a second name/);
  });
});

Deno.test("endpoints of a project do not open what a marker above it protects", linux, async () => {
  await using stage = await openStage({ marker: OPTED });
  await stage.write(`${stage.home.root}/.agentclisecret`, "no-cloud: project/.env\n");
  const played = await assertHeld(stage);
  assert.match(played.done.stderr, /has no effect: .* protects paths here too/);
});

Deno.test("a project that was moved keeps rules and trust, a copy is seen for the first time", linux, async () => {
  await using stage = await openStage({ marker: MARKER + OPTED });
  await firstSight(stage);
  const [moved, copy] = [`${stage.home.root}/moved`, `${stage.home.root}/copy`];
  await Deno.mkdir(copy);
  await Deno.copyFile(`${stage.project}/.env`, `${copy}/.env`);
  await Deno.rename(stage.project, moved);
  await Deno.mkdir(stage.project);
  for (const place of [moved, copy]) stage.exempt(`${place}/.env`);
  stage.exempt(`${moved}/secrets/k.txt`);
  const there = await stage.play("lan", { script: READ, cwd: moved });
  assertArrived(there, stage.canary("env"));
  assert.match(there.done.stderr, /is now at .*moved/);
  const again = await stage.play("lan", { script: READ, cwd: moved });
  assert.doesNotMatch(again.done.stderr, /is now at/);
  await Deno.remove(`${moved}/.agentclisecret`);
  await assertHeld(stage, { cwd: moved });
  const other = await stage.play("loc", { script: READ, cwd: copy });
  assertArrived(other, stage.canary("env"));
});

Deno.test("another project at the same path is protected as the first was, and trusts nobody", linux, async () => {
  await using stage = await openStage({ marker: MARKER + OPTED });
  await firstSight(stage);
  await Deno.rename(stage.project, `${stage.home.root}/away`);
  for (const name of [".env", "secrets/k.txt"]) stage.exempt(`${stage.home.root}/away/${name}`);
  await stage.plant(".env", "new");
  await stage.write(".agentclisecret", OPTED);
  const played = await assertHeld(stage);
  assert.match(played.done.stderr, /is another directory/);
});

Deno.test("what the user let out of one project stays in the next one at its path", linux, async () => {
  await using stage = await openStage();
  await firstSight(stage);
  const line = "DATABASE_URL=postgres://public@db.example/app";
  const secrets = (...argv: string[]) => stage.play("loc", { script: [], argv: ["secrets", ...argv] });
  const prompted = async () => {
    const { done } = await stage.play("rem", { script: [say("Hello.")], prompt: `what is ${line}?` });
    return done.code;
  };
  stage.exempt(".env");
  await stage.write(".env", `${line}\n`);
  assert.equal(await prompted(), 6, "control: it was not allowed yet");
  assert.equal((await secrets("allow-fragment", ".env:1", "--yes")).done.code, 0);
  assert.equal(await prompted(), 0, "control: it was allowed");
  await Deno.rename(stage.project, `${stage.home.root}/away`);
  stage.exempt(`${stage.home.root}/away/secrets/k.txt`);
  await stage.write(".env", `${line}\n`);
  await stage.write(".agentclisecret", MARKER);
  assert.equal(await prompted(), 6);
  // A word for one line here is no word for what was allowed there, nor for its hosts.
  await stage.write(".env", `${line}\nOTHER_URL=postgres://other@db.example/app\n`);
  assert.equal((await secrets("allow-fragment", ".env:2", "--yes")).done.code, 0);
  assert.equal(await prompted(), 6);
  assert.equal((await secrets("allow-fragment", ".env:1", "--yes")).done.code, 0);
  assert.equal(await prompted(), 0, "control: it is allowed here, too");
});

Deno.test("with a home that cannot be written nothing remote starts where a marker stands", linux, async () => {
  await using stage = await openStage();
  await Deno.mkdir(`${stage.home.agentcliHome}`, { recursive: true });
  await Deno.writeTextFile(`${stage.home.agentcliHome}/projects`, "in the way");
  const remote = await stage.play("rem", { script: READ, args: ["--no-session-persistence"] });
  assert.equal(remote.done.code, 6, remote.done.stderr);
  assert.match(remote.done.stderr, /cannot be remembered .*home/);
  assertSealed(remote);
  const local = await stage.play("loc", { script: READ, args: ["--no-session-persistence"] });
  assert.equal(local.done.code, 0, local.done.stderr);
  assertArrived(local, stage.canary("env"));
  assert.match(local.done.stderr, /cannot be remembered/);
  await Deno.remove(`${stage.project}/.agentclisecret`);
  const open = await stage.play("rem", { script: [say("Hello.")], args: ["--no-session-persistence"] });
  assert.equal(open.done.code, 0, "the control: no marker, nothing to remember");
});

Deno.test("what a local session cannot remember in a home that cannot be written, it says", linux, async () => {
  await using stage = await openStage();
  await firstSight(stage);
  const lock = `${stage.home.agentcliHome}/projects/index.json.lock`;
  for (const isWritable of [false, true]) {
    await Deno.remove(lock);
    if (!isWritable) await Deno.symlink("/proc/self/none/none", lock);
    await stage.write(`${isWritable}/.agentclisecret`, "no-cloud: x\n");
    const local = await stage.play("loc", { script: READ, args: ["--no-session-persistence"] });
    assert.equal(local.done.code, 0, local.done.stderr);
    assertArrived(local, stage.canary("env"));
    const said = local.done.stderr.match(/cannot be remembered/g) ?? [];
    assert.equal(said.length, isWritable ? 0 : 1, local.done.stderr);
  }
});

Deno.test("a hundred nested markers hold, also when they are gone", linux, async () => {
  await using stage = await openStage();
  for (let at = 0; at < 100; at++) await stage.write(`d${at}/.agentclisecret`, "no-cloud: x\n");
  await stage.plant("d77/x", "nest");
  const first = await stage.play("rem", { script: [ask(want("read", { path: "d77/x" })), say("Done.")] });
  assertRefusedResult(first.results[0], "read");
  for (let at = 0; at < 100; at++) await Deno.remove(`${stage.project}/d${at}/.agentclisecret`);
  await assertHeld(stage, { file: "d77/x" });
});

Deno.test("secrets trust takes what changed: a line that is gone, a host that is new", linux, async () => {
  await using stage = await openStage();
  const secrets = (...argv: string[]) => stage.play("loc", { script: [], argv: ["secrets", ...argv] });
  await firstSight(stage);
  await stage.write(".agentclisecret", `no-cloud: secrets\n${OPTED}`);
  const asked = await secrets("trust");
  assert.equal(asked.done.code, 2, "nobody can answer");
  await assertHeld(stage);
  const listed = await secrets("list");
  assert.match(listed.done.stdout, /^\.env +no-cloud +\.agentclisecret, remembered: no-cloud: \.env$/m);
  const trusted = await secrets("trust", "--yes");
  assert.equal(trusted.done.code, 0, trusted.done.stderr);
  assert.match(trusted.done.stderr, /remembered: no-cloud: \.env\n[^]*local[^]*\n +127\.0\.0\.2\n/);
  const open = await stage.play("rem", { script: READ });
  assertArrived(open, stage.canary("env"));
  const local = await stage.play("lan", { script: [ask(want("read", { path: "secrets/k.txt" })), say("Done.")] });
  assertArrived(local, stage.canary("key"));
  assert.match((await secrets("trust")).done.stderr, /nothing to accept/);
  const json = JSON.parse((await secrets("trust", "--json")).done.stdout);
  assert.deepEqual([json.trusted, json.rules, json.local_endpoints, json.released], [false, [], [], []]);
});

Deno.test(
  "secrets add --local-endpoint writes the line and trusts the host, also below a known project",
  linux,
  async () => {
    await using stage = await openStage();
    await firstSight(stage);
    await stage.plant("sub/.env", "sub");
    await stage.write("sub/.agentclisecret", "no-cloud: .env\n");
    await stage.write("sub/.git/HEAD", "ref: refs/heads/main\n");
    for (const cwd of [stage.project, `${stage.project}/sub`]) {
      await assertHeld(stage, { cwd });
      const argv = ["secrets", "add", "--local-endpoint", "127.0.0.2", "--json"];
      const added = await stage.play("loc", { script: [], argv, cwd });
      assert.deepEqual(JSON.parse(added.done.stdout).local_endpoints, ["127.0.0.2"]);
      assert.match(await Deno.readTextFile(`${cwd}/.agentclisecret`), /^local-endpoints: 127\.0\.0\.2$/m);
      const local = await stage.play("lan", { script: READ, cwd });
      assertArrived(local, stage.canary(cwd === stage.project ? "env" : "sub"));
    }
    const wrong = await stage.play("loc", { script: [], argv: ["secrets", "add", "--local-endpoint", "10.0.0.0/8"] });
    assert.equal(wrong.done.code, 2);
    assert.equal((await stage.play("loc", { script: [], argv: ["secrets", "add"] })).done.code, 2);
  },
);

Deno.test(
  "the file behind a marker that is a link, or has a second name, is no more writable than it",
  linux,
  async () => {
    await using stage = await openStage({ marker: null });
    await stage.write("rules.txt", MARKER);
    await Deno.symlink("rules.txt", `${stage.project}/.agentclisecret`);
    await stage.write("sub/.agentclisecret", "no-cloud: x\n");
    await Deno.link(`${stage.project}/sub/.agentclisecret`, `${stage.project}/second.txt`);
    const writes = ["rules.txt", "second.txt", "free.txt"].map((path) => want("write", { path, content: OPTED }));
    const script = [
      ask(want("read", { path: "rules.txt" }), want("read", { path: "second.txt" })),
      ask(...writes),
      say("Done."),
    ];
    const played = await stage.play("rem", { script, args: ["--permission-mode", "acceptEdits"] });
    assert.equal(played.done.code, 0, played.done.stderr);
    const [linked, second, free] = played.results.slice(-3);
    for (const result of [linked, second]) {
      assert.match(
        result ?? "",
        /may not be written: it decides what is protected/,
      );
    }
    assert.match(free ?? "", /free\.txt/);
    assert.equal(await stage.home.read("free.txt"), OPTED, "the control");
    assert.equal(await stage.home.read("rules.txt"), MARKER);
    await assertHeld(stage);
  },
);

Deno.test("a marker that a command makes where none was opens nothing in the sessions after it", linux, async () => {
  await using stage = await openStage({ marker: null });
  const command = `printf 'no-cloud: .env\\nlocal-endpoints: 127.0.0.2\\n' > .agentclisecret`;
  const made = await stage.play("lan", {
    script: [ask(want("shell", { command })), say("Done.")],
    args: ["--permission-mode", "bypassPermissions"],
  });
  assert.equal(made.done.code, 0, made.done.stderr);
  assert.match(await stage.home.read(".agentclisecret"), /127\.0\.0\.2/, "the control: it was made");
  await assertHeld(stage);
});

Deno.test(
  "a marker that is written while a local model answers holds for the calls of that answer",
  linux,
  async () => {
    await using stage = await openStage({ marker: null });
    const secret = stage.canary("env");
    const work = async () => void await stage.write(".agentclisecret", "no-cloud: .env\n");
    const script = [ask(want("read", { path: "pub.txt" })), ask(want("read", { path: ".env" })), say("Done.")];
    const played = await stage.play("loc", { script, during: { index: 1, work } });
    assert.equal(played.done.code, 0, played.done.stderr);
    assert.ok(played.results[1]?.includes(secret), "a local model reads it");
    assertSealed(played);
  },
);
