import assert from "node:assert/strict";
import { denoIo } from "../src/platform/deno_io.ts";
import { openHome } from "../src/platform/home.ts";
import type { SessionItem } from "../src/session/item.ts";
import { openTranscript } from "../src/session/open_transcript.ts";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, runProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

/** Stores a session of this many turns. */
async function storeTurns(home: TemporaryHome, turns: number): Promise<void> {
  const io = denoIo();
  const opened = await openHome({ env: (name) => name === "AGENTCLI_HOME" ? home.agentcliHome : undefined, os: io.os });
  const transcript = await openTranscript(opened, {
    projectRoot: home.project,
    sessionId: "11111111-2222-4333-8444-555555555555",
    cwd: home.project,
    version: "0.1.0",
    model: "fake",
    provider: "loc",
    clock: io.clock,
    onTrouble: (text) => assert.fail(text),
  });
  const items = Array.from({ length: turns }, (_, at): SessionItem[] => [
    { kind: "user", text: `question ${at}`, label: "open" },
    { kind: "assistant", id: `a${at}`, text: `answer **${at}**`, reasoning: "", calls: [], label: "open" },
  ]).flat();
  await transcript.record(items);
  await transcript.close();
}

terminalTest("a resumed session is drawn as it looked: its head, its calls and its Markdown", async () => {
  await using home = await temporaryHome();
  await home.write("pump.ts", "export const RATE = 3;\n");
  await using server = startFakeServer({
    script: [
      ask(want("read", { path: "pump.ts" })),
      say("# The pump\n\nIts rate is **three**.\n\n- one\n"),
      say("Four."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const first = await runProgram(["run", "what does the pump do?"], { home });
  assert.equal(first.code, 0, first.stderr);
  await using terminal = await openTerminal(["chat", "--continue"], { home });
  const shown = await terminal.shows(/- one[^]*local · loc:fake/);
  assert.match(shown, /^session \w{8} · 1 turn · just now · loc:fake ·\s+\//m);
  assert.match(shown, /^> what does the pump do\?$[^]*Read pump\.ts[^]*^The pump$[^]*^Its rate is three\.$/m);
  await terminal.type("and now?");
  await terminal.press("Enter");
  await terminal.shows(/Four\./);
});

terminalTest("--resume without a session is a list to search: first words, age, turns, model, place", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: (request) => say(`Answer ${request.index + 1}.`) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await home.write("a.txt", "words of a file");
  for (const prompt of ["paint the shed", "mend the roof"]) {
    const ran = await runProgram(["run", prompt, "--file", "a.txt"], { home });
    assert.equal(ran.code, 0, ran.stderr);
  }
  await using terminal = await openTerminal(["-r"], { home, columns: 100 });
  const list = await terminal.shows(/Which session\?/);
  assert.match(list, /just now {2}mend the roof {2}1 turn · loc:fake · local · \w{8}\n.*just now {2}paint the shed/);
  await terminal.type("shed");
  await terminal.shows(/> just now {2}paint the shed/);
  await terminal.press("Enter");
  await terminal.shows(/> paint the shed[^]*Answer 1\./);
  await terminal.type("/resume");
  await terminal.press("Enter", "Enter");
  const other = await terminal.shows(/Which session\?/);
  assert.doesNotMatch(other, /just now {2}paint the shed/);
  await terminal.press("Enter");
  await terminal.shows(/> mend the roof[^]*Answer 2\./);
});

terminalTest("no choice from that list begins a new session, also where there is none to choose", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Fresh.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  for (const isEmpty of [true, false]) {
    await using terminal = await openTerminal(["--resume"], { home });
    if (!isEmpty) {
      await terminal.shows(/Which session\?/);
      await terminal.press("Escape");
    } else await terminal.shows(/there is no session of this project/);
    await terminal.shows(/local · loc:fake/);
    await terminal.type("hello");
    await terminal.press("Enter");
    await terminal.shows(/Fresh\./);
    assert.equal(
      server.chats().at(-1)?.json.messages.filter(({ role }: { role: string }) => role === "user").length,
      1,
    );
  }
});

terminalTest("of a session of 2,000 turns the last ones are drawn, on the smallest terminal too", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Here.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await storeTurns(home, 2000);
  await using terminal = await openTerminal(["-c"], { home, columns: 20, rows: 5 });
  const shown = await terminal.shows(/answer 1999[^]*local/, { all: true });
  assert.match(shown, /1994 earlier/);
  assert.doesNotMatch(shown, /answer 1993/);
  await terminal.resize(60, 10);
  await terminal.shows(/^local · loc:fake/m);
});

terminalTest("a dumb terminal gets the list and the last turns as lines", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Answer.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await storeTurns(home, 2);
  await using terminal = await openTerminal(["-r"], { home, env: { TERM: "dumb" } });
  await terminal.shows(/Which session\?[^]*1 {2}just now {2}question 0[^]*Choose/);
  await terminal.type("1");
  await terminal.press("Enter");
  await terminal.shows(/> question 1\n+answer 1/);
});

Deno.test("/export writes into the home, or where the user says, in the form that is named or that the name ends with", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("An <b>answer</b>.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const typed = [
    "a question",
    "gone",
    "/rewind",
    "1",
    "/export",
    "/export html",
    "/export out.html",
    "/export json a b.txt",
  ];
  const stdin = typed.map((line) => `${line}\n`).join("");
  const done = await runInProcess(["chat"], { home, stdin, terminal: true });
  assert.equal(done.code, 0, done.stderr);
  const names = [...Deno.readDirSync(`${home.agentcliHome}/exports`)].map(({ name }) => name);
  // Their names begin with the second in which each was written.
  assert.deepEqual(names.map((name) => name.replace(/^session-\w{8}-\d{8}-\d{6}/, "")).sort(), [".html", ".md"]);
  const markdown = await Deno.readTextFile(
    `${home.agentcliHome}/exports/${names.find((name) => name.endsWith(".md"))}`,
  );
  assert.match(markdown, /## User\n\na question\n\n## Assistant\n\nAn <b>answer<\/b>\./);
  assert.doesNotMatch(markdown, /gone/);
  assert.match(await home.read("out.html"), /<pre>An &lt;b&gt;answer&lt;\/b&gt;\.<\/pre>/);
  assert.equal(JSON.parse(await home.read("a b.txt")).items[0].text, "a question");
  const again = await runInProcess(["chat", "--continue"], { home, stdin: "/export out.html\n", terminal: true });
  assert.match(again.stderr, /out\.html already exists/);
});

terminalTest(
  "a damaged transcript is drawn as far as it can be read, in a terminal that changes its size meanwhile",
  async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Here.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await storeTurns(home, 5);
    const [slug] = [...Deno.readDirSync(`${home.agentcliHome}/projects`)].map(({ name }) => name);
    const file = `${home.agentcliHome}/projects/${slug}/11111111-2222-4333-8444-555555555555.jsonl`;
    const lines = (await Deno.readTextFile(file)).split("\n");
    lines[4] = lines[4]?.slice(0, 80) ?? "";
    await Deno.writeTextFile(file, `${lines.join("\n")}{"torn`);
    await using terminal = await openTerminal(["-r"], { home, columns: 90 });
    await terminal.shows(/Which session\?/);
    await terminal.resize(24, 6);
    await terminal.paste("question\nof two lines");
    await terminal.shows(/to search\) question|Which session/);
    await terminal.resize(70, 20);
    await terminal.press("Enter");
    const shown = await terminal.shows(/answer 4[^]*local · loc:fake/, { all: true });
    assert.match(shown, /line 5 cannot be read\s+and is left out/);
    await terminal.press("Escape", "Escape");
    await terminal.shows(/Rewind to which prompt\?[^]*> question 4/);
    await terminal.resize(30, 8);
    await terminal.press("Down", "Enter");
    await terminal.shows(/^> question 3$/m);
    await terminal.press("Enter");
    await terminal.shows(/Here\./);
    const words = server.chats()[0]?.json.messages.slice(1).map(({ content }: { content: string }) => content);
    assert.deepEqual(words.slice(-3), ["question 2", "answer **2**", "question 3"]);
  },
);

