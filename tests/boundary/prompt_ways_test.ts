/** Every way of words into a session is looked through: messages of a client, the system message, later turns. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure, temporaryHome } from "../helpers/program.ts";
import { assertArrived, assertRefusedRun, assertSealed, openStage, type Play, type Played } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const ID = "11111111-2222-4333-8444-555555555555";
const HELLO = [say("Hello."), say("Hello again.")];
const chats = (played: Played) => played.requests.filter((request) => request.index >= 0).length;
const message = (content: string) => JSON.stringify({ type: "user", message: { role: "user", content } }) + "\n";
const asClient = (provider: string, ...args: string[]) => [
  ...["run", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
  ...["--model", provider, ...args],
];

Deno.test("a prompt of a client is refused by a remote provider, and stored by nobody", linux, async () => {
  await using stage = await openStage();
  const play = (...args: string[]): Play => ({
    argv: [],
    script: HELLO,
    stdin: message(`use ${stage.canary("env")}`) + message("and more"),
    args,
  });
  const remote = await stage.play("rem", { ...play(), argv: asClient("rem") });
  assertSealed(remote);
  assert.match(remote.done.stdout, /"error_code":"policy_refused"/);
  assert.match(remote.done.stdout, /line 1 of \.env/);
  assert.equal(chats(remote), 1, "the message behind it is answered");
  const local = await stage.play("loc", { ...play(), argv: asClient("loc") });
  assert.equal(local.done.code, 0, local.done.stderr);
  assertSealed(local);
  assertArrived(local, stage.canary("env"));
});

Deno.test("a client's --allow-protected-prompt holds for one prompt, of which nothing is stored", linux, async () => {
  await using stage = await openStage();
  const played = await stage.play("rem", {
    argv: asClient("rem", "--allow-protected-prompt"),
    script: HELLO,
    stdin: message(`use ${stage.canary("env")}`) + message(`use ${stage.canary("key")}`),
  });
  assert.ok(played.sent.includes(stage.canary("env")), "the allowed one goes");
  assert.ok(!played.sent.includes(stage.canary("key")));
  assert.deepEqual(played.leaks.disk, []);
  assert.match(played.done.stderr, /not stored/);
});

for (const option of ["--system-prompt", "--append-system-prompt"]) {
  Deno.test(`${option} is looked through like a prompt, and nobody can let it through`, linux, async () => {
    await using stage = await openStage();
    const args = [option, `know ${stage.canary("env")}`, "--allow-protected-prompt"];
    const remote = await stage.play("rem", { script: HELLO, args });
    assertRefusedRun(remote, /the system prompt holds line 1 of \.env/);
    assertSealed(remote);
    assert.equal(chats(remote), 0);
    const local = await stage.play("loc", { script: HELLO, args });
    assert.equal(local.done.code, 0, local.done.stderr);
    assertSealed(local);
    assertArrived(local, stage.canary("env"));
  });
}

Deno.test("a copy in AGENTS.md protects what a local session stores", linux, async () => {
  await using stage = await openStage();
  stage.exempt(await stage.write("AGENTS.md", `The token is ${stage.canary("env")}.\n`));
  const local = await stage.play("loc", { script: HELLO });
  assert.equal(local.done.code, 0, local.done.stderr);
  assertSealed(local);
  assertArrived(local, stage.canary("env"));
});

Deno.test(
  "what is said in a session that read protected content is stored as little as what it read",
  linux,
  async () => {
    await using stage = await openStage();
    const first = await stage.play("loc", {
      script: [ask(want("read", { path: ".env" })), say("Read.")],
      args: ["--session-id", ID],
    });
    assert.equal(first.done.code, 0, first.done.stderr);
    // In no form that a look for copies knows: the label alone decides.
    const words = "the third letter is q and the last one x";
    const second = await stage.play("loc", { script: HELLO, prompt: words, args: ["--resume", ID] });
    assert.equal(second.done.code, 0, second.done.stderr);
    assert.ok(second.sent.includes(words));
    assertSealed(second);
    assert.ok(!await holds(stage.home.agentcliHome, words));
    const refused = await stage.play("rem", { script: HELLO, prompt: words, args: ["--resume", ID] });
    assertRefusedRun(refused, /no-cloud|protected/);
    assert.ok(!await holds(stage.home.agentcliHome, words));
  },
);

Deno.test("control: what is said in an open session is stored", linux, async () => {
  await using stage = await openStage();
  const words = "the third letter is q and the last one x";
  await stage.play("loc", { script: HELLO, prompt: words });
  assert.ok(await holds(stage.home.agentcliHome, words));
});

Deno.test(
  "what a remote model thinks of protected content is stored nowhere, and ends nothing",
  linux,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    const think = (text: string): Step => ({
      ...say("", { reasoning: text }),
      calls: [want("read", { path: "pub.txt" })],
    });
    const script = [think(`what is ${canary}?`), say("Done.")];
    const play = { script, prompt: `what is ${canary}?`, args: ["--allow-protected-prompt"] };
    const released = await stage.play("rem", play);
    assert.equal(released.done.code, 0, released.done.stderr);
    assert.equal(chats(released), 2);
    assert.deepEqual(released.leaks.disk, []);
    const guessed = await stage.play("rem", { script });
    assert.equal(guessed.done.code, 0, guessed.done.stderr);
    await stage.play("rem", { script: [think("of something else"), say("Done.")] });
    assert.ok(await holds(stage.home.agentcliHome, "of something else"), "control: other thoughts are stored");

    assert.deepEqual(guessed.leaks.disk, []);
  },
);

Deno.test("--allow-protected-prompt opens the way for that prompt alone", linux, async () => {
  await using stage = await openStage();
  const secret = stage.canary("env");
  stage.exempt(await stage.write("copy.txt", `x ${secret} y\n`));
  const part = secret.slice(8, -8);
  const script = [ask(want("read", { path: "copy.txt" })), say("Done.")];
  const play = { script, prompt: part, args: ["--allow-protected-prompt"] };
  const remote = await stage.play("rem", play);
  assert.ok(remote.sent.includes(part), "control: the prompt itself goes");
  assert.ok(!remote.sent.includes(secret));
  assert.equal(remote.done.code, 6, remote.done.stderr);
  const local = await stage.play("loc", play);
  assertArrived(local, secret);
});

Deno.test("what agentcli asks in a protected session can tell of the response, and is not stored", linux, async () => {
  const written = `<tool_call>\n{"name": "Write", "arguments": {"file_path": "x", "content": "${"a\\n".repeat(246)}`;
  for (const path of [".env", "pub.txt"]) {
    await using stage = await openStage();
    const script = [ask(want("read", { path })), say(written, { finish: "length" }), say("Done.")];
    const { sent } = await stage.play("loc", { script });
    assert.match(sent, /its first 123 lines/);
    const isStored = await holds(stage.home.agentcliHome, "its first 123 lines");
    assert.equal(isStored, path !== ".env", "control: that of an open session is");
  }
});

Deno.test(
  "what agentcli tells every model is no protected content, whatever files hold of it",
  linux,
  async () => {
    const values = [
      ...["directory", "function", "properties", "arguments", "messages", "assistant", "tool_call_id"],
      "a line of words, never guess what a file holds, and more",
      "a line of words: several calls may follow each other, and more",
    ];
    for (const value of [...values, "directory-4711"]) {
      await using stage = await openStage();
      await stage.write("secrets/mode.txt", `MODE=${value}\n`);
      await stage.write("pub.txt", "nothing of it\n");
      const isText = value.includes("calls");
      const script = isText ? [say("Done.")] : [ask(want("read", { path: "pub.txt" })), say("Done.")];
      const models = [{ id: "fake", context_window: 32_768, tool_calls: isText ? "text" : "native" }];
      const play = { script, block: { models } };
      const remote = await stage.play("rem", { ...play, prompt: "use the directory-4711" });
      if (value === "directory-4711") assertRefusedRun(remote, /the prompt holds line 1 of secrets\/mode\.txt/);
      else assert.equal(remote.done.code, 0, `${value}: ${remote.done.stderr}`);
      await stage.play("loc", { ...play, prompt: "the words of a person, to be kept" });
      assert.ok(await holds(stage.home.agentcliHome, "the words of a person, to be kept"), value);
    }
  },
);

/** How a file under a name that holds protected content comes into a session by way of an open link. */
const LINKS: Record<string, { link: string; play?: Partial<Play> }> = {
  "an attachment": { link: "latest.md", play: { args: ["--file", "latest.md"] } },
  "a file that the words name": { link: "latest.md", play: { prompt: "look at @latest.md" } },
  "a file that is read": { link: "latest.md", play: { script: [ask(want("read", { path: "latest.md" })), say("ok")] } },
  "instructions": { link: "AGENTS.md" },
};

