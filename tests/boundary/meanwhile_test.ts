/** What other sessions of the user tell the home while one runs counts in it at once, also while a command runs. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer } from "../helpers/fake_server.ts";
import { planServer, textArguments } from "../helpers/mcp.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";
import { CODED, coded, standing } from "./slipped.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const block = { models: [{ id: "fake", context_window: 32_768 }] };
const args = ["--permission-mode", "bypassPermissions"];
const read = (file_path: string) => ask({ name: "Read", input: { file_path } });
const shell = (command: string) => ask({ name: "Bash", input: { command } });
const background = (command: string) => ask({ name: "Bash", input: { command, background: true } });
const WAITS = "for i in $(seq 1500); do [ -e go ] && break; sleep 0.02; done";

/** Another project with a marker and `.env`; with `known`, a session was there. */
async function otherProject(stage: Stage, known: boolean): Promise<{ root: string; know(): Promise<unknown> }> {
  const root = `${stage.home.root}/other`;
  await stage.plant(`${root}/.env`, "other", (canary) => `TOKEN=${canary}\n`);
  await stage.write(`${root}/.agentclisecret`, "no-cloud: .env\n");
  const know = () => stage.play("loc6", { cwd: root, script: [say("hi")] });
  if (known) await know();
  return { root, know };
}

/** A session writes `copy.txt`, which holds what `.env` does, by a command; gives what it said on standard error. */
async function copied(stage: Stage, { cwd, secret }: { cwd: string; secret: string }): Promise<string> {
  const script = [read(".env"), shell(`echo ${secret} > copy.txt`), say("Done.")];
  const played = await stage.play("loc6", { cwd, block, args, script });
  return played.done.stderr;
}

Deno.test(
  "a copy in another project below sandbox.read is hidden once that project's session has found it",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const { root } = await otherProject(stage, true);
    const secret = stage.canary("other");
    const work = async () => void assert.match(await copied(stage, { cwd: root, secret }), /protected from now on/);
    const script = [shell("echo one"), shell(`cat "${root}/copy.txt"; echo ran`), say("Done.")];
    const settings = { sandbox: { read: [root] } };
    const played = await stage.play("rem", { block, args, script, settings, during: { index: 1, work } });
    assert.ok((await Deno.readTextFile(`${root}/copy.txt`)).includes(secret), "control: it is there");
    assert.match(played.results[1] ?? "", /ran/);
    assert.deepEqual(played.leaks.wire, []);
  },
);

Deno.test("a command that runs does not see a copy that another session has found meanwhile", bubblewrap, async () => {
  await using stage = await openStage();
  const secret = stage.canary("env");
  await stage.play("rem", { script: [say("hi")] });
  const command = `echo > ready; ${WAITS}; ${CODED} < copy.txt; echo ran; sleep 30`;
  const other = (async () => {
    await standing(`${stage.project}/ready`);
    assert.match(await copied(stage, { cwd: stage.project, secret }), /protected from now on/);
    await stage.write("go", "");
  })();
  const played = await stage.play("rem", { block, args, script: [shell(command), say("Done.")] });
  await other;
  assert.match(played.results[0] ?? "", /the command was ended/);
  assert.ok(!played.sent.includes(coded(secret)), played.results.join("\n"));
});

Deno.test("a background command of a remote model ends when the home comes to know a protected project", async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { root, know } = await otherProject(stage, false);
  const command = `echo $$ > pid; ${WAITS}; ${CODED} < "${root}/.env" > copy.txt`;
  const work = async () => {
    await standing(`${stage.project}/pid`);
    await know();
    await ended(stage);
  };
  const script = [background(command), read("pid"), say("Done.")];
  const played = await stage.play("rem", { block, args, script, during: { index: 1, work } });
  assert.match(played.results[0] ?? "", /^Started bg1/, "control: it was started");
});

Deno.test("neither a marker that the user writes while a command runs without a sandbox nor what it names is a copy", async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const work = async () => {
    await standing(`${stage.project}/pid`);
    await stage.write("conf.env", "TOKEN=just-made-by-the-user\n");
    await stage.write("new.ts", "let user = 1;\n");
    await stage.write(".agentclisecret", "no-cloud: conf.env\n");
    await ended(stage);
  };
  const script = [background("echo $$ > pid; exec sleep 60"), read(".agentclisecret"), read("new.ts"), say("Done.")];
  const { done, results } = await stage.play("rem", { block, args, script, during: { index: 1, work } });
  assert.match(results[1] ?? "", /no-cloud: conf\.env/, results.join("\n"));
  assert.match(results[2] ?? "", /it holds content of a protected path/, "control: what else changed is one");
  assert.match(done.stderr, /agentcli secrets trust (?:new\.ts pid|pid new\.ts)\)/);
});

for (const known of [true, false]) {
  const does = known ? "ends where its own would run in a sandbox" : "continues where nothing is protected";
  Deno.test(`a background command of a local model, with a remote model of the chat, ${does}`, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    await otherProject(stage, known);
    let wasAlive: boolean | null = null;
    const look = async () => {
      wasAlive = isAlive((await Deno.readTextFile(`${stage.project}/pid`)).trim());
    };
    await using remote = startFakeServer({
      host: "127.0.0.2",
      script: () => ({ kind: "gated", gate: look(), then: say("hello") }),
    });
    await stage.play("loc", {
      argv: ["chat", "--model", "loc", ...args],
      prompt: null,
      stdin: "go\n/model far:fake\nhello\n",
      block,
      providers: { far: { baseUrl: remote.baseUrl, ...block } },
      script: [background("echo $$ > pid; exec sleep 60"), say("Started.")],
      during: { index: 1, work: () => standing(`${stage.project}/pid`) },
    });
    assert.equal(wasAlive, !known);
  });
}

for (const meanwhile of [true, false]) {
  const does = meanwhile ? "is started again in a sandbox for its next call" : "continues while nothing is protected";
  Deno.test(`a server of tools of a remote model ${does} once another project is known`, bubblewrap, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { root, know } = await otherProject(stage, false);
    const tools = [{ name: "read", does: "read", inputSchema: textArguments("path") }];
    const server = await planServer(`${stage.project}/server`, "hub", { era: "legacy", tools });
    const settings = { mcp_servers: { hub: { ...server.entry } } };
    const call = (path: string) => ask({ name: "mcp__hub__read", input: { path } });
    const script = [call(`${stage.project}/open.txt`), call(`${root}/.env`), say("Done.")];
    await stage.write("open.txt", "open text\n");
    const during = meanwhile ? { during: { index: 1, work: async () => void await know() } } : {};
    const played = await stage.play("rem", { block, args, settings, script, ...during });
    assert.match(played.results[0] ?? "", /open text/, "control: it can be called");
    assert.equal(played.sent.includes(stage.canary("other")), !meanwhile, played.results[1]);
  });
}

/** Resolves when the command that wrote its number into `pid` was ended. */
async function ended(stage: Stage): Promise<void> {
  const pid = (await Deno.readTextFile(`${stage.project}/pid`)).trim();
  for (let round = 0; round < 500 && isAlive(pid); round++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(!isAlive(pid), "it was ended");
}

function isAlive(pid: string): boolean {
  return new Deno.Command("kill", { args: ["-0", pid], stderr: "null" }).outputSync().success;
}