terminalTest("/rename names a session: the list, the head and --resume have the name", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: (request) => say(`Answer ${request.index + 1}.`) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  {
    await using terminal = await openTerminal(["chat", "paint the shed"], { home, columns: 100 });
    await terminal.shows(/Answer 1\./);
    await terminal.type("/rename");
    await terminal.press("Enter", "Enter");
    await terminal.shows(/Name of this session/);
    await terminal.type("The red shed");
    await terminal.press("Enter");
    await terminal.shows(/the session is named The red shed/);
    await terminal.press("C-d");
    await terminal.shows(/EXIT 0/);
  }
  const other = await runProgram(["run", "mend the roof"], { home });
  assert.equal(other.code, 0, other.stderr);
  await using terminal = await openTerminal(["-r"], { home, columns: 100 });
  await terminal.shows(/just now {2}mend the roof.*\n.*just now {2}The red shed {2}1 turn/);
  await terminal.type("red");
  await terminal.shows(/> just now {2}The red shed/);
  await terminal.press("Enter");
  await terminal.shows(/session \w{8} · The red shed · 1 turn[^]*> paint the shed[^]*Answer 1\./);
  await terminal.type("/rename The blue one");
  await terminal.press("Enter");
  await terminal.shows(/the session is named The blue one/);
  await terminal.press("C-d");
  await terminal.shows(/EXIT 0/);
  const listed = await runInProcess(["sessions", "list"], { home });
  assert.match(listed.stdout, /The blue one\n/);
  assert.doesNotMatch(listed.stdout, /red shed/);
  const resumed = await runInProcess(["run", "--resume", "the blue one", "and now?"], { home });
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.equal(server.chats().at(-1)?.json.messages.at(-3)?.content, "paint the shed");
});

