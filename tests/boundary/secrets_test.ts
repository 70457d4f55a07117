import assert from "node:assert/strict";
import { runInProcess } from "../helpers/in_process.ts";
import { configure, programCommand, startCommand } from "../helpers/program.ts";
import { outputOf } from "../../src/platform/process_group.ts";
import { say } from "../helpers/fake_server.ts";
import { HAS_TMUX, openTerminal } from "../helpers/terminal.ts";
import { openStage } from "./harness.ts";

const places = { loc: { baseUrl: "http://localhost:1/v1" }, rem: { baseUrl: "http://127.0.0.2:1/v1" } };

Deno.test("secrets list names each protected path with its line and says whether the provider is local", async () => {
  await using stage = await openStage({ marker: "# mine\nno-cloud: .env\nlist-only: secrets\nno-cloud: later/*\n" });
  await configure(stage.home, places);
  const { home } = stage;
  const done = await runInProcess(["secrets", "list", "--model", "rem"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /^\.env +no-cloud +\.agentclisecret:2 no-cloud: \.env$/m);
  assert.match(done.stdout, /^secrets\/ +list-only +\.agentclisecret:3 list-only: secrets$/m);
  assert.match(done.stdout, /^\(no match yet\) +no-cloud +\.agentclisecret:4 no-cloud: later\/\*$/m);
  assert.match(done.stdout, /^provider: rem .*is remote: .*refused to it$/m);
  const json = JSON.parse((await runInProcess(["secrets", "list", "--json", "--model", "loc"], { home })).stdout);
  assert.deepEqual(json.protected.map((entry: { path: string; kind: string }) => [entry.path, entry.kind]), [
    [`${stage.project}/.env`, "file"],
    [`${stage.project}/secrets`, "directory"],
  ]);
  assert.equal(json.absent.length, 1);
  assert.equal(json.provider.local, true);
  const cloud = await runInProcess(["secrets", "list", "--model", "loc:big:120b-cloud"], { home });
  assert.match(cloud.stdout, /^provider: loc .*is remote: .*cloud model by its name; .*refused to it$/m);
  const own = await runInProcess(["secrets", "list", "--model", "loc"], { home });
  assert.match(own.stdout, /^provider: loc .*is local: .*; it may read no-cloud paths if it runs there$/m, "control");
  assert.doesNotMatch(done.stdout + JSON.stringify(json), /CNRY_/);
});

Deno.test("secrets list says so when nothing is protected, and when a marker cannot be used", async () => {
  await using stage = await openStage({ marker: null });
  const { home } = stage;
  const nothing = await runInProcess(["secrets", "list"], { home });
  assert.equal(nothing.code, 0);
  assert.match(nothing.stderr, /nothing is protected.*secrets add/);
  await configure(home, places);
  const open = await runInProcess(["secrets", "list"], { home });
  assert.equal(open.stdout, "provider: none (no model is selected)\n");
  await stage.write(".agentclisecret", "no-cloud: .env\nno-cloud:\n");
  const damaged = await runInProcess(["secrets", "list"], { home });
  assert.match(damaged.stderr, /cannot be used \(line 2 names no path\); everything counts as protected/);
  assert.doesNotMatch(damaged.stdout, /nothing yet/);
  const run = await runInProcess(["run", "hi", "--model", "demo"], { home });
  assert.match(run.stderr, /^agentcli: .*\.agentclisecret: line 2 names no path; everything counts as protected$/m);
});

Deno.test("secrets check shows the rule of a path by any name, and exits 1 when one is open", async () => {
  await using stage = await openStage();
  await Deno.symlink(".env", `${stage.project}/link`);
  await Deno.link(`${stage.project}/.env`, `${stage.project}/twin`);
  await stage.write("sub/x", "x");
  await stage.write("sub/deep/x", "x");
  await Deno.symlink("sub/deep", `${stage.project}/aside`);
  const { home } = stage;
  // The system goes up from where the link leads.
  const covered = [
    "aside/../../.env",
    "link",
    "twin",
    ".env",
    "./secrets/k.txt",
    "secrets/not/yet",
    `${stage.project}/.env`,
  ];
  const done = await runInProcess(["secrets", "check", ...covered], { home });
  assert.equal(done.code, 0, done.stdout + done.stderr);
  assert.match(done.stdout, /^twin: protected \(\.agentclisecret:1 no-cloud: \.env\)$/m);
  const below = await runInProcess(["secrets", "check", "../.env", "x"], { home, cwd: `${stage.project}/sub` });
  assert.equal(below.code, 1);
  assert.match(below.stdout, /^\.\.\/\.env: protected \(.*:1 no-cloud: \.env\)\nx: not protected$/m);
  const json = JSON.parse((await runInProcess(["secrets", "check", "--json", "pub.txt", ".env"], { home })).stdout);
  assert.deepEqual(json.paths.map((entry: { protected: boolean }) => entry.protected), [false, true]);
  assert.doesNotMatch(done.stdout + below.stdout, /CNRY_/);
});

Deno.test("secrets add writes the marker, keeps what is in it, and does not repeat itself", async () => {
  await using stage = await openStage({ marker: null });
  const { home } = stage;
  const first = await runInProcess(["secrets", "add", ".env", "keys/*.pem"], { home });
  assert.equal(first.code, 0, first.stderr);
  assert.equal(await home.read(".agentclisecret"), "no-cloud: .env\nno-cloud: keys/*.pem\n");
  await stage.write(".agentclisecret", "# mine\r\nno-cloud: .env");
  await stage.write("sub/x", "x");
  const second = await runInProcess(["secrets", "add", "x", "../.env", " y"], { home, cwd: `${stage.project}/sub` });
  assert.equal(second.code, 0, second.stderr);
  assert.equal(
    await home.read(".agentclisecret"),
    "# mine\r\nno-cloud: .env\r\nno-cloud: sub/x\r\nno-cloud: sub/ y\r\n",
  );
  assert.match(second.stdout, /^x: added .*:3 no-cloud: sub\/x\)\n\.\.\/\.env: was already protected \(.*:2 /m);
  // A typing error is seen where it is made; a pattern names nothing by itself.
  assert.match(second.stdout, /^ y: added .*:4 no-cloud: sub\/ y\); nothing is there yet$/m);
  const deep = await runInProcess(["secrets", "add", "deep"], { home });
  assert.match(deep.stdout, /^deep: added .*; nothing is there yet; every deep below is covered$/m);
  assert.doesNotMatch(first.stdout, /^keys.*nothing is there/m);
  for (const said of ["added", "was already protected"]) {
    const all = await runInProcess(["secrets", "add", "."], { home });
    assert.equal(all.stdout, `.: ${said} (.agentclisecret:6 no-cloud: .)\n`);
  }
});

