/**
 * Slips of small models with files, through the whole program: what would be lost is refused, what is meant is done.
 */
import assert from "node:assert/strict";
import { ask, type PlannedCall, say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

/** Runs one turn in which the model makes these calls, one a response; returns the results and the files after it. */
async function runCalls(
  files: Record<string, string>,
  calls: readonly PlannedCall[],
  options: { args?: string[] } = {},
) {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [...calls.map((call) => ask(call)), say("Done.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32_768 }] } });
  for (const [name, content] of Object.entries(files)) await home.write(name, content);
  const done = await runInProcess(["run", "go", "--permission-mode", "bypassPermissions", ...options.args ?? []], {
    home,
  });
  // What a rule denied makes the run end otherwise.
  if (options.args === undefined) assert.equal(done.code, 0, done.stderr);
  const messages: { role: string; content: string }[] = server.chats().at(-1)?.json.messages;
  const after = Object.fromEntries(
    await Promise.all(Object.keys(files).map(async (name) => [name, await home.read(name)])),
  );
  return { results: messages.filter(({ role }) => role === "tool").map(({ content }) => content), after };
}

const call = (name: string, input: Record<string, unknown>): PlannedCall => ({ name, input });

Deno.test("a page of a long file is not enough to overwrite it", async () => {
  const text = Array.from({ length: 1494 }, (_, at) => `row ${at + 1}\n`).join("");
  const { results, after } = await runCalls({ "a.txt": text }, [
    call("Read", { file_path: "a.txt", limit: 20 }),
    call("Write", { file_path: "a.txt", content: "row 1\n" }),
  ]);
  assert.match(results[1] ?? "", /has 1,494 lines, .* call Edit/);
  assert.equal(after["a.txt"], text);
});

Deno.test("a line that stands for left-out text is not written, unless the same call comes again", async () => {
  const text = "a\nb\nc\n";
  const lazy = { file_path: "a.ts", content: "a2\n// ... rest of the file unchanged ...\n" };
  const edit = { file_path: "a.ts", old_string: "b", new_string: "b2\n// ... existing code ..." };
  const { results, after } = await runCalls({ "a.ts": text }, [
    call("Read", { file_path: "a.ts" }),
    call("Write", lazy),
    call("Edit", edit),
    call("Write", { file_path: "new.ts", content: "// rest of the code here\n" }),
  ]);
  assert.match(results[1] ?? "", /^Line 2 of content, "\/\/ \.\.\. rest of the file unchanged \.\.\.".* call Edit/);
  assert.match(results[2] ?? "", /^Line 2 of new_string, .* Send the lines themselves/);
  assert.match(results[3] ?? "", /^Line 1 of content, .* whole content/);
  assert.equal(after["a.ts"], text);
  const meant = await runCalls({ "a.ts": text }, [
    call("Read", { file_path: "a.ts" }),
    call("Write", lazy),
    call("Write", lazy),
  ]);
  assert.equal(meant.after["a.ts"], lazy.content, meant.results[2]);
});

Deno.test("an insertion that is sent again is not repeated", async () => {
  const insert = (old_string: string, new_string: string) =>
    call("Edit", { file_path: "a.py", old_string, new_string });
  const text = "import os\n\ndef main():\n    run()\n";
  const twice = [
    insert("import os\n", "import os\nimport sys\n"),
    insert("    run()", "    prepare()\n    run()\n    finish()"),
  ];
  const once = await runCalls({ "a.py": text }, [call("Read", { file_path: "a.py" }), ...twice]);
  const again = await runCalls({ "a.py": text }, [call("Read", { file_path: "a.py" }), ...twice, ...twice]);
  assert.equal(again.after["a.py"], once.after["a.py"]);
  assert.match(again.results[3] ?? "", /already as new_string says \(line 1\); nothing was written/);
  assert.match(again.results[4] ?? "", /already as new_string says \(line 6\); nothing was written/);
  const blank = await runCalls({ "a.py": text }, [
    call("Read", { file_path: "a.py" }),
    insert("import os\n", "import os\n\n"),
  ]);
  assert.equal(blank.after["a.py"], text.replace("\n", "\n\n"), "white space around a place proves nothing");
});

Deno.test("a patch in a command is an edit, under the rules for edits", async () => {
  const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch";
  const bash = call("Bash", { command: `apply_patch <<'EOF'\n${patch}\nEOF` });
  const done = await runCalls({ "a.txt": "one\n" }, [bash]);
  assert.equal(done.after["a.txt"], "two\n", done.results[0]);
  const denied = await runCalls({ "a.txt": "one\n" }, [bash], { args: ["--disallowed-tools", "Edit(a.txt)"] });
  assert.match(denied.results[0] ?? "", /Edit\(a\.txt\) denies/);
  assert.equal(denied.after["a.txt"], "one\n");
});

Deno.test("a rule about a tool holds for its other names", async () => {
  const calls = [call("run_shell_command", { command: "echo x > a.txt" }), call("read_file", { path: "a.txt" })];
  const { results, after } = await runCalls({ "a.txt": "one\n" }, calls, {
    args: ["--disallowed-tools", "Bash(echo:*),Read(a.txt)"],
  });
  assert.match(results[0] ?? "", /Bash\(echo:\*\) denies/);
  assert.match(results[1] ?? "", /Read\(a\.txt\) denies/);
  assert.equal(after["a.txt"], "one\n");
});

Deno.test("a guessed path means a file of the project, under its rules, and reveals nothing of what is outside", async () => {
  const file = { "src/deep/x.ts": "one\n", "src/y.ts": "y\n", "lib/y.ts": "y\n" };
  const { results } = await runCalls(file, [
    call("Read", { file_path: "/workspace/src/deep/x.ts" }),
    call("Edit", { file_path: "/repo/x.ts", old_string: "one", new_string: "two" }),
    call("Read", { file_path: "/repo/y.ts" }),
    call("Read", { file_path: "/etc/src/../passwd" }),
    call("Write", { file_path: "/repo/new.ts", content: "x" }),
  ]);
  assert.equal(results[0], "[/workspace/src/deep/x.ts is not there; taken as src/deep/x.ts]\n1\tone");
  assert.match(results[1] ?? "", /taken as src\/deep\/x\.ts\]\nEdited/);
  for (const result of results.slice(2)) assert.match(result, /is outside of the project; give a path below /m);
  const home = (await runCalls({ "a.txt": "one\n" }, [
    call("Read", { file_path: `${import.meta.dirname}/a.txt` }),
    call("Read", { file_path: import.meta.filename ?? "" }),
  ])).results.map((result) => result.replace(/^\S+/, ""));
  assert.equal(home[0], home[1], "what is there and what is not get the same words");
  const denied = await runCalls(file, [call("Read", { file_path: "/repo/x.ts" })], {
    args: ["--disallowed-tools", "Read(src/deep/**)"],
  });
  assert.match(denied.results[0] ?? "", /denies/);
});

const SPELLINGS = [
  "src/a-b.ts:2",
  "src/a-b.ts:2:5",
  "src/a-b.ts#L2-L3",
  "src/a-b.ts (line 2)",
  "src/a-b.ts.",
  "src/a-b.ts/",
  " src/a-b.ts\n",
  '"src/a-b.ts"',
  "`src/a-b.ts`",
  "[a-b](src/a-b.ts)",
  "@src/a-b.ts",
  "./src\\a-b.ts",
  "a/src/a-b.ts",
  "src/a\u2011b.ts",
  "src/a-b.ts\u200b",
  "file://src/a-b.ts",
  "file:///workspace/src/a%2Db.ts",
  "~/project/src/a-b.ts",
];

Deno.test("a path with something around it is the file that it means, under its rules", async () => {
  const files = { "src/a-b.ts": "one\n" };
  const calls = SPELLINGS.map((file_path, index) => call("Read", { file_path, limit: index + 9 }));
  const { results } = await runCalls(files, calls, { args: ["--max-turns", "40"] });
  for (const [index, result] of results.entries()) {
    assert.match(result, /taken as src\/a-b\.ts\]\n1\tone$/, SPELLINGS[index]);
  }
  const denied = await runCalls(files, calls, { args: ["--max-turns", "40", "--disallowed-tools", "Read(src/**)"] });
  for (const [index, result] of denied.results.entries()) assert.match(result, /denies/, SPELLINGS[index]);
});

Deno.test("a protected file stays protected in every spelling of its path", async () => {
  const spellings = [
    "keys/a-b.pem",
    ...SPELLINGS.map((path) => path.replace("src/a", "keys/a").replace(/\bts/, "pem")),
  ];
  for (const host of ["127.0.0.2", "127.0.0.1"] as const) {
    await using home = await temporaryHome();
    await home.write(".agentclisecret", "no-cloud: keys/\n");
    await home.write("keys/a-b.pem", "KEPT-CONTENT-OF-A-KEY\n");
    const calls = spellings.map((file_path, index) => ask(call("Read", { file_path, limit: index + 9 })));
    await using server = startFakeServer({ host, script: [...calls, say("Done.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32_768 }] } });
    await runInProcess(["run", "go"], { home });
    const isTold = server.requests.some(({ text }) => text.includes("KEPT-CONTENT"));
    assert.equal(isTold, host === "127.0.0.1", host);
    assert.ok(server.chats().length > 1);
  }
});

Deno.test("a name that is there is meant as it stands, and one with dots that lead up is left alone", async () => {
  const files = { "a.ts:2": "odd\n", "a.ts": "plain\n" };
  const { results } = await runCalls(files, [
    call("Read", { file_path: "a.ts:2" }),
    call("Read", { file_path: "/repo/../a.ts" }),
    call("Write", { file_path: ' "new.ts"\n', content: "x\n" }),
    call("Read", { file_path: "new.ts" }),
  ]);
  assert.equal(results[0], "1\todd");
  assert.doesNotMatch(results[1] ?? "", /plain/);
  assert.match(results[3] ?? "", /1\tx/);
});

Deno.test("a search below a guessed root is one of the project", async () => {
  const { results } = await runCalls({ "src/a.ts": "one\n" }, [
    call("Grep", { pattern: "one", path: "/workspace" }),
    call("Glob", { pattern: "/workspace/**/*.ts" }),
    call("Glob", { pattern: "*.ts", path: "/repo/src" }),
    call("Grep", { pattern: "x", path: "/usr/share" }),
  ]);
  assert.match(results[0] ?? "", /taken as \.\]\nsrc\/a\.ts:1:one/);
  assert.match(results[1] ?? "", /\]\nsrc\/a\.ts$/);
  assert.match(results[2] ?? "", /\]\nsrc\/a\.ts$/);
  assert.match(results[3] ?? "", /outside of the project/);
});

Deno.test("a text that is written otherwise than it stands in the file is found, and changed as it stands there", async () => {
  const text = 'if (a && b < "c") {\n  one();\n  two();\n}\n';
  const rows: readonly [old: string, now: string, after: string][] = [
    ["2\t  one();\n  two();", "2\t  one();\n  three();", text.replace("two", "three")],
    ['1\tif (a && b < "c") {\n  one();', "if (b) {\n  one();", text.replace('a && b < "c"', "b")],
    ["\ufeffone();\u200b", "1();", text.replace("one", "1")],
    ["one();\\n  two();", 'one();\\n  say(\\"x\\");', text.replace("two()", 'say("x")')],
    ["a &amp;&amp; b &lt; &quot;c&quot;", "a &amp;&amp; b", text.replace(' < "c"', "")],
    ["a \uff06\uff06 b", "a || b", text.replace("&&", "||")],
    ["one()", "", text.replace("one()", "")],
    ["  one();", "", text.replace("  one();\n", "")],
    ["one();", "", text.replace("  one();\n", "")],
  ];
  for (const [old_string, new_string, after] of rows) {
    const edit = call("Edit", { file_path: "a.js", old_string, new_string });
    const done = await runCalls({ "a.js": text }, [call("Read", { file_path: "a.js" }), edit]);
    assert.equal(done.after["a.js"], after, `${JSON.stringify(old_string)}: ${done.results[1]}`);
  }
});

Deno.test("as many places as are expected are all meant, and no other number", async () => {
  const edit = (expected_replacements: number) =>
    call("Edit", { file_path: "a.txt", old_string: "x", new_string: "y", expected_replacements });
  const read = call("Read", { file_path: "a.txt" });
  assert.equal((await runCalls({ "a.txt": "x\nx\n" }, [read, edit(2)])).after["a.txt"], "y\ny\n");
  const other = await runCalls({ "a.txt": "x\nx\nx\n" }, [read, edit(2)]);
  assert.equal(other.after["a.txt"], "x\nx\nx\n");
  assert.match(other.results[1] ?? "", /occurs 3 times/);
});

Deno.test("an Edit without an old text makes a file that is not there, under the rules for Write", async () => {
  const edit = call("Edit", { file_path: "src/new.txt", old_string: "", new_string: "one\n" });
  const made = await runCalls({ "a.txt": "a\n" }, [edit, call("Read", { file_path: "src/new.txt" })]);
  assert.match(made.results[0] ?? "", /^Created src\/new\.txt/);
  const denied = await runCalls({ "a.txt": "a\n" }, [edit], { args: ["--disallowed-tools", "Write(src/**)"] });
  assert.match(denied.results[0] ?? "", /Write\(src\/\*\*\) denies/);
  const over = await runCalls({ "a.txt": "a\n" }, [
    call("Edit", { file_path: "a.txt", old_string: "", new_string: "b" }),
  ]);
  assert.match(over.results[0] ?? "", /old_string is empty/);
});

Deno.test("no content is written over one, unless the same call comes again", async () => {
  const empty = call("Write", { file_path: "a.txt", content: "\n" });
  const read = call("Read", { file_path: "a.txt" });
  const once = await runCalls({ "a.txt": "a\nb\n" }, [read, empty]);
  assert.equal(once.after["a.txt"], "a\nb\n");
  assert.match(once.results[1] ?? "", /^content is empty, and a\.txt has 2 lines: nothing was written/);
  assert.equal((await runCalls({ "a.txt": "a\nb\n" }, [read, empty, empty])).after["a.txt"], "\n");
});

Deno.test("what is not there is answered with what is", async () => {
  const files = {
    "src/one.ts": "1\n",
    "src/two.ts": "2\n",
    "lib/y.ts": "y\n",
    "src/y.ts": "y\n",
    "a.txt": "1\n2\n3\n",
  };
  const { results } = await runCalls(files, [
    call("Read", { file_path: "src/utilities.py" }),
    call("Read", { file_path: "nowhere/deep/file.py" }),
    call("Read", { file_path: "/repo/y.ts" }),
    call("Read", { file_path: "a.txt", offset: 90 }),
    call("Read", { file_path: "a.txt", offset: 90, limit: 2 }),
    call("attempt_completion", { result: "Done." }),
    call("ask_followup_question", { question: "Which?" }),
    call("Bash", { command: "python-none() { python-of-nobody; }; python-none" }),
    call("Bash", { command: "sed -i '' 's/1/2/' a.txt" }),
  ]);
  assert.match(results[0] ?? "", /does not exist\. src has: one\.ts, two\.ts, y\.ts\./);
  assert.match(results[1] ?? "", /does not exist\. The project has: a\.txt, lib\/, src\/\./);
  assert.match(
    results[2] ?? "",
    /^\[Did you mean (?:lib|src)\/y\.ts or (?:lib|src)\/y\.ts\?\]\n.* is outside of the project/,
  );
  assert.equal(results[3], "[offset 90 is beyond the end; the last lines:]\n1\t1\n2\t2\n3\t3");
  assert.match(results[4] ?? "", /the last lines:\]\n2\t2\n3\t3\n\[lines 2-3 of 3; end of file\]/);
  for (const result of results.slice(5, 7)) assert.match(result, /There is no tool .* give your answer as text/);
  assert.match(results[7] ?? "", /python-of-nobody.*not found/);
  assert.match(results[8] ?? "", /exit code \d\]\n\[this sed takes -i without a word behind it\]/);
});

