import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

/** The files below a directory that have the name of a draft. */
async function draftsIn(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    if (isDirectory) found.push(...await draftsIn(`${directory}/${name}`));
    else if (name.startsWith("draft")) found.push(name);
  }
  return found;
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

Deno.test("! runs a command and tells the model, !! runs it without; a space in front makes it words", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "");
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const typed = ["!ls; echo told; exit 3", "!!echo untold; exit 4", "what was that?", " !words"];
  const done = await runInProcess(["chat"], { home, stdin: typed.join("\n") });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /a\.txt\n *told\n *\[exit code 3\]\n *untold\n *\[exit code 4\]\n/);
  const [first, second] = server.chats().map(({ json }) =>
    json.messages.filter(({ role }: { role: string }) => role === "user").map(({ content }: { content: string }) =>
      content
    )
      .join("\n")
  );
  assert.match(
    first,
    /^\[The user ran this command: ls; echo told; exit 3\]\na\.txt\ntold\n\[exit code 3\]\n+what was that\?$/,
  );
  assert.ok(!second.includes("untold") && second.endsWith("!words"));
});

terminalTest(
  "a command of one's own has the whole terminal with !!, and what it prints as a block with !",
  async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Fine.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using terminal = await openTerminal(["chat"], { home });
    await terminal.shows(/local · loc:fake/);
    await terminal.type("!echo one; echo two");
    await terminal.press("Enter");
    await terminal.shows(/Bash echo one; echo two[^]*two[^]*^>$/m);
    await terminal.type('!!printf "name? "; read name; echo "hello $name"; exit 5');
    await terminal.press("Enter");
    await terminal.shows(/^name\?$/m);
    // The first key counts too.
    await terminal.type("Ann");
    await terminal.press("Enter");
    await terminal.shows(/^name\? Ann\nhello Ann\n {2}exit code 5\n[^]*^>$/m);
    await terminal.type("still here");
    await terminal.press("Enter");
    await terminal.shows(/Fine\./);
    assert.doesNotMatch(server.chats()[0]?.text ?? "", /Ann/);
    assert.match(server.chats()[0]?.text ?? "", /The user ran this command: echo one; echo two/);
  },
);

terminalTest("a !! that waits for the end of a turn has the whole terminal too", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({ script: [{ kind: "gated", gate: gate.promise, then: say("The answer.") }] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "go"], { home });
  await server.arrived(0);
  await terminal.type('!!printf "name? "; read name; echo "hello $name"; exit 5');
  await terminal.press("Enter");
  await terminal.shows(/queued: !!printf/);
  await terminal.type("draft");
  gate.resolve();
  await terminal.shows(/^name\?$/m);
  await terminal.type("Ann");
  await terminal.press("Enter");
  await terminal.shows(/The answer\.[^]*^name\? Ann\nhello Ann\n {2}exit code 5\n[^]*^> draft$/m);
});

Deno.test("!! without a terminal shows nothing protected, as !", async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: keys.txt\n");
  await home.write("keys.txt", "the word is hippopotamus-4711-zebra\n");
  await home.write("open.txt", "the word is open\n");
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  for (const sign of ["!", "!!"]) {
    const done = await runInProcess(["chat"], { home, stdin: `${sign}cat open.txt keys.txt` });
    assert.match(done.stderr, /the word is open/, sign);
    assert.doesNotMatch(done.stdout + done.stderr, /hippopotamus/, sign);
  }
  assert.equal(server.chats().length, 0);
});