Deno.test("secrets add protects where the home can remember nothing, and says so", async () => {
  await using stage = await openStage({ marker: null });
  await stage.write(`${stage.home.agentcliHome}/projects`, "no directory");
  const done = await runInProcess(["secrets", "add", ".env"], { home: stage.home });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /^\.env: added/);
  assert.match(done.stderr, /what is protected here cannot be remembered: cannot use the home/);
});

Deno.test("secrets add refuses what lies outside, a damaged marker and a link in its place, and changes nothing", async () => {
  await using stage = await openStage();
  const { home } = stage;
  const before = await home.read(".agentclisecret");
  for (const path of ["../x", "/etc/hosts", "", "a\nb"]) {
    const done = await runInProcess(["secrets", "add", "fine", path], { home });
    assert.equal(done.code, 2, path);
  }
  assert.equal(await home.read(".agentclisecret"), before);
  await stage.write(".agentclisecret", "no-cloud:\n");
  assert.equal((await runInProcess(["secrets", "add", "x"], { home })).code, 2);
  await Deno.remove(`${stage.project}/.agentclisecret`);
  const target = await stage.write(`${stage.home.root}/elsewhere`, "no-cloud: a\n");
  await Deno.symlink(target, `${stage.project}/.agentclisecret`);
  assert.equal((await runInProcess(["secrets", "add", "x"], { home })).code, 2);
  assert.equal(await Deno.readTextFile(target), "no-cloud: a\n");
});

Deno.test({
  name: "secrets add says where and why the marker cannot be written",
  ignore: (await outputOf(new Deno.Command("bwrap", { args: ["--dev-bind", "/", "/", "true"] })))?.success !== true,
  fn: async () => {
    await using stage = await openStage({ marker: null });
    const { home, project } = stage;
    const sandbox = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", project, project];
    await using program = startCommand([...sandbox, ...programCommand(), "secrets", "add", "--json", "x"], { home });
    const { stdout, code } = await program.finished;
    assert.equal(code, 2);
    assert.deepEqual(JSON.parse(stdout).error, {
      code: "usage",
      message: `${project}/.agentclisecret was not made: the file system is read-only`,
      hint: "mount it so that it can be written",
    });
  },
});

Deno.test("lines of a protected file that the user allows pass the scan, and the others do not", async () => {
  await using stage = await openStage();
  const { home } = stage;
  await home.write(".env", `# The Example License, version 2.0\nKEY=${stage.canary("env")}\n`);
  const say1 = [say("Yes.")];
  const prompt = "is this right: The Example License, Version 2.0?";
  const before = await stage.play("rem", { script: say1, prompt });
  assert.equal(before.done.code, 6, before.done.stderr);
  assert.match(before.done.stderr, /line 1 of \.env/);
  const unasked = await runInProcess(["secrets", "allow-fragment", ".env:1"], { home });
  assert.notEqual(unasked.code, 0, "without a terminal --yes is needed");
  const allowed = await runInProcess(["secrets", "allow-fragment", ".env:1", "--yes"], { home });
  assert.equal(allowed.code, 0, allowed.stderr);
  const after = await stage.play("rem", { script: say1, prompt });
  assert.equal(after.done.code, 0, after.done.stderr);
  const secret = await stage.play("rem", { script: say1, prompt: `${prompt} ${stage.canary("env")}` });
  assert.equal(secret.done.code, 6, secret.done.stderr);
  for (const words of ["pub.txt:1", ".env", ".env:9", ".env:2-1"]) {
    const refused = await runInProcess(["secrets", "allow-fragment", words, "--yes"], { home });
    assert.equal(refused.code, 2, `${words}: ${refused.stderr}`);
  }
});

