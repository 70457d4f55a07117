/** Going back to before what commands changed, through the whole program: in the chat, and after a run. */
import assert from "node:assert/strict";
import { ask, type RecordedRequest, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { planServer, textArguments } from "./helpers/mcp.ts";
import { configure, startProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const unix = { ignore: Deno.build.os === "windows" };
const BYPASS = ["--permission-mode", "bypassPermissions"];

/** Runs what a prompt says as a command, and answers anything else. */
function obey({ json }: RecordedRequest): Step {
  const last = json.messages.at(-1);
  const command = /^run (.*)/s.exec(String(last.content))?.[1];
  return last.role === "user" && command !== undefined ? ask(want("shell", { command })) : say("Done.");
}

async function lines(home: TemporaryHome, typed: readonly string[], args: readonly string[] = []) {
  const stdin = typed.map((line) => `${line}\n`).join("");
  const done = await runInProcess(["chat", ...BYPASS, ...args], { home, stdin, terminal: true });
  assert.equal(done.code, 0, done.stderr);
  return done;
}

async function project(files: Record<string, string>, work: (home: TemporaryHome) => Promise<void>): Promise<void> {
  await using home = await temporaryHome();
  for (const [name, text] of Object.entries(files)) await home.write(name, text);
  await using server = startFakeServer({ script: obey });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await work(home);
}

Deno.test("the list shows what commands changed; going back and /redo include it", unix, async () => {
  await project({ "a.txt": "one\n", "old.txt": "old\n" }, async (home) => {
    const typed = ["run echo two >> a.txt; rm old.txt; mkdir d; echo new > d/n.txt", "/rewind", "1", "1", "/redo"];
    const done = await lines(home, typed);
    assert.match(done.stderr, /a\.txt \+1 -0, d\/n\.txt \+1 \(new\), old\.txt \(gone\) · 1 command/);
    assert.match(done.stderr, /back where it was before[^]*removed [^\n]*old\.txt/);
    assert.equal(await home.read("a.txt") + await home.read("d/n.txt"), "one\ntwo\nnew\n");
    await assert.rejects(home.read("old.txt"));
    await lines(home, ["/rewind", "1", "3"], ["--continue"]);
    assert.equal(await home.read("a.txt") + await home.read("old.txt"), "one\nold\n");
    assert.deepEqual([...Deno.readDirSync(home.project)].map(({ name }) => name).sort(), ["a.txt", "old.txt"]);
  });
});

Deno.test("/redo brings back what /undo took, and the model hears of neither", unix, async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\n");
  await using server = startFakeServer({ script: obey });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await lines(home, ["run echo two > a.txt; echo new > b.txt", "/undo", "/redo", "hello"]);
  assert.match(
    done.stderr,
    /undid turn 1 of 1:\n {2}removed b\.txt\n {2}restored a\.txt\n[^]*back where it was before/,
  );
  assert.equal(await home.read("a.txt") + await home.read("b.txt"), "two\nnew\n");
  assert.doesNotMatch(JSON.stringify(server.chats().at(-1)?.json), /undid your changes/);
  await lines(home, ["/undo"], ["--continue"]);
  assert.equal(await home.read("a.txt"), "one\n");
});

Deno.test("/undo reaches what was changed before the model was, also where nothing is stored", unix, async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\n");
  await using server = startFakeServer({ script: obey });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "first" }, { id: "second" }] } });
  const typed = ["run echo two > a.txt", "/model loc:second", "/model loc:first", "run echo three > a.txt"];
  const args = ["--no-session-persistence", "--model", "loc:first"];
  await lines(home, [...typed, "/undo"], args);
  assert.equal(await home.read("a.txt"), "two\n");
  await home.write("a.txt", "one\n");
  await lines(home, [...typed, "/undo", "/undo"], args);
  assert.equal(await home.read("a.txt"), "one\n");
});