terminalTest(
  "Ctrl-G writes the draft in the editor of the person; one that fails or is missing changes nothing",
  async () => {
    await using home = await temporaryHome();
    const editor = await home.write(
      "bin/edit",
      '#!/bin/sh\ncp "$1" "$1~"\necho editing\nread words\nprintf "%s and %s\\n" "$(cat "$1")" "$words" >"$1"\n',
    );
    await Deno.chmod(editor, 0o755);
    const failing = await home.write("bin/fail", '#!/bin/sh\necho ruined >"$1"; exit 3\n');
    await Deno.chmod(failing, 0o755);
    await using server = startFakeServer({ script: () => say("Fine.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const quoted = (path: string) => `'${path}'`;
    {
      await using terminal = await openTerminal(["chat"], { home, env: { EDITOR: quoted(editor) } });
      await terminal.shows(/local · loc:fake/);
      await terminal.type("paint");
      await terminal.press("C-g");
      await terminal.shows(/^editing$/m);
      await terminal.type("dry");
      await terminal.press("Enter");
      await terminal.shows(/^> paint and dry$/m);
      await terminal.press("Enter");
      await terminal.shows(/Fine\./);
      assert.equal(server.chats()[0]?.json.messages.at(-1).content, "paint and dry");
    }
    for (
      const [EDITOR, said] of [[quoted(failing), /ended with\s+exit code 3/], [
        "no-such-editor",
        /was not\s+found/,
      ]] as const
    ) {
      await using terminal = await openTerminal(["chat"], { home, env: { EDITOR } });
      await terminal.shows(/local · loc:fake/);
      await terminal.type("as it was");
      await terminal.press("C-g");
      await terminal.shows(said);
      await terminal.shows(/^> as it was$/m);
    }
    assert.deepEqual(await draftsIn(home.root), [], "an editor left its backup");
  },
);

terminalTest("the draft is gone with the terminal that was lost while an editor had it", async () => {
  await using home = await temporaryHome();
  const editor = await home.write("edit", '#!/bin/sh\ncp "$1" "$1.swp"\necho editing\nread words\n');
  await Deno.chmod(editor, 0o755);
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat"], { home, env: { EDITOR: `'${editor}'` } });
  await terminal.shows(/local · loc:fake/);
  await terminal.type("paint");
  await terminal.press("C-g");
  await terminal.shows(/^editing$/m);
  assert.equal((await draftsIn(home.root)).length, 2, "control: they are there");
  await terminal.hangUp();
  assert.deepEqual(await draftsIn(home.root), []);
});

terminalTest("what a turn says while another program has the terminal comes behind it", async () => {
  await using home = await temporaryHome();
  const editor = await home.write("edit", "#!/bin/sh\necho editing\nread words\n");
  await Deno.chmod(editor, 0o755);
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({ script: [{ kind: "gated", gate: gate.promise, then: say("The answer.") }] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "go"], { home, env: { EDITOR: `'${editor}'` } });
  await server.arrived(0);
  await terminal.type("next");
  await terminal.press("C-g");
  await terminal.shows(/^editing$/m);
  gate.resolve();
  await terminal.resize(60, 20);
  await terminal.press("Enter");
  await terminal.shows(/editing[^]*The answer\.[^]*^> next$/m);
});

terminalTest("a !! whose turn comes while an editor has the terminal waits for its end", async () => {
  await using home = await temporaryHome();
  // What would come to the editor instead comes soon after the turn's end.
  const script = "echo editing\nwhile [ ! -e marker ]; do sleep 0.05; done\nsleep 0.3\necho ready\nread words\n";
  const editor = await home.write("edit", `#!/bin/sh\n${script}echo "edited $words"\n`);
  await Deno.chmod(editor, 0o755);
  const gate = Promise.withResolvers<void>();
  await using server = startFakeServer({ script: [{ kind: "gated", gate: gate.promise, then: say("The answer.") }] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "go"], { home, env: { EDITOR: `'${editor}'` } });
  await server.arrived(0);
  await terminal.type("!touch marker");
  await terminal.press("Enter");
  await terminal.type('!!printf "name? "; read name; echo "hello $name"');
  await terminal.press("Enter");
  await terminal.shows(/queued: !!printf/);
  await terminal.press("C-g");
  await terminal.shows(/^editing$/m);
  gate.resolve();
  await terminal.shows(/^ready$/m);
  await terminal.type("well");
  await terminal.press("Enter");
  await terminal.shows(/^edited well$[^]*^name\?$/m);
  await terminal.type("Ann");
  await terminal.press("Enter");
  await terminal.shows(/The answer\.[^]*^name\? Ann\nhello Ann$/m);
});