Deno.test("a tool of another program is answered with what does its work here, where it is there", async () => {
  const calls = ["delete_file", "move_file", "create_directory", "run_python_code", "web_search"].map((name) =>
    call(name, { path: "a.txt" })
  );
  const { results } = await runCalls({ "a.txt": "1\n" }, calls);
  const ways = [
    /Call Bash with rm\./,
    /Call Bash with mv\./,
    /Call Write: it makes/,
    /Call Bash with the/,
    /no tool for the web/,
  ];
  for (const [index, way] of ways.entries()) assert.match(results[index] ?? "", way);
  const reading = await runCalls({ "a.txt": "1\n" }, calls, { args: ["--tools", "Read,Grep"] });
  for (const result of reading.results.slice(0, 4)) assert.doesNotMatch(result, /Call /);
});

Deno.test("a name without its directory is the one file that ends the same, where a file has to be there", async () => {
  const files = { "src/pump.py": "x = 1\n", "src/two.py": "a\n", "lib/two.py": "b\n" };
  const { results, after } = await runCalls(files, [
    call("Read", { file_path: "pump.py" }),
    call("Edit", { file_path: "pump.py", old_string: "x = 1", new_string: "x = 2" }),
    call("Read", { file_path: "two.py" }),
    call("Write", { file_path: "pump.py", content: "new\n" }),
  ]);
  assert.equal(results[0], "[pump.py is not there; taken as src/pump.py]\n1\tx = 1");
  assert.equal(after["src/pump.py"], "x = 2\n");
  assert.match(results[2] ?? "", /Did you mean (?:lib|src)\/two\.py or/);
  assert.match(results[3] ?? "", /^Created pump\.py/);
});