Deno.test("a command of one's own leaves /redo what it brings back, and stays behind it", unix, async () => {
  for (const back of [["/undo"], ["/rewind", "1", "1"]]) {
    await using home = await temporaryHome();
    await home.write("a.txt", "one\n");
    await home.write("c.txt", "one\n");
    await using server = startFakeServer({ script: obey });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const change = "run echo two > a.txt; echo two > c.txt";
    const done = await lines(home, ["hi", change, ...back, "!echo seen", "!echo mine > c.txt", "/redo", "and now?"]);
    assert.match(done.stderr, /back where it was before\n {2}restored a\.txt\n {2}kept c\.txt: /);
    assert.equal(await home.read("a.txt") + await home.read("c.txt"), "two\nmine\n");
    const sent = server.chats().at(-1)?.json.messages.map(({ role, content }: { role: string; content: unknown }) =>
      role === "user" ? String(content).replaceAll(/\n+/g, " ") : role
    );
    const own = "[The user ran this command: echo seen] seen  [The user ran this command: echo mine > c.txt]";
    assert.equal(sent.slice(1).join("|").startsWith(`hi|assistant|${change}|assistant|tool|assistant|`), true);
    assert.equal(sent.at(-1).startsWith(own.slice(0, 40)), true, sent.at(-1));
    const stored = await runInProcess(["sessions", "export", "latest"], { home });
    const [first, second, third] = [change, "echo seen", "and now?"].map((text) => stored.stdout.indexOf(text));
    assert.equal(0 < first! && first! < second! && second! < third!, true, stored.stdout);
    assert.doesNotMatch(stored.stdout, /undid your changes/);
    // Said is said: then there is nothing to bring back.
    const later = await lines(home, ["run echo three > a.txt", "/undo", "!true", "hello", "/redo", "bye"], [
      "--continue",
    ]);
    assert.match(later.stderr, /nothing to bring back/);
    assert.equal(await home.read("a.txt"), "two\n");
  }
});

Deno.test("/undo counts turns as the session does that one sees", unix, async () => {
  await project({ "a.txt": "one\n" }, async (home) => {
    const typed = ["hi", "hello", "/rewind", "1", "run echo two > a.txt", "hello", "/undo"];
    assert.match((await lines(home, typed)).stderr, /undid turn 2 of 3:\n {2}restored a\.txt\n/);
  });
  await project({}, async (home) => {
    assert.match((await lines(home, ["!echo new > b.txt", "/undo"])).stderr, /undid earlier changes:\n {2}removed b/);
  });
});

Deno.test("/undo takes back what the command of a run changed, and what a typed one did", unix, async () => {
  await project({ "a.txt": "one\n" }, async (home) => {
    const ran = await runInProcess(["run", "run echo two > a.txt", ...BYPASS], { home });
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(await home.read("a.txt"), "two\n");
    const done = await lines(home, ["!echo three > b.txt", "/undo"], ["--continue"]);
    assert.match(done.stderr, /undid turn 1 of 1:/);
    assert.equal(await home.read("a.txt"), "one\n");
    await assert.rejects(home.read("b.txt"));
  });
});

