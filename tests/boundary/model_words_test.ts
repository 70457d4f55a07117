/**
 * What a model says by itself, in a session that holds nothing labeled: it can have read it off a picture, or guessed
 * it.
 */
import assert from "node:assert/strict";
import { ask, say, type Step, want } from "../helpers/fake_steps.ts";
import { assertSealed, openStage } from "./harness.ts";

const COMMANDS = ["--permission-mode", "bypassPermissions"];

/** The ways in which a model says something, with what it says. */
const WAYS: Record<string, (secret: string) => Step[]> = {
  "its answer": (secret) => [say(`it is ${secret}`)],
  "words before a call": (secret) => [
    { ...say(`it is ${secret}`), calls: [want("read", { path: "pub.txt" })] },
    say("done"),
  ],
  "the arguments of a call": (secret) => [ask({ name: "Read", input: { path: `no-${secret}` } }), say("done")],
  "a name in the arguments of a call": (secret) => [ask({ name: "Read", input: { [secret]: 1 } }), say("done")],
  "a call to no tool": (secret) => [ask({ name: "Nope", input: { x: secret } }), say("done")],
  "a list of things to do": (secret) => [
    ask({ name: "TodoWrite", input: { todos: [{ content: secret, status: "pending" }] } }),
    say("done"),
  ],
};

Deno.test("the name under which a server answers is shown only where it holds nothing protected", async () => {
  await using stage = await openStage();
  const answer = (model: string): Step => {
    const chunk = { model, choices: [{ index: 0, delta: { content: "Hi." }, finish_reason: "stop" }] };
    const headers = { "content-type": "text/event-stream", server: "llama.cpp" };
    return { kind: "status", status: 200, body: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, headers };
  };
  const block = { models: [{ id: "asked", context_window: 32_768 }] };
  const shown = async (model: string) =>
    (await stage.play("loc", { args: ["--model", "loc:asked"], block, script: [answer(model)] })).done.stderr;
  assert.match(await shown("tiny-agent"), /answers with tiny-agent, not with asked/, "control");
  assert.match(await shown(stage.canary("env")), /answers with another model, not with asked/);
  const told = async (model: string) => {
    const args = ["--model", "loc:asked", "--output-format", "stream-json", "--include-partial-messages"];
    return (await stage.play("loc", { args, block, script: [answer(model)] })).done.stdout;
  };
  assert.match(await told("tiny-agent"), /"model":"tiny-agent"/, "control");
  assert.ok(!(await told(stage.canary("env"))).includes(stage.canary("env")));
  const after = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
  assert.equal(after.done.code, 0, `the name is no word of the model: ${after.done.stderr}`);
});

for (const [way, script] of Object.entries(WAYS)) {
  Deno.test(`protected content in ${way} labels the session, of whatever model, and goes into no transcript`, async () => {
    for (const provider of ["loc", "rem"] as const) {
      await using stage = await openStage();
      const steps = script(stage.canary("env"));
      const played = await stage.play(provider, { args: COMMANDS, script: steps });
      // What a remote model said leaves with its next request, which there is none of behind its last words.
      assert.equal(played.done.code, provider === "loc" || steps.length === 1 ? 0 : 6, played.done.stderr);
      assert.deepEqual(played.leaks.disk, [], `${way}, ${provider}`);
      const after = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
      assert.equal(after.done.code, 6, after.done.stderr);
      assertSealed(after, way);
    }
  });
}

Deno.test("protected content in the reasoning of a local model labels the session, and goes into no transcript", async () => {
  await using stage = await openStage();
  const script = [say("fine", { reasoning: `it says ${stage.canary("env")}` })];
  assertSealed(await stage.play("loc", { script }));
  const after = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
  assert.equal(after.done.code, 6, after.done.stderr);
});

Deno.test("a remote model writes no protected content that it guessed into an open file", async () => {
  await using stage = await openStage();
  const write = (content: string) => ask({ name: "Write", input: { file_path: "notes.txt", content } });
  const control = await stage.play("rem", { args: COMMANDS, script: [write("nothing of that"), say("ok")] });
  assert.equal(control.done.code, 0, control.done.stderr);
  assert.equal(await Deno.readTextFile(`${stage.project}/notes.txt`), "nothing of that");
  const played = await stage.play("rem", { args: COMMANDS, script: [write(stage.canary("env")), say("ok")] });
  assert.equal(played.done.code, 6, played.done.stderr);
  assert.deepEqual(played.leaks.disk, []);
});

Deno.test("protected digits are found in the arguments of a call, as a string and as a number", async () => {
  const digits = "482917365204816";
  for (const argument of [digits, Number(digits), { at: [Number(digits)] }]) {
    await using stage = await openStage();
    await stage.write("secrets/card.txt", `CARD_NUMBER=${digits}\n`);
    const script = [ask({ name: "Read", input: { file_path: "pub.txt", offset: argument } }), say("Done.")];
    const { done } = await stage.play("loc", { script, args: ["--output-format", "stream-json"] });
    assert.ok(!done.stdout.includes(digits), JSON.stringify(argument));
    assert.equal((await stage.play("rem", { args: ["--continue"], script: [say("ok")] })).done.code, 6);
  }
  await using stage = await openStage();
  await stage.write("secrets/card.txt", `CARD_NUMBER=${digits}\n`);
  const script = [ask({ name: "Read", input: { file_path: "pub.txt", offset: 739184 } }), say("Done.")];
  const { done } = await stage.play("loc", { script, args: ["--output-format", "stream-json"] });
  assert.ok(done.stdout.includes("739184"), "control: other digits are shown");
});

Deno.test("what a local model says of nothing protected is stored as it is, and a remote model continues", async () => {
  await using stage = await openStage();
  await stage.play("loc", { script: [say("the sky is blue today", { reasoning: "hm" })] });
  const { sent, done } = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
  assert.equal(done.code, 0, done.stderr);
  assert.match(sent, /the sky is blue today/);
});
