/** What a local session read before it was protected, by whatever way it would then leave: no scan knows what a file held before. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step } from "../helpers/fake_server.ts";
import { openStage } from "./harness.ts";

const block = { models: [{ id: "fake", context_window: 32_768 }] };

interface Way {
  /** Of the local model: what it says once the file is protected and has changed. */
  then: (secret: string) => Step[];
  lines?: string;
  settings?: Record<string, unknown>;
}

/** How the session goes on at a remote model. */
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
      : "gets it while nothing is protected";
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
    });
  }
}

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
