import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

Deno.test("each line of piped input is a turn of one session, and the answers alone are on stdout", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("First."), say("Second.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], { home, stdin: "one\n\ntwo" });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stdout, "First.\nSecond.\n");
  const sent = server.chats().at(-1)?.json.messages.map((message: { content: string }) => message.content);
  assert.deepEqual(sent?.slice(-3), ["one", "First.", "two"]);
});

Deno.test("commands work on piped input, and an unknown one is reported with what was meant", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("First.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], { home, stdin: "one\n/context\n/contxt\n/run ls\n/exit\nnever sent\n" });
  assert.equal(done.code, 2);
  assert.match(done.stderr, /system prompt +\d+ +#+/);
  assert.match(done.stderr, /no command \/contxt\n.*did you mean \/context\?/);
  assert.match(done.stderr, /no command \/run\n.*! in front of a command runs it/);
  assert.equal(server.chats().length, 1);
});

Deno.test("exit and quit alone leave, with a space or more words they are sent", async () => {
  for (const word of ["exit", "quit"]) {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Yes.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const stdin = ` ${word}\n${word} how?\n${word}\nnever sent\n`;
    const done = await runInProcess(["chat"], { home, stdin });
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(server.chats().map(({ json }) => json.messages.at(-1).content), [` ${word}`, `${word} how?`]);
  }
});

Deno.test("a call that nobody can allow is denied and reported once, and the chat continues with exit 6", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask(want("write", { path: "new.txt", content: "x" })), say("I may not."), say("Hello.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], { home, stdin: "write it\nhello\n" });
  assert.equal(done.code, 6, done.stderr);
  assert.equal(done.stdout, "I may not.\nHello.\n");
  assert.equal(done.stderr.match(/a permission was missing/g)?.length, 1, done.stderr);
  await assert.rejects(home.read("new.txt"));
});

Deno.test("the same call in turn after turn runs each time: the user asked for it again", async () => {
  await using home = await temporaryHome();
  const command = "echo again >> log";
  const turn = [ask(want("shell", { command })), say("Done.")];
  await using server = startFakeServer({ script: [turn, turn, turn, turn, turn, turn].flat() });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const args = ["chat", "--permission-mode", "bypassPermissions"];
  const done = await runInProcess(args, { home, stdin: "run it\n".repeat(6) });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(await home.read("log"), "again\n".repeat(6));
});

Deno.test("undo takes back what a turn wrote, also a new file", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask(want("write", { path: "new.txt", content: "x\n" })), say("Written.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat", "--permission-mode", "acceptEdits"], {
    home,
    stdin: "write it\n/diff\n/undo\n",
  });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /\+x\n[^]*removed .*new\.txt/);
  await assert.rejects(home.read("new.txt"));
});

