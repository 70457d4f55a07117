import assert from "node:assert/strict";
import {
  FORMS,
  LIST_FORMS,
  QUOTATIONS,
  REASONING_MARKS,
  SAMPLE_CASES,
  SAMPLE_TOOLS,
  type SampleCall,
  toldAs,
} from "../../../tests/helpers/text_calls.ts";
import { recoverCalls, recoverMended } from "./recover.ts";

const READ: SampleCall = { name: "read_file", input: { path: "src/a.ts", limit: 20 } };
const WRITE: SampleCall = {
  name: "write_file",
  input: { path: "b.md", content: "if (x) { y = [1, 'two']; }\n\nend\n", overwrite: true },
};
const LIST: SampleCall = { name: "list", input: {} };

function callsOf(text: string): SampleCall[] {
  return (recoverCalls(text, SAMPLE_TOOLS)?.calls ?? []) as SampleCall[];
}

for (const { name, text, want } of SAMPLE_CASES) {
  Deno.test(`recovers what the fixture ${name} expects`, () => {
    const found = recoverCalls(text, SAMPLE_TOOLS);
    assert.deepEqual(found?.calls ?? [], want.calls.map((call) => ({ name: call.name, input: call.args })));
    assert.equal(found === null ? text : found.rest, want.rest);
  });
}

for (const [family, form] of Object.entries(FORMS)) {
  Deno.test(`${family}: recovers one call and several, in order`, () => {
    assert.deepEqual(recoverCalls(form([WRITE]), SAMPLE_TOOLS), { calls: [WRITE], rest: "", family: toldAs(family) });
    const several = [READ, WRITE, LIST, READ];
    assert.deepEqual(recoverCalls(form(several), SAMPLE_TOOLS), { calls: several, rest: "", family: toldAs(family) });
  });

  Deno.test(`${family}: keeps the text around calls`, () => {
    const text = `  I look.\n\n${form([READ])}\n\nThen I wait.\n`;
    assert.deepEqual(recoverCalls(text, SAMPLE_TOOLS), {
      calls: [READ],
      rest: "  I look.\n\nThen I wait.",
      family: toldAs(family),
    });
    const between = `${form([READ])} and ${form([LIST])}`;
    assert.deepEqual(recoverCalls(between, SAMPLE_TOOLS), { calls: [READ, LIST], rest: "and", family: toldAs(family) });
  });

  Deno.test(`${family}: leaves calls of undeclared tools in the text`, () => {
    const foreign = form([{ name: "delete_all", input: { path: "list" } }]);
    assert.equal(recoverCalls(foreign, SAMPLE_TOOLS), null);
    assert.deepEqual(recoverCalls(`${foreign}\n${form([LIST])}`, SAMPLE_TOOLS), {
      calls: [LIST],
      rest: foreign,
      family: toldAs(family),
    });
    if (LIST_FORMS.includes(family)) {
      assert.equal(recoverCalls(form([LIST, { name: "delete_all", input: {} }]), SAMPLE_TOOLS), null);
    }
  });

  Deno.test(`${family}: a text cut at any place gives complete calls only`, () => {
    const calls = [WRITE, LIST, READ];
    const text = `Now:\n${form(calls)}`;
    for (let cut = 0; cut < text.length; cut++) {
      const found = callsOf(text.slice(0, cut));
      assert.deepEqual(found, calls.slice(0, found.length), text.slice(0, cut));
    }
  });

  Deno.test(`${family}: calls of other families inside a value are content, also when the text is cut`, () => {
    const content = Object.values(FORMS).map((other) => other([LIST])).join("\n").replaceAll(
      /<\|"\|>|<escape>|\]\]>/g,
      "",
    );
    const call: SampleCall = { name: "write_file", input: { path: "formats.md", content, overwrite: false } };
    const text = form([call]);
    assert.deepEqual(callsOf(text), [call]);
    // Every eleventh place, by family other ones: all of them would take ten seconds.
    for (let cut = family.length % 11; cut < text.length; cut += 11) {
      const found = callsOf(text.slice(0, cut));
      assert.deepEqual(found, [call].slice(0, found.length), text.slice(0, cut));
    }
  });

  Deno.test(`${family}: a call that is only shown does not run, and one after it does`, () => {
    for (const [how, quote] of Object.entries(QUOTATIONS)) {
      for (const calls of [[LIST], [LIST, READ]]) {
        const quoted = quote(form(calls));
        assert.equal(recoverCalls(quoted, SAMPLE_TOOLS), null, `${how}:\n${quoted}`);
        const closed = !/not closed|in quoted lines|sentence/.test(how);
        const text = `${quoted}\n\n${form([WRITE])}`;
        if (closed) assert.deepEqual(callsOf(text), [WRITE], `${how}:\n${text}`);
      }
    }
  });

  Deno.test(`${family}: a call in a line of words runs where it ends the message or another one follows`, () => {
    const call = form([READ]);
    assert.deepEqual(callsOf(`I look: ${call}`), [READ]);
    assert.deepEqual(callsOf(`I look: ${call}.\n`), [READ]);
    assert.deepEqual(callsOf(`I look: ${call}, and then ${form([LIST])}`), [READ, LIST]);
    assert.deepEqual(callsOf(`I look: ${call}\n\nThen:\n${form([LIST])}\nThat is all.`), [READ, LIST]);
    assert.deepEqual(callsOf(`I send ${call} or ${form([LIST])} to look.`), []);
  });

  Deno.test(`${family}: results that the model makes up end the message`, () => {
    const call = form([READ]);
    const invented = `<tool_response>\n{"lines": 3}\n</tool_response>\n${form([WRITE])}\nDone.`;
    assert.deepEqual(recoverCalls(`I look.\n${call}\n${invented}`, SAMPLE_TOOLS), {
      calls: [READ],
      rest: "I look.",
      family: toldAs(family),
    });
  });

  Deno.test(`${family}: a call that was only thought does not run, and one after the thought does`, () => {
    const call = form([LIST]);
    for (const [open, close] of REASONING_MARKS) {
      const thought = `${open}\nPerhaps ${call}, or:\n\n${call}\n${close}\n`;
      assert.equal(recoverCalls(`${thought}No need.`, SAMPLE_TOOLS), null, open);
      assert.equal(recoverCalls(`${open}\nPerhaps\n${call}`, SAMPLE_TOOLS), null, open);
      assert.deepEqual(callsOf(`${thought}${form([READ])}`), [READ], open);
      if (/^Here/.test(open)) continue;
      assert.equal(recoverCalls(`I look.\n${thought}No need.`, SAMPLE_TOOLS), null, open);
      assert.deepEqual(callsOf(`I look.\n${thought}${form([READ])}`), [READ], open);
      // The template may have opened the block: only its end is sent.
      if (close !== "<|end|>") assert.equal(recoverCalls(`Perhaps\n${call}\n${close}\nNo.`, SAMPLE_TOOLS), null, close);
    }
  });

  Deno.test(`${family}: a call after closed reasoning and closed code runs`, () => {
    const call = form([READ]);
    const before = `Perhaps ${form([LIST])}\n</think>\nIn \`code\` and a lone \` sign:\n\n\`\`\`ts\nlist();\n\`\`\``;
    assert.deepEqual(recoverCalls(`${before}\n${call}`, SAMPLE_TOOLS), {
      calls: [READ],
      rest: before,
      family: toldAs(family),
    });
  });
}

