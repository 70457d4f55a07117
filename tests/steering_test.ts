/** Messages that are sent while a turn runs go in after its next tool results, under the rules of any prompt. */
import assert from "node:assert/strict";
import { startClient } from "./helpers/client.ts";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { pngFile } from "./helpers/images.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

const MODEL = { id: "fake", context_window: 32768, tool_calls: "native", images: true };
const CANARY = "CNRY_91c4e7d2b05f6a38";

/** A server whose first response, one tool call, waits for the gate; then it answers with text. */
function gatedServer(host: "127.0.0.1" | "127.0.0.2" = "127.0.0.1") {
  const gate = Promise.withResolvers<void>();
  const call = ask(want("read", { path: "a.txt" }));
  const server = startFakeServer({
    host,
    script: [{ kind: "gated", gate: gate.promise, then: call }, say("First."), say("Second.")],
  });
  return { server, open: () => gate.resolve() };
}

async function homeFor(baseUrl: string): Promise<TemporaryHome> {
  const home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await configure(home, { loc: { baseUrl, models: [MODEL] } });
  return home;
}

/** Whether a file of the program's home holds a text. */
async function isStored(home: TemporaryHome, text: string): Promise<boolean> {
  const holds = async (directory: string): Promise<boolean> => {
    for (const { name, isDirectory } of Deno.readDirSync(directory)) {
      const path = `${directory}/${name}`;
      if (isDirectory ? await holds(path) : (await Deno.readTextFile(path)).includes(text)) return true;
    }
    return false;
  };
  return await holds(home.agentcliHome);
}

const user = (content: string, uuid: string) => ({ type: "user", message: { role: "user", content }, uuid });
const ONE = "11111111-1111-4111-8111-111111111111";
const TWO = "22222222-2222-4222-8222-222222222222";

Deno.test("a client's message goes in after the next tool result, and the request before it stays its beginning", async () => {
  const { server, open } = gatedServer();
  await using _ = server;
  await using home = await homeFor(server.baseUrl);
  await using client = startClient([], { home });
  await client.send(user("read a.txt", ONE));
  await server.arrived(0);
  await client.send(user("and be brief", TWO), user("please", ONE));
  await client.request({ subtype: "mcp_status" });
  open();
  const replay = await client.next((line) => line.isReplay === true);
  assert.deepEqual([replay.uuid, replay.message.content[0].text], [TWO, "and be brief"]);
  assert.equal((await client.result()).result, "First.");
  const done = await client.end();
  assert.equal(done.lines.filter((line) => line.type === "result").length, 1);
  const [first, second] = server.chats().map(({ json }) => json.messages);
  assert.deepEqual(second.slice(0, first.length), first);
  const rest = second.slice(first.length).map((
    { role, content }: { role: string; content: string },
  ) => [role, content]);
  assert.deepEqual(rest.map(([role]: string[]) => role), [
    "assistant",
    "tool",
    "assistant",
    "user",
    "assistant",
    "user",
  ]);
  assert.deepEqual([rest[3], rest[5]], [["user", "and be brief"], ["user", "please"]]);
});

Deno.test("a client's message that meets no tool result is the next prompt", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({
    script: [{ kind: "gated", gate: gate.promise, then: say("First.") }, say("Second.")],
  });
  await using home = await homeFor(server.baseUrl);
  await using client = startClient([], { home });
  await client.send(user("one", ONE));
  await server.arrived(0);
  await client.send(user("two", TWO));
  await client.request({ subtype: "mcp_status" });
  gate.resolve();
  assert.equal((await client.result()).result, "First.");
  assert.equal((await client.result()).result, "Second.");
  const done = await client.end();
  assert.equal(done.lines.some((line) => line.isReplay === true), false);
});

Deno.test("after a change of the model a client's message waits for that model", async () => {
  const { server, open } = gatedServer();
  await using _ = server;
  await using other = startFakeServer({ script: [say("From the other.")] });
  await using home = await homeFor(server.baseUrl);
  const models = [MODEL];
  await configure(home, { loc: { baseUrl: server.baseUrl, models }, two: { baseUrl: other.baseUrl, models } }, {
    default_provider: "loc",
  });
  await using client = startClient([], { home });
  await client.send(user("read a.txt", ONE));
  await server.arrived(0);
  await client.request({ subtype: "set_model", model: "two:fake" });
  await client.send(user("now you", TWO));
  await client.request({ subtype: "mcp_status" });
  open();
  assert.equal((await client.result()).result, "First.");
  assert.equal((await client.result()).result, "From the other.");
  await client.end();
  assert.doesNotMatch(server.chats()[1]?.text ?? "", /now you/);
});

for (const host of ["127.0.0.1", "127.0.0.2"] as const) {
  const isRemote = host === "127.0.0.2";
  Deno.test(`protected content in a message for the running turn ${isRemote ? "never reaches a remote model" : "reaches a local one (control)"}`, async () => {
    const { server, open } = gatedServer(host);
    await using _ = server;
    await using home = await homeFor(server.baseUrl);
    await home.write(".agentclisecret", "no-cloud: .env\n");
    await home.write(".env", `KEY=${CANARY}\n`);
    await using client = startClient([], { home });
    await client.send(user("read a.txt", ONE));
    await server.arrived(0);
    await client.send(user(`use ${CANARY}`, TWO));
    await client.request({ subtype: "mcp_status" });
    open();
    assert.equal((await client.result()).result, "First.");
    if (isRemote) assert.equal((await client.result()).error_code, "policy_refused");
    const done = await client.end();
    assert.equal(await isStored(home, CANARY), false);
    assert.equal(await isStored(home, "read a.txt"), true, "control");
    const sent = server.chats().map(({ text }) => text).join("\n");
    assert.equal(sent.includes(CANARY), !isRemote, sent);
    const replay = done.lines.find((line) => line.isReplay === true);
    assert.equal(replay?.message.content[0].text.startsWith("[no-cloud"), isRemote ? undefined : true);
    assert.doesNotMatch(done.stdout, new RegExp(`isReplay.*${CANARY}|${CANARY}.*isReplay`));
  });
}

