/** A reply that ends at its length limit inside a call of Write: asked for again in parts, once. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

const LINES = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`);
const raw = (lines: number) => `{"file_path": "n.txt", "content": "${LINES.slice(0, lines).join("\\n")}`;
const cut = (name: string, lines = 90): Step => ({
  kind: "message",
  finish: "length",
  calls: [{ name, input: raw(lines) }],
});
const [FIRST, SECOND] = [LINES.slice(0, 45).join("\n") + "\n", LINES.slice(45).join("\n") + "\n"];
const PARTS = [
  ask({ name: "Write", input: { file_path: "n.txt", content: FIRST } }),
  ask({ name: "Edit", input: { file_path: "n.txt", old_string: "line 45\n", new_string: `line 45\n${SECOND}` } }),
  say("It is written."),
];

async function ran(steps: readonly Step[], model: Record<string, unknown> = {}) {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: steps });
  await configure(home, {
    loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768, ...model }] },
  });
  const done = await runInProcess(["run", "Write 100 lines", "--permission-mode", "acceptEdits"], { home });
  const told = server.chats().map(({ json }) => String(json.messages.at(-1).content)).slice(1);
  return { done, told, requests: server.chats().length, written: await home.read("n.txt").catch(() => null) };
}

for (const name of ["Write", "write_file"]) {
  Deno.test(`a file that is cut in a call of ${name} is written in parts`, async () => {
    const { done, told, written } = await ran([cut(name), ...PARTS]);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(written, FIRST + SECOND);
    assert.match(
      told[0] ?? "",
      /cut at its length limit \(8192 tokens\).*nothing was written.*Write with its first 44 lines/,
    );
  });
}

Deno.test("a file that is cut is asked for in parts only once; a second cut is reported like any other", async () => {
  const { told, written } = await ran([cut("Write"), cut("Write", 80), say("It is too long.")]);
  assert.match(told[0] ?? "", /in parts/);
  assert.match(told[1] ?? "", /^The reply was cut at the token limit/);
  assert.equal(written, null);
});

Deno.test("another call that is cut is reported as such", async () => {
  const { told } = await ran([{
    kind: "message",
    finish: "length",
    calls: [{ name: "Bash", input: '{"command": "echo ' }],
  }, say("No.")]);
  assert.match(told[0] ?? "", /^The reply was cut at the token limit/);
});

Deno.test("a call of Write that is written as text and cut does not end the turn", async () => {
  const text = `I write it.\n<tool_call>\n{"name": "Write", "arguments": ${raw(90)}`;
  const { done, told, requests } = await ran([say(text, { finish: "length" }), say("It is too long.")], {
    tool_calls: "text",
  });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(requests, 2);
  assert.match(told[0] ?? "", /length limit.*in parts: call Write with its first 4\d lines/);
  const again = await ran([say(text, { finish: "length" }), say(text, { finish: "length" }), say("never")]);
  assert.equal(again.requests, 2);
});

Deno.test("a text that is cut, and calls nothing, is the answer", async () => {
  const { requests, done } = await ran([say("One, two, thr", { finish: "length" }), say("never")]);
  assert.deepEqual([requests, done.stdout], [1, "One, two, thr\n"]);
});