Deno.test("prose and code that only look like calls stay as they are", () => {
  const texts = [
    "Use the <tool_call> tag, then </tool_call>.",
    "<tool_call> is how it starts. The list\n</tool_call> ends it.",
    'A generic: Map<string, {"name": "list"}> and [TOOL_CALLS] in prose, list{} and list().',
    'if (a < b) { list[0] = {"name":"list","arguments":{}} }',
    "<function=list> opens a call, <parameter=path> an argument.",
    '<invoke name="list"> is XML of theirs.',
    "<|python_tag|>import os\nprint(os.listdir('.'))",
    "<|python_tag|>list(path='a')",
    "<|channel|>commentary to=functions.list is the header.",
    "<｜tool▁call▁begin｜>list and nothing else",
    "<|tool_call_start|> [] <|tool_call_end|>",
    "[TOOL_REQUEST] is a marker of theirs",
    '{"name":"list","arguments":{}} is what I would send.',
    'Here it is:\n\n{"name":"list","arguments":{}}',
  ];
  for (const text of texts) assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
});

Deno.test("a marker in a JSON answer is content", () => {
  const text = JSON.stringify({ example: "it is <tool_call>list </tool_call>", more: "or [TOOL_CALLS]list{}" });
  assert.equal(recoverCalls(text, SAMPLE_TOOLS), null);
});

Deno.test("nothing is recovered without tools", () => {
  assert.equal(recoverCalls('<tool_call>{"name":"list","arguments":{}}</tool_call>', []), null);
});

