/** Calls as the families of models write them, for the tests of their recovery. */
import fixture from "../fixtures/wire/tooltext.json" with { type: "json" };
import type { ToolSchema } from "../../src/provider/types.ts";

/** A call as it is expected back. */
export interface SampleCall {
  name: string;
  input: Record<string, string | number | boolean>;
}

/** The tools of the fixture: `read_file` (path, limit), `write_file` (path, content, overwrite), `list`. */
export const SAMPLE_TOOLS: readonly ToolSchema[] = fixture.tools.map((tool) => ({
  type: "function",
  function: { name: tool.name, description: "", parameters: tool.parameters },
}));

/** The cases of the fixture. */
export const SAMPLE_CASES = fixture.cases;

/** Name of a family → how it writes calls. */
export const FORMS: Record<string, (calls: readonly SampleCall[]) => string> = {
  hermes: each((call) => `<tool_call>\n${objectOf(call, "arguments")}\n</tool_call>`),
  qwen_coder: each((call) =>
    `<tool_call>\n<function=${call.name}>\n${
      written(call).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join("")
    }</function>\n</tool_call>`
  ),
  glm: each((call) =>
    `<tool_call>${call.name}\n${
      written(call).map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>\n${value}\n</arg_value>\n`).join("")
    }</tool_call>`
  ),
  llama: (calls) => `<|python_tag|>${calls.map((call) => objectOf(call, "parameters")).join("; ")}`,
  mistral: each((call) => `[TOOL_CALLS]${call.name}${JSON.stringify(call.input)}`),
  deepseek: (calls) =>
    `<｜tool▁calls▁begin｜>${
      calls.map((call) =>
        `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${
          JSON.stringify(call.input)
        }\n\`\`\`<｜tool▁call▁end｜>`
      ).join("\n")
    }<｜tool▁calls▁end｜>`,
  harmony: each((call) =>
    `<|start|>assistant<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${
      JSON.stringify(call.input)
    }<|call|>`
  ),
  kimi: (calls) =>
    `<|tool_calls_section_begin|>${
      calls.map((call, index) =>
        `<|tool_call_begin|>functions.${call.name}:${index}<|tool_call_argument_begin|>${
          JSON.stringify(call.input)
        }<|tool_call_end|>`
      ).join("")
    }<|tool_calls_section_end|>`,
  minimax: (calls) =>
    `<minimax:tool_call>\n${
      calls.map((call) =>
        `<invoke name="${call.name}">\n${
          written(call).map(([key, value]) => `<parameter name="${key}">\n${value}\n</parameter>\n`).join("")
        }</invoke>\n`
      ).join("")
    }</minimax:tool_call>`,
  gemma: each((call) =>
    `<|tool_call>call:${call.name}{${
      Object.entries(call.input).map(([key, value]) =>
        `${key}:${typeof value === "string" ? `<|"|>${value}<|"|>` : value}`
      ).join(",")
    }}<tool_call|>`
  ),
  lfm: (calls) =>
    `<|tool_call_start|>[${
      calls.map((call) =>
        `${call.name}(${Object.entries(call.input).map(([key, value]) => `${key}=${python(value)}`).join(", ")})`
      ).join(", ")
    }]<|tool_call_end|>`,
  lm_studio: each((call) => `[TOOL_REQUEST]${objectOf(call, "arguments")}[END_TOOL_REQUEST]`),
};

/** How models mark what they only think. The last two are phrases, which count at the beginning of a message alone. */
export const REASONING_MARKS: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<seed:think>", "</seed:think>"],
  ["<mm:think>", "</mm:think>"],
  ["<ifm|think>", "</ifm|think>"],
  ["<thought>", "</thought>"],
  ["<Thoughts>", "</Thoughts>"],
  ["<reasoning>", "</reasoning>"],
  ["<reflection>", "</reflection>"],
  ["<analysis>", "</analysis>"],
  ["[THINK]", "[/THINK]"],
  ["◁think▷", "◁/think▷"],
  ["<|think|>", "<|/think|>"],
  ["<|START_THINKING|>", "<|END_THINKING|>"],
  ["<|begin_of_thought|>", "<|end_of_thought|>"],
  ["<|thought_start|>", "<|thought_end|>"],
  ["<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"],
  ["<|inner_prefix|>", "<|inner_suffix|>"],
  ["<unused94>thought", "<unused95>"],
  ["[unused16]", "[unused17]"],
  ["<|channel>thought", "<channel|>"],
  ["<|channel|>analysis<|message|>", "<|end|>"],
  ["<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"],
  ["Here is my thought process:", "Here is my response:"],
  ["Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"],
];

/** Ways to show a call without meaning it, each with words before and behind it. */
export const QUOTATIONS: Readonly<Record<string, (call: string) => string>> = {
  "a fence": (call) => `The form is:\n\`\`\`\`xml\n${call}\n\`\`\`\`\nSee?`,
  "a fence of tildes": (call) => `The form is:\n~~~\n${call}\n~~~\nSee?`,
  "a fence that is not closed": (call) => `The form is:\n\`\`\`\`\n${call}`,
  "inline code": (call) => `Models write \`\`\`\`\`${oneLine(call)}\`\`\`\`\` there.`,
  "indented code": (call) => `The form is:\n\n${eachLine(call, "    ")}\n\nSee?`,
  "code indented with a tab": (call) => `The form is:\n\n${eachLine(call, "\t")}\n\nSee?`,
  "an indented line right behind the words": (call) => `The form is:\n${eachLine(call, "    ")}`,
  "quoted lines": (call) => `They said:\n\n${eachLine(call, "> ")}\n\nSee?`,
  "a fence in quoted lines": (call) => `They said:\n\n  > ~~~\n  > ${call}\n`,
  "quotation marks": (call) => `Models write "${call}", which is odd.`,
  "curly quotation marks": (call) => `Models write “${call}”.`,
  "<pre>": (call) => `The form is:\n<pre>\n${call}\n</pre>\nSee?`,
  "<pre> with attributes": (call) => `The form is:\n<pre class="xml">\n${call}\n</pre>`,
  "<code>": (call) => `The form is <code>${call}</code>.`,
  "<blockquote>": (call) => `<blockquote>\n${call}\n</blockquote>`,
  "<example>": (call) => `<example>\n${call}\n</example>\nLike this.`,
  "a comment of HTML": (call) => `Look: <!-- ${call} -->\nSee?`,
  "a comment that is not closed": (call) => `<!--\n${call}`,
  "<tool_response>": (call) => `<tool_response>\n${call}\n</tool_response>\nThat is the log.`,
  "<tool_response> alone": (call) => `<tool_response>${call}</tool_response>`,
  "<function_results>": (call) => `<function_results>\n${call}\n</function_results>`,
  "a here-document": (call) => `cat > a.txt <<'EOF'\n${call}\nEOF\nThat writes it.`,
  "an indented here-document": (call) => `cat <<-END\n${call}\n\tEND`,
  "a table": (call) => `| form | meaning |\n|---|---|\n| ${oneLine(call)} | a call |\n`,
  "an item of a list": (call) => `Forms:\n\n- ${call}\n- others`,
  "an item of a numbered list": (call) => `Forms:\n  1. ${call}`,
  "a sentence": (call) => `To list files you send ${call} and wait.`,
  "a sentence that begins with it": (call) => `${call} is what I would send.`,
  "a sentence in several lines": (call) => `Send\nthe form ${call}\nand nothing else.`,
};

function oneLine(text: string): string {
  return text.replaceAll("\n", " ");
}

function eachLine(text: string, prefix: string): string {
  return text.split("\n").map((line) => prefix + line).join("\n");
}

/** Families that write values between tags, without escapes. */
export const TAGGED_FORMS: readonly string[] = ["qwen_coder", "glm", "minimax"];

/** Families where one that is refused refuses all, because they write a list. */
export const LIST_FORMS: readonly string[] = ["llama", "lfm"];

function each(one: (call: SampleCall) => string): (calls: readonly SampleCall[]) => string {
  return (calls) => calls.map(one).join("\n");
}

function objectOf(call: SampleCall, key: "arguments" | "parameters"): string {
  return JSON.stringify({ name: call.name, [key]: call.input });
}

function written(call: SampleCall): [string, string][] {
  return Object.entries(call.input).map(([key, value]) => [key, String(value)]);
}

function python(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}
