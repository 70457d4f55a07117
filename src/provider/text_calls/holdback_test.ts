import assert from "node:assert/strict";
import { FORMS } from "../../../tests/helpers/text_calls.ts";
import { createHoldback } from "./holdback.ts";

for (const [family, form] of Object.entries(FORMS)) {
  Deno.test(`${family}: text is shown up to the first marker, however it is cut`, () => {
    const before = "Let me look: a < b, c[0]. ";
    const text = before + form([{ name: "list", input: {} }]) + " and on";
    for (const size of [1, 2, 3, 7, 1000]) {
      const holdback = createHoldback(true);
      let shown = "";
      for (let at = 0; at < text.length; at += size) shown += holdback.push(text.slice(at, at + size));
      assert.equal(shown, before);
      assert.equal(holdback.deferring, true);
      assert.equal(shown + holdback.end(), text);
      assert.equal(holdback.deferring, false);
    }
  });
}

Deno.test("text without markers is shown at once", () => {
  const holdback = createHoldback(true);
  for (const piece of ["\n", "if (a < b) ", "return list[0];", " <div>", "[TOOL", "_BOX] {}", "<tool_ca", "ke>"]) {
    holdback.push(piece);
  }
  assert.equal(holdback.deferring, false);
  assert.equal(holdback.push("plain"), "plain");
});

Deno.test("only what may be a marker is held", () => {
  const holdback = createHoldback(true);
  assert.equal(holdback.push("see <tool"), "see ");
  assert.equal(holdback.deferring, true);
  assert.equal(holdback.push("box> there <"), "<toolbox> there ");
  assert.equal(holdback.end(), "<");
});

Deno.test("a marker that is only mentioned is shown", () => {
  const holdback = createHoldback(true);
  assert.equal(holdback.push("Write `<tool_call>"), "Write `");
  assert.equal(holdback.push("` first"), "<tool_call>` first");
  assert.equal(holdback.push("; '[TOOL_CALLS]', too"), "; '[TOOL_CALLS]', too");
  assert.equal(holdback.deferring, false);
});

Deno.test("a message that begins as a call in JSON is held, other JSON is not", () => {
  for (const text of ['{"name": "list"', '```json\n[ {"name":', '\n{\n  "type": "function",', '[{"function":{']) {
    const holdback = createHoldback(true);
    const shown = Array.from(text, (character) => holdback.push(character)).join("");
    assert.equal(shown.trim(), "", text);
    assert.equal(holdback.deferring, true, text);
    assert.equal(shown + holdback.end(), text);
  }
  for (const text of ['{"result": 42}', '```json\n{"version":1}', "[1, 2]", "```ts\nconst", '{"names": []}']) {
    const holdback = createHoldback(true);
    const shown = Array.from(text, (character) => holdback.push(character)).join("");
    assert.equal(shown, text);
  }
});

Deno.test("a message that begins as a list of Python, or with functools, is held", () => {
  for (
    const text of ["[read_file(path='a')]", 'functools[{"name": "list"', "```python\n[list()]", "```tool_code\n[a.b("]
  ) {
    const holdback = createHoldback(true);
    const shown = Array.from(text, (character) => holdback.push(character)).join("");
    assert.equal(shown, "", text);
    assert.equal(holdback.end(), text);
  }
  for (const text of ["[link](https://a.b) there", "[1, 2, 3] is a list", "functions are", "```python\nprint([1])"]) {
    const holdback = createHoldback(true);
    assert.equal(Array.from(text, (character) => holdback.push(character)).join(""), text);
  }
});

