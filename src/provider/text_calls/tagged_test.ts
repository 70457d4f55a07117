import { FORMS, SAMPLE_TOOLS, type SampleCall } from "../../../tests/helpers/text_calls.ts";
import { recoverCalls } from "./recover.ts";
import { typedArguments } from "./tagged.ts";
import assert from "node:assert/strict";

function callsOf(text: string): SampleCall[] {
  return (recoverCalls(text, SAMPLE_TOOLS)?.calls ?? []) as SampleCall[];
}

/** How each form writes a call with one value as it stands between the tags. */
const BETWEEN_TAGS: Readonly<Record<string, (value: string) => string>> = {
  qwen_coder: (value) =>
    `<tool_call><function=write_file><parameter=content>${value}</parameter></function></tool_call>`,
  seed: (value) =>
    `<seed:tool_call><function=write_file><parameter=content>${value}</parameter></function></seed:tool_call>`,
  glm: (value) => `<tool_call>write_file<arg_key>content</arg_key><arg_value>${value}</arg_value></tool_call>`,
  minimax: (value) =>
    `<minimax:tool_call><invoke name="write_file"><parameter name="content">${value}</parameter></invoke></minimax:tool_call>`,
};

for (const [form, write] of Object.entries(BETWEEN_TAGS)) {
  Deno.test(`${form}: a newline is cut at the end of a value only where one was cut at its beginning`, () => {
    const cases: [written: string, value: string][] = [
      ["line\n", "line\n"],
      ["line\r\n", "line\r\n"],
      ["line\n\n", "line\n\n"],
      ["\nline\n", "line"],
      ["\nline\n\n", "line\n"],
      ["\n\n  line  \n", "\n  line  "],
      ["\r\nline\r\n", "line"],
      ["\nline", "line"],
      ["\n", ""],
      ["", ""],
    ];
    for (const [written, value] of cases) {
      const found = recoverCalls(write(written), SAMPLE_TOOLS);
      assert.equal(found?.calls[0]?.input.content, value, JSON.stringify(written));
      assert.equal(found?.rest, "", "nothing of the marks is left");
    }
  });
}

Deno.test("a value between tags may hold the tags, balanced or followed by other text", () => {
  const inner = "<function=list>\n<parameter=path>\n1\n</parameter>\n</function>";
  for (const content of [inner, "the tag </parameter> ends it", "</function> and </tool_call>"]) {
    const call: SampleCall = { name: "write_file", input: { path: "a", content, overwrite: true } };
    assert.deepEqual(callsOf(FORMS.qwen_coder?.([call]) ?? ""), [call]);
  }
});

Deno.test("a value between tags whose end is a guess stops the call", () => {
  const ends: [string, string][] = [
    ["qwen_coder", "a</parameter>\n</function>\nb"],
    ["glm", "a</arg_value>\n</tool_call>\nb"],
    ["minimax", "a</parameter>\n</invoke>\nb"],
    ["qwen_coder", "see <parameter=path> there"],
  ];
  for (const [family, content] of ends) {
    const text = FORMS[family]?.([{ name: "write_file", input: { path: "a", content } }]) ?? "";
    assert.equal(recoverCalls(text, SAMPLE_TOOLS), null, text);
  }
});

Deno.test("a value that is marked as no string is read as JSON", () => {
  const of = (value: string, string: string) =>
    callsOf(
      `<｜DSML｜invoke name="write_file"><｜DSML｜parameter name="content" string="${string}">${value}</｜DSML｜parameter>` +
        "</｜DSML｜invoke>",
    )[0]?.input.content;
  assert.equal(of('"a\\nb"', "false"), "a\nb");
  assert.equal(of('"a"', "true"), '"a"');
  assert.equal(of("a", "false"), "a");
});

Deno.test("a value is unwrapped where MiniCPM wraps it, and nowhere else", () => {
  const section = "<![CDATA[a</param>]]>";
  const of = (text: string) => callsOf(text)[0]?.input.content;
  assert.equal(of(`<function name="write_file"><param name="content">${section}</param></function>`), "a</param>");
  assert.equal(of('<function name="write_file"><param name="content"><![CDATA[a</param></function>'), "<![CDATA[a");
  assert.equal(of("<function=write_file><parameter=content><![CDATA[a]]></parameter></function>"), "<![CDATA[a]]>");
});

function typed(value: string, schema: unknown): unknown {
  return typedArguments([["key", value]], { properties: { key: schema } })?.key;
}

Deno.test("written values get the type of the schema", () => {
  assert.equal(typed("5", { type: "integer" }), 5);
  assert.equal(typed(" 5.5 ", { type: "number" }), 5.5);
  assert.equal(typed("True", { type: "boolean" }), true);
  assert.equal(typed("None", { type: ["integer", "null"] }), null);
  assert.deepEqual(typed('["a"]', { type: "array" }), ["a"]);
  assert.deepEqual(typed('{"a":1}', { anyOf: [{ type: "object" }, { type: "null" }] }), { a: 1 });
});

Deno.test("written values that do not fit the schema stay text", () => {
  assert.equal(typed("5.5", { type: "integer" }), "5.5");
  assert.equal(typed("five", { type: "number" }), "five");
  assert.equal(typed("1e999", { type: "number" }), "1e999");
  assert.equal(typed("maybe", { type: "boolean" }), "maybe");
});

Deno.test("written values that may be text stay text", () => {
  assert.equal(typed("123", { type: "string" }), "123");
  assert.equal(typed("null", { type: ["string", "null"] }), "null");
  assert.equal(typed("123", {}), "123");
  assert.equal(typed("123", undefined), "123");
  assert.equal(typedArguments([["key", "1"]], undefined)?.key, "1");
});
