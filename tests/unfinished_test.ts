/** Replies that end a turn without what they say: asked about once, and never on a plain question. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

/** Runs a prompt against a server that answers with these steps; then says what it was sent and what came of it. */
async function ran(prompt: string, steps: readonly (string | Step)[], args: readonly string[] = []) {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  const script = steps.map((step) => typeof step === "string" ? say(step) : step);
  await using server = startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const done = await runInProcess(["run", prompt, "--json", "--allowed-tools", "Write,Edit,Bash", ...args], { home });
  const result = JSON.parse(done.stdout);
  const told = server.chats().map(({ json }) => json.messages.at(-1)).filter(({ role }) => role === "user").slice(1);
  return {
    code: done.code,
    answer: result.result,
    errorCode: result.error_code,
    requests: server.chats().length,
    told: told.map(({ content }) => content),
    bodies: server.chats().map(({ text }) => text),
    written: await home.read("a.txt"),
    stderr: done.stderr,
  };
}

const WRITE = ask(want("write", { path: "b.txt", content: "beta\n" }));

Deno.test("an announced step without a call is asked for once, and the call is made", async () => {
  const run = await ran("Write beta to b.txt", ["I will write the file now.", WRITE, "It is there."]);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.answer, "It is there.");
  assert.equal(run.told.length, 1);
  assert.match(run.told[0], /announces a step.*no tool call/);
});

Deno.test("a person gets a notice, and reads both replies", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Let me check:"), say("Nothing to do.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "Check it"], { home });
  assert.equal(done.stdout, "Let me check:\nNothing to do.\n");
  assert.match(done.stderr, /^ {2}the response announces a step without a tool call; asked the model to make it$/m);
});

Deno.test("a second announcement is the answer", async () => {
  const run = await ran("Write beta to b.txt", ["I will write it.", "Now I'll write it.", "never"]);
  assert.deepEqual([run.code, run.answer, run.requests], [0, "Now I'll write it.", 2]);
});

Deno.test("each request begins with the one before it, up to its end", async () => {
  const { bodies } = await ran("Write beta to b.txt", [
    "Let me look first:",
    "I have fixed a.txt.",
    "No change is needed.",
  ]);
  assert.equal(bodies.length, 3);
  const messages = bodies.map((body) => JSON.stringify(JSON.parse(body).messages).slice(0, -1));
  for (const [at, text] of messages.entries()) assert.ok(text.startsWith(messages[at - 1] ?? ""), `${at}`);
});

for (
  const reply of [
    "Let me read a.txt first:",
    "Sure! I'll start by reading a.txt...",
    "I'll write it:\n\n```text\nbeta\n```",
    "Okay, now let me check the file.",
    "Ich werde die Datei jetzt schreiben.",
    "Zuerst lese ich a.txt.",
    "Je vais lire le fichier.",
    "Voy a leer el archivo.",
    "Vou ler o arquivo.",
    "Сейчас я прочитаю файл.",
    "好的，我来读取这个文件。",
    "まず、ファイルを確認します。",
    "먼저 파일을 확인하겠습니다.",
    "Nyt luen tiedoston a.txt:",
  ]
) {
  Deno.test(`announces: ${reply.split("\n", 1)[0]}`, async () => {
    const run = await ran("Write beta to b.txt", [reply, "Nothing is left to do."]);
    assert.deepEqual([run.requests, run.code], [2, 0], run.stderr);
  });
}

