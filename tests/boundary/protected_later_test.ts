/**
 * What a local session read before it was protected, by whatever way it would then leave: no scan knows what a file
 * held before.
 */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step } from "../helpers/fake_server.ts";
import { AcpClient } from "../helpers/acp_client.ts";
import { configure } from "../helpers/program.ts";
import { openStage, type Stage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };

const block = { models: [{ id: "fake", context_window: 32_768 }] };

interface Way {
  /** Of the local model: what it says once the file is protected and has changed. */
  then: (secret: string) => Step[];
  lines?: string;
  settings?: Record<string, unknown>;
}

/** How the session continues at a remote model. */
const WAYS: Readonly<Record<string, Way>> = {
  "another model of a chat": { then: () => [say("Done.")], lines: "go\n/model far:fake\nhello\n" },
  "a search by a remote model": {
    then: (secret) => [ask({ name: "Explore", input: { task: `who uses ${secret}?` } }), say("Done.")],
    settings: { roles: { subagent: "far:fake" } },
  },
};

for (const [name, { then, lines, settings }] of Object.entries(WAYS)) {
  for (const isProtected of [true, false]) {
    const does = isProtected
      ? "gets nothing of what was read before a marker came"
      : "gets it without a marker (control)";
    Deno.test(`${name} ${does}`, async () => {
      await using stage = await openStage({ bare: true, marker: null });
      await stage.plant("config.env", "env", (canary) => `TOKEN=${canary}\n`);
      await using remote = startFakeServer({ host: "127.0.0.2", script: [say("hello")] });
      const secret = stage.canary("env");
      const work = async () => {
        if (isProtected) await stage.write(".agentclisecret", "no-cloud: config.env\n");
        await stage.write("config.env", "K: another-value\n");
      };
      const chat = { argv: ["chat", "--model", "loc"], prompt: null, ...lines === undefined ? {} : { stdin: lines } };
      const played = await stage.play("loc", {
        ...lines === undefined ? {} : chat,
        ...settings === undefined ? {} : { settings },
        block,
        providers: { far: { baseUrl: remote.baseUrl, ...block } },
        script: [ask({ name: "Read", input: { file_path: "config.env" } }), ...then(secret)],
        during: { index: 1, work },
      });
      assert.ok(played.sent.includes(secret), "control: the local model got it");
      const got = await new Blob(remote.received().map((bytes) => new Uint8Array(bytes))).text();
      assert.equal(got.includes(secret), !isProtected, played.done.stderr);
      if (!isProtected || lines === undefined) return;
      assert.match(played.done.stderr, /this session has read config\.env \(protected by now/);
    });
  }
}

/** Lets a local session read a file of which nothing is protected yet; the file then holds something else. */
async function readWhileOpen(stage: Stage, path: string): Promise<void> {
  await stage.plant(path, "env", (canary) => `TOKEN=${canary}\n`);
  await stage.play("loc", { block, script: [ask({ name: "Read", input: { file_path: path } }), say("Done.")] });
  await stage.write(path, "K: another-value\n");
}

Deno.test("a refused stored session names the file that it is about", async () => {
  await using stage = await openStage({ bare: true, marker: null });
  await readWhileOpen(stage, "config.env");
  await stage.write(".agentclisecret", "no-cloud: config.env\n");
  const { done, sent } = await stage.play("rem", { block, args: ["--continue"], script: [say("Hello.")] });
  assert.equal(done.code, 6, done.stderr);
  assert.match(done.stderr, /this session has read config\.env \(protected by now\)/);
  assert.equal(sent.includes(stage.canary("env")), false);
});

Deno.test("what was read from a file counts as protected when only a link leads there from a line that came later", async () => {
  for (const line of ["current", "*.env", "elsewhere"]) {
    await using stage = await openStage({ bare: true, marker: null });
    await readWhileOpen(stage, "data/v2.txt");
    await stage.write("sub/open.txt", "open\n");
    await Deno.symlink("../data/v2.txt", `${stage.project}/sub/${line === "*.env" ? "prod.env" : "current"}`);
    await stage.write(".agentclisecret", `no-cloud: ${line}\n`);
    const isOpen = line === "elsewhere";
    const exported = await stage.play("loc", { argv: ["sessions", "export", "latest"], script: [] });
    assert.equal(exported.done.stdout.includes(stage.canary("env")), isOpen, `${line} (the last is the control)`);
    const { done, sent } = await stage.play("rem", { block, args: ["--continue"], script: [say("Hello.")] });
    assert.equal(done.code, isOpen ? 0 : 6, done.stderr);
    assert.equal(sent.includes(stage.canary("env")), isOpen);
  }
});

for (const isProtected of [true, false]) {
  const does = isProtected ? "begins without the instructions" : "keeps the instructions while they are open";
  Deno.test(`a copy of a session for a remote model of the same id ${does}`, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    await stage.plant("AGENTS.md", "env", (canary) => `Use ${canary}\n`);
    const local = await stage.play("loc", { block, script: [say("Done.")] });
    assert.ok(local.sent.includes(stage.canary("env")), "control: the local model got them");
    if (isProtected) await stage.write(".agentclisecret", "no-cloud: AGENTS.md\n");
    await stage.write("AGENTS.md", "Nothing is in here any more.\n");
    const args = ["--continue", "--fork-session"];
    const remote = await stage.play("rem", { block, args, script: [say("Hello.")] });
    assert.equal(remote.done.code, 0, remote.done.stderr);
    assert.equal(remote.sent.includes(stage.canary("env")), !isProtected);
  });
}

