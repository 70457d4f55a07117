/** Tool calls on the screen of the chat: one block each, folded and unfolded. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

const bash = (command: string): Step => ask(want("shell", { command }));

/** A chat of its own for a script, where nothing is asked. */
async function chat(home: TemporaryHome, script: Step[], more: Partial<Parameters<typeof openTerminal>[1]> = {}) {
  const server = startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const args = ["chat", "--permission-mode", "bypassPermissions", "go"];
  const terminal = await openTerminal(args, { home, ...more });
  const close = async () => {
    await terminal[Symbol.asyncDispose]();
    await server.close();
  };
  return { terminal, server, [Symbol.asyncDispose]: close };
}

terminalTest(
  "changes are shown in a mode that asks nothing, with what they add and remove, folded after 15 rows",
  async () => {
    await using home = await temporaryHome();
    await home.write("a.txt", "one\ntwo\n");
    const content = Array.from({ length: 40 }, (_, index) => `line${index + 1}`).join("\n") + "\n";
    await using opened = await chat(home, [
      ask(want("read", { path: "a.txt" })),
      ask(want("edit", { path: "a.txt", old: "two", new: "three\nfour" })),
      ask(want("write", { path: "b.txt", content })),
      say("Changed."),
    ], { rows: 50 });
    const shown = await opened.terminal.shows(/Changed\.[^]*^>/m);
    assert.match(shown, /^\* Edit a\.txt {2}\+2 −1\n {2}1 {2}one\n {2}2 -two\n {2}2 \+three\n {2}3 \+four$/m);
    assert.match(
      shown,
      /^\* Write b\.txt {2}\+40 −0\n {3}1 \+line1\n[^]* {2}15 \+line15\n {2}… 25 more rows \(#\d\)$/m,
    );
  },
);

terminalTest(
  "a command shows the end of what it prints while it runs, and a block with its exit code after",
  async () => {
    await using home = await temporaryHome();
    const command = "for n in 1 2 3 4 5 6 7 8 9; do echo row$n; done; while [ ! -e go ]; do sleep 0.05; done; exit 3";
    const many = "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo out$n; done";
    await using opened = await chat(home, [bash(command), bash(many), say("So it failed.")], { rows: 40 });
    const { terminal } = opened;
    const live = await terminal.shows(/^ {2}row5\n {2}row6\n {2}row7\n {2}row8\n {2}row9\n+running for n/m);
    assert.doesNotMatch(live, /row4$/m);
    await terminal.resize(40, 30);
    // Drawn anew, not the rows of the wide terminal that are left.
    await terminal.shows(/^ {2}row5\n {2}row6\n {2}row7\n {2}row8\n {2}row9\n+running for n.{0,30}\n>/m);
    await terminal.resize(80, 40);
    await terminal.shows(/^running for n in 1 2 3 4 5 6 7 8 9; do .*Esc stops\n>/m);
    await home.write("go", "");
    const shown = await terminal.shows(/So it failed\.[^]*^>/m);
    assert.match(shown, /^\* Bash for n.*… · exit 3(?: · \d+s)? \(#1, Ctrl-O\)\n {2}row1\n[^]*^ {2}row9\n\* Bash/m);
    assert.match(
      shown,
      /done · exit 0(?: · \d+s)?\n {2}… 8 earlier lines \(#2\)\n {2}out9\n {2}out10\n {2}out11\n {2}out12\n {2}out13\n\nSo/,
    );
    assert.equal(shown.match(/row9/g)?.length, 1, shown);
    assert.equal(shown.match(/^\* Bash/gm)?.length, 2, shown);
  },
);

terminalTest(
  "what is folded unfolds and folds again, the last by one key and an earlier one by its number",
  async () => {
    await using home = await temporaryHome();
    const lines = (name: string) => `for n in 1 2 3 4 5 6 7 8 9; do echo ${name}$n; done`;
    await using opened = await chat(home, [bash(lines("first")), bash(lines("second")), say("Done.")]);
    const { terminal } = opened;
    const folded = await terminal.shows(/Done\.[^]*^>/m);
    assert.match(folded, /4 earlier lines \(#1, Ctrl-O\)[^]*4 earlier lines \(#2\)/);
    for (let again = 0; again < 2; again++) {
      await terminal.press("C-o");
      await terminal.shows(/^ {2}second1\n[^]*^ {2}second9\n#2 · Ctrl-O folds\n>/m);
      await terminal.press("C-o");
      assert.doesNotMatch(await terminal.shows(/done in .*\n\n>$/m), /second1$/m);
    }
    await terminal.type("1");
    await terminal.press("C-o");
    await terminal.shows(/^ {2}first1\n[^]*^#1 · Ctrl-O folds\n>$/m);
    await terminal.press("C-o");
    await terminal.type("a draft");
    await terminal.press("C-o");
    await terminal.shows(/^ {2}second1$[^]*#2 · Ctrl-O folds\n> a draft$/m);
    await terminal.press("Escape");
    assert.doesNotMatch(await terminal.shows(/done in .*\n\n> a draft$/m), /second1$/m);
    await terminal.press("C-u");
    await terminal.type("7");
    await terminal.press("C-o");
    await terminal.shows(/nothing is folded as #7; the last is #2/);
    await terminal.press("C-o");
    await terminal.resize(40, 12);
    await terminal.shows(/^#2 · rows 1-\d+ of \d+ · PageUp.*\n>$/m);
    for (let page = 0; page < 3; page++) await terminal.press("NPage");
    await terminal.shows(/^ {2}second9\n#2 /m);
    await terminal.resize(20, 5);
    await terminal.shows(/^#2 · rows.*\n>\nlocal/m);
    await terminal.resize(80, 24);
    const shown = await terminal.shows(/^#2 · Ctrl-O folds\n>\nlocal/m);
    assert.equal(shown.match(/^ {2}second1$/gm)?.length, 1, shown);
    assert.equal(shown.match(/^#2/gm)?.length, 1, shown);
    assert.equal(shown.match(/^>$/gm)?.length, 1, shown);
  },
);

terminalTest("calls that run together have their results each under its own head", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "1\n2\n");
  await home.write("b.txt", "1\n2\n3\n");
  const script = [ask(want("read", { path: `${home.project}/a.txt` }), want("read", { path: "b.txt" })), say("Read.")];
  await using opened = await chat(home, script);
  const shown = await opened.terminal.shows(/Read\.\n[^]*^>/m);
  assert.match(shown, /^\* Read a\.txt · 2 lines.*\n\* Read b\.txt · 3 lines/m);
});

terminalTest(
  "a call that cannot be understood is shown as it was written, and what a search finds by its first lines",
  async () => {
    await using home = await temporaryHome();
    const script = [
      ask({ name: "Edit", input: { file_path: "gone.txt" } }),
      ask({ name: "Frobnicate", input: { target: "the moon" } }),
      ask({ name: "Bash", input: '{"command": ' }),
      ask(want("grep", { pattern: "row" })),
      say("I give up."),
    ];
    await home.write("rows.txt", "row 1\nrow 2\nrow 3\nrow 4\nrow 5\n");
    await using opened = await chat(home, script, { rows: 40 });
    const shown = await opened.terminal.shows(/I give up\.[^]*^>/m);
    assert.match(shown, /^\* Edit gone\.txt\n {2}failed: /m);
    assert.match(shown, /^\* Grep row\n(?: {2}rows\.txt:\d:row \d\n){3} {2}… 2 more lines \(#\d\)$/m);
    assert.match(shown, /^\* Frobnicate the moon\n {2}failed: There is no tool/m);
    assert.match(shown, /^\* Bash \{"command":\n {2}failed: The arguments are not valid JSON: [^.]*\. \(#3\)$/m);
  },
);

terminalTest("a question and its call are one block, before and after the answer", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [
      ask(want("write", { path: "a.txt", content: "one\n" })),
      ask(want("write", { path: "b.txt", content: "two\n" })),
      say("That is it."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using terminal = await openTerminal(["chat", "go"], { home, rows: 40 });
  const asked = await terminal.shows(/\? Write a\.txt\n1 \+one\nAllow Write\?/);
  assert.equal(asked.match(/Write a\.txt/g)?.length, 1, asked);
  await terminal.press("Down", "Enter");
  await terminal.shows(/^\* Write a\.txt {2}\+1 −0\n {2}1 \+one\n[^]*\? Write b\.txt/m);
  await terminal.press("Up", "Enter");
  const shown = await terminal.shows(/That is it\.[^]*^>/m);
  assert.equal(shown.match(/Write a\.txt/g)?.length, 1, shown);
  assert.match(shown, /^\* Write b\.txt\n {2}denied: You said no\.\n {2}what was asked \(#1, Ctrl-O\)$/m);
  await terminal.press("C-o");
  await terminal.shows(/^\? Write b\.txt\n1 \+two\n#1 · Ctrl-O folds$/m);
});

terminalTest("the list of steps stands above the input until all are done", async () => {
  await using home = await temporaryHome();
  const todos = (...statuses: string[]) => {
    const named = statuses.map((status, index) => ({ content: `Step ${index + 1}`, status }));
    return ask({ name: "TodoWrite", input: { todos: named } });
  };
  const gate = Promise.withResolvers<void>();
  await using opened = await chat(home, [
    todos("completed", "in_progress", "pending"),
    { kind: "gated", gate: gate.promise, then: todos("completed", "completed", "completed") },
    say("All done."),
  ]);
  const { terminal } = opened;
  await terminal.shows(/^processing.*\n\[x\] Step 1\n\[>\] Step 2\n\[ \] Step 3\n>/m);
  await terminal.resize(40, 8);
  await terminal.shows(/^1\/3 Step 2\n>/m);
  await terminal.resize(20, 5);
  await terminal.shows(/^processing.*\n>\nlocal/m);
  await terminal.resize(80, 24);
  const back = await terminal.shows(/^processing.*\n\[x\] Step 1\n\[>\] Step 2\n\[ \] Step 3\n>/m);
  assert.equal(back.match(/Step 3/g)?.length, 1, back);
  gate.resolve();
  assert.doesNotMatch(await terminal.shows(/All done\.[^]*^>/m), /\[x\]/);
});

terminalTest("a flood, binary output and sequences of a command leave a whole screen", async () => {
  await using home = await temporaryHome();
  const wild = "head -c 3000000 /dev/zero | tr '\\0' 'x'; head -c 200000 /dev/urandom; " +
    "printf '\\n\\033[2J\\033]0;owned\\007\\033[31mred\\033[0m\\n10%%\\r20%%\\rthe end\\n'";
  await using opened = await chat(home, [bash(wild), say("Survived.")]);
  const shown = await opened.terminal.shows(/Survived\.[^]*^>/m);
  assert.match(shown, /^ {2}\\x1b\[2J\\x1b\]0;owned\\x07red\n {2}the end\n\nSurvived/m);
  assert.equal(shown.match(/^local · loc:fake/gm)?.length, 1, shown);
});

terminalTest("a change of a protected file stays folded until it is asked for", async () => {
  await using home = await temporaryHome();
  await home.write(".env", "KEY=canary-71c2f0aa9b\n");
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await using opened = await chat(home, [
    ask(want("read", { path: ".env" })),
    ask(want("edit", { path: ".env", old: "71c2f0aa9b", new: "5d" })),
    say("Changed it."),
  ]);
  const { terminal } = opened;
  const shown = await terminal.shows(/Changed it\.[^]*^>/m);
  assert.match(shown, /^\* Edit \.env {2}\+1 −1 \[no-cloud\] · changed \(#2\)$/m);
  assert.doesNotMatch(shown, /canary/);
  await terminal.press("C-o");
  await terminal.shows(/-KEY=canary-71c2f0aa9b\n {2}1 \+KEY=canary-5d\n#2/);
});

terminalTest("a turn that is stopped leaves the call with what it had printed", async () => {
  await using home = await temporaryHome();
  await using opened = await chat(home, [bash("echo begun; while [ ! -e go ]; do sleep 0.05; done")]);
  const { terminal } = opened;
  await terminal.shows(/^ {2}begun\n+running echo/m);
  await terminal.press("Escape");
  const shown = await terminal.shows(/^\* Bash echo begun.*\n {2}begun\n {2}stopped\n[^]*^>$/m);
  assert.equal(shown.match(/stopped/g)?.length, 1, "once");
});

terminalTest("a terminal that draws nothing shows changes too, and those that were asked about once", async () => {
  await using home = await temporaryHome();
  const write = (path: string, content: string): Step => ask(want("write", { path, content }));
  await using opened = await chat(home, [write("a.txt", "one\n"), write("b.txt", "two\n"), say("Written.")], {
    env: { TERM: "dumb" },
  });
  const { terminal } = opened;
  await terminal.shows(/^agentcli \d\S+ {2}\S.*\nloc:fake {2}local, .*\n\/help commands · Ctrl-C stops · /m);
  await terminal.shows(/\* Write a\.txt\n {2}1 \+one\n\* Write b\.txt\n {2}1 \+two\n[^]*Written\./);
  await using server = startFakeServer({ script: [write("c.txt", "three\n"), say("Asked.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using asked = await openTerminal(["chat", "go"], { home, env: { TERM: "dumb" } });
  await asked.shows(/1 \+three\nAllow Write\?[^]*instead:/);
  await asked.type("y");
  await asked.press("Enter");
  assert.equal((await asked.shows(/Asked\./)).match(/\+three/g)?.length, 1);
});