for (
  const reply of [
    "<tool_call>Read a.txt",
    "[TOOL_CALLS]Read a.txt",
    "I look first.\n\nAction: Read\nAction Input: a.txt",
    "<|tool_call|>Read: a.txt",
    'tool_call: Read({"file_path": "a.txt"',
    '{"name": "Read", "arguments": {"file_path": "a.txt"',
    "<Read>\na.txt",
    '```tool_call\nRead(file_path="a.txt"\n```',
  ]
) {
  Deno.test(`opens a call that cannot be read: ${reply.split("\n").at(-1)}`, async () => {
    const run = await ran("Write beta to b.txt", [reply, reply, "never"]);
    assert.deepEqual([run.requests, run.code, run.answer], [2, 0, reply], run.stderr);
    assert.match(run.told[0], /seems to call Read[^]*<tool_call>\n\{"name":"Read"/);
  });
}

for (
  const [prompt, reply, ...args] of [
    ["List the tools", '[\n{"name": "Read", "kind": "read"},\n{"name": "Write", "kind": "write"}\n]'],
    ["Name a tool", '{"name": "Read"}'],
    ["Show a call", "A call:\n\n```text\n<tool_call>Read a.txt\n```\n"],
    ["What would you do first?", "I will read a.txt first."],
    ["How do I write a file", "Use Write. If you want, I'll write it."],
    ["Write beta to b.txt", "Let me know which beta you mean."],
    ["Write beta to b.txt", "Which encoding shall I use?"],
    ["Write beta to b.txt", "I will not write it: the file is protected."],
    ["Write a function that sorts", "I'll write it:\n\n```python\nsorted(x)\n```"],
    ["Plan the work", "My steps:\n1. I will read a.txt.\n2. I will write b.txt."],
    ["Say hello", "Hello."],
    ["Write beta to b.txt", "I will read a.txt first.", "--permission-mode", "plan"],
    ["Write beta to b.txt", "I will read a.txt first.", "--tools", "none"],
    ["Write beta to b.txt", "I will read a.txt first.", "--max-turns", "1"],
    ["What did you change?", "I fixed a.txt and all tests pass."],
    ["Tell me what was done", "I updated a.txt."],
    ["Erkläre mir, was du getan hast", "Ich habe die Datei a.txt geändert."],
    ["Write a commit message", "Fixed the parser in parse.ts"],
    ["Summarize the log", "The parser has been fixed."],
    ["Quote the log", 'It says "I fixed the parser" and ends.'],
    ["Quote the log", "> I fixed the parser\n\nThat is all of it."],
    ["Read the log", "The log ends with this:\n\n```\nI fixed it, all tests pass.\n```\n"],
    ["Make a plan for a.txt", "I have created a plan."],
    ["Fix a.txt", "I have not changed anything: a.txt is fine."],
    ["Fix a.txt", "If the tests pass, the file is fine."],
    ["Run nothing", "Make sure that the tests pass."],
    ["Remember the number 5", "Done."],
    ["Show me how to fix a.txt", "So:\n\n```text\nbeta\n```"],
    ["Write a sort in Python", "Here it is:\n\n```python\nsorted(x)\n```"],
    ["How do I fix a.txt?", "So:\n\n```text\nbeta\n```\nWould you like me to do it?"],
    ["Fix a.txt", "Which of the two lines do you mean?"],
    ["Fix a.txt", "There is nothing to do: a.txt is done well."],
  ] as const
) {
  Deno.test(`stands as it is: ${prompt} - ${reply.split("\n", 1)[0]} ${args.join(" ")}`, async () => {
    const run = await ran(prompt, [reply, "never"], args);
    assert.deepEqual([run.requests, run.code, run.answer], [1, 0, reply], run.stderr);
  });
}

for (
  const reply of [
    "I've fixed the bug in a.txt.",
    "Done! I have updated `a.txt`.",
    "Fixed the typo in a.txt.",
    "The file a.txt has been updated.",
    "Ich habe den Fehler in a.txt behoben.",
    "J'ai corrigé le fichier.",
    "He corregido el archivo.",
    "Ho corretto il file.",
    "Я исправил файл a.txt.",
    "我已经修复了这个文件。",
    "ファイルを修正しました。",
    "파일을 수정했습니다.",
    "Done!",
    "The task is complete.",
    "`a.txt` now returns beta.",
    "I looked at it.\n\nEverything is done.",
    "Erledigt.",
    "Terminé.",
    "Listo.",
    "Feito.",
    "Готово.",
    "完成了。",
    "完了しました。",
    "완료했습니다.",
  ]
) {
  Deno.test(`claims: ${reply}`, async () => {
    const run = await ran("Fix a.txt", [reply, "It needs no change.", "never"]);
    assert.deepEqual([run.requests, run.code, run.answer], [2, 0, "It needs no change."], run.stderr);
    assert.match(run.told[0], /no file was changed in this turn, and no command ran/);
  });
}

for (
  const [prompt, reply] of [
    ["Fix a.txt", "Here is the corrected text:\n\n```text\nbeta\n```"],
    ["Fix the typo", "In a.txt it should be:\n\n```diff\n-alpha\n+beta\n```\nThat repairs it."],
  ] as const
) {
  Deno.test(`shows code in place of a change: ${reply.split("\n", 1)[0]}`, async () => {
    const run = await ran(prompt, [reply, WRITE, "It is there."]);
    assert.deepEqual([run.requests, run.code, run.answer], [3, 0, "It is there."], run.stderr);
    assert.match(run.told[0], /shows code, but no file was changed/);
  });
}

for (
  const reply of [
    "I found it. Would you like me to fix it?",
    "Should I change a.txt?",
    "Soll ich das ändern?",
    "Voulez-vous que je le corrige ?",
    "¿Quieres que lo corrija?",
    "Quer que eu corrija?",
    "Vuoi che lo corregga?",
    "Хотите, чтобы я исправил?",
    "需要我修复吗？",
    "修正しましょうか？",
    "수정할까요?",
  ]
) {
  Deno.test(`offers what was asked for, where nobody answers: ${reply}`, async () => {
    const run = await ran("Fix a.txt", [reply, WRITE, "It is there."]);
    assert.deepEqual([run.requests, run.code, run.answer], [3, 0, "It is there."], run.stderr);
    assert.match(run.told[0], /nobody can answer/);
  });
}

Deno.test("an offer, where a person can answer it, is the answer", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Would you like me to fix it?"), say("never")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  await runInProcess(["chat"], { home, stdin: "Fix a.txt\n" });
  assert.equal(server.chats().length, 1);
});