Deno.test("namespaces before the name of a tool do not matter", () => {
  for (const name of ["list", "functions.list", "default_api.list", "tools.files.list"]) {
    assert.deepEqual(callsOf(`<tool_call>{"name": "${name}", "arguments": {}}</tool_call>`), [LIST], name);
    assert.deepEqual(callsOf(`<invoke name="${name}"></invoke>`), [LIST], name);
  }
  assert.deepEqual(callsOf('<tool_call>{"name": "list.other", "arguments": {}}</tool_call>'), []);
});

Deno.test("an argument that comes twice stops the call", () => {
  const texts = [
    "<function=read_file><parameter=path>a</parameter><parameter=path>b</parameter></function>",
    '<|tool_call_start|>[read_file(path="a", path="b")]<|tool_call_end|>',
    '<|tool_call>call:read_file{path:<|"|>a<|"|>,path:<|"|>b<|"|>}<tool_call|>',
  ];
  for (const text of texts) assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
});

Deno.test("an argument named like a property of every object is only an argument", () => {
  const found = callsOf("<function=list><parameter=__proto__>x</parameter></function>");
  assert.deepEqual(Object.keys(found[0]?.input ?? {}), ["__proto__"]);
});

Deno.test("marked objects are calls in the shapes that models write", () => {
  const read = [{ name: "read_file", input: { path: "a" } }];
  assert.deepEqual(callsOf('<tool_call>{"name":"list"}</tool_call>'), [LIST]);
  assert.deepEqual(callsOf('<tool_call>{"name":"list","arguments":null}</tool_call>'), [LIST]);
  assert.deepEqual(callsOf('<tool_call>{"name":"functions.list","arguments":{}}</tool_call>'), [LIST]);
  assert.deepEqual(callsOf('<tool_call>{"name":"read_file","arguments":"{\\"path\\":\\"a\\"}"}</tool_call>'), read);
  assert.deepEqual(callsOf('<tool_call>{"function":{"name":"read_file","arguments":{"path":"a"}}}</tool_call>'), read);
  assert.deepEqual(callsOf('<tool_call>\n{"name":"list"}\n{"name":"list"}\n</tool_call>'), [LIST, LIST]);
  assert.deepEqual(callsOf('[TOOL_CALLS] [{"name":"list","arguments":{},"id":"123456789"}]</s>'), [LIST]);
  assert.deepEqual(callsOf('<|tool_call_start|>[{"name":"list","arguments":{}}]<|tool_call_end|>'), [LIST]);
  assert.deepEqual(
    callsOf("<|start|>assistant to=functions.list<|channel|>commentary json<|message|>{}<|call|>"),
    [LIST],
  );
});

Deno.test("slips around marked calls do not matter", () => {
  const texts = [
    '<tools>\n{"name": "list", "arguments": {}}\n</tools>',
    '<function>{"name": "list", "arguments": {}}</function>',
    '<tool_call>\n{"name": "list", "arguments": {}}}\n</tool_call>',
    "<tool_call>\n<function=list>\n</tool_call>",
    '<tool_call>```json\n{"name": "list"}\n```</tool_call>',
    "<tool_call>list()</tool_call>",
    "<｜tool▁calls▁begin｜>function<｜tool▁sep｜>list\n```json\n{}\n```<｜tool▁call▁end｜>",
    '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "list", "arguments": {}}',
    '-> tool/function_call\n[{"name": "list", "arguments": {}}]<|im_end|>',
    '<answer>I look.<tool_calls>[{"name": "list", "arguments": {}}]</tool_calls>\n</answer>',
  ];
  for (const text of texts) assert.deepEqual(callsOf(text), [LIST], text);
  const read = { name: "read_file", input: { path: "a" } };
  assert.deepEqual(callsOf("<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</tool_call>"), [
    read,
  ]);
});

Deno.test("marked objects that are no valid call stay in the text, and later calls count", () => {
  const later = "<tool_call>list\n</tool_call>";
  const refused = [
    '<tool_call>{"name":"read_file","limit":1}</tool_call>',
    '<tool_call>{"name":"read_file","path":"a","version":1}</tool_call>',
    '<tool_call>{"name":"read_file","arguments":"a.ts"}</tool_call>',
    '<tool_call>{"name":"read_file","arguments":{path:"a"}}</tool_call>',
    '<tool_call>{"name":5,"arguments":{}}</tool_call>',
    "<tool_call>[]</tool_call>",
    '[TOOL_CALLS][{"name":"list","arguments":{}},{"name":"none","arguments":{}}]',
  ];
  for (const text of refused) {
    assert.deepEqual(recoverCalls(`${text}\n${later}`, SAMPLE_TOOLS), { calls: [LIST], rest: text, family: "glm" });
  }
});

