import assert from "node:assert/strict";
import { ask, type RecordedRequest, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

const BYPASS = ["--permission-mode", "bypassPermissions"];

/** Writes what a prompt says (`write NAME TEXT`, `run COMMAND`), and answers anything else. */
function obey({ json }: RecordedRequest): Step {
  const last = json.messages.at(-1);
  const [action, name = "", ...rest] = String(last.content).split(" ");
  if (last.role !== "user") return say(`Done.`);
  if (action === "write") return ask(want("write", { path: name, content: `${rest.join(" ")}\n` }));
  if (action === "run") return ask(want("shell", { command: [name, ...rest].join(" ") }));
  return say("Nothing to do.");
}

/** The prompts that a request holds. */
function prompts({ json }: RecordedRequest): string[] {
  return json.messages.filter(({ role }: { role: string }) => role === "user").map(({ content }: { content: string }) =>
    content
  );
}

/** The chat line by line at a terminal, which can be asked. */
async function lines(home: TemporaryHome, typed: readonly string[], args: readonly string[] = []) {
  const stdin = typed.map((line) => `${line}\n`).join("");
  return await runInProcess(["chat", ...BYPASS, ...args], { home, stdin, terminal: true });
}

terminalTest(
  "Esc Esc lists the turns with what they changed; words and files go back, and /redo brings them",
  async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: obey });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using terminal = await openTerminal(["chat", ...BYPASS, "write a.txt one"], { home, columns: 100 });
    await terminal.shows(/Done\.[^]*done in/);
    await terminal.type("write b.txt two");
    await terminal.press("Enter");
    await terminal.shows(/two[^]*Done\.[^]*done in/);
    await terminal.press("Escape");
    await terminal.shows(/Esc again goes back/);
    await terminal.press("Escape");
    await terminal.shows(/> write b\.txt two {2}b\.txt \+1 \(new\)\n {2}write a\.txt one {2}a\.txt \+1 \(new\)/);
    await terminal.press("Down", "Enter");
    await terminal.shows(/Rewind what\?[^]*words only/);
    await terminal.press("Enter");
    await terminal.shows(
      /went back 2 turns \(words and files\)[^]*removed [^]*b\.txt[^]*removed [^]*a\.txt[^]*^> write a\.txt one$/m,
    );
    assert.deepEqual([...Deno.readDirSync(home.project)], []);
    await terminal.press("C-u");
    await terminal.type("/redo");
    await terminal.press("Enter");
    await terminal.shows(/back where it was before/);
    assert.equal(await home.read("a.txt") + await home.read("b.txt"), "one\ntwo\n");
    await terminal.type("hello");
    await terminal.press("Enter");
    await terminal.shows(/Nothing to do/);
    assert.deepEqual(prompts(server.chats().at(-1)!), ["write a.txt one", "write b.txt two", "hello"]);
  },
);

Deno.test("the model hears nothing of words that went back, and the next session neither", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: obey });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await lines(home, ["first", "write a.txt one", "/rewind", "1", "1", "third"]);
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(prompts(server.chats().at(-1)!), ["first", "third"]);
  await assert.rejects(home.read("a.txt"));
  const later = await lines(home, ["fourth"], ["--continue"]);
  assert.equal(later.code, 0, later.stderr);
  assert.deepEqual(prompts(server.chats().at(-1)!), ["first", "third", "fourth"]);
});

Deno.test("what somebody else changed since is kept and said", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: async (request) => {
      // Between the turns somebody else changes a file, and after going back another one.
      const last = request.json.messages.at(-1).content;
      if (last === "pause") await home.write("a.txt", "by hand\n");
      return obey(request);
    },
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await lines(home, ["write a.txt one", "write b.txt two", "pause", "/rewind", "3", "1"]);
  assert.match(done.stderr, /kept .*a\.txt: a\.txt has changed since/);
  assert.match(done.stderr, /removed .*b\.txt/);
  assert.equal(await home.read("a.txt"), "by hand\n");
  await assert.rejects(home.read("b.txt"));
});

Deno.test("files alone go back with a word to the model, those of commands too", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: obey });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await lines(home, ["write a.txt one", "run touch made", "/rewind", "2", "3", "hello"]);
  assert.match(
    done.stderr,
    /1 command ran in what went back: ignored files, \.git, and all outside of the\s+project stay/,
  );
  const [, , note, hello] = prompts(server.chats().at(-1)!);
  assert.match(note ?? "", /The user undid your changes\. Removed: made, a\.txt\./);
  assert.equal(hello ?? note?.split("\n").at(-1), "hello");
  assert.deepEqual([...Deno.readDirSync(home.project)], []);
});

Deno.test("a resumed session still knows what each turn changed", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "zero\n");
  await using server = startFakeServer({ script: obey });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await lines(home, ["write a.txt one", "write b.txt two", "/rewind", "1", "1", "write c.txt three"]);
  const later = await lines(home, ["/rewind", "2", "1"], ["--continue"]);
  assert.match(later.stderr, /1 {2}write c\.txt three {2}\(c\.txt \+1 \(new\)\)\n {2}2 {2}write a\.txt one/);
  assert.match(later.stderr, /went back 2 turns/);
  assert.equal(await home.read("a.txt"), "zero\n");
  assert.deepEqual([...Deno.readDirSync(home.project)].map(({ name }) => name), ["a.txt"]);
});

Deno.test("a later session can go back to before what was brought back, its words alone or with its files", async () => {
  for (const parts of ["1", "2"]) {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: obey });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await lines(home, ["write a.txt one", "write b.txt two", "/rewind", "2", parts, "/redo"]);
    const later = await lines(home, ["/rewind", "1", "1"], ["--continue"]);
    assert.match(later.stderr, /1 {2}write b\.txt two {2}\(b\.txt \+1 \(new\)\)\n {2}2 {2}write a\.txt one {2}\(a/);
    assert.deepEqual([...Deno.readDirSync(home.project)].map(({ name }) => name), ["a.txt"]);
  }
});
