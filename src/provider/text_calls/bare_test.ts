import assert from "node:assert/strict";
import { SAMPLE_TOOLS, type SampleCall } from "../../../tests/helpers/text_calls.ts";
import { recoverCalls, recoverThought } from "./recover.ts";

const LIST: SampleCall = { name: "list", input: {} };

function callsOf(text: string): SampleCall[] {
  return (recoverCalls(text, SAMPLE_TOOLS)?.calls ?? []) as SampleCall[];
}

Deno.test("the weak form counts when it is the whole message", () => {
  const list = '{"name":"list","parameters":{}}';
  const read = '{"type":"function","name":"read_file","parameters":{"path":"a"}}';
  const both = [LIST, { name: "read_file", input: { path: "a" } }];
  assert.deepEqual(recoverCalls(list, SAMPLE_TOOLS), { calls: [LIST], rest: "", family: "bare" });
  for (
    const text of [
      `${list}; ${read}`,
      `${list}\n${read}\n`,
      `[${list},${read}]`,
      `\`\`\`json\n[${list},${read}]\n\`\`\``,
    ]
  ) {
    assert.deepEqual(callsOf(text), both, text);
  }
  assert.deepEqual(callsOf(`<think>hm {</think>\n\n${list}`), [LIST]);
  assert.deepEqual(recoverCalls(`hm\n</think>\n${list}`, SAMPLE_TOOLS), {
    calls: [LIST],
    rest: "hm\n</think>",
    family: "bare",
  });
  assert.deepEqual(callsOf('{"type":"function","function":{"name":"list","arguments":"{}"}}'), [LIST]);
});

Deno.test("the weak form is recognized with the keys of other families, after functools, and as a list of Python", () => {
  const read = { name: "read_file", input: { path: "a", limit: 2 } };
  const python = "[read_file(path='a', limit=2), list()]";
  const texts: [text: string, calls: SampleCall[]][] = [
    ['functools[{"name": "read_file", "arguments": {"path": "a", "limit": 2}}]', [read]],
    ['[{"tool_call_id": "0", "tool_name": "read_file", "parameters": {"path": "a", "limit": 2}}]', [read]],
    ['{"action": "read_file", "action_input": {"path": "a", "limit": 2}}', [read]],
    ['{"tool": "read_file", "args": {"path": "a", "limit": 2}}', [read]],
    ['{"name":"list","arguments":{}}, {"name":"list","arguments":{}}', [LIST, LIST]],
    [python, [read, LIST]],
    [`<think>hm</think>\n${python}\n`, [read, LIST]],
    [`\`\`\`tool_code\n${python}\n\`\`\``, [read, LIST]],
    [`\`\`\`python\n${python}\n\`\`\``, [read, LIST]],
  ];
  for (const [text, calls] of texts) {
    assert.deepEqual(recoverCalls(text, SAMPLE_TOOLS), {
      calls,
      rest: text.startsWith("<think>") ? "<think>hm</think>" : "",
      family: "bare",
    }, text);
  }
  const data = [
    "[list(), other()]",
    "[list(), 5]",
    "[list()",
    `${python} is what I would write.`,
    "[read_file(nothing=1)]",
  ];
  for (const text of [...data, "[read_file('a')]", "list()", "functools[1, 2]"]) {
    assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
  }
});

Deno.test("a call after a closed answer, or in one fence after a short paragraph, ends a message", () => {
  const call = '{"name": "read_file", "arguments": {"path": "a"}}';
  const calls = [{ name: "read_file", input: { path: "a" } }];
  const fence = `\`\`\`json\n${call}\n\`\`\``;
  const texts: [text: string, rest: string][] = [
    [`<answer>I look.</answer>\n${call}`, "<answer>I look.</answer>"],
    [`I look.\n</response>\n${fence}`, "I look.\n</response>"],
    [`I will read the file first.\n\n${fence}`, "I will read the file first."],
    [`I will read\nthe file first:\n${fence}\n`, "I will read\nthe file first:"],
    [`<think>hm</think>\nI read it.\n${fence}`, "<think>hm</think>\nI read it."],
  ];
  for (const [text, rest] of texts) {
    assert.deepEqual(recoverCalls(text, SAMPLE_TOOLS), { calls, rest, family: "bare" }, text);
  }
  const others = [
    `For example:\n\n${fence}`,
    `The format is:\n${fence}`,
    `You could send this:\n\n${fence}`,
    `I read it.\n\nFirst I look.\n\n${fence}`,
    `I read it.\n${fence}\nThen I wait.`,
    `I read it.\n\`\`\`ts\nlist();\n\`\`\`\n${fence}`,
    `${"I read it. ".repeat(50)}\n${fence}`,
    `I read it.\n\`\`\`json\n{"version": 1}\n\`\`\``,
    `<answer>I look.</answer>\n{"name": "read_file"}`,
    `<answer>I look.</answer>\n${call}\nThat was it.`,
  ];
  for (const text of others) assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
});