Deno.test("marked objects that are closed but not quite JSON are mended like the arguments of other calls", async () => {
  const content = 'if (x) {\n\ty = "1";\n}\n';
  const raw = JSON.stringify(content).replaceAll("\\n", "\n").replaceAll("\\t", "\t");
  const call = { name: "write_file", input: { path: "C:\\d", content } };
  const mended: [text: string, calls: SampleCall[]][] = [
    [`<tool_call>\n{"name": "write_file", "arguments": {"path": "C:\\d", "content": ${raw}}}\n</tool_call>`, [call]],
    [`[TOOL_CALLS]write_file{"path": "C:\\d", "content": ${raw}}</s>`, [call]],
    [`<tool_calls>[{"name": "write_file", "arguments": {"path": "C:\\d", "content": ${raw}}}]</tool_calls>`, [call]],
    [`{"name": "write_file", "arguments": {"path": "C:\\d", "content": ${raw}}}`, [call]],
    ["<tool_call>{'name': 'list', 'arguments': {},}</tool_call>", [LIST]],
    ['<functioncall> {"name": "read_file", "arguments": \'{"path": "a"}\'}', [{
      name: "read_file",
      input: { path: "a" },
    }]],
    ['<tool_call>{"name": "read_file", "arguments": {"path": "a"}</tool_call>', [{
      name: "read_file",
      input: { path: "a" },
    }]],
    ['<tool_call>```json\n{name: "list"}\n```</tool_call>\n<tool_call>{"name": "list"}</tool_call>', [LIST, LIST]],
  ];
  for (const [text, calls] of mended) {
    assert.deepEqual((await recoverMended(text, SAMPLE_TOOLS))?.calls, calls, text);
    assert.equal((await recoverMended(text, SAMPLE_TOOLS))?.rest, "", text);
  }
  const others = [
    '<tool_call>{"name": "write_file", "arguments": {"content": "see \n</tool_call>',
    "<tool_call>{'name': 'list', 'arguments': {}</tool_call>",
    "<tool_call>{'name': 'delete_all', 'arguments': {}}</tool_call>",
    "{'version': 1}",
    "{ a: 'list' } is what I would write",
  ];
  for (const text of others) assert.equal(await recoverMended(text, SAMPLE_TOOLS), null, text);
});

Deno.test("after a call without an end nothing is read", () => {
  const later = "<tool_call>list\n</tool_call>";
  const texts = [
    '<tool_call>{"name":"write_file","arguments":{"path":"a","content":"see ',
    "<function=write_file><parameter=content>see ",
    '<|tool_call_start|>[write_file(path="a", content="see ',
    '<|tool_call>call:write_file{content:<|"|>see ',
    '<|python_tag|>write_file.call(content="see ',
    "<function=write_file><parameter=path>a</parameter> see ",
    '<|tool_call_start|>[write_file(content="line\nline")]<|tool_call_end|>',
  ];
  for (const text of texts) assert.equal(recoverCalls(text + later, SAMPLE_TOOLS), null, text);
});

Deno.test("Python arguments are read with their escapes, lists and maps", () => {
  const text = `<|tool_call_start|>[write_file(path='it\\'s', content="""a "q"\nb\\tc\\u00e9\\d""", overwrite=False, ` +
    `more=[1, -2.5, {"k": None}, []],)]<|tool_call_end|>`;
  assert.deepEqual(recoverCalls(text, SAMPLE_TOOLS)?.calls, [{
    name: "write_file",
    input: { path: "it's", content: 'a "q"\nb\tcé\\d', overwrite: false, more: [1, -2.5, { k: null }, []] },
  }]);
});

Deno.test("Gemma arguments are read with their lists and maps", () => {
  const text = '<|tool_call>call:list{a:[<|"|>x, "y"<|"|>,2],b:{c:true,d:null}}<tool_call|>';
  assert.deepEqual(recoverCalls(text, SAMPLE_TOOLS)?.calls, [{
    name: "list",
    input: { a: ['x, "y"', 2], b: { c: true, d: null } },
  }]);
});

