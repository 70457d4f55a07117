/**
 * What MCP servers say outside of tool results: prompts, resources, lists. It is labeled before it is kept or sent, by
 * whichever way it came.
 */
import { joined } from "../../src/platform/text.ts";
import assert from "node:assert/strict";
import { ask, say, type Script, startFakeServer, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { planServer, type ServerPlan, textArguments } from "../helpers/mcp.ts";
import { configure } from "../helpers/program.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const ALL = ["--permission-mode", "bypassPermissions"];
const bubblewrap = { ignore: !hasBubblewrap() };

/** A server that gives a text as a prompt and as a resource, and its settings. */
async function speaking(stage: Stage, text: string, more: Partial<ServerPlan> & { label?: string } = {}) {
  const { label, ...plan } = more;
  const server = await planServer(`${stage.home.root}/servers`, "hub", {
    era: "legacy",
    tools: [],
    prompts: [{ name: "mail", messages: [{ role: "user", content: { type: "text", text: `Sum up: ${text}` } }] }],
    resources: [{ uri: "mail://1", name: "the first", text }],
    ...plan,
  });
  const sandbox = { read: [`${stage.home.root}/servers`] };
  return { mcp_servers: { hub: { ...server.entry, ...label && { label } } }, sandbox };
}

/** Types lines into a chat with a local model; returns what that was sent. */
async function typed(
  stage: Stage,
  lines: readonly string[],
  options: { settings: object; cwd?: string; script?: Script },
) {
  await using near = startFakeServer({ script: options.script ?? (() => say("Fine.")) });
  const models = [{ id: "fake", context_window: 32_768 }];
  await configure(stage.home, { loc: { baseUrl: near.baseUrl, models } }, {
    default_provider: "loc",
    ...options.settings,
  });
  const stdin = lines.map((line) => `${line}\n`).join("");
  const { cwd } = options;
  await runInProcess(["chat", ...ALL], { home: stage.home, stdin, terminal: true, ...cwd && { cwd } });
  return new TextDecoder().decode(joined(near.received()));
}

/** The files of the home of agentcli that hold a text. */
async function keeping(stage: Stage, text: string): Promise<string[]> {
  const { stdout } = await new Deno.Command("grep", { args: ["-rl", text, stage.home.agentcliHome] }).output();
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
}

/** Whether a remote model that continues the last session is sent a text. */
async function leaves(stage: Stage, text: string, options: { settings: Record<string, unknown>; cwd?: string }) {
  const on = await stage.play("rem", {
    script: [say("Done.")],
    prompt: "on",
    args: [...ALL, "--continue"],
    ...options,
  });
  assert.match(on.done.stderr, on.done.code === 0 ? /response/ : /no-cloud/);
  return on.sent.includes(text);
}

for (const line of ["/hub:mail", "look at @hub:mail://1"]) {
  Deno.test(`a prompt that is sent again keeps the label of what it was made from: ${line}`, async () => {
    await using stage = await openStage({ marker: null, bare: true });
    for (const label of ["no-cloud", undefined]) {
      const mail = `MAIL_${crypto.randomUUID()}`;
      const settings = await speaking(stage, mail, label === undefined ? {} : { label });
      const sent = await typed(stage, [line, "/retry"], { settings });
      assert.equal(sent.split(mail).length - 1, 2, "control: the local model got it, and again");
      assert.equal((await keeping(stage, mail)).length, label === undefined ? 1 : 0, `kept with ${label}`);
      assert.equal(await leaves(stage, mail, { settings }), label === undefined, `sent with ${label}`);
    }
  });
}

Deno.test("a protected prompt of which only the text is known is not sent again as words of the person", async () => {
  await using stage = await openStage({ marker: null, bare: true });
  const mail = `MAIL_${crypto.randomUUID()}`;
  const settings = await speaking(stage, mail, { label: "no-cloud" });
  await typed(stage, ["/hub:mail"], { settings });
  await using near = startFakeServer({ script: () => say("Fine.") });
  await configure(stage.home, { loc: { baseUrl: near.baseUrl } }, { default_provider: "loc" });
  const later = await runInProcess(["chat", "--continue"], { home: stage.home, stdin: "/retry\n", terminal: true });
  assert.match(later.stderr, /the last prompt is protected, so its text was not stored/);
  assert.equal(near.chats().length, 0);
});

/** A project with a secret; `protect` adds the marker for it. */
async function withSecret(stage: Stage) {
  await stage.plant(".env", "env", (canary) => `API_TOKEN=${canary}\n`);
  const protect = () => stage.write(".agentclisecret", "no-cloud: .env\n");
  return { canary: stage.canary("env"), protect };
}

for (const line of ["/hub:mail", "look at @hub:mail://1"]) {
  Deno.test(`what ${line} brings of a protected file stays here`, bubblewrap, async () => {
    await using stage = await openStage({ marker: null, bare: true });
    const { canary, protect } = await withSecret(stage);
    const settings = await speaking(stage, canary);
    for (const isProtected of [false, true]) {
      if (isProtected) await protect();
      const kept = await keeping(stage, canary);
      const sent = await typed(stage, [line], { settings });
      assert.ok(sent.includes(canary), "control: the local model got it");
      assert.equal((await keeping(stage, canary)).length - kept.length, isProtected ? 0 : 1);
      assert.equal(await leaves(stage, canary, { settings }), !isProtected);
    }
  });
}

Deno.test("what a server lists of a protected file is neither stored nor sent", bubblewrap, async () => {
  await using stage = await openStage({ marker: null, bare: true });
  const { canary, protect } = await withSecret(stage);
  const tools = [{ name: "get", description: `needs ${canary}`, inputSchema: textArguments("text") }];
  const settings = await speaking(stage, "nothing", { tools, stderr: `found ${canary}\n` });
  const play = { args: ALL, settings, script: [say("Done.")] };
  const control = await stage.play("loc", play);
  assert.ok(control.sent.includes(canary), "control: the model was told");
  assert.equal((await keeping(stage, canary)).length, 3, "control: the transcript, the list and the log hold it");
  await protect();
  const remote = await stage.play("rem", play);
  assert.ok(!remote.sent.includes(canary), "the stored list was not looked through");
  await Deno.remove(`${stage.home.agentcliHome}/cache`, { recursive: true });
  await Deno.remove(`${stage.home.agentcliHome}/logs`, { recursive: true });
  const kept = await keeping(stage, canary);
  const local = await stage.play("loc", play);
  assert.match(local.done.stderr, /hub is left out: it names protected content in what it lists/);
  const tested = await stage.play("loc", { ...play, argv: ["mcp", "test", "hub"] });
  assert.match(tested.done.stdout, /it names protected content/);
  assert.deepEqual(await keeping(stage, canary), kept);
});

Deno.test("what an MCP server says of a failure is redacted if it holds protected content", bubblewrap, async () => {
  await using stage = await openStage({ marker: null, bare: true });
  const { canary, protect } = await withSecret(stage);
  for (const isProtected of [false, true]) {
    if (isProtected) await protect();
    for (const failing of [{ stderr: `cannot parse ${canary}\n`, exit: 1 }, { failure: `bad line: ${canary}` }]) {
      const settings = await speaking(stage, "nothing", failing);
      const lines = { argv: ["chat", "--model", "loc"], prompt: null, stdin: "look at @hub:mail://2\n" };
      const { done } = await stage.play("loc", { settings, ...lines, script: () => say("Fine.") });
      const shown = done.stdout + done.stderr;
      assert.equal(shown.includes(canary), !isProtected, shown);
      assert.equal(shown.includes("(redacted: what it says holds protected content)"), isProtected, shown);
      await Deno.remove(`${stage.home.agentcliHome}/cache`, { recursive: true }).catch(() => {});
    }
  }
});

Deno.test("what a model server says of a failure is redacted if it holds protected content", async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  for (const echo of ["words", canary]) {
    for (const status of [400, 500]) {
      const refusal = { kind: "status" as const, status, body: `{"error":{"message":"the last job was ${echo}"}}` };
      const args = ["--output-format", "stream-json", "--verbose"];
      const { done } = await stage.play("loc", { args, script: [refusal, refusal] });
      const shown = done.stdout + done.stderr;
      assert.equal(done.code, 1);
      assert.equal(shown.includes("the last job was words"), echo === "words", shown);
      assert.equal(shown.includes("(redacted: what it says holds protected content)"), echo === canary, shown);
      assert.ok(!shown.includes(canary));
    }
  }
});

