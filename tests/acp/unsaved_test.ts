/** What an editor has not saved: read only where the file may be read, and never written over. */
import assert from "node:assert/strict";
import { AcpClient, type Message } from "../helpers/acp_client.ts";
import { ask, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { configure, temporaryHome } from "../helpers/program.ts";

const SECRET = "kX9-long-secret-value-4711-qwertz";
const READ = "fs/read_text_file";
const OLD = new Date(Date.now() - 60_000);

/** A project as it was a minute ago, and an editor with these texts of its files. */
async function stage(
  script: readonly Step[],
  texts: Record<string, string | (() => never)>,
  { isLocal = true, canRead = true }: { isLocal?: boolean; canRead?: boolean } = {},
) {
  const home = await temporaryHome();
  const server = startFakeServer({ script, host: isLocal ? "127.0.0.1" : "127.0.0.2" });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const files = { ".agentclisecret": "no-cloud: .env\n", ".env": `KEY=${SECRET}\n`, "a.txt": "saved\n" };
  for (const [name, content] of Object.entries(files)) {
    await Deno.utime(await home.write(name, content), OLD, OLD);
  }
  const asked: string[] = [];
  const answer = ({ path }: Message) => {
    const name = path.replace(`${home.project}/`, "");
    asked.push(name);
    const text = texts[name];
    return { content: typeof text === "function" ? text() : text ?? Deno.readTextFileSync(path) };
  };
  const capabilities = { fs: { readTextFile: canRead, writeTextFile: canRead } };
  const args = ["--permission-mode", "bypassPermissions"];
  const client = new AcpClient({ home, capabilities, args, answers: { [READ]: answer } });
  return {
    home,
    server,
    client,
    asked,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server.close();
      await home.dispose();
    },
  };
}

const lastResult = ({ server }: Awaited<ReturnType<typeof stage>>) =>
  server.chats().at(-1)?.json.messages.at(-1).content;

Deno.test("unsaved text of an open file is read and said to be so; saved text, or no editor, is the disk", async () => {
  const script = [ask(want("read", { path: "a.txt" })), say("Read.")];
  await using set = await stage(script, { "a.txt": "typed\n" }, { isLocal: false });
  await set.client.prompt(await set.client.session(), "read");
  assert.match(lastResult(set), /unsaved changes of the editor[^]*typed/);
  assert.deepEqual(set.asked, ["a.txt"]);
  for (
    const [texts, canRead] of [
      [{}, true],
      [{ "a.txt": "saved\r\n" }, true],
      [{ "a.txt": "typed" }, false],
      [{
        "a.txt": () => {
          throw new Error("closed");
        },
      }, true],
    ] as const
  ) {
    await using plain = await stage(script, texts, { canRead });
    await plain.client.prompt(await plain.client.session(), "read");
    assert.doesNotMatch(lastResult(plain), /unsaved|typed/);
    assert.match(lastResult(plain), /saved/);
    assert.equal(plain.asked.length, canRead ? 1 : 0);
  }
});

Deno.test("the editor is never asked for what a remote model may not read, nor for what is outside", async () => {
  const outside = await Deno.makeTempFile();
  await Deno.utime(outside, OLD, OLD);
  const script = (path: string) => [ask(want("read", { path })), say("No.")];
  for (const path of [".env", outside, "/etc/hosts"]) {
    await using set = await stage(script(path), { ".env": "X=harmless\n" }, { isLocal: false });
    await set.client.prompt(await set.client.session(), "read");
    assert.deepEqual(set.asked, [], path);
    assert.doesNotMatch(lastResult(set), /harmless/);
  }
  await Deno.remove(outside);
});

Deno.test("unsaved text of a protected file is protected for a local model", async () => {
  await using set = await stage([ask(want("read", { path: ".env" })), say("Read.")], { ".env": "X=harmless\n" });
  await set.client.prompt(await set.client.session(), "read");
  assert.match(lastResult(set), /harmless/);
  assert.doesNotMatch(set.client.everything.replaceAll(/"content":"[^"]*harmless/g, ""), /harmless/);
  const [call] = set.client.calls().values();
  assert.match(call.content[0].text ?? call.content[0].content.text, /no-cloud/);
});

Deno.test("protected content that was pasted into an open file and not saved does not leave", async () => {
  const script = [ask(want("read", { path: "a.txt" })), say("Read.")];
  await using set = await stage(script, { "a.txt": `pasted ${SECRET}\n` }, { isLocal: false });
  const sessionId = await set.client.session();
  await set.client.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "read" }] });
  assert.doesNotMatch(set.server.chats().map(({ text }) => text).join(), new RegExp(SECRET));
});

Deno.test("a file with unsaved changes is not written; once it is saved, it is", async () => {
  const edits = [
    ask(want("edit", { path: "a.txt", old: "saved", new: "changed" })),
    ask({ name: "Write", input: { file_path: "a.txt", content: "whole\n" } }),
    say("I have to wait."),
  ];
  await using set = await stage([...edits, ...edits.slice(0, 1), say("Done.")], { "a.txt": "typed\n" });
  const texts = set.client;
  const session = await texts.session();
  await texts.prompt(session, "change it");
  assert.equal(await set.home.read("a.txt"), "saved\n");
  assert.match(JSON.stringify([...texts.calls().values()]), /unsaved changes in the editor/);
  await using saved = await stage([...edits.slice(0, 1), say("Done.")], {});
  await saved.client.prompt(await saved.client.session(), "change it");
  assert.equal(await saved.home.read("a.txt"), "changed\n");
});

Deno.test("what changed on the disk after the session began is not asked of an editor that may have loaded it before", async () => {
  await using set = await stage([
    ask(want("shell", { command: "echo built > a.txt" })),
    ask(want("read", { path: "a.txt" })),
    say("Built."),
  ], { "a.txt": "saved\n" });
  await set.client.prompt(await set.client.session(), "build");
  assert.match(lastResult(set), /built/);
  assert.deepEqual(set.asked, []);
});