Deno.test("a fence after a short paragraph, and what follows a closed answer, is held where it begins as a call", () => {
  for (const before of ["I read it.\n\n", "<answer>I read.", "I read\nit:\n"]) {
    const behind = before.startsWith("<answer>") ? '</answer>\n{"name":' : '```json\n{"name":';
    const holdback = createHoldback(true);
    assert.equal(Array.from(before + behind, (character) => holdback.push(character)).join(""), before);
    assert.equal(holdback.end(), behind);
  }
  for (
    const text of ['See:\n```json\n{"version": 1}', "See `a` and ```ts\nb", `${"a ".repeat(300)}\n\`\`\`json\n{"name":`]
  ) {
    const holdback = createHoldback(true);
    assert.equal(Array.from(text, (character) => holdback.push(character)).join(""), text);
  }
});

Deno.test("the lines of the ReAct form are held, others that begin like them are not", () => {
  for (
    const action of ["Action: list\nAction Input: {", "**Action:** list\n**Action Input:** {", 'Action:\n{"action":']
  ) {
    const holdback = createHoldback(true);
    const shown = Array.from(`Thought: I look.\n${action}`, (character) => holdback.push(character)).join("");
    assert.equal(shown, "Thought: I look.\n");
    assert.equal(holdback.end(), action);
  }
  for (
    const text of [
      "Action: we read.\n",
      "A\nAct now.",
      "**Bold** text",
      "So Action: list\nAction Input: {",
      "* a\n** b",
    ]
  ) {
    const holdback = createHoldback(true);
    assert.equal(Array.from(text, (character) => holdback.push(character)).join(""), text);
  }
});

Deno.test("what is said about a marker is shown while it comes", () => {
  const texts = [
    "The <tool_call> tag opens a call, then",
    "<function=list> opens a call, <parameter=path> an argument",
    '<invoke name="list"> is XML of theirs',
    "<|python_tag|>import os\nprint(1)",
    "[TOOL_CALLS] is a token",
    "Map<string, number[]> and <div> [x] ]<",
  ];
  for (const text of texts) {
    const holdback = createHoldback(true);
    const shown = Array.from(text + " .", (character) => holdback.push(character)).join("");
    assert.equal(shown, text + " .");
  }
});

Deno.test("JSON in the middle of a message is shown", () => {
  const holdback = createHoldback(true);
  assert.equal(holdback.push('Here: {"name":"list"}'), 'Here: {"name":"list"}');
});

Deno.test("more than 64 KiB is not held", () => {
  const holdback = createHoldback(true);
  assert.equal(holdback.push("<tool_call>{"), "");
  const long = "x".repeat(65_536);
  assert.equal(holdback.push(long), "<tool_call>{" + long);
  assert.equal(holdback.deferring, false);
  assert.equal(holdback.push("<tool_call>{"), "<tool_call>{");
  assert.equal(holdback.end(), "");
});

Deno.test("white space after a marker is waited for only so long", () => {
  const holdback = createHoldback(true);
  holdback.push("<tool_call>");
  for (let count = 0; count < 100_000; count++) holdback.push(" ");
  assert.equal(holdback.deferring, false);
});

Deno.test("a holdback that is not enabled passes everything", () => {
  const holdback = createHoldback(false);
  assert.equal(holdback.push('<tool_call>{"name"'), '<tool_call>{"name"');
  assert.equal(holdback.deferring, false);
  assert.equal(holdback.end(), "");
});

Deno.test("white space in the beginning of JSON is waited for only so long", () => {
  const holdback = createHoldback(true);
  assert.equal(holdback.push("{"), "");
  assert.equal(holdback.push(" ".repeat(300)), "{" + " ".repeat(300));
});

Deno.test("prose, lists, tables and code are shown as they come", async () => {
  for (const file of ["README.md", "docs/cli.md", "src/provider/text_calls/holdback.ts"]) {
    const text = await Deno.readTextFile(new URL(`../../../${file}`, import.meta.url));
    const holdback = createHoldback(true);
    let shown = 0;
    for (let at = 0; at < text.length; at += 4) {
      shown += holdback.push(text.slice(at, at + 4)).length;
      assert.ok(at + 4 - shown <= 32, text.slice(shown, at + 4));
    }
  }
});