const sandboxed = { ignore: !hasBubblewrap() };

Deno.test(
  "what a program heard in a turn that is gone, it cannot tell a session that is open again",
  sandboxed,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    // Outside of the project, where it can note nothing.
    const directory = `${stage.home.root}/servers`;
    const server = await planServer(directory, "hub", {
      era: "legacy",
      tools: [
        { name: "remember", does: "remember", inputSchema: textArguments("text") },
        { name: "recall", does: "recall", inputSchema: {} },
      ],
    });
    const settings = { mcp_servers: { hub: server.entry }, sandbox: { read: [directory] } };
    const calls: Record<string, Parameters<typeof ask>[0][]> = {
      tell: [want("read", { path: ".env" }), { name: "mcp__hub__remember", input: { text: canary } }],
      ask: [{ name: "mcp__hub__recall", input: {} }],
    };
    const script: Script = ({ json }) => {
      const messages = json.messages as { role: string; content: string }[];
      const at = messages.findLastIndex(({ role }) => role === "user");
      const done = messages.slice(at).filter(({ role }) => role === "tool").length;
      const call = calls[messages[at]!.content]?.[done];
      return call === undefined ? say("Fine.") : ask(call);
    };
    const coded = [...canary].join("x and ");
    for (const isGone of [false, true]) {
      const lines = isGone ? ["first", "tell", "/rewind", "1", "ask"] : ["first", "tell", "ask"];
      const sent = await typed(stage, lines, { settings, script });
      assert.ok(sent.includes(canary), "control: the model read it and told the server");
      assert.equal(sent.includes(coded), !isGone, "the server remembers");
      assert.deepEqual(await keeping(stage, coded), []);
    }
  },
);

