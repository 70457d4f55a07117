import assert from "node:assert/strict";
import { startClient } from "../helpers/client.ts";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "../helpers/program.ts";

const model = { id: "fake", context_window: 32768 };

Deno.test("a session that read protected content is refused by a remote model and continues with the local one", async () => {
  await using home = await temporaryHome();
  const canary = "CNRY_4e8b1d70a9c3f265";
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${canary}\n`);
  await using local = startFakeServer({
    script: [ask(want("read", { path: ".env" })), say("Read."), say("Still here.")],
  });
  await using remote = startFakeServer({ host: "127.0.0.2", script: [say("Never.")] });
  await configure(home, {
    loc: { baseUrl: local.baseUrl, models: [model] },
    rem: { baseUrl: remote.baseUrl, models: [model] },
  }, { default_provider: "loc" });
  await using client = startClient([], { home });
  await client.say("read it");
  assert.equal((await client.result()).label, "no-cloud");
  await client.request({ subtype: "set_model", model: "rem:fake" });
  await client.say("and now?");
  const refused = await client.result();
  assert.equal(refused.error_code, "policy_refused");
  assert.equal(remote.chats().length, 0);
  await client.request({ subtype: "set_model", model: "loc:fake" });
  await client.say("and now?");
  assert.equal((await client.result()).result, "Still here.");
  await client.end();
  assert.ok(local.chats()[2]?.text.includes(canary), "the local model keeps what it read");
});

Deno.test("auth status says for programs whether a session can be started, and never the key", async () => {
  await using home = await temporaryHome();
  const nothing = await runInProcess(["auth", "status", "--json"], { home });
  assert.equal(JSON.parse(nothing.stdout).loggedIn, false);
  assert.equal(nothing.code, 1);
  const key = "sk-0123456789abcdef";
  await configure(home, { far: { baseUrl: "http://127.0.0.2:9/v1", apiKey: "$FAR_KEY", models: [model] } });
  const done = await runInProcess(["auth", "status", "--json"], { home, env: { FAR_KEY: key } });
  assert.equal(done.code, 0, done.stdout);
  const status = JSON.parse(done.stdout);
  assert.deepEqual([status.loggedIn, status.authMethod, status.apiProvider, status.local], [
    true,
    "env:FAR_KEY",
    "far",
    false,
  ]);
  assert.ok(!(done.stdout + done.stderr).includes(key));
});

Deno.test("a client's hook gets a prompt only where it may leave the session", async () => {
  await using home = await temporaryHome();
  const canary = "CNRY_7c1d9e2f4a6b8035";
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${canary}\n`);
  await using server = startFakeServer({ script: [say("One."), say("Two."), say("Three.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
  await using client = startClient([], { home });
  await client.request({ subtype: "initialize", hooks: { UserPromptSubmit: [{ hookCallbackIds: ["prompt"] }] } });
  const told = [];
  for (const words of ["hello", `use ${canary}`, "and now?"]) {
    await client.say(words);
    const added = { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "It is Monday." } };
    told.push((await client.answer("hook_callback", added)).input.prompt);
    await client.result();
  }
  await client.end();
  assert.equal(told[0], "hello");
  assert.match(told[1], /^\[no-cloud/);
  assert.match(told[2], /^\[no-cloud/);
  const last = server.chats()[2]?.text ?? "";
  assert.ok(last.includes(canary) && last.includes("It is Monday."), "control: the local model gets all of it");
});

/** How a client's words get into a session besides its prompts: what it answers, and what is then told the model. */
const WORDS_OF_HOOKS: Record<string, (words: string) => { event: string; answer: Record<string, unknown> }> = {
  "context before a call": (words) => ({
    event: "PreToolUse",
    answer: { hookSpecificOutput: { hookEventName: "PreToolUse", additionalContext: words } },
  }),
  "a call denied": (words) => ({
    event: "PreToolUse",
    answer: { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: words } },
  }),
  "context after a call": (words) => ({
    event: "PostToolUse",
    answer: { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: words } },
  }),
  "a block of a result": (words) => ({ event: "PostToolUse", answer: { decision: "block", reason: words } }),
  "a turn that shall go on": (words) => ({ event: "Stop", answer: { decision: "block", reason: words } }),
};

Deno.test("what a client's hook adds is looked through before it is stored", async (test) => {
  for (const [name, of] of Object.entries(WORDS_OF_HOOKS)) {
    for (const isProtected of [true, false]) {
      await test.step(`${name}${isProtected ? "" : ", control: open words"}`, async () => {
        await using home = await temporaryHome();
        const canary = "CNRY_93d1f2b7a60c4e58";
        await home.write(".agentclisecret", "no-cloud: .env\n");
        await home.write(".env", `KEY=${canary}\n`);
        await home.write("open.txt", "nothing to hide\n");
        const words = isProtected ? `the key is ${canary}` : "the weather is fine today";
        const { event, answer } = of(words);
        const script = [ask(want("read", { path: "open.txt" })), say("Read."), say("Done.")];
        await using server = startFakeServer({ script });
        await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
        await using client = startClient([], { home });
        await client.request({ subtype: "initialize", hooks: { [event]: [{ hookCallbackIds: ["hook"] }] } });
        await client.say("go");
        await client.answer("hook_callback", answer);
        if (event === "Stop") await client.answer("hook_callback", {});
        const result = await client.result();
        const done = await client.end();
        assert.equal(done.code, 0, done.stderr);
        assert.ok(server.chats().at(-1)?.text.includes(words), "control: the local model is told");
        assert.equal(result.label, isProtected ? "no-cloud" : "open");
        assert.equal((await transcripts(home)).includes(words), !isProtected);
      });
    }
  }
});

Deno.test("what a client says of its tools is looked through before it is stored or sent elsewhere", async () => {
  const canary = "CNRY_5b7e0c29d8f1a364";
  for (const host of ["127.0.0.1", "127.0.0.2"] as const) {
    for (const isProtected of [true, false]) {
      await using home = await temporaryHome();
      await home.write(".agentclisecret", "no-cloud: .env\n");
      await home.write(".env", `KEY=${canary}\n`);
      const words = isProtected ? `adds with ${canary}` : "adds two numbers up";
      await using server = startFakeServer({ host, script: [say("Hello.")] });
      await configure(home, { only: { baseUrl: server.baseUrl, models: [model] } });
      await using client = startClient([], { home });
      await client.request({ subtype: "initialize", sdkMcpServers: ["sums"] });
      await client.say("hello");
      const tool = { name: "plus", description: words, inputSchema: { type: "object" } };
      for (const result of [{ protocolVersion: "2025-11-25", capabilities: { tools: {} } }, {}, { tools: [tool] }]) {
        await client.answer("mcp_message", { mcp_response: { jsonrpc: "2.0", result } });
      }
      const refused = isProtected && host === "127.0.0.2";
      assert.equal((await client.result()).error_code, refused ? "policy_refused" : null);
      await client.end();
      assert.equal(server.chats().some(({ text }) => text.includes(words)), !refused);
      assert.equal((await transcripts(home)).includes(words), !isProtected, `${host}: ${words}`);
    }
  }
});

Deno.test("a protected workflow that a message begins with reaches local models alone, and no transcript", async () => {
  const canary = "CNRY_1f92ab40c7d85e63";
  for (const host of ["127.0.0.1", "127.0.0.2"] as const) {
    await using home = await temporaryHome();
    await home.write(".agentclisecret", "no-cloud: .ide\n");
    await home.write(".ide/workflows/ship.md", `Ship with ${canary}.\n`);
    await using server = startFakeServer({ host, script: () => say("Hello.") });
    await configure(home, { only: { baseUrl: server.baseUrl, models: [model] } });
    await using client = startClient([], { home });
    await client.say("/ship");
    const isRemote = host === "127.0.0.2";
    assert.equal((await client.result()).error_code, isRemote ? "policy_refused" : null);
    await client.end();
    assert.equal(server.chats().some(({ text }) => text.includes(canary)), !isRemote);
    assert.doesNotMatch(await transcripts(home), new RegExp(canary));
  }
});

async function transcripts(home: TemporaryHome): Promise<string> {
  const projects = `${home.agentcliHome}/projects`;
  let text = "";
  const isThere = await Deno.stat(projects).then(() => true, () => false);
  const entries = isThere ? [...Deno.readDirSync(projects)] : [];
  for (const { name: slug } of entries.filter(({ isDirectory }) => isDirectory)) {
    for (const { name } of Deno.readDirSync(`${projects}/${slug}`)) {
      if (name.endsWith(".jsonl")) text += await Deno.readTextFile(`${projects}/${slug}/${name}`);
    }
  }
  return text;
}