Deno.test("a call that stands twice in a reply is made once", async () => {
  await using home = await temporaryHome();
  const append = call("Bash", { command: "echo one >> n.txt" });
  await using server = startFakeServer({ script: [ask(append, append), say("Done.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32_768 }] } });
  await runInProcess(["run", "go", "--permission-mode", "bypassPermissions"], { home });
  assert.equal(await home.read("n.txt"), "one\n");
  const last: { role: string; content: string }[] = server.chats().at(-1)?.json.messages;
  assert.match(last.at(-1)?.content ?? "", /stands twice in your reply/);
});

Deno.test("an edit that lost its indentation leaves that of each line, and one that was made before is reported as such", async () => {
  const text = "def f(a):\n    if a:\n        return 1\n    return 2\n";
  const read = call("Read", { file_path: "a.py" });
  const edit = (old_string: string, new_string: string) => call("Edit", { file_path: "a.py", old_string, new_string });
  const rows: readonly [old: string, now: string, after: string][] = [
    ["def f(a):\nif a:\nreturn 1", "def f(a):\nif a:\nreturn 3", text.replace("return 1", "return 3")],
    ["if a:\nreturn 1\nreturn 2", "if a:\nreturn 1\nreturn 2 + a", text.replace("return 2", "return 2 + a")],
    ["if a:\nreturn 1", "if a:\n    return 3", text.replace("return 1", "return 3")],
  ];
  for (const [old, now, after] of rows) {
    const done = await runCalls({ "a.py": text }, [read, edit(old, now)]);
    assert.equal(done.after["a.py"], after, done.results[1]);
  }
  const twice = await runCalls({ "a.py": text }, [read, ...[1, 2].map(() => edit("return 2", "return 2 + a"))]);
  assert.equal(twice.after["a.py"], text.replace("return 2", "return 2 + a"));
  const replaced = await runCalls({ "a.py": text }, [
    read,
    ...[1, 2].map(() => edit("    return 2", "    return a * 2")),
  ]);
  assert.match(replaced.results[2] ?? "", /new_string stands there already, in line 4/);
});

Deno.test("a program that is not installed is answered with the tool that does its work", async () => {
  const { results } = await runCalls({ "bin/sh": "" }, [
    call("Bash", { command: "PATH=/nowhere; rg x" }),
    call("Bash", { command: "PATH=/nowhere; python x.py" }),
  ]);
  assert.match(results[0] ?? "", /\[rg is not installed here: use Grep\]/);
  assert.match(results[1] ?? "", /\[python is not installed here: try python3\]/);
});

Deno.test("a change that breaks the syntax of a file is reported with its line, and the next change fixes it", async () => {
  const files = { "set.json": '{\n  "a": 1\n}\n' };
  const { results, after } = await runCalls(files, [
    call("Edit", { file_path: "set.json", old_string: '"a": 1', new_string: '"a": 1\n  "b": 2' }),
    call("Edit", { file_path: "set.json", old_string: '"a": 1\n', new_string: '"a": 1,\n' }),
  ]);
  assert.match(
    results[0] ?? "",
    /^Edited set\.json\.[^]*\nThe file has a syntax error now: line 3: .* Call Edit to mend it\.$/,
  );
  assert.doesNotMatch(results[1] ?? "", /syntax/);
  assert.equal(after["set.json"], '{\n  "a": 1,\n  "b": 2\n}\n');
});