Deno.test("large and deep texts are read to their end", () => {
  const half = 300_000;
  const deep = "[".repeat(half) + "]".repeat(half);
  assert.equal(recoverCalls(deep, SAMPLE_TOOLS), null);
  assert.equal(recoverCalls(`<tool_call>${deep}</tool_call>`, SAMPLE_TOOLS), null);
  assert.equal(recoverCalls(`<|tool_call>call:list{a:${deep}}`, SAMPLE_TOOLS), null);
  assert.equal(recoverCalls(`<|tool_call_start|>[list(a=${"{".repeat(half)}`, SAMPLE_TOOLS), null);
  const many = Array(20_000).fill({ name: "list", arguments: {} });
  assert.equal(recoverCalls(JSON.stringify(many), SAMPLE_TOOLS)?.calls.length, many.length);
  assert.equal(recoverCalls(`[TOOL_CALLS]${JSON.stringify(many)}`, SAMPLE_TOOLS)?.calls.length, many.length);
  assert.equal(recoverCalls(FORMS.qwen_coder?.(Array(20_000).fill(LIST)) ?? "", SAMPLE_TOOLS)?.calls.length, 20_000);
  const marks = [
    "<|think|><|/think|>",
    "<<word ",
    "<pre></pre>",
    "<analysis",
    "```",
    "\n\n    a",
    "<!--",
    "- <tool_call>",
    "> ",
  ];
  for (const mark of marks) assert.equal(recoverCalls(mark.repeat(30_000) + "<tool_call>", SAMPLE_TOOLS), null, mark);
  const runs = Array.from({ length: 1_000 }, (_, length) => "`".repeat(length + 1)).join(" ");
  assert.deepEqual(recoverCalls(`${runs}\n\n${FORMS.glm?.([LIST])}`, SAMPLE_TOOLS)?.rest, runs);
});

Deno.test("a pair of quotation marks may hold several calls", () => {
  assert.equal(recoverCalls(`It says "${FORMS.hermes?.([LIST, LIST])}" there.`, SAMPLE_TOOLS), null);
});

Deno.test("code is cut as in Markdown", () => {
  const call = "[TOOL_CALLS]list{}";
  assert.deepEqual(callsOf(`A \` sign.\n\n${call}\n\nAnother \` sign.`), [LIST]);
  assert.deepEqual(callsOf(`A \` sign, ${call} and another \` sign.`), []);
  assert.deepEqual(callsOf(`\`\`\`list()\`\`\` is next:\n${call}`), [LIST]);
  assert.deepEqual(callsOf(`~~~~\n~~~\n${call}\n~~~~\n`), []);
  assert.deepEqual(callsOf(`~~~\n\`\`\`\n~~~\n${call}`), [LIST]);
  assert.deepEqual(callsOf(`\`\`\`\n${call}`), []);
});

Deno.test("the ReAct form is a call where a line names the tool, up to a result that is made up", () => {
  const read = { name: "read_file", input: { path: "a" } };
  const thought = "Thought: I look first.";
  const texts: [text: string, rest: string][] = [
    ['Action: read_file\nAction Input: {"path": "a"}', ""],
    [`${thought}\nAction: read_file\nAction Input: {"path": "a"}\n`, thought],
    [`${thought}\n\n**Action:** \`read_file\`\n**Action Input:**\n\`\`\`json\n{"path": "a"}\n\`\`\``, thought],
    [`${thought}\nAction:\n\`\`\`json\n[{"tool_name": "read_file", "parameters": {"path": "a"}}]\n\`\`\``, thought],
    [`${thought}\nAction: {"action": "read_file", "action_input": {"path": "a"}}`, thought],
    [
      `${thought}\nAction: read_file\nAction Input: {"path": "a"}\nObservation: 3 lines\nAction: list\nAction Input: {}`,
      thought,
    ],
  ];
  for (const [text, rest] of texts) {
    assert.deepEqual(recoverCalls(text, SAMPLE_TOOLS), { calls: [read], rest, family: "react" }, text);
  }
  const others = [
    "Action: I read the file.",
    "Action: read_file\nthen wait",
    "Action: read_file\nAction Input: the file a",
    'Action: delete_all\nAction Input: {"path": "a"}',
    'The line "Action: list\nAction Input: {}" calls.',
    "- Action: list\n  Action Input: {}",
    "```\nAction: list\nAction Input: {}\n```",
  ];
  for (const text of others) assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
});

Deno.test("tokens that end a turn go with the call", () => {
  const texts = [
    '<|python_tag|>{"name":"list","parameters":{}}<|eom_id|>',
    "[TOOL_CALLS]list{}</s>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "<|channel|>analysis to=functions.list code<|message|>{}<|end|>",
  ];
  for (const text of texts) assert.equal(recoverCalls(text, SAMPLE_TOOLS)?.rest, "", text);
});