Deno.test("a command that only looks changed nothing, and one that failed proves no tests", async () => {
  const look = ask(want("shell", { command: "cat a.txt | head -3" }));
  const looked = await ran("Fix it", [look, "I fixed a.txt.", "It needs no change."]);
  assert.deepEqual([looked.requests, looked.answer], [3, "It needs no change."]);
  const fail = ask(want("shell", { command: "sh -c 'exit 1'" }));
  const failed = await ran("Fix it", [WRITE, fail, "I created b.txt, and all tests pass.", "They fail."]);
  assert.deepEqual([failed.requests, failed.answer], [4, "They fail."]);
  assert.match(failed.told[0], /the last command of this turn failed/);
});

Deno.test("a claim is answered once, after an announcement too", async () => {
  const run = await ran("Fix a.txt", ["I'll fix it.", "I fixed it.", "I fixed it.", "never"]);
  assert.deepEqual([run.requests, run.code, run.answer], [3, 0, "I fixed it."]);
});

Deno.test("a claim of a change that was made, by a file tool or a command, stands", async () => {
  const edited = await ran("Fix it", [WRITE, "I have created b.txt."]);
  assert.equal(edited.requests, 2);
  const command = await ran("Fix it", [ask(want("shell", { command: "echo x > b.txt" })), "I created it. Tests pass."]);
  assert.equal(command.requests, 2);
});

Deno.test("a call that failed, or was denied, changed nothing", async () => {
  const edit = ask(want("edit", { path: "a.txt", old: "nowhere", new: "x" }));
  const failed = await ran("Fix it", [edit, "I fixed a.txt.", "It cannot be fixed."]);
  assert.deepEqual([failed.requests, failed.answer], [3, "It cannot be fixed."]);
  const denied = await ran("Fix it", [WRITE, "I created b.txt.", "It was denied."], [
    "--disallowed-tools",
    "Write(**)",
  ]);
  assert.deepEqual([denied.requests, denied.answer], [3, "It was denied."], denied.stderr);
});

Deno.test("tests that are said to pass were run", async () => {
  const run = await ran("Fix it", [WRITE, "I created b.txt. All tests pass.", "The tests were not run."]);
  assert.equal(run.requests, 3);
  assert.match(run.told[0], /says that tests pass, but no command ran/);
});

Deno.test("a later turn may speak of what an earlier one did", async () => {
  await using home = await temporaryHome();
  const script = [
    WRITE,
    say("I created b.txt."),
    say("You're welcome! I created b.txt for you."),
    say("I fixed it."),
    say("No."),
  ];
  await using server = startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const run = (...args: string[]) => runInProcess(["run", ...args, "--allowed-tools", "Write"], { home });
  assert.equal((await run("Create b.txt")).code, 0);
  assert.equal((await run("Great work, that was quick", "--continue")).code, 0);
  assert.equal(server.chats().length, 3);
  assert.equal((await run("Now fix a.txt", "--continue")).code, 0);
  assert.equal(server.chats().length, 5);
});
