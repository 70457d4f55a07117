/** Going back to before what commands changed, through the whole program: in the chat, and behind a run. */
import assert from "node:assert/strict";
import { ask, type RecordedRequest, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

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

Deno.test("the list tells what commands changed; going back and /redo take them along", unix, async () => {
  await project({ "a.txt": "one\n", "old.txt": "old\n" }, async (home) => {
    const typed = ["run echo two >> a.txt; rm old.txt; mkdir d; echo new > d/n.txt", "/rewind", "1", "1", "/redo"];
    const done = await lines(home, typed);
    assert.match(done.stderr, /a\.txt \+1 -0, d\/n\.txt \+1 \(new\), old\.txt \(gone\) · 1 command/);
    assert.match(done.stderr, /back where it was before \/rewind[^]*removed [^\n]*old\.txt/);
    assert.equal(await home.read("a.txt") + await home.read("d/n.txt"), "one\ntwo\nnew\n");
    await assert.rejects(home.read("old.txt"));
    await lines(home, ["/rewind", "1", "3"], ["--continue"]);
    assert.equal(await home.read("a.txt") + await home.read("old.txt"), "one\nold\n");
    assert.deepEqual([...Deno.readDirSync(home.project)].map(({ name }) => name).sort(), ["a.txt", "old.txt"]);
  });
});

Deno.test("/undo takes back what the command of a run changed, and what a typed one did", unix, async () => {
  await project({ "a.txt": "one\n" }, async (home) => {
    const ran = await runInProcess(["run", "run echo two > a.txt", ...BYPASS], { home });
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(await home.read("a.txt"), "two\n");
    const done = await lines(home, ["!echo three > b.txt", "/undo"], ["--continue"]);
    assert.match(done.stderr, /undid turn 1:/);
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

/** Whether some file below holds a text. */
async function holds(directory: string, text: string): Promise<boolean> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory ? await holds(path, text) : (await Deno.readTextFile(path)).includes(text)) return true;
  }
  return false;
}
