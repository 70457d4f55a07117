/** What counts as the first sight of a project: a model that was there before must not write what is trusted at it. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runProgram } from "../helpers/program.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const bubblewrap = { ignore: !hasBubblewrap() };
const args = ["--permission-mode", "bypassPermissions"];
const PLANT = "printf 'local-endpoints: 127.0.0.2\\n' > .agentclisecret; echo made";
const READ = [ask(want("read", { path: ".env" })), say("Done.")];

/** Protects `.env` as a user would, and lets the remote host ask for it. */
async function protectAndAsk(stage: Stage): Promise<{ said: string; result: string; sent: boolean; stderr: string }> {
  const { stdout } = await runProgram(["secrets", "add", ".env"], { home: stage.home });
  const { results, sent, done } = await stage.play("rem", { script: READ });
  const isSent = stage.canaries.some(({ value }) => sent.includes(value));
  return { said: stdout, result: results[0] ?? "", sent: isSent, stderr: done.stderr };
}

for (
  const [name, plant] of [
    ["the last command of a turn", async (stage: Stage) => {
      const script = [ask(want("shell", { command: PLANT })), say("Done.")];
      await stage.play("rem", { script, args: [...args, "--max-turns", "1"] });
    }],
    ["a command in the sandbox", async (stage: Stage) => {
      await runProgram(["sandbox", "--", "sh", "-c", PLANT], { home: stage.home });
    }],
  ] as const
) {
  Deno.test(`a first marker that ${name} leaves opens nothing`, bubblewrap, async () => {
    await using stage = await openStage({ marker: null });
    await plant(stage);
    assert.match(await Deno.readTextFile(`${stage.project}/.agentclisecret`), /127\.0\.0\.2/, "control: it was left");
    const { said, result, sent, stderr } = await protectAndAsk(stage);
    assert.doesNotMatch(said, /counts as local/);
    assert.match(result, /is protected/);
    assert.equal(sent, false);
    assert.match(stderr, /127\.0\.0\.2" has no effect: it is new .*agentcli secrets trust/);
  });
}

for (
  const [name, below, prepare] of [
    ["a directory of sandbox.write", "", null],
    ["a directory below one", "/a/b", null],
    ["a directory below one that replaces a known one", "/x", "/x"],
  ] as const
) {
  Deno.test(`a first marker that a command leaves in ${name} opens nothing there`, bubblewrap, async () => {
    for (const isPlanted of [true, false]) {
      await using stage = await openStage();
      const shared = `${stage.home.root}/shared`;
      const place = shared + below;
      await Deno.mkdir(shared + (prepare ?? ""), { recursive: true });
      const settings = { sandbox: { write: [shared] } };
      if (prepare !== null && isPlanted) {
        const look = [ask({ name: "Glob", input: { pattern: "*" } }), say("Done.")];
        await stage.play("rem", { settings, args, cwd: place, script: look });
      }
      const marker = "no-cloud: .env\nlocal-endpoints: 127.0.0.2\n";
      const plant = `rm -rf '${shared}'/*; mkdir -p '${place}'; printf '${marker}' > '${place}/.agentclisecret'`;
      const script = [ask(want("shell", { command: plant })), say("Done.")];
      if (isPlanted) await stage.play("rem", { settings, args, script });
      else {
        await Deno.mkdir(place, { recursive: true });
        await Deno.writeTextFile(`${place}/.agentclisecret`, marker);
      }
      assert.equal(await Deno.readTextFile(`${place}/.agentclisecret`), marker, "control: it was left");
      await stage.plant(`${place}/.env`, "there");
      const { sent, done } = await stage.play("rem", { settings, cwd: place, script: READ });
      assert.equal(sent.includes(stage.canary("there")), !isPlanted, `control: that of the user counts ${done.stderr}`);
      if (isPlanted) assert.match(done.stderr, /127\.0\.0\.2" has no effect: it is new/);
    }
  });
}

Deno.test("a session that only read has seen the project, one without a call has not", linux, async () => {
  for (
    const [isSeen, script] of [[true, [ask(want("read", { path: "pub.txt" })), say("Done.")]], [false, []]] as const
  ) {
    await using stage = await openStage({ marker: null });
    await stage.play("loc", { script: [...script, say("Hello.")] });
    await stage.write(".agentclisecret", "no-cloud: .env\nlocal-endpoints: 127.0.0.2\n");
    const { sent, done } = await stage.play("rem", { script: READ });
    assert.equal(sent.includes(stage.canary("env")), !isSeen, done.stderr);
  }
});

Deno.test("hosts of a marker that was there first are named when a path is protected, and count", linux, async () => {
  await using stage = await openStage({ marker: "local-endpoints: 127.0.0.2\n" });
  const { said, sent } = await protectAndAsk(stage);
  assert.match(said, /^127\.0\.0\.2: counts as local here .*\(it stood in .* when the project was first seen\)$/m);
  assert.equal(sent, true);
});

Deno.test("a host that a marker names after a path was protected by command opens nothing", linux, async () => {
  for (const isKnown of [true, false]) {
    await using stage = await openStage({ marker: null });
    await stage.play("loc", { argv: ["secrets", isKnown ? "add" : "check", ".env"], script: [] });
    await stage.write(".agentclisecret", "no-cloud: .env\nlocal-endpoints: 127.0.0.2\n");
    const { sent, done } = await stage.play("rem", { script: READ });
    assert.equal(sent.includes(stage.canary("env")), !isKnown, `control: it counts at first sight ${done.stderr}`);
    if (isKnown) assert.match(done.stderr, /127\.0\.0\.2" has no effect: it is new .*agentcli secrets trust/);
  }
});

Deno.test(
  "a repository seen around a known project opens nothing of that project, until the user trusts it",
  linux,
  async () => {
    for (const isKnown of [true, false]) {
      await using stage = await openStage({ bare: true, marker: null });
      const inner = `${stage.project}/mine`;
      await stage.plant("mine/.env", "env");
      await stage.write("mine/.agentclisecret", "no-cloud: .env\n");
      await stage.write("mine/.git/HEAD", "ref: refs/heads/main\n");
      if (isKnown) await stage.play("rem", { cwd: inner, script: [say("Hello.")] });
      await stage.write(".git/HEAD", "ref: refs/heads/main\n");
      await stage.write(".agentclisecret", "local-endpoints: 127.0.0.2\n");
      const play = { args: ["--file", "mine/.env"], script: [say("Hello.")] };
      const { sent, done } = await stage.play("rem", play);
      assert.equal(
        sent.includes(stage.canary("env")),
        !isKnown,
        `control: it counts where nothing was known ${done.stderr}`,
      );
      if (!isKnown) continue;
      assert.match(done.stderr, /127\.0\.0\.2" has no effect: it is new .*agentcli secrets trust/);
      await runProgram(["secrets", "trust", "--yes"], { home: stage.home });
      const trusted = await stage.play("rem", play);
      assert.ok(trusted.sent.includes(stage.canary("env")), trusted.done.stderr);
    }
  },
);

Deno.test(
  "a project where a model only ran commands makes no other project's commands run in a sandbox",
  linux,
  async () => {
    await using stage = await openStage({ marker: null, bare: true });
    const where = [ask(want("shell", { command: "ls /home /root /proc/1 > /dev/null; echo ran" })), say("Done.")];
    for (const _ of [1, 2]) {
      const { done, results } = await stage.play("rem", { script: where, args });
      assert.match(results[0] ?? "", /ran/);
      assert.doesNotMatch(done.stderr, /run in a sandbox/);
    }
  },
);

Deno.test("a project in /dev/shm is protected from commands and tools", bubblewrap, async () => {
  await using stage = await openStage({ marker: null, bare: true });
  const root = await Deno.makeTempDir({ dir: "/dev/shm" });
  try {
    for (const [path, name] of [[".env", "env"], ["sub/.env", "sub"]] as const) {
      await stage.plant(`${root}/${path}`, name);
    }
    await stage.write(`${root}/.agentclisecret`, "no-cloud: .env\n");
    const script = [
      ask(want("read", { path: ".env" })),
      ask(want("shell", { command: "cat .env sub/.env; echo ran" })),
      say("Done."),
    ];
    const { results, sent, done } = await stage.play("rem", { script, args, cwd: root });
    assert.match(results[0] ?? "", /is protected/);
    assert.match(results[1] ?? "", /ran/, "control: the command ran");
    for (const { value } of stage.canaries) assert.ok(!sent.includes(value), results.join("\n"));
    assert.match(done.stderr, /hidden from this model: 2 files/);
    const local = await stage.play("loc", { script: script.slice(0, 1).concat(say("Done.")), args, cwd: root });
    assert.match(local.results[0] ?? "", /CNRY_/, "control: a local model reads it");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

for (const isFirst of [true, false]) {
  const what = isFirst
    ? "of a directory that was not seen counts"
    : "of one that was seen, and then moved, does not count";
  Deno.test(`a first marker ${what} after a session elsewhere`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { root } = stage.home;
    for (const path of ["seen/pub.txt", "other/pub.txt"]) await stage.write(`${root}/${path}`, "PUB_marker\n");
    const look = [ask(want("read", { path: "pub.txt" })), say("Done.")];
    if (!isFirst) await stage.play("rem", { script: look, cwd: `${root}/seen` });
    await Deno.rename(`${root}/seen`, `${root}/moved`);
    await stage.play("loc", { script: look, cwd: `${root}/other` });
    await stage.plant(`${root}/moved/.env`, "env");
    await stage.write(`${root}/moved/.agentclisecret`, "no-cloud: .env\nlocal-endpoints: 127.0.0.2\n");
    const { sent, done } = await stage.play("lan", { script: READ, cwd: `${root}/moved` });
    assert.equal(sent.includes(stage.canary("env")), isFirst, done.stderr);
  });
}