Deno.test("calls in the forms of other programs count where a message is, or ends with, nothing else", () => {
  const read = { name: "read_file", input: { path: "a" } };
  const object = '{"name": "read_file", "arguments": {"path": "a"}}';
  const gone: [text: string, rest: string][] = [
    [`{"tool_calls": [${object}]}`, ""],
    [`{"role": "assistant", "content": null, "tool_calls": [{"type": "function", "function": ${object}}]}`, ""],
    [`{"function_call": ${object}}`, ""],
    [`${object}\n</tool_call>`, ""],
    ['{"tool": "read_file", "path": "a"}', ""],
    [`1. I read it:\n   \`\`\`json\n   ${object}\n   \`\`\``, "1. I read it:"],
    ["<read_file>\n<path>a</path>\n</read_file>", ""],
    ["I look.\n\n<read_file><path>a</path></read_file>", "I look."],
  ];
  // What is not held back while it streams stays in the text.
  const kept = [
    "read_file(path='a')",
    "I look.\n\nread_file(path='a')",
    "\`\`\`tool_code\nprint(read_file(path='a'))\n\`\`\`",
    'read_file {"path": "a"}',
    'to=functions.read_file {"path": "a"}',
    'Tool call: read_file\n{"path": "a"}',
    '\`\`\`read_file\n{"path": "a"}\n\`\`\`',
    `I look.\n\n${object}`,
  ];
  for (const [text, rest] of [...gone, ...kept.map((one) => [one, one] as const)]) {
    const found = recoverCalls(text, SAMPLE_TOOLS);
    assert.deepEqual(found?.calls, [read], text);
    assert.equal(found?.rest, rest, text);
  }
  const others = [
    `Here it is:\n\n${object}`,
    "It would be:\n\nread_file(path='a')",
    "read_file(path='a') reads it.",
    "read_file(nothing='a')",
    'read_file {"other": 1}',
    '{"tool": "read_file", "path": "a", "version": 1}',
    '{"tool": "read_file", "limit": 1}',
    `{"tool_calls": [${object}], "usage": 1}`,
    "<view><p>a</p></view>",
    "<read_file>a</read_file>",
    "The element <read_file><path>a</path></read_file> opens it.",
    "```python\nread_file('a')\n```",
  ];
  for (const text of others) assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
});

Deno.test("calls that end the reasoning of a reply without text count", () => {
  const call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>';
  for (const text of [`I look.\n${call}`, `I look.\n${call}\n</think>`]) {
    const found = recoverThought(text, SAMPLE_TOOLS);
    assert.deepEqual(found?.calls, [{ name: "read_file", input: { path: "a" } }], text);
    assert.equal(found?.rest, "I look.");
  }
  for (const text of [`${call}\nOr rather not.`, `I could send ${call}`, "I think.", `\`\`\`\n${call}\n\`\`\``]) {
    assert.equal(recoverThought(text, SAMPLE_TOOLS), null, text);
  }
});

Deno.test("the weak form does not take data for a call", () => {
  const texts = [
    '{"name":"list"}',
    '{"name":"list","arguments":{},"version":"1.0.0"}',
    '{"name":"list","description":"lists","parameters":{"type":"object","properties":{}}}',
    '{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}',
    '{"name":"list","arguments":{}}; {"result":1}',
    '{"name":"list","arguments":{}}; {"name":"list","argu',
    '[{"name":"list","arguments":{}}, 5]',
    "[]",
    '```python\n{"name":"list","arguments":{}}\n```',
    '```json\n{"name":"list","arguments":{}}\n```\n\nThat is the form.',
  ];
  for (const text of texts) assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
});

Deno.test("the end of reasoning inside the value of a bare call is content", () => {
  const input = { path: "a", content: "</think> {" };
  assert.deepEqual(callsOf(JSON.stringify({ name: "write_file", arguments: input })), [{ name: "write_file", input }]);
});