Deno.test("what the check of a project changes goes back with its turn", unix, async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\n");
  await using server = startFakeServer({
    script: [ask(want("write", { path: "b.txt", content: "new\n" })), say("Done.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const ran = await runInProcess(["run", "go", ...BYPASS, "--check", "cat b.txt > a.txt"], { home });
  assert.equal(await home.read("a.txt"), "new\n", ran.stderr);
  await lines(home, ["/undo"], ["--continue"]);
  assert.deepEqual([...Deno.readDirSync(home.project)].map(({ name }) => name), ["a.txt"]);
  assert.equal(await home.read("a.txt"), "one\n");
});

Deno.test("what an MCP server writes into the project while it is called goes back", unix, async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\n");
  const tools = [{ name: "write", inputSchema: textArguments("path", "content"), does: "write" }];
  const server = await planServer(`${home.root}/servers`, "fake", { tools });
  const call = (path: string) =>
    ask({ name: "mcp__hub__write", input: { path: `${home.project}/${path}`, content: "mcp\n" } });
  await using model = startFakeServer({ script: [call("a.txt"), call("b.txt"), say("Done.")] });
  await configure(home, { loc: { baseUrl: model.baseUrl } }, { mcp_servers: { hub: server.entry } });
  const ran = await runInProcess(["run", "go", ...BYPASS], { home });
  assert.equal(await home.read("a.txt") + await home.read("b.txt"), "mcp\nmcp\n", ran.stderr);
  await lines(home, ["/undo"], ["--continue"]);
  assert.equal(await home.read("a.txt"), "one\n");
  await assert.rejects(home.read("b.txt"));
});

Deno.test(
  "a program that is killed during a large undo completes it when it is asked again",
  unix,
  async () => {
    await using home = await temporaryHome();
    const names = Array.from({ length: 400 }, (_, at) => `f${at}.txt`);
    for (const name of names) await home.write(name, `${name} before\n`);
    await using server = startFakeServer({ script: obey });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const ran = await runInProcess(["run", "run for f in *.txt; do echo after > $f; done", ...BYPASS], { home });
    assert.equal(ran.code, 0, ran.stderr);
    const texts = () => Promise.all(names.map((name) => home.read(name)));
    const count = async () => (await texts()).filter((text) => text !== "after\n").length;
    assert.equal(await count(), 0);
    await using program = startProgram(["chat", "--continue", ...BYPASS], { home });
    await program.write("/undo\n");
    for (let at = 0; at < 2_000 && await count() === 0; at++) await Deno.stat(home.project);
    program.kill("SIGKILL");
    await program.finished;
    const half = await count();
    assert.ok(half > 0 && half < names.length, `${half} were back when it was killed`);
    for (const text of await texts()) assert.match(text, /^(after|f\d+\.txt before)\n$/);
    await lines(home, ["/undo"], ["--continue"]);
    assert.equal(await count(), names.length);
  },
);

Deno.test("a run that is not stored keeps nothing of what its command changed", unix, async () => {
  await project({ "a.txt": "one-CANARY\n" }, async (home) => {
    const args = ["run", "run echo two > a.txt", ...BYPASS];
    for (const stored of [false, true]) {
      await home.write("a.txt", "one-CANARY\n");
      const ran = await runInProcess([...args, ...stored ? [] : ["--no-session-persistence"]], { home });
      assert.equal(ran.code, 0, ran.stderr);
      assert.equal(await holds(home.agentcliHome, "one-CANARY"), stored);
    }
  });
});

Deno.test("what another session writes while a command runs is not undone with it", unix, async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\n");
  await new Deno.Command("mkfifo", { args: [`${home.project}/fifo`] }).output();
  const writes = ask(want("write", { path: "theirs.txt", content: "theirs\n" }));
  await using server = startFakeServer({
    script: (request) => request.json.messages.at(-1).content === "write it" ? writes : obey(request),
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const command = "echo x > a.txt; echo ready > ready.txt; cat fifo > got.txt";
  const id = crypto.randomUUID();
  const first = runInProcess(["run", `run ${command}`, ...BYPASS, "--session-id", id], { home });
  for (let at = 0; at < 20_000 && await home.read("ready.txt").catch(() => "") === ""; at++);
  const second = await runInProcess(["run", "write it", ...BYPASS], { home });
  assert.equal(await home.read("theirs.txt"), "theirs\n", second.stderr);
  await Deno.writeTextFile(`${home.project}/fifo`, "go\n");
  const { code, stderr } = await first;
  assert.equal(code, 0, stderr);
  assert.equal(await home.read("got.txt"), "go\n");
  await lines(home, ["/undo"], ["--resume", id]);
  assert.equal(await home.read("a.txt") + await home.read("theirs.txt"), "one\ntheirs\n");
  await assert.rejects(home.read("got.txt"));
});

/** Whether some file below holds a text. */
async function holds(directory: string, text: string): Promise<boolean> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory ? await holds(path, text) : (await Deno.readTextFile(path)).includes(text)) return true;
  }
  return false;
}
