/**
 * What the leak scanner lets go because it was public before: nothing that a session, or anybody after it, adds to git.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { openStage, type Stage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const PUBLIC = "The Example License, version 2.0, as published";

async function project(): Promise<Stage> {
  const stage = await openStage();
  await stage.home.write(".env", `# ${PUBLIC}\nKEY=${stage.canary("env")}\n`);
  await stage.home.write("LICENSE", `${PUBLIC}\n`);
  await stage.git("init", "--quiet");
  await stage.git("add", "LICENSE");
  await stage.git("commit", "--quiet", "-m", "first");
  return stage;
}

Deno.test(
  "what stood in the first commit that was seen goes, and nothing that was committed later",
  linux,
  async () => {
    await using stage = await project();
    const prompt = `is "${PUBLIC}" right?`;
    const known = await stage.play("rem", { script: [say("Yes.")], prompt });
    assert.equal(known.done.code, 0, known.done.stderr);
    assert.ok(known.sent.includes(PUBLIC));
    await stage.home.write("copy.js", `const key = "${stage.canary("env")}";\n`);
    const read = [ask(want("read", { path: "copy.js" })), say("Done.")];
    for (const args of [["add", "-f", "copy.js"], ["commit", "--quiet", "-m", "second"]]) {
      await stage.git(...args);
      const played = await stage.play("rem", { script: read });
      assert.ok(!played.sent.includes(stage.canary("env")), args.join(" "));
      assert.equal(played.done.code, 6, played.done.stderr);
    }
    const local = await stage.play("loc", { script: read });
    assert.ok(local.sent.includes(stage.canary("env")), "control: the same for a local model");
  },
);

for (const way of ["worktree", "restored"] as const) {
  Deno.test(`no later commit counts as the first: ${way}`, linux, async () => {
    await using stage = await project();
    const known = await stage.play("rem", { script: [say("Yes.")], prompt: `is "${PUBLIC}" right?` });
    assert.equal(known.done.code, 0, "control: the first commit counts");
    await stage.home.write("copy.js", `const key = "${stage.canary("env")}";\n`);
    await stage.git("add", "-f", "copy.js");
    await stage.git("commit", "--quiet", "-m", "second");
    const cwd = way === "worktree" ? `${stage.home.root}/tree` : stage.project;
    if (way === "worktree") await stage.git("worktree", "add", "--quiet", cwd, "-b", "side");
    else {
      await Deno.rename(cwd, `${cwd}.old`);
      await new Deno.Command("cp", { args: ["-r", `${cwd}.old`, cwd] }).output();
      await stage.play("loc", { script: [], argv: ["secrets", "trust", "--yes"] });
    }
    const played = await stage.play("rem", { script: [ask(want("read", { path: "copy.js" })), say("Done.")], cwd });
    assert.ok(!played.sent.includes(stage.canary("env")));
    assert.equal(played.done.code, 6, played.done.stderr);
  });
}

Deno.test("a protected file in the first commit lets nothing go", linux, async () => {
  await using stage = await openStage();
  await stage.git("init", "--quiet");
  await stage.git("add", "-f", ".env");
  await stage.git("commit", "--quiet", "-m", "first");
  const played = await stage.play("rem", { script: [say("Yes.")], prompt: `is ${stage.canary("env")} right?` });
  assert.equal(played.done.code, 6, played.done.stderr);
  assert.ok(!played.sent.includes(stage.canary("env")));
});

Deno.test("a protected file of the first commit lets nothing go once it has another name", linux, async () => {
  await using stage = await project();
  await stage.plant("prod.env", "prod");
  await stage.write(".agentclisecret", "no-cloud: prod.env\nno-cloud: .env\n");
  await stage.git("add", "-f", "prod.env");
  await stage.git("commit", "--quiet", "-m", "with it");
  await stage.play("loc", { script: [say("Hello.")] });
  await stage.git("mv", "prod.env", "settings.env");
  await stage.write(".agentclisecret", "no-cloud: settings.env\nno-cloud: .env\n");
  const { done } = await stage.play("loc", { script: [], argv: ["secrets", "trust", "--yes"] });
  assert.match(done.stdout, /^trusted/);
  const control = await stage.play("rem", { script: [say("Yes.")], prompt: `is "${PUBLIC}" right?` });
  assert.equal(control.done.code, 0, "control: what stands in open files of that commit goes");
  const prompt = `why does ${stage.canary("prod")} fail?`;
  const typed = await stage.play("rem", { script: [say("Yes.")], prompt });
  assert.equal(typed.done.code, 6, typed.done.stderr);
  const shown = await stage.play("rem", {
    script: [ask({ name: "Git", input: { action: "show", rev: "HEAD~1:prod.env" } }), say("Done.")],
    args: ["--allowed-tools", "Git"],
  });
  assert.ok(!(typed.sent + shown.sent).includes(stage.canary("prod")));
});

for (const way of ["in a new worktree", "after a time without a marker"]) {
  Deno.test(`what the user revoked lets nothing of the first commit go: ${way}`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const [main, other] = [`${stage.project}/code/main`, `${stage.project}/other`];
    const protect = (name: string) => stage.write("code/main/.agentclisecret", `no-cloud: ${name}.env\n`);
    await Deno.mkdir(main, { recursive: true });
    await stage.plant("code/main/prod.env", "prod");
    await stage.write("code/main/LICENSE", `${PUBLIC}\n`);
    await protect("prod");
    const git = (...args: string[]) => stage.git("-C", main, ...args);
    const trust = async () => {
      const { done } = await stage.play("loc", { script: [], argv: ["secrets", "trust", "--yes"], cwd: main });
      assert.match(done.stdout, /^trusted/);
    };
    await git("init", "--quiet");
    await git("add", "-A");
    await git("commit", "--quiet", "-m", "first");
    await stage.play("loc", { script: [say("Hello.")], cwd: main });
    await git("mv", "prod.env", "settings.env");
    if (way.includes("without")) {
      await Deno.remove(`${main}/.agentclisecret`);
      await trust();
      await protect("settings");
    } else {
      await protect("settings");
      await git("commit", "--quiet", "-a", "-m", "renamed");
      await trust();
    }
    if (way.includes("new")) await git("worktree", "add", "--quiet", other);
    const cwd = way.includes("without") ? main : other;
    const control = await stage.play("rem", { script: [say("Yes.")], prompt: `is "${PUBLIC}" right?`, cwd });
    assert.equal(control.done.code, 0, "control: what is open in that commit goes");
    const typed = await stage.play("rem", {
      script: [say("Yes.")],
      prompt: `why does ${stage.canary("prod")} fail?`,
      cwd,
    });
    assert.equal(typed.done.code, 6, typed.done.stderr);
    assert.ok(!typed.sent.includes(stage.canary("prod")));
  });
}

Deno.test("no later commit counts as the first where a session was there before the marker", linux, async () => {
  const args = ["--permission-mode", "bypassPermissions"];
  for (const isCommitted of [true, false]) {
    await using stage = await openStage({ bare: true, marker: null });
    await stage.plant(".env", "env");
    await stage.write("LICENSE", `${PUBLIC}\n`);
    await stage.git("init", "--quiet");
    await stage.git("add", "LICENSE");
    await stage.git("commit", "--quiet", "-m", "first");
    await stage.play("loc", { args, script: [ask(want("shell", { command: "cp .env copy.js" })), say("Done.")] });
    if (isCommitted) {
      await stage.git("add", "-f", "copy.js");
      await stage.git("commit", "--quiet", "-m", "second");
    }
    await stage.write(".agentclisecret", "no-cloud: .env\n");
    const played = await stage.play("rem", { script: [ask(want("read", { path: "copy.js" })), say("Done.")] });
    assert.equal(played.done.code, 6, played.done.stderr);
    assert.ok(!played.sent.includes(stage.canary("env")));
  }
});
