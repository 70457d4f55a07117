import assert from "node:assert/strict";
import { INTRODUCTION } from "./answer.ts";
import type { DemoMessage } from "./server.ts";
import { type DemoReply, replyTo } from "./script.ts";

const TOOLS = ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "TodoWrite"];

/** Plays the script against fixed results until it answers; gives its replies. */
function play(prompt: string, results: Record<string, (input: Record<string, unknown>) => string>, tools = TOOLS) {
  const messages: DemoMessage[] = [{ role: "user", content: prompt, calls: [], callId: "" }];
  const replies: DemoReply[] = [];
  for (let round = 0; round < 10; round++) {
    const reply = replyTo({ messages, tools });
    replies.push(reply);
    if (reply.kind === "text") return { replies, text: reply.text };
    const calls = reply.calls.map((call, index) => ({ id: `${round}.${index}`, ...call }));
    messages.push({ role: "assistant", content: "", calls, callId: "" });
    for (const { id, name, input } of calls) {
      messages.push({ role: "tool", content: results[name]?.(input) ?? "", calls: [], callId: id });
    }
  }
  throw new Error("the script does not end");
}

function callsOf(reply: DemoReply | undefined): unknown[] {
  return reply?.kind === "calls" ? reply.calls.map((call) => [call.name, call.input]) : [];
}

Deno.test("files that the prompt names are read together and outlined", () => {
  const texts: Record<string, string> = {
    "README.md": "1\t# Title\n2\t\n3\t## Usage",
    "src/a.ts": "1\texport function start() {}\n2\tclass Server {}",
  };
  const { replies, text } = play("Compare README.md with src/a.ts, please.", {
    Read: (i) => texts[String(i.file_path)]!,
  });
  assert.deepEqual(callsOf(replies[0]), [["Read", { file_path: "README.md" }], ["Read", { file_path: "src/a.ts" }]]);
  assert.ok(text.startsWith(INTRODUCTION));
  assert.match(text, /README\.md: 3 lines read; headings: Title, Usage/);
  assert.match(text, /src\/a\.ts: 2 lines read; definitions: start, Server/);
});

Deno.test("without named files the directory is listed and at most three files are read", () => {
  const { replies, text } = play("What is this project?", {
    Glob: () => "b.md\nmain.ts\npackage-lock.json\npackage.json\nREADME.md\nlogo.png",
    Read: () => "1\tx",
  });
  assert.deepEqual(callsOf(replies[0]), [["Glob", { pattern: "./*" }]]);
  assert.deepEqual(
    callsOf(replies[1]),
    ["README.md", "package.json", "main.ts"].map((file_path) => ["Read", { file_path }]),
  );
  assert.match(text, /main\.ts: 1 line read/);
});

Deno.test("a directory of directories is searched once, an empty one is reported as empty", () => {
  const nested = play("Explain.", { Glob: (i) => i.pattern === "./*" ? "" : "src/index.ts", Read: () => "1\tlet a" });
  assert.match(nested.text, /src\/index\.ts/);
  assert.match(play("Explain.", { Glob: () => "No file matches." }).text, /no file here/);
});

Deno.test("a search runs Grep with the literal text and shows the matches", () => {
  const { replies, text } = play('Where is "a.b(" used?', { Grep: () => "x.ts:3:a.b(1)" });
  assert.deepEqual(callsOf(replies[0]), [["Grep", { pattern: "a\\.b\\(" }]]);
  assert.match(text, /x\.ts:3:a\.b\(1\)/);
  assert.deepEqual(callsOf(play("search for listModels", {}).replies[0]), [["Grep", { pattern: "listModels" }]]);
});

Deno.test("an edit reads the file first and then replaces", () => {
  const { replies, text } = play('replace "one" with "two" in notes.txt.', {
    Read: () => "1\tone",
    Edit: () => "edited notes.txt",
  });
  assert.deepEqual(callsOf(replies[0]), [["Read", { file_path: "notes.txt" }]]);
  assert.deepEqual(callsOf(replies[1]), [
    ["Edit", { file_path: "notes.txt", old_string: "one", new_string: "two" }],
  ]);
  assert.match(text, /edited notes\.txt/);
});

Deno.test("an edit of a file that cannot be read ends with the reason", () => {
  const { replies, text } = play('replace "one" with "two" in gone.txt', { Read: () => "no such file: gone.txt" });
  assert.equal(replies.length, 2);
  assert.match(text, /no such file/);
});

Deno.test("a command runs as written, and a denied one is explained with the way to allow it", () => {
  const ran = play("please run `git status`", { Bash: () => "clean" });
  assert.deepEqual(callsOf(ran.replies[0])[0], [
    "Bash",
    { command: "git status", description: "The command of the prompt" },
  ]);
  assert.match(ran.text, /clean/);
  const denied = play("run `git push`", { Bash: () => "Permission denied: nobody was there to allow it." });
  assert.match(denied.text, /--allowed-tools 'Bash\(git push\)'/);
});

Deno.test("a tool that is not offered is not called", () => {
  const { replies, text } = play("read a.txt", {}, ["Grep"]);
  assert.equal(replies.length, 1);
  assert.match(text, /not offered the tools I wanted next: Read/);
  assert.ok(play("Hello", {}, []).text.startsWith(INTRODUCTION));
});

Deno.test("a second prompt of a session starts over", () => {
  const history: DemoMessage[] = [
    { role: "user", content: "read a.txt", calls: [], callId: "" },
    { role: "assistant", content: "", calls: [{ id: "1", name: "Read", input: { file_path: "a.txt" } }], callId: "" },
    { role: "tool", content: "1\ta", calls: [], callId: "1" },
    { role: "assistant", content: "done", calls: [], callId: "" },
    { role: "user", content: "read b.txt", calls: [], callId: "" },
  ];
  assert.deepEqual(callsOf(replyTo({ messages: history, tools: TOOLS })), [["Read", { file_path: "b.txt" }]]);
});
