import assert from "node:assert/strict";
import { recoverCalls } from "./recover.ts";

const TOOLS = ["Read", "Edit"].map((name) => ({
  type: "function" as const,
  function: { name, description: "", parameters: { type: "object", properties: { file_path: { type: "string" } } } },
}));

const block = (old: string, now: string) => `<<<<<<< SEARCH\n${old}=======\n${now}>>>>>>> REPLACE`;
const edit = (file_path: string, old_string: string, new_string: string) => ({
  name: "Edit",
  input: { file_path, old_string, new_string },
});

Deno.test("SEARCH/REPLACE blocks that end a message are edits of the files named before them", () => {
  const rows: readonly (readonly [text: string, calls: unknown])[] = [
    [`a.py\n\`\`\`python\n${block("x\n", "y\n")}\n\`\`\``, [edit("a.py", "x", "y")]],
    [`I change it.\n\n**src/a.py**\n${block("x\n", "")}\n`, [edit("src/a.py", "x\n", "")]],
    [`\`\`\`\na.py\n${block("x\n", "y\n")}\n\n${block("v\n", "w\n")}\n\`\`\`\n`, [
      edit("a.py", "x", "y"),
      edit("a.py", "v", "w"),
    ]],
    [`### File: a.py\r\n${block("x\n", "y\n").replaceAll("\n", "\r\n")}`, [edit("a.py", "x", "y")]],
  ];
  for (const [text, calls] of rows) {
    const found = recoverCalls(text, TOOLS);
    assert.deepEqual(found?.calls, calls, text);
    assert.equal(found?.rest, text, "what was shown stays");
  }
});

Deno.test("blocks that are shown, open, of no file, or of a tool that is not there are no calls", () => {
  const good = `a.py\n${block("x\n", "y\n")}`;
  for (
    const text of [
      `${good}\n\nThis is how it is written.`,
      `Use this form:\n${block("x\n", "y\n")}`,
      "a.py\n<<<<<<< SEARCH\nx\n=======\ny\n",
      "a.py\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> main",
      `a.py\n${block("", "y\n")}`,
      `<think>${good}`,
    ]
  ) assert.equal(recoverCalls(text, TOOLS), null, text);
  assert.equal(recoverCalls(good, TOOLS.slice(0, 1)), null);
  assert.equal(recoverCalls("<<<<<<< SEARCH\n".repeat(20_000), TOOLS), null);
});

Deno.test("arguments may stand in the tag that names the tool", () => {
  for (
    const text of [
      `<function name="Read" file_path="a.txt"></function>`,
      `<function name="Read" file_path='a.txt' />`,
      `<function_call name="read_file" path="a.txt"/>`,
      `<tool name="Read" arguments='{"file_path": "a.txt"}'></tool>`,
      `<invoke name="Read" arguments="{&quot;file_path&quot;: &quot;a.txt&quot;}"/>`,
    ]
  ) {
    const [call] = recoverCalls(text, TOOLS)?.calls ?? [];
    assert.deepEqual([call?.name, call?.input.file_path ?? call?.input.path], ["Read", "a.txt"], text);
  }
  assert.equal(recoverCalls(`<function name="Read"/>`, TOOLS), null);
});
