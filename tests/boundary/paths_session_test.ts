import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { assertArrived, assertRefusedRun, assertSealed, assertSilent, openStage, type Stage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const ID = "11111111-2222-4333-8444-555555555555";
const READ = [ask(want("read", { path: ".env" })), say("Read it.")];
const HELLO = [say("Hello.")];

/** A stored session that read `.env` with the local model. */
async function taint(stage: Stage): Promise<void> {
  const played = await stage.play("loc", { script: READ, args: ["--session-id", ID] });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertSealed(played);
  assertArrived(played, stage.canary("env"));
}

/** Files of the tool's home whose text holds the id of the session or lies in a place named so. */
async function* transcripts(directory: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory) yield* transcripts(path);
    else if (path.includes(ID) && /jsonl?$/.test(path)) yield path;
  }
}

Deno.test("a session that read protected content is not resumed with a remote model", linux, async () => {
  await using stage = await openStage();
  await taint(stage);
  for (const args of [["--resume", ID], ["--continue"]]) {
    const remote = await stage.play("rem", { script: HELLO, args });
    assertSealed(remote, args.join(" "));
    assertRefusedRun(remote, /\.env/);
    assertSilentButForLists(remote.requests);
    const local = await stage.play("loc", { script: HELLO, args });
    assert.equal(local.done.code, 0, local.done.stderr);
    assertSealed(local, args.join(" "));
    assert.ok(!local.sent.includes(stage.canary("env")), "what was stored is a placeholder");
  }
});

Deno.test("a fork for a remote model has only what came before the protected content", linux, async () => {
  await using stage = await openStage();
  const open = [ask(want("read", { path: "pub.txt" })), say("Read the open one.")];
  await stage.play("loc", { script: open, args: ["--session-id", ID] });
  const tainted = await stage.play("loc", { script: READ, args: ["--resume", ID] });
  assertArrived(tainted, stage.canary("env"));
  const args = ["--resume", ID, "--fork-session"];
  const remote = await stage.play("rem", { script: HELLO, args });
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assertSealed(remote);
  assert.match(remote.done.stderr, /a copy from before protected content was read/);
  assert.ok(remote.sent.includes("Read the open one.") && remote.sent.includes("PUB_marker"), "control");
  assert.ok(!/\.env|Read it\.|redacted/.test(remote.sent), "nothing from the turn that met it on");
  const local = await stage.play("loc", { script: HELLO, args });
  assert.equal(local.done.code, 0, local.done.stderr);
  assertSealed(local);
  assert.ok(local.sent.includes("redacted"), "a local model has the whole, with placeholders");
  assert.ok(!local.sent.includes(stage.canary("env")));
});

function assertSilentButForLists(requests: readonly { index: number }[]): void {
  assert.equal(requests.filter((request) => request.index >= 0).length, 0);
}

Deno.test(
  "a session that read nothing protected is resumed with a remote model, also where paths are protected",
  linux,
  async () => {
    await using stage = await openStage();
    const open = [ask(want("read", { path: "pub.txt" })), say("Read it.")];
    const first = await stage.play("loc", { script: open, args: ["--session-id", ID] });
    assertSealed(first);
    const remote = await stage.play("rem", { script: HELLO, args: ["--resume", ID] });
    assert.equal(remote.done.code, 0, remote.done.stderr);
    assertSealed(remote);
    assert.ok(remote.sent.includes("PUB_marker"));
  },
);

Deno.test("a stored item without a label, or with one that is unknown, counts as protected", linux, async (test) => {
  for (const label of [undefined, "OPEN", "public", null, 0]) {
    await test.step(String(label), async () => {
      await using stage = await openStage({ marker: null });
      const first = await stage.play("loc", { script: HELLO, args: ["--session-id", ID] });
      assert.equal(first.done.code, 0, first.done.stderr);
      let changed = 0;
      for await (const path of transcripts(stage.home.agentcliHome)) {
        const lines = (await Deno.readTextFile(path)).trimEnd().split("\n").map((line) => {
          const value = JSON.parse(line, (key, inner) => key === "label" ? label : inner);
          changed++;
          return JSON.stringify(value);
        });
        await Deno.writeTextFile(path, lines.join("\n") + "\n");
      }
      assert.ok(changed > 0, "there is a transcript");
      const remote = await stage.play("rem", { script: HELLO, args: ["--resume", ID] });
      assert.notEqual(remote.done.code, 0);
      assertSilentButForLists(remote.requests);
    });
  }
});

Deno.test("a damaged marker protects the prompt of a local session as well", linux, async () => {
  await using stage = await openStage({ marker: "no-cloud:\n" });
  const prompt = `look: ${stage.canary("env")}`;
  const played = await stage.play("loc", { script: HELLO, prompt, args: ["--session-id", ID] });
  assertSealed(played);
  const remote = await stage.play("rem", { script: HELLO, args: ["--resume", ID] });
  assertRefusedRun(remote, /cannot be used/);
  assertSilent(remote);
});

Deno.test("summaries, side models and retries of a tainted session go to its own local model", linux, async () => {
  await using stage = await openStage();
  const filler = "lorem ipsum dolor ".repeat(400);
  for (let at = 0; at < 6; at++) await stage.write(`f${at}.txt`, `${filler}\n`);
  const script = (request: { index: number }) =>
    request.index === 0
      ? ask(want("read", { path: ".env" }))
      : request.index <= 6
      ? ask(want("read", { path: `f${request.index - 1}.txt` }))
      : say("Done.");
  const sink = `http://${stage.sink.address}/v1`;
  const played = await stage.play("loc", {
    script,
    block: { models: [{ id: "fake", context_window: 8192 }] },
    providers: { far: { baseUrl: sink } },
    settings: { roles: { compact: "far:fake", subagent: "far:fake" } },
  });
  assertSealed(played);
  assert.equal(played.sinkConnections, 0);
  assertArrived(played, stage.canary("env"));
});

Deno.test("a protected session writes no file whose name holds protected content", linux, async () => {
  await using stage = await openStage();
  const name = `n-${stage.canary("env")}.txt`;
  const write = ask(want("write", { path: name, content: "nothing\n" }));
  const script = [ask(want("read", { path: ".env" })), write, say("Done.")];
  const played = await stage.play("loc", { script, args: ["--permission-mode", "acceptEdits"] });
  assert.match(played.results.at(-1) ?? "", /is not protected, and the text holds/);
  assertSealed(played);
  const other = ask(want("write", { path: "n-open.txt", content: "nothing\n" }));
  const control = [ask(want("read", { path: ".env" })), other, say("Done.")];
  const written = await stage.play("loc", { script: control, args: ["--permission-mode", "acceptEdits"] });
  assert.doesNotMatch(written.results.at(-1) ?? "", /is not protected/, "control: another name");
});