const git = (input: Record<string, unknown>) => ask({ name: "Git", input });
for (
  const [name, step, removes] of [
    ["Git show of a removed file", git({ action: "show", rev: "HEAD~1:old.env" }), true],
    ["Git show of the commit that removed it", git({ action: "show", rev: "HEAD" }), true],
    ["Git show of a file that is there", git({ action: "show", rev: "HEAD:old.env" }), false],
  ] as const
) {
  Deno.test(`what a session saw by ${name} stays local once the path is protected`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    await stage.plant("old.env", "old");
    await stage.plant("s.env", "s");
    await stage.git("init", "--quiet");
    await stage.git("add", "old.env");
    await stage.git("commit", "--quiet", "-m", "first");
    if (removes) {
      await stage.git("rm", "--quiet", "old.env");
      await stage.git("commit", "--quiet", "-m", "second");
    }
    await stage.write(".agentclisecret", "no-cloud: s.env\n");
    const args = ["--allowed-tools", "Git"];
    const local = await stage.play("loc", { args, script: [step, say("Done.")] });
    assert.ok(local.sent.includes(stage.canary("old")), "control: nothing protects it yet");
    await stage.write(".agentclisecret", "no-cloud: s.env\nno-cloud: old.env\n");
    await stage.write("old.env", "another value\n");
    const { done, sent } = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(done.code, 6, done.stderr);
    assert.ok(!sent.includes(stage.canary("old")));
  });
}

Deno.test("an editor's text of a file that is not saved yet stays local once its path is protected", async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const secret = `TOKEN_${crypto.randomUUID()}`;
  await using near = startFakeServer({ script: [say("Fine.")] });
  await configure(stage.home, { loc: { baseUrl: near.baseUrl, ...block } }, { default_provider: "loc" });
  {
    await using client = new AcpClient({ home: stage.home });
    const resource = { uri: `file://${stage.project}/conf/new.env`, text: `KEY=${secret}\n` };
    await client.prompt(await client.session(), [{ type: "text", text: "Look" }, { type: "resource", resource }]);
  }
  assert.ok(near.chats().some(({ text }) => text.includes(secret)), "control: nothing protects it yet");
  await stage.write(".agentclisecret", "no-cloud: conf/new.env\n");
  await stage.write("conf/new.env", "KEY=another\n");
  const { done, sent } = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
  assert.equal(done.code, 6, done.stderr);
  assert.ok(!sent.includes(secret));
});

Deno.test("the first words of an editor's session are judged by a line that came after it was opened", async () => {
  for (const isProtected of [true, false]) {
    await using stage = await openStage({ bare: true, marker: "no-cloud: other\n" });
    await stage.plant("config.env", "env", (canary) => `TOKEN=${canary}\n`);
    await using near = startFakeServer({ script: [say("Fine.")] });
    await configure(stage.home, { loc: { baseUrl: near.baseUrl, ...block } }, { default_provider: "loc" });
    {
      await using client = new AcpClient({ home: stage.home });
      const id = await client.session();
      await client.until(({ params }) => params?.update?.sessionUpdate === "available_commands_update");
      if (isProtected) await stage.write(".agentclisecret", "no-cloud: other\nno-cloud: config.env\n");
      await client.prompt(id, [{ type: "text", text: `Is ${stage.canary("env")} right?` }]);
    }
    await stage.write("config.env", "TOKEN=another\n");
    const { sent } = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(sent.includes(stage.canary("env")), !isProtected);
  }
});

Deno.test("a protected rule or workflow makes a session protected where its text is used, and not where it is dropped", async () => {
  for (const trigger of ["manual", "always_on"]) {
    for (const workflow of [false, true]) {
      await using stage = await openStage({ bare: true, marker: "no-cloud: rules\nno-cloud: workflows\n" });
      await stage.write(".ide/rules/one.md", `---\ntrigger: ${trigger}\n---\nBe brief.\n`);
      if (workflow) await stage.write(".ide/workflows/deploy.md", "---\ndescription: Deploys\n---\nDeploy it.\n");
      await using near = startFakeServer({ script: () => say("Fine.") });
      await configure(stage.home, { loc: { baseUrl: near.baseUrl, ...block } }, { default_provider: "loc" });
      await using client = new AcpClient({ home: stage.home });
      const id = await client.session();
      for (const words of ["first words", "second words"]) await client.prompt(id, [{ type: "text", text: words }]);
      assert.equal(near.chats().some(({ text }) => text.includes("Be brief.")), trigger === "always_on");
      await client.end();
      const { done } = await stage.play("loc", { argv: ["sessions", "show", id], prompt: null, script: [] });
      for (const words of ["first words", "second words"]) {
        assert.equal(done.stdout.includes(words), trigger === "manual", `${trigger}, ${workflow}: ${done.stdout}`);
      }
    }
  }
});
