/** Commands that go on in the background, through the whole program. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, startProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { builtinTools, toolSchemas, withBackground } from "../src/tools/registry.ts";

const unix = { ignore: Deno.build.os === "windows" };
const start = (command: string) => ask({ name: "Bash", input: { command, background: true } });
const look = (id = "bg1", end?: boolean) => ask({ name: "BashOutput", input: { id, ...end ? { end } : {} } });
const MODELS = [{ id: "fake", context_window: 32_768 }];

/** Runs the calls, one a response; returns the results of all of them. */
async function results(home: TemporaryHome, steps: readonly Step[], env?: Record<string, string>) {
  await using server = startFakeServer({ script: [...steps, say("Done.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  const args = ["run", "go", "--permission-mode", "bypassPermissions"];
  const done = await runInProcess(args, { home, ...env === undefined ? {} : { env } });
  assert.equal(done.code, 0, done.stderr);
  const messages: { role: string; content: string }[] = server.chats().at(-1)?.json.messages;
  return { results: messages.filter(({ role }) => role === "tool").map(({ content }) => content), server };
}

/** Whether the process whose id is in the file is gone; asked for at most ten seconds. */
async function isGone(home: TemporaryHome, name = "pid"): Promise<boolean> {
  const pid = Number(await home.read(name));
  assert.ok(pid > 1);
  for (let at = 0; at < 500; at++) {
    const alive = await new Deno.Command("kill", { args: ["-0", `${pid}`], stderr: "null" }).output();
    if (!alive.success) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

Deno.test("a background command is read while it runs, and ended", unix, async () => {
  await using home = await temporaryHome();
  const command = "echo $$ > pid; echo ready; read line < fifo; exec sleep 1000";
  await new Deno.Command("mkfifo", { args: [`${home.project}/fifo`] }).output();
  const { results: given } = await results(home, [
    start(command),
    look(),
    ask({ name: "Bash", input: { command: "echo meanwhile" } }),
    look("bg1", true),
    look(),
  ]);
  assert.match(given[0] ?? "", /^Started bg1\. BashOutput \{"id":"bg1"\}/);
  assert.equal(given[1], "ready\n[bg1 is running]");
  assert.equal(given[2], "meanwhile");
  assert.equal(given[3], "[bg1 was ended]");
  assert.match(given[4] ?? "", /There is no background command "bg1"\. None runs\./);
  assert.ok(await isGone(home));
});

Deno.test("how it ended is reported once, and a flood of output is cut", unix, async () => {
  await using home = await temporaryHome();
  const { results: given } = await results(home, [start("seq 1 200000; exit 3"), look(), look(), look()]);
  const all = given.slice(1).filter((text) => !text.startsWith("There is no")).join("\n");
  assert.match(all, /bytes omitted/);
  assert.match(all, /\[exit code 3\]/);
  assert.ok(all.length < 50_000, `${all.length}`);
});

Deno.test("no key reaches it", unix, async () => {
  await using home = await temporaryHome();
  const { results: given } = await results(home, [start("env | grep -c SECRET_KEY"), look()], { MY_SECRET_KEY: "k1" });
  assert.match(given[1] ?? "", /^0\n/);
});

Deno.test("what still runs is ended with the session", unix, async () => {
  await using home = await temporaryHome();
  await results(home, [start("echo $$ > pid; echo up; exec sleep 1000"), look()]);
  assert.ok(await isGone(home));
});

const killed = { ...unix, ignore: Deno.build.os !== "linux" };
for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGKILL", 137]] as const) {
  Deno.test(`what still runs is ended by ${signal}`, signal === "SIGKILL" ? killed : unix, async () => {
    await using home = await temporaryHome();
    const waits: Step = { kind: "silence" };
    await using server = startFakeServer({
      script: [start("echo $$ > pid; echo up; trap '' TERM; (while :; do sleep 1; done); :"), look(), waits],
    });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
    await using program = startProgram(["run", "go", "--permission-mode", "bypassPermissions"], { home });
    await program.closeInput();
    await server.arrived(2);
    assert.match(server.chats()[2]?.text ?? "", /up\\n\[bg1 is running\]/);
    program.kill(signal);
    const done = await program.finished;
    assert.equal(done.code, code, done.stderr);
    assert.ok(await isGone(home));
  });
}

Deno.test("it needs the permission of Bash", unix, async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [start("touch ran"), say("Done.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: MODELS } });
  const done = await runInProcess(["run", "go"], { home });
  assert.equal(done.code, 6, done.stderr);
  assert.equal(await home.read("ran").catch(() => null), null);
});

Deno.test("it is declared from a window of 16,000 tokens on, for at most 60 tokens", async () => {
  await using home = await temporaryHome();
  const offered = async (window: number) => {
    await using server = startFakeServer({ script: [say("Hi.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: window }] } });
    await runInProcess(["run", "hi"], { home });
    return server.chats()[0]?.text ?? "";
  };
  assert.match(await offered(16_384), /"background".*"BashOutput"/);
  assert.doesNotMatch(await offered(12_000), /BashOutput|"background"/);
  const bytes = (background: boolean) =>
    JSON.stringify(toolSchemas(withBackground(builtinTools({ background })))).length;
  const cost = bytes(true) - bytes(false);
  assert.ok(cost <= 60 * 4, `${cost} bytes`);
});
