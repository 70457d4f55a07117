/** What a local model says by itself, in a session that holds nothing labeled: it can have read it off a picture. */
import assert from "node:assert/strict";
import { ask, say, type Step, want } from "../helpers/fake_steps.ts";
import { assertSealed, openStage } from "./harness.ts";

const COMMANDS = ["--permission-mode", "bypassPermissions"];

/** The ways in which a model says something, with what it says. */
const WAYS: Record<string, (secret: string) => Step[]> = {
  "its answer": (secret) => [say(`it is ${secret}`)],
  "its reasoning": (secret) => [say("fine", { reasoning: `it says ${secret}` })],
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
});

for (const [way, script] of Object.entries(WAYS)) {
  Deno.test(`protected content in ${way} labels a local session, and goes into no transcript`, async () => {
    await using stage = await openStage();
    const secret = stage.canary("env");
    const played = await stage.play("loc", { args: COMMANDS, script: script(secret) });
    assert.equal(played.done.code, 0, played.done.stderr);
    assertSealed(played, way);
    const after = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
    assert.equal(after.done.code, 6, after.done.stderr);
    assertSealed(after, way);
  });
}

Deno.test("what a local model says of nothing protected is stored as it is, and a remote model goes on", async () => {
  await using stage = await openStage();
  await stage.play("loc", { script: [say("the sky is blue today", { reasoning: "hm" })] });
  const { sent, done } = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
  assert.equal(done.code, 0, done.stderr);
  assert.match(sent, /the sky is blue today/);
});

/** A stage with a project B, which protects the canary `env`, and a project A that protects nothing. */
async function twoProjects() {
  const stage = await openStage({ bare: true, marker: null });
  const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
  await stage.plant(`${b}/.env`, "env", (canary) => `API_TOKEN=${canary}\n`);
  await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
  await stage.write(`${a}/open.txt`, "an open line of A\n");
  await stage.play("loc", { cwd: b, script: [say("Hello.")] });
  return { stage, a, b };
}

Deno.test("what another project protects is found in a response, also when the home's records change meanwhile", async () => {
  for (const isChanged of [true, false]) {
    const { stage, a } = await twoProjects();
    await using _ = stage;
    const c = `${stage.home.root}/C`;
    await stage.write(`${c}/.agentclisecret`, "no-cloud: x\n");
    const work = async () => void (isChanged && await stage.play("loc", { cwd: c, script: [say("Hi.")] }));
    const script = [say(`The picture shows ${stage.canary("env")}`)];
    const played = await stage.play("loc", { cwd: a, script, during: { index: 0, work } });
    assertSealed(played, isChanged ? "records changed" : "control: they did not");
    assert.equal((await stage.play("rem", { cwd: a, args: ["--continue"], script: [say("ok")] })).done.code, 6);
  }
});