Deno.test(
  "what a program writes as it ends is protected like what it wrote while it was called",
  sandboxed,
  async () => {
    await using stage = await openStage({ bare: true, marker: "no-cloud: .env\n" });
    await stage.plant(".env", "env", (canary) => `FIRST=${canary}\nSECOND=x\n`);
    const canary = stage.canary("env");
    const directory = `${stage.home.root}/servers`;
    for (const told of ["nobody's secret", canary]) {
      const server = await planServer(directory, "hub", {
        era: "legacy",
        tools: [{ name: "remember", does: "remember", inputSchema: textArguments("text") }],
        leaves: `${stage.project}/left.txt`,
      });
      const settings = { mcp_servers: { hub: server.entry }, sandbox: { read: [directory] } };
      const remember = { name: "mcp__hub__remember", input: { text: told } };
      const script = [ask(want("read", { path: ".env" })), ask(remember), say("Done.")];
      const local = await stage.play("loc", { script, args: ALL, settings });
      assert.equal(await Deno.readTextFile(`${stage.project}/left.txt`), told, local.results.join());
      // What it held is in no file any more that a rule covers.
      await stage.write(".env", "FIRST=another\n");
      const reads = [ask(want("read", { path: "left.txt" })), say("Done.")];
      const remote = await stage.play("rem", { script: reads, args: ALL });
      assert.equal(remote.sent.includes(told), told !== canary, remote.results.join());
      await stage.write(".env", `FIRST=${canary}\nSECOND=x\n`);
      await Deno.remove(`${stage.project}/left.txt`);
    }
  },
);