Deno.test("sessions rename names a stored session; protected content is no name, here or in a chat", async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: keys.txt\n");
  await home.write("keys.txt", "hippopotamus-4711-zebra-violin\n");
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const chat = await runInProcess(["chat"], {
    home,
    stdin: "paint the shed\n/rename hippopotamus-4711-zebra-violin\n/rename shed\n",
  });
  assert.match(chat.stderr, /the name holds protected content[^]*the session is named shed/);
  const secret = await runInProcess(["sessions", "rename", "latest", "hippopotamus-4711-zebra-violin"], { home });
  assert.equal(secret.code, 6, secret.stderr);
  const json = async () =>
    JSON.parse((await runInProcess(["sessions", "list", "--json"], { home })).stdout).sessions[0];
  assert.equal((await json()).title, "shed");
  const done = await runInProcess(["sessions", "rename", "latest", "The\nred  shed"], { home });
  assert.match(done.stdout, /is now named The red shed\n/);
  assert.deepEqual([(await json()).title, (await json()).first_prompt], ["The red shed", "paint the shed"]);
  const none = await runInProcess(["sessions", "rename", "the red shed", ""], { home });
  assert.equal(none.code, 0, none.stderr);
  assert.equal((await json()).title, null);
});

terminalTest(
  "a continued session has its changes with the lines that they changed, and its list of steps",
  async () => {
    await using home = await temporaryHome();
    await home.write("a.txt", Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join(""));
    await home.write("b.txt", "old\n");
    const todos = [{ content: "Change the lines", status: "completed" }, { content: "Test them", status: "pending" }];
    const read = (path: string) => want("read", { path });
    await using server = startFakeServer({
      script: [
        ask(read("a.txt"), read("b.txt"), { name: "TodoWrite", input: { todos } }),
        ask(want("edit", { path: "a.txt", old: "line 20", new: "twenty\nand more" })),
        ask(want("edit", { path: "a.txt", old: "line 25\n", new: "" })),
        ask(want("write", { path: "b.txt", content: "new\n" }), want("write", { path: "c.txt", content: "made\n" })),
        say("Changed."),
        say("Again."),
      ],
    });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const first = await runProgram(["run", "--permission-mode", "acceptEdits", "change it"], { home });
    assert.equal(first.code, 0, first.stderr);
    await using terminal = await openTerminal(["chat", "--continue"], { home, rows: 60 });
    const shown = await terminal.shows(/Changed\.[^]*local · loc:fake/);
    assert.match(
      shown,
      /^\* Edit a\.txt {2}\+2 −1$[^]*^ {2}20 -line 20\n {2}20 \+twenty\n {2}21 \+and more\n {2}22 {2}line 21$/m,
    );
    assert.match(shown, /^\* Edit a\.txt {2}\+0 −1$[^]*^ {2}26 -line 25\n {2}26 {2}line 26$/m);
    assert.match(shown, /^\* Write b\.txt {2}\+1 −1\n {2}1 -old\n {2}1 \+new$/m);
    assert.match(shown, /^\* Write c\.txt {2}\+1 −0\n {2}1 \+made$/m);
    assert.match(shown, /^\[x\] Change the lines\n\[ \] Test them\n>$/m);
    const before = JSON.stringify(server.chats().at(-1)?.json.messages).length;
    await terminal.type("go");
    await terminal.press("Enter");
    await terminal.shows(/Again\./);
    const messages = server.chats().at(-1)?.json.messages;
    // What the model knows of the list is what it wrote: the request has grown by the answer and the prompt alone.
    assert.equal(JSON.stringify(messages.slice(0, -2)).length, before);
  },
);

terminalTest("where a command changed a file between two edits, the second is drawn without wrong lines", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\ntwo\nthree\n");
  const edit = (old: string, text: string) => ask(want("edit", { path: "a.txt", old, new: text }));
  await using server = startFakeServer({
    script: [
      ask(want("read", { path: "a.txt" })),
      edit("one", "1"),
      ask(want("shell", { command: "printf 'new\\nnew\\n1\\ntwo\\nthree\\n' >a.txt" })),
      ask(want("read", { path: "a.txt" })),
      edit("three", "3"),
      say("Changed."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const first = await runProgram(["run", "--permission-mode", "bypassPermissions", "change it"], { home });
  assert.equal(first.code, 0, first.stderr);
  assert.equal(await Deno.readTextFile(`${home.project}/a.txt`), "new\nnew\n1\ntwo\n3\n");
  await using terminal = await openTerminal(["chat", "--continue"], { home, rows: 60 });
  const shown = await terminal.shows(/Changed\.[^]*local · loc:fake/);
  assert.match(shown, /^\* Edit a\.txt {2}\+1 −1\n {2}1 -one\n {2}1 \+1$/m);
  assert.doesNotMatch(shown, /-three|\+3/);
});