Deno.test("the model is told with the next prompt what was undone, once, also in a later chat", async () => {
  await using home = await temporaryHome();
  await home.write("old.txt", "before\n");
  const write = (path: string, content: string) => want("write", { path, content });
  await using server = startFakeServer({
    script: [
      ...[ask(want("read", { path: "old.txt" })), ask(write("old.txt", "after\n"), write("new.txt", "x\n"))],
      ...[say("Written."), say("I see."), say("Yes."), ask(write("more.txt", "y\n")), say("More."), say("Gone.")],
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const chat = async (stdin: string, ...args: string[]) => {
    const done = await runInProcess(["chat", "--permission-mode", "acceptEdits", ...args], { home, stdin });
    assert.equal(done.code, 0, done.stderr);
  };
  const last = (index: number) => server.chats()[index]?.json.messages.at(-1);
  await chat("write it\n/undo\n/undo\nand now?\nreally?\n");
  const note = "[The user undid your changes. Restored: old.txt. Removed: new.txt.]";
  assert.deepEqual(last(3), { role: "user", content: `${note}\n\nand now?` });
  assert.deepEqual(last(4), { role: "user", content: "really?" });
  await chat("write more\n/undo\n", "--continue");
  await chat("still there?\n", "--continue");
  assert.deepEqual(last(7), {
    role: "user",
    content: "[The user undid your changes. Removed: more.txt.]\n\nstill there?",
  });
  const sent = server.chats().map(({ json }) => JSON.stringify(json.messages).slice(0, -1));
  for (const [index, text] of sent.entries()) {
    assert.ok(text.startsWith(sent[index - 1] ?? ""), `request ${index} begins with the one before`);
  }
});

Deno.test("what a protected session changed is in no diff on a pipe, and what an open one changed is", async () => {
  for (const name of [".env", "open.txt"]) {
    await using home = await temporaryHome();
    await home.write(".agentclisecret", "no-cloud: .env\n");
    await home.write(name, "KEY=before-0f1e2d3c4b5a\n");
    const edit = want("edit", { path: name, old: "before-0f1e2d3c4b5a", new: "after-9f8e7d6c5b4a" });
    await using server = startFakeServer({ script: [ask(want("read", { path: name })), ask(edit), say("Done.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const args = ["chat", "--permission-mode", "acceptEdits"];
    const done = await runInProcess(args, { home, stdin: "change it\n/diff\n" });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(/after-9f8e|before-0f1e/.test(done.stderr), name === "open.txt", done.stderr);
    if (name === ".env") assert.match(done.stderr, /\.env: protected, so its changes are shown on a terminal only/);
  }
});

Deno.test("undo in a later chat takes back each turn that changed files, once", async () => {
  await using home = await temporaryHome();
  const write = (content: string) => ask(want("write", { path: "new.txt", content }));
  await using server = startFakeServer({
    script: [
      ...[write("1\n"), say("Written."), say("Hello.")],
      ...[ask(want("read", { path: "new.txt" })), write("2\n"), say("Changed.")],
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const chat = async (stdin: string, ...args: string[]) => {
    const done = await runInProcess(["chat", "--permission-mode", "acceptEdits", ...args], { home, stdin });
    assert.equal(done.code, 0, done.stderr);
    return done.stderr;
  };
  await chat("write it\nhello\n");
  await chat("change it\n", "--continue");
  assert.equal(await home.read("new.txt"), "2\n");
  const told = await chat("/undo\n/undo\n", "--continue");
  assert.match(told, /restored .*new\.txt\n[^]*removed .*new\.txt\n/);
  await assert.rejects(home.read("new.txt"));
});

Deno.test("clear begins a new session, resume continues the old one", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("First."), say("Second."), say("Third.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const id = "11111111-2222-4333-8444-555555555555";
  const done = await runInProcess(["chat", "--session-id", id], {
    home,
    stdin: `one\n/clear\ntwo\n/resume ${id}\nthree\n`,
  });
  assert.equal(done.code, 0, done.stderr);
  const last = (index: number) =>
    server.chats()[index]?.json.messages.slice(1).map((message: { content: string }) => message.content);
  assert.deepEqual([last(1), last(2)], [["two"], ["one", "First.", "three"]]);
});

Deno.test("machine formats are refused, and a model that is not there ends the chat with its own code", async () => {
  await using home = await temporaryHome();
  const [format, missing] = await Promise.all([
    runInProcess(["chat", "--output-format", "json"], { home, stdin: "" }),
    runInProcess(["chat"], { home, stdin: "one\n" }),
  ]);
  assert.equal(format.code, 2);
  assert.equal(missing.code, 3);
  assert.match(missing.stderr, /no provider is configured/);
});

Deno.test("a time limit holds for each turn, and the next turn has its own", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [{ kind: "silence" }, say("Second.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat", "--timeout", "0.3"], { home, stdin: "one\ntwo\n" });
  assert.match(done.stderr, /ended after 0\.3 s/);
  assert.equal(done.stdout, "Second.\n");
  assert.equal(done.code, 0);
});

Deno.test("a message that is too long for the window is removed again, and the chat continues", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Short is fine.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 4096 }] } });
  const done = await runInProcess(["chat"], { home, stdin: `${"long words ".repeat(20_000)}\nshort\n` });
  assert.match(done.stderr, /nothing more\s+can be left out/);
  assert.equal(done.stdout, "Short is fine.\n", done.stderr);
  const sent = JSON.stringify(server.chats().at(-1)?.json.messages);
  assert.ok(!sent.includes("long words"));
});

Deno.test("nothing protected goes into the history, also what is typed after it was read", async () => {
  await using home = await temporaryHome();
  await home.write(".env", "KEY=canary-71c2f0aa9b\n");
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await using server = startFakeServer({ script: [ask(want("read", { path: ".env" })), say("Read."), say("Yes.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], { home, stdin: "read .env\nis it canary-71c2f0aa9b?\n" });
  assert.equal(done.code, 0, done.stderr);
  for await (const { isFile, path } of filesBelow(home.agentcliHome)) {
    if (isFile) assert.doesNotMatch(await Deno.readTextFile(path), /canary/, path);
  }
});

async function* filesBelow(directory: string): AsyncGenerator<{ isFile: boolean; path: string }> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) yield* filesBelow(path);
    else yield { isFile, path };
  }
}

Deno.test("before anything was said there is nothing to export", async () => {
  await using home = await temporaryHome();
  const done = await runInProcess(["chat", "--model", "demo"], { home, stdin: "/export\n" });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /^nothing to export yet$/m);
  assert.deepEqual([...Deno.readDirSync(home.project)], []);
});

Deno.test("a session or a model that is not there leaves the chat with what it had", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("First."), say("Second."), say("Third.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["chat"], { home, stdin: "one\n/resume ffffffff\ntwo\n/model gone:x\nthree\n" });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /no session "ffffffff" here[^]*unknown provider gone/);
  assert.doesNotMatch(done.stdout + done.stderr, /another model: the server/);
  const sent = server.chats()[2]?.json.messages.slice(1).map((message: { content: string }) => message.content);
  assert.deepEqual(sent, ["one", "First.", "two", "Second.", "three"]);
});

Deno.test("all that commands say on piped input is written before the program ends", async () => {
  await using home = await temporaryHome();
  const done = await runInProcess(["chat", "--model", "demo"], { home, stdin: "/undo\n".repeat(300) });
  assert.equal(done.code, 0);
  assert.equal(done.stderr.split("no turn of this session has changed files\n").length - 1, 300);
});