Deno.test("what comes into the marker between the question of secrets trust and its answer is not trusted", {
  ignore: !HAS_TMUX,
}, async () => {
  for (const isLate of [true, false]) {
    await using stage = await openStage({ marker: "no-cloud: .env\nno-cloud: other\n" });
    await stage.play("rem", { script: [say("Hello.")] });
    const marker = "no-cloud: .env\nlocal-endpoints: 127.0.0.2\n";
    await stage.write(".agentclisecret", isLate ? "no-cloud: .env\n" : marker);
    await using terminal = await openTerminal(["secrets", "trust"], { home: stage.home });
    await terminal.shows(/Trust the project as it is now\?/);
    await stage.write(".agentclisecret", marker);
    await terminal.type("y");
    await terminal.press("Enter");
    await terminal.shows(/EXIT 0/);
    const { sent } = await stage.play("rem", { args: ["--file", ".env"], script: [say("Hello.")] });
    assert.equal(sent.includes(stage.canary("env")), !isLate, "control: what was shown is trusted");
  }
});

Deno.test("secrets trust without a terminal says what it would do, that nothing changed, and how to go on", async () => {
  await using stage = await openStage({ marker: "no-cloud: .env\nno-cloud: other\n" });
  const { home } = stage;
  await stage.play("loc", { script: [say("Hello.")] });
  await stage.write(".agentclisecret", "no-cloud: .env\n");
  const asked = await runInProcess(["secrets", "trust"], { home });
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /^will no longer be protected[^]*no-cloud: other\n[^]*nothing changed[^]*--yes/);
  assert.equal((await runInProcess(["secrets", "check", "other"], { home })).code, 0, "control: it is protected still");
  const trusted = await runInProcess(["secrets", "trust", "--yes"], { home });
  assert.equal(trusted.code, 0, trusted.stderr);
  assert.equal((await runInProcess(["secrets", "check", "other"], { home })).code, 1);
});

for (const version of [2, 3, 4]) {
  Deno.test(`secrets add says which files git holds already, from an index of version ${version}`, async () => {
    await using stage = await openStage({ marker: null });
    const { home } = stage;
    await stage.write("keys/a.pem", "x");
    await stage.write("keys/a.pem.pub", "x");
    await stage.git("init", "--quiet");
    await stage.git("add", "--all");
    // Only with such an entry git writes version 3.
    if (version === 3) await stage.git("add", "--intent-to-add", "--force", await stage.write("new.txt", "x"));
    await stage.git("update-index", "--index-version", String(version));
    const added = await runInProcess(["secrets", "add", ".env", "fresh.key"], { home });
    assert.match(added.stderr, /git already holds \.env: what is committed .*; git rm --cached '\.env' keeps it out/);
    const keys = await runInProcess(["secrets", "add", "keys"], { home });
    assert.match(keys.stderr, /git already holds keys\/a\.pem and 1 more: /);
    await stage.write("later.key", "x");
    for (const path of ["later.key", ".env"]) {
      const other = await runInProcess(["secrets", "add", path], { home });
      assert.doesNotMatch(other.stderr, /git already/, `control: ${path} is new to git, or was protected`);
    }
  });
}

Deno.test("secrets list in a linked worktree counts what the main tree holds, and names what its own lines lead to", async () => {
  await using stage = await openStage({ git: true });
  const { home } = stage;
  const tree = `${home.root}/tree`;
  await stage.git("worktree", "add", "--quiet", tree);
  await stage.plant(`${home.root}/far.txt`, "far");
  await Deno.symlink(`${home.root}/far.txt`, `${tree}/link.txt`);
  await stage.write(`${tree}/.agentclisecret`, "no-cloud: link.txt\n");
  const { stdout, stderr } = await runInProcess(["secrets", "list"], { home, cwd: tree });
  assert.match(stdout, /^\.env +no-cloud /m);
  assert.match(stdout, /far\.txt +no-cloud +\.agentclisecret:1 no-cloud: link\.txt$/m);
  assert.ok(!stdout.includes(`${stage.project}/.env `), stdout);
  assert.match(stderr, /these markers protect 2 more outside of this project/);
  const json = await runInProcess(["secrets", "list", "--json"], { home, cwd: tree });
  assert.ok(json.stdout.includes(`${stage.project}/.env`), "control: they are protected");
});
