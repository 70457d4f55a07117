import assert from "node:assert/strict";
import { FORMS, QUOTATIONS, SAMPLE_TOOLS, type SampleCall } from "../../../tests/helpers/text_calls.ts";
import { recoverCalls, unparsedCall } from "./recover.ts";

const LIST: SampleCall = { name: "list", input: {} };
const READ: SampleCall = { name: "read_file", input: { path: "a" } };

Deno.test("a call that cannot be read is seen, with its tool", () => {
  const texts: [text: string, name: string | null][] = [
    ['<tool_call>{"name": "read_file", "arguments": {"path": "a"', "read_file"],
    ['<tool_call>{"name": "read_file", "arguments": ["a"]}</tool_call>', "read_file"],
    ['<tool_call>{"name": "delete_all", "arguments": {}}</tool_call>', null],
    ["<function=read_file><parameter=path>a", "read_file"],
    ["I look.\n<|plugin_call|>read_file{path=a}", "read_file"],
    ['<|recipient|>read_file\n<|content|>{"path": "a"}', "read_file"],
    ["<use_tool><tool_name>read_file</tool_name><path>a</path></use_tool>", "read_file"],
    ["<read_file>\n<args><path>a</path></args>\n</read_file>", "read_file"],
    ["It would be:\n\nread_file(path='a')", "read_file"],
    ['Here it is:\n\n{"name": "read_file", "arguments": {"path": "a"}}', "read_file"],
    ['First this.\n\nThen that.\n\n```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```', "read_file"],
    ['```xml\n<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>\n```', "read_file"],
    ["Action: read_file\nAction Input: [a]", "read_file"],
  ];
  for (const [text, name] of texts) {
    assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
    assert.deepEqual(unparsedCall(text, SAMPLE_TOOLS), { name, ends: true }, text);
  }
});

Deno.test("answers are no calls that cannot be read", () => {
  const texts = [
    "I read the file a and list what is in it.",
    "Call `read_file(path='a')` for that.",
    "```ts\nconst x = read_file(a);\n```",
    "The result is [1, 2] (see read_file)",
    '{"name": "x", "read_file": true}',
    "<ul><li>read_file</li></ul>",
    "if (a < b) { list(); }",
    'For example:\n```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```',
    "The tag <tool_call> opens a call of read_file.",
    "See [read_file](https://a.b/c)",
    "const list = [1];\nconst y = {a: 1}",
  ];
  for (const text of texts) assert.equal(unparsedCall(text, SAMPLE_TOOLS), null, text);
  for (const quote of Object.values(QUOTATIONS)) {
    const text = `${quote(FORMS.hermes?.([LIST]) ?? "")} That is the form.`;
    const found = unparsedCall(text, SAMPLE_TOOLS);
    if (found !== null) assert.equal(found.ends, false, text);
  }
});

Deno.test("a call with words after it, and one as YAML, is seen and may be meant as words", () => {
  const call = '{"name": "read_file", "arguments": {"path": "a"}}';
  for (
    const text of [
      `I look.\n\`\`\`json\n${call}\n\`\`\`\nThen I know.`,
      "I look.\n\ntool: read_file\npath: a",
      "**read_file**\n- path: a",
    ]
  ) {
    assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
    assert.deepEqual(unparsedCall(text, SAMPLE_TOOLS), { name: "read_file", ends: false }, text);
  }
  for (
    const text of [
      `For example:\n\`\`\`json\n${call}\n\`\`\`\nThen you know.`,
      `\`\`\`json\n${call}\n\`\`\`\nThat is the format.`,
      "read_file takes one argument.\npath: where it is",
      "read_file\nlimit: 3",
    ]
  ) assert.equal(unparsedCall(text, SAMPLE_TOOLS), null, text);
});

Deno.test("a call amid a sentence is seen, and is no end", () => {
  const text = `To read it you send ${FORMS.hermes?.([READ])} and wait.`;
  assert.deepEqual(unparsedCall(text, SAMPLE_TOOLS), { name: "read_file", ends: false });
});
