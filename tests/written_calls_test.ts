/** Calls that a server leaves in the text of a reply, through the whole program. */
import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

/** Runs a prompt against a server that answers with these texts. */
async function runWith(texts: readonly string[], args: readonly string[] = []) {
  const home = await temporaryHome();
  const server = startFakeServer({ script: texts.map((text) => say(text)) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "go", "--allowed-tools", "Write,Bash", ...args], { home });
  return {
    done,
    home,
    requests: server.requests.filter(({ path }) => path.endsWith("/chat/completions")).length,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a file that a model writes between tags keeps its last newline", async () => {
  const content = "def f():\n    return 1\n";
  const forms = [
    `<tool_call>Write<arg_key>file_path</arg_key><arg_value>a.py</arg_value>` +
    `<arg_key>content</arg_key><arg_value>${content}</arg_value></tool_call>`,
    `<seed:tool_call>\n<function=Write>\n<parameter=file_path>a.py</parameter>\n` +
    `<parameter=content>${content}</parameter>\n</function>\n</seed:tool_call>`,
    `<function name="Write"><param name="file_path">a.py</param><param name="content">${content}</param></function>`,
    `<tool_call>\n{"name": "Write", "arguments": {"file_path": "a.py", "content": "${content}"}}\n</tool_call>`,
  ];
  for (const form of forms) {
    await using run = await runWith([`I write it.\n\n${form}`, "Written."]);
    assert.equal(await run.home.read("a.py"), content, form);
    assert.equal(run.done.stdout, "I write it.\n\nWritten.\n", run.done.stderr);
    assert.equal(run.done.code, 0);
  }
});

Deno.test("a call that was only thought is not run, and its thought is no answer", async () => {
  const call = '<tool_call>{"name": "Write", "arguments": {"file_path": "a.py", "content": "x"}}</tool_call>';
  for (const [open, close] of [["<seed:think>", "</seed:think>"], ["<|START_THINKING|>", "<|END_THINKING|>"]]) {
    await using run = await runWith([`${open}Perhaps\n${call}${close}No need.`], ["--output-format", "stream-json"]);
    assert.equal(await run.home.read("a.py").catch(() => null), null);
    const events = run.done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.equal(events.at(-1).result, "No need.");
    const parts = events.filter((event) => event.type === "assistant").flatMap((event) => event.message.content);
    assert.deepEqual(parts.map((part: { type: string }) => part.type), ["thinking", "text"]);
    assert.match(parts[0].thinking, /Perhaps/);
  }
});

Deno.test("markup that nobody can read is asked for once more, and then ends the run with what the server needs", async () => {
  const markup = 'I look.\n<|plugin_call|>Write{path: "a.py"}';
  await using run = await runWith([markup, markup]);
  assert.equal(run.done.code, 1, run.done.stderr);
  assert.match(run.done.stderr, /a form that cannot be read/);
  assert.match(run.done.stderr, /parses tool calls|tool_calls: text/);
  assert.equal(run.requests, 2);
});
