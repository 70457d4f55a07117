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
  lfm: (calls) => `<|tool_call_start|>[${calls.map(pythonCall).join(", ")}]<|tool_call_end|>`,
  lm_studio: each((call) => `[TOOL_REQUEST]${objectOf(call, "arguments")}[END_TOOL_REQUEST]`),
  tool_calls: (calls) => `<tool_calls>${listOf(calls, "arguments")}</tool_calls>`,
  TOOLCALL: (calls) => `<TOOLCALL>${listOf(calls, "arguments")}</TOOLCALL>`,
  "|tool_call|": (calls) => `<|tool_call|>${listOf(calls, "arguments")}`,
  "|function_call|": each((call) => `<|function_call|>${objectOf(call, "arguments")}<|message_sep|>`),
  "|START_ACTION|": (calls) =>
    `<|START_ACTION|>\n${
      JSON.stringify(calls.map(({ name, input }, index) => ({
        tool_call_id: `${index}`,
        tool_name: name,
        parameters: input,
      })))
    }\n<|END_ACTION|>`,
  "|action_start|": each((call) => `<|action_start|><|plugin|>\n${objectOf(call, "parameters")}<|action_end|>`),
  "|tools_prefix|": (calls) =>
    `<|tools_prefix|>${JSON.stringify(calls.map(({ name, input }) => ({ [name]: input })))}<|tools_suffix|>`,
  function_call: each((call) => `<function_call> ${objectOf(call, "arguments")}`),
  unused11: (calls) => `[unused11]${listOf(calls, "arguments")}[unused12]`,
  "|plamo:begin_tool_request:plamo|": (calls) =>
    `<|plamo:begin_tool_requests:plamo|>${
      calls.map((call) =>
        `<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>${call.name}<|plamo:end_tool_name:plamo|>` +
        `<|plamo:begin_tool_arguments:plamo|>${JSON.stringify(call.input)}<|plamo:end_tool_arguments:plamo|>` +
        "<|plamo:end_tool_request:plamo|>"
      ).join("")
    }<|plamo:end_tool_requests:plamo|>`,
  "|python_start|": (calls) => `<|python_start|>[${calls.map(pythonCall).join(", ")}]<|python_end|>`,
  function_calls: (calls) => `<function_calls>\n${calls.map(pythonCall).join("\n")}\n</function_calls>`,
  "tool_code in a fence": (calls) =>
    `<tool_code>\n\`\`\`python\n${calls.map(pythonCall).join("\n")}\n\`\`\`\n</tool_code>`,
  functiongemma: each((call) =>
    `<start_function_call>call:${call.name}{${
      Object.entries(call.input).map(([key, value]) =>
        `${key}:${typeof value === "string" ? `<escape>${value}<escape>` : value}`
      ).join(",")
    }}<end_function_call>`
  ),
  seed: each((call) =>
    `<seed:tool_call>\n<function=${call.name}>\n${
      written(call).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join("")
    }</function>\n</seed:tool_call>`
  ),
  llama_custom: each((call) => `<function=${call.name}>${JSON.stringify(call.input)}</function>`),
  minicpm: each((call) =>
    `<function name="${call.name}">${
      written(call).map(([key, value]) => `<param name="${key}">\n${value}\n</param>`).join("")
    }</function>`
  ),
  minicpm_cdata: each((call) =>
    `<function name="${call.name}">${
      written(call).map(([key, value]) => `<param name="${key}"><![CDATA[${value}]]></param>`).join("")
    }</function>`
  ),
  deepseek_v4: (calls) =>
    `<｜DSML｜tool_calls>\n${
      calls.map((call) =>
        `<｜DSML｜invoke name="${call.name}">\n${
          Object.entries(call.input).map(([key, value]) =>
            `<｜DSML｜parameter name="${key}" string="${typeof value === "string"}">\n${value}\n</｜DSML｜parameter>\n`
          ).join("")
        }</｜DSML｜invoke>`
      ).join("\n")
    }\n</｜DSML｜tool_calls>`,
  step3: (calls) =>
    `<｜tool_calls_begin｜>${
      calls.map((call) =>
        `<｜tool_call_begin｜>function<｜tool_sep｜>${call.name}\n<steptml:invoke name="${call.name}">${
          written(call).map(([key, value]) => `<steptml:parameter name="${key}">\n${value}\n</steptml:parameter>`).join(
            "",
          )
        }</steptml:invoke><｜tool_call_end｜>`
      ).join("<｜tool_sep｜>\n")
    }<｜tool_calls_end｜>`,
  minimax_m3: (calls) =>
    `]<]minimax[>[<tool_call>\n${
      calls.map((call) =>
        `]<]minimax[>[<invoke name="${call.name}">${
          written(call).map(([key, value]) => `]<]minimax[>[<${key}>\n${value}\n]<]minimax[>[</${key}>`).join("")
        }]<]minimax[>[</invoke>\n`
      ).join("")
    }]<]minimax[>[</tool_call>`,
  longcat: each((call) => pairs(call, "longcat_")),
  k2_horizon: (calls) => `<ifm|tool_calls>${calls.map((call) => pairs(call, "ifm|")).join("\n")}</ifm|tool_calls>`,
  hunyuan: (calls) =>
    `<tool_calls>\n${
      calls.map((call) => pairs(call, "").replace(`>${call.name}`, `>${call.name}<tool_sep>`)).join("\n")
    }\n</tool_calls>`,
};

/** Forms that are reported under the name of another one, which they are like. */
const TOLD_AS: Readonly<Record<string, string>> = {
  "tool_code in a fence": "tool_code",
  functiongemma: "gemma",
  seed: "qwen_coder",
  llama_custom: "qwen_coder",
  minicpm: "minimax",
  minicpm_cdata: "minimax",
  deepseek_v4: "minimax",
  step3: "minimax",
  minimax_m3: "minimax",
  longcat: "glm",
  k2_horizon: "glm",
  hunyuan: "glm",
};

/** The name that recovery gives to a form of {@link FORMS}. */
export function toldAs(form: string): string {
  return TOLD_AS[form] ?? form;
}

/** Marks around calls and between their parts, as models write them. */
export const CALL_MARKS: readonly string[] = [
  ..."<tool_call> </tool_call> <seed:tool_call> </seed:tool_call> <tool_calls> </tool_calls> <TOOLCALL> </TOOLCALL>"
    .split(" "),
  ..."<|tool_call|> <function_call> <function_calls> </function_calls> <longcat_tool_call> <ifm|tool_call>".split(" "),
  ..."<|START_ACTION|> <|END_ACTION|> <|action_start|> <|plugin|> <|action_end|> <|python_tag|> <|python_start|>".split(
    " ",
  ),
  ..."<|python_end|> <|tool_call_start|> <|tool_call_end|> <|tools_prefix|> <|tools_suffix|> <|function_call|>".split(
    " ",
  ),
  ..."<|tool_calls_section_begin|> <|tool_call_begin|> <|tool_call_argument_begin|> <|tool_calls_section_end|>".split(
    " ",
  ),
  ..."<｜tool▁calls▁begin｜> <｜tool▁call▁begin｜> <｜tool▁sep｜> <｜tool▁call▁end｜> <｜tool▁calls▁end｜>".split(" "),
  ..."<|tool_call>call: <tool_call|> <start_function_call>call: <escape> [TOOL_CALLS] [ARGS] [CALL_ID]".split(" "),
  ..."[TOOL_REQUEST] [END_TOOL_REQUEST] [unused11] [unused12] <minimax:tool_call> </minimax:tool_call>".split(" "),
  ..."<function= </function> <invoke </invoke> </parameter> <param </param> <arg_key> </arg_key> </arg_value>".split(
    " ",
  ),
  ..."<|start|>assistant <|channel|>commentary <|channel|>analysis <|constrain|>json <|call|> <|end|> </s>".split(" "),
  ...[" to=functions.", '<invoke name="', '<function name="', '<param name="', "]<]minimax[>[", "<｜DSML｜"],
  ..."Action: Action Input: Observation: </answer> <|eom_id|> <|im_end|> functools[ <tool_response> </tool_response> <![CDATA[ ]]>"
    .split(" "),
];

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

/** Ways to show a call without meaning it, each with words before and after it. */
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

/** Forms that write values between tags, without escapes. */
export const TAGGED_FORMS: readonly string[] = [
  ..."qwen_coder glm minimax seed minicpm deepseek_v4 step3 minimax_m3 longcat k2_horizon hunyuan".split(" "),
];

/** Forms where one call that is refused refuses all, because they write a list. */
export const LIST_FORMS: readonly string[] = [
  ..."llama lfm tool_calls TOOLCALL |tool_call| |START_ACTION| |tools_prefix| unused11 |python_start|".split(" "),
  ..."function_calls".split(" "),
  "tool_code in a fence",
];

function each(one: (call: SampleCall) => string): (calls: readonly SampleCall[]) => string {
  return (calls) => calls.map(one).join("\n");
}

function listOf(calls: readonly SampleCall[], key: "arguments" | "parameters"): string {
  return `[${calls.map((call) => objectOf(call, key)).join(", ")}]`;
}

/** Keys and values between pairs of tags, as GLM writes them. */
function pairs(call: SampleCall, prefix: string): string {
  const of = (tag: string, content: string) => `<${prefix}${tag}>${content}</${prefix}${tag}>`;
  return `<${prefix}tool_call>${call.name}\n${
    written(call).map(([key, value]) => `${of("arg_key", key)}\n${of("arg_value", `\n${value}\n`)}\n`).join("")
  }</${prefix}tool_call>`;
}

function pythonCall({ name, input }: SampleCall): string {
  return `${name}(${Object.entries(input).map(([key, value]) => `${key}=${python(value)}`).join(", ")})`;
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