Deno.test("--allow-protected-prompt releases a prompt, and no message for the running turn", async () => {
  const { server, open } = gatedServer("127.0.0.2");
  await using _ = server;
  await using home = await homeFor(server.baseUrl);
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${CANARY}\n`);
  await using client = startClient(["--allow-protected-prompt"], { home });
  await client.send(user("read a.txt", ONE));
  await server.arrived(0);
  await client.send(user(`use ${CANARY}`, TWO));
  await client.request({ subtype: "mcp_status" });
  open();
  assert.equal((await client.result()).result, "First.");
  assert.equal((await client.result()).result, "Second.");
  await client.end();
  assert.doesNotMatch(server.chats()[1]?.text ?? "", new RegExp(CANARY));
  assert.match(server.chats()[2]?.text ?? "", new RegExp(CANARY), "control: as a prompt of its own it is released");
  assert.equal(await isStored(home, CANARY), false);
});

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest(
  "Enter while a turn runs queues the line until it goes in, and undo takes back the whole turn",
  async () => {
    const gate = Promise.withResolvers<void>();
    const writing = ask(want("write", { path: "new.txt", content: "new\n" }));
    await using server = startFakeServer({
      script: [{ kind: "gated", gate: gate.promise, then: writing }, say("Done.")],
    });
    await using home = await homeFor(server.baseUrl);
    await using terminal = await openTerminal(["chat", "--permission-mode", "acceptEdits", "write it"], { home });
    await server.arrived(0);
    await terminal.type("and be brief");
    await terminal.press("Enter");
    await terminal.shows(/steering: and be brief/);
    gate.resolve();
    const shown = await terminal.shows(/\* Write[^]*> and be brief[^]*Done\.[^]*^>$/m);
    assert.doesNotMatch(shown, /steering:/);
    assert.equal(server.chats()[1]?.json.messages.at(-1).content, "and be brief");
    await terminal.type("/undo");
    await terminal.press("Enter");
    await terminal.shows(/> \/undo[^]*new\.txt/);
    await assert.rejects(Deno.stat(`${home.project}/new.txt`));
  },
);

for (const name of ["secret.png", "open.png"]) {
  const isProtected = name === "secret.png";
  terminalTest(
    `an @ of ${isProtected ? "a protected" : "an open"} image in a steered line ${
      isProtected ? "is refused to" : "reaches"
    } a remote model`,
    async () => {
      const { server, open } = gatedServer("127.0.0.2");
      await using _ = server;
      await using home = await homeFor(server.baseUrl);
      await home.write(".agentclisecret", "no-cloud: secret.png\n");
      await Deno.writeFile(`${home.project}/${name}`, pngFile({ width: 8, height: 8, comment: CANARY }));
      await using terminal = await openTerminal(["chat", "read a.txt"], { home });
      await server.arrived(0);
      await terminal.type(`see @${name} `);
      await terminal.press("Enter");
      await terminal.shows(/steering: see @/);
      open();
      await terminal.shows(
        isProtected ? /First\.[^]*> see @secret\.png[^]*(protected|no-cloud)/ : /> see @open\.png[^]*First\./,
      );
      assert.equal(/image_url/.test(server.chats().map(({ text }) => text).join("\n")), !isProtected);
      assert.equal(server.chats().length, 2);
    },
  );
}

terminalTest("Tab and Alt-Enter keep a line for after the turn, and Up takes back what waits", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({
    script: [
      { kind: "gated", gate: gate.promise, then: ask(want("read", { path: "a.txt" })) },
      say("First."),
      say("Second."),
    ],
  });
  await using home = await homeFor(server.baseUrl);
  await using terminal = await openTerminal(["chat", "read it"], { home });
  await server.arrived(0);
  await terminal.type("after that");
  await terminal.press("Tab");
  await terminal.type("and that");
  await terminal.press("M-Enter");
  await terminal.shows(/queued: after that\nqueued: and that\n>$/m);
  await terminal.press("Up", "C-u");
  await terminal.type("never mind");
  await terminal.press("Enter");
  await terminal.type("right now");
  await terminal.press("Enter");
  await terminal.shows(/queued: after that\nsteering: never mind\nsteering: right now/);
  await terminal.press("Up");
  await terminal.shows(/steering: never mind\n> right now/);
  await terminal.press("C-u", "Up");
  await terminal.shows(/queued: after that\n> never mind/);
  await terminal.press("C-u");
  await terminal.type("be brief");
  await terminal.press("Enter");
  await terminal.shows(/steering: be brief/);
  gate.resolve();
  await terminal.shows(/> be brief[^]*First\.[^]*> after that[^]*Second\./);
  assert.equal(server.chats()[1]?.json.messages.at(-1).content, "be brief");
  assert.equal(server.chats()[2]?.json.messages.at(-1).content, "after that");
  // Between turns it is a new line.
  await terminal.type("one");
  await terminal.press("M-Enter");
  await terminal.type("two");
  await terminal.shows(/^> one\n {2}two$/m);
});
