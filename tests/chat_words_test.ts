import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest(
  "@ finds a file anywhere in the project by a part of its name, and what is named is attached",
  async () => {
    await using home = await temporaryHome();
    await home.write("deep/er/pump rate.ts", "export const RATE = 3;\n");
    await home.write("deep/er/other.ts", "");
    await home.write("ignored/pump.log", "");
    await home.write(".gitignore", "ignored\n");
    await using server = startFakeServer({ script: () => say("Three.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/local · loc:fake/);
    await terminal.type("what is @rate");
    const list = await terminal.shows(/> @"deep\/er\/pump rate\.ts"/);
    assert.doesNotMatch(list, /ignored/);
    await terminal.press("Tab");
    await terminal.type("for?");
    await terminal.shows(/^> what is @"deep\/er\/pump rate\.ts" for\?$/m);
    await terminal.press("Enter");
    await terminal.shows(/attached: deep\/er\/pump rate\.ts[^]*Three\./);
    const { content } = server.chats()[0]?.json.messages.at(-1);
    assert.equal(
      content,
      'what is @"deep/er/pump rate.ts" for?\n\nFile deep/er/pump rate.ts:\n1\texport const RATE = 3;',
    );
  },
);

Deno.test("directories are attached as listings, long files as far as they fit, and other words are left alone", async () => {
  await using home = await temporaryHome();
  await home.write("src/a.ts", "");
  await home.write("src/lib/b.ts", "");
  await home.write("long.txt", Array.from({ length: 5000 }, (_, at) => `line ${at + 1} ${"x".repeat(60)}\n`).join(""));
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 16_000 }] } });
  const typed = ["see @src/, please", "and (@long.txt)", "mail me@here.org, install @std/assert, @param x"];
  const done = await runInProcess(["chat"], { home, stdin: typed.join("\n") });
  assert.equal(done.code, 0, done.stderr);
  const [listing, long, words] = server.chats().map(({ json }) => json.messages.at(-1).content);
  assert.match(listing, /^see @src\/, please\n\nDirectory src:\n[^]*a\.ts\nlib\/$/);
  assert.match(long, /File long\.txt:\n1\tline 1 [^]*\n\[lines 1-(\d+) of 5000; go on with offset \d+\]$/);
  assert.ok(long.length < 40_000, `${long.length} characters`);
  assert.match(done.stderr, /long\.txt: lines 1-\d+ of 5000 are attached/);
  assert.equal(words, typed[2]);
});

terminalTest("Enter in the list of commands runs the marked one", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat"], { home });
  await terminal.shows(/local · loc:fake/);
  await terminal.type("/cont");
  await terminal.shows(/> \/context/);
  await terminal.press("Enter");
  await terminal.shows(/^> \/context$[^]*system prompt/m);
});
