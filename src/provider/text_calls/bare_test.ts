import assert from "node:assert/strict";
import { SAMPLE_TOOLS, type SampleCall } from "../../../tests/helpers/text_calls.ts";
import { recoverCalls } from "./recover.ts";

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

Deno.test("the weak form is known with the keys of other families, behind functools, and as a list of Python", () => {
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

Deno.test("a call behind a closed answer, or in one fence behind a short paragraph, ends a message", () => {
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