for (const [way, { link, play }] of Object.entries(LINKS)) {
  Deno.test(`the protected name of ${way} behind a link is not stored`, linux, async () => {
    await using stage = await openStage();
    await stage.write("customers.txt", "northwind-traders-4711\n");
    for (const name of ["northwind-traders-4711", "fabrikam-holding-0815"]) {
      await stage.write(`offers/${name}.md`, "An offer.\n");
      await Deno.remove(`${stage.project}/${link}`).catch(() => {});
      await Deno.symlink(`offers/${name}.md`, `${stage.project}/${link}`);
      await stage.write(".agentclisecret", "no-cloud: customers.txt\n");
      const played = await stage.play("loc", { script: HELLO, ...play });
      assert.equal(played.done.code, 0, played.done.stderr);
      assert.equal(await holds(stage.home.agentcliHome, name), name.startsWith("fabrikam"), "control: another name is");
    }
  });
}

Deno.test("a released prompt goes to no other address under the same name", linux, async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", "TOKEN=canary1234567890abcdefQQ\n");
  await using other = startFakeServer({ host: "127.0.0.2", script: () => say("Fine.") });
  for (const isMoved of [false, true]) {
    await using first = startFakeServer({
      host: "127.0.0.2",
      script: async () => {
        if (isMoved) await configure(home, { rem: { baseUrl: other.baseUrl } });
        return say("Fine.");
      },
    });
    await configure(home, { rem: { baseUrl: first.baseUrl } });
    const stdin = "my token is canary1234567890abcdefQQ\n/think low\nagain\n";
    const args = ["chat", "--model", "rem", "--allow-protected-prompt"];
    const done = await runInProcess(args, { home, stdin, terminal: true });
    assert.match(first.chats()[0]?.text ?? "", /canary1234567890abcdefQQ/, done.stderr);
    assert.equal(first.chats().length, isMoved ? 1 : 2, "control: it goes to the same address again");
    assert.equal(other.chats().length, 0, done.stderr);
  }
});

async function holds(directory: string, text: string): Promise<boolean> {
  for await (const entry of Deno.readDir(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory ? await holds(path, text) : (await Deno.readTextFile(path)).includes(text)) return true;
  }
  return false;
}
