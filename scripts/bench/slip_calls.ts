/**
 * Slips in the form of a call: what other programs and other models call a tool, an argument, a path or a call itself.
 */
import { ask, say } from "../../tests/helpers/fake_server.ts";
import type { Slip } from "./slip_run.ts";
import { call, EDITED, FIXED, meant, READ, use, written } from "./slip_steps.ts";

const CALL = JSON.stringify({ name: "Edit", arguments: EDITED });
const PYTHON = 'Edit(file_path="calc.py", old_string="a - b", new_string="a + b")';
const ELEMENTS = "<path>calc.py</path>\n<old_str>a - b</old_str>\n<new_str>a + b</new_str>";

/** Calls in the text of a reply. */
const WRITTEN: readonly Slip[] = [
  written("an object with tool_calls", `{"tool_calls": [${CALL}]}`),
  written("a fence in an item of a list", `1. Fix it:\n   \`\`\`json\n   ${CALL}\n   \`\`\``),
  written("an object behind a few words", `I fix it.\n\n${CALL}`),
  written("arguments beside the name", JSON.stringify({ tool: "Edit", ...EDITED })),
  written("elements named by tool and arguments", `I fix it.\n\n<str_replace>\n${ELEMENTS}\n</str_replace>`),
  written("a call as code of Python", PYTHON),
  written("a call that is printed", `\`\`\`tool_code\nprint(${PYTHON})\n\`\`\``),
  written("Action: with a call of Python", `Thought: it subtracts.\nAction: ${PYTHON}`),
  written("bold Action and Action Input", `**Action**: Edit\n**Action Input**:\n${JSON.stringify(EDITED)}`),
  written("the name of the tool before its arguments", `Edit ${JSON.stringify(EDITED)}`),
  written("a fence named by the tool", `\`\`\`Edit\n${JSON.stringify(EDITED)}\n\`\`\``),
  written("<tool_call> with a brace too few", `<tool_call>\n${CALL.slice(0, -1)}\n</tool_call>`),
  written("</tool_call> without <tool_call>", `${CALL}\n</tool_call>`),
  meant("a call that ends the reasoning", [
    say("", { reasoning: `It subtracts.\n<tool_call>\n${CALL}\n</tool_call>` }),
  ]),
  {
    kind: "a call as YAML",
    rounds: 3,
    slips: [say("tool: Edit\nfile_path: calc.py\nold_string: a - b\nnew_string: a + b")],
    recovers: [[/<tool_call>\n\{"name"/, use("Edit", EDITED)]],
    leaves: FIXED,
  },
  {
    kind: "a call in a fence with words behind it",
    rounds: 4,
    slips: [READ, say(`I fix it.\n\`\`\`json\n${CALL}\n\`\`\`\nNow add returns the sum.`)],
    recovers: [[/<tool_call>\n\{"name"/, use("Edit", EDITED)]],
    leaves: FIXED,
  },
];

/** Paths. */
const PATHS: readonly Slip[] = [
  ...[
    "calc.py:2:5",
    "calc.py#L2-L3",
    '"calc.py"',
    "calc.py\n",
    "@calc.py",
    "./src\\..\\calc.py",
    "b/calc.py",
    "calc.py.",
  ],
  ...["file:///workspace/calc.py", "~/calc.py", "calc\u200b.py"],
].map((file_path) =>
  meant(`the path ${JSON.stringify(file_path)}`, [
    use("Read", { file_path }),
    use("Edit", { ...EDITED, file_path }),
  ])
);

const NUMBERED = "1\tdef add(a, b):\n2\t    return a + b\n";

/** Names and arguments. */
const ARGUMENTS: readonly Slip[] = [
  meant("a number or a version behind a tool's name", [
    use("functions.Read:0", { file_path: "calc.py" }),
    use("edit_v2", EDITED),
  ]),
  meant("arguments in an object of their own", [READ, use("Edit", { name: "Edit", parameters: EDITED })]),
  meant("texts as lists of lines", [
    READ,
    use("Edit", {
      file_path: "calc.py",
      old_string: ["def add(a, b):", "    return a - b"],
      new_string: ["def add(a, b):", "    return a + b"],
    }),
  ]),
  meant("null for no text", [use("Edit", { file_path: "n.txt", old_string: "one\n", new_string: null })], {
    files: { "n.txt": "one\ntwo\n" },
    leaves: { "n.txt": "two\n" },
  }),
  meant("an empty new_string for a line", [use("Edit", { file_path: "n.txt", old_string: "one", new_string: "" })], {
    files: { "n.txt": "one\ntwo\n" },
    leaves: { "n.txt": "two\n" },
  }),
  meant("replace_all as yes", [
    use("Read", { file_path: "n.txt" }),
    use("Edit", { file_path: "n.txt", old_string: "one", new_string: "two", replace_all: "yes" }),
  ], { files: { "n.txt": "one\none\n" }, leaves: { "n.txt": "two\ntwo\n" } }),
  meant("expected_replacements", [
    use("Read", { file_path: "n.txt" }),
    use("replace", { file_path: "n.txt", old_string: "one", new_string: "two", expected_replacements: 2 }),
  ], { files: { "n.txt": "one\none\n" }, leaves: { "n.txt": "two\ntwo\n" } }),
  meant("Edit without an old text for a new file", [
    use("Edit", { file_path: "n.txt", old_string: "", new_string: "one\n" }),
  ], { leaves: { "n.txt": "one\n" } }),
  meant("a command behind a prompt, a time with its unit", [
    use("Bash", { command: "$ sed -i 's/-/+/' calc.py", timeout: "30s" }),
  ]),
  meant("a command with entities of HTML", [use("Bash", { command: "true &amp;&amp; sed -i 's/-/+/' calc.py" })]),
  meant("tags of a template behind the values", [
    use("Read", { file_path: "calc.py</parameter>" }),
    use("Edit", { ...EDITED, new_string: "a + b</parameter>\n</function>" }),
  ]),
  meant("names of arguments in quotes", [
    use("Edit", { '"file_path"': "calc.py", "`old_string`": "a - b", "new_string:": "a + b" }),
  ]),
  meant("before and after for the texts", [use("Edit", { path: "calc.py", before: "a - b", after: "a + b" })]),
  meant("a program and its args", [use("Bash", { command: "sed", args: ["-i", "s/a - b/a + b/", "calc.py"] })]),
  meant("a list of commands", [
    use("Bash", { commands: ["echo one > n.txt", "sed -i s/one/two/ n.txt"] }),
  ], { leaves: { "n.txt": "two\n" } }),
  meant("arguments with a closing tag behind them", [use("Edit", `${JSON.stringify(EDITED)}\n</tool_call>`)]),
  meant("the same arguments twice", [use("Edit", JSON.stringify(EDITED).repeat(2))]),
  meant("a name from where a command went", [
    use("Bash", { command: "cd src && ls" }),
    use("Edit", { file_path: "n.txt", old_string: "one", new_string: "two" }),
  ], { files: { "src/n.txt": "one\n" }, leaves: { "src/n.txt": "two\n" } }),
  meant("a call twice in one reply", [
    ask(...[1, 2].map(() => call("Bash", { command: "echo one >> n.txt" }))),
  ], { leaves: { "n.txt": "one\n" } }),
  {
    kind: "a call that the server lost",
    rounds: 3,
    slips: [{ kind: "message", text: "I fix it now.", finish: "tool_calls" }],
    recovers: [[/no tool call/, use("Edit", EDITED)]],
    leaves: FIXED,
  },
  meant("todos as a list of Markdown", [use("TodoWrite", { todos: "- [x] Read\n- [ ] Edit" }), use("Edit", EDITED)]),
];

/** Texts of files. */
const TEXTS: readonly Slip[] = [
  ...[
    ["a line number before one line of two", "1\tdef add(a, b):\n    return a - b", "def add(a, b):\n    return a + b"],
    ["fences around both texts", "```python\n    return a - b\n```", "```python\n    return a + b\n```"],
    ["a fence around new_string", "    return a - b", "```python\n    return a + b\n```"],
    ["line ends written as \\n", "def add(a, b):\\n    return a - b", "def add(a, b):\\n    return a + b"],
    ["lines without their indentation", "def add(a, b):\nreturn a - b", "def add(a, b):\nreturn a + b"],
    ["a wide minus in old_string", "a \uff0d b", "a + b"],
    ["characters of no width in old_string", "\ufeffa - b\u200b", "a + b"],
    ["a diff as new_string", "    return a - b", "-    return a - b\n+    return a + b"],
  ].map(([kind = "", old_string, new_string]) =>
    meant(kind, [READ, use("Edit", { file_path: "calc.py", old_string, new_string })])
  ),
  ...[
    ["Write in a fence", "```python\ndef add(a, b):\n    return a + b\n```"],
    ["Write in a fence behind a sentence", "Here it is:\n\`\`\`python\ndef add(a, b):\n    return a + b\n```"],
    ["Write with line numbers", NUMBERED],
    ["Write with line ends written as \\n", "def add(a, b):\\n    return a + b\\n"],
    [
      "Write of a diff",
      "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n",
    ],
  ].map(([kind = "", content]) => meant(kind, [READ, use("Write", { file_path: "calc.py", content })])),
  meant("entities of HTML in old_string", [
    use("Read", { file_path: "n.ts" }),
    use("Edit", { file_path: "n.ts", old_string: "a &lt; b", new_string: "a &lt;= b" }),
  ], { files: { "n.ts": "f(a < b)\n" }, leaves: { "n.ts": "f(a <= b)\n" } }),
  {
    kind: "Write of nothing over a file",
    rounds: 4,
    slips: [READ, use("Write", { file_path: "calc.py", content: "" })],
    recovers: [[/whole content/, use("Edit", EDITED)]],
    leaves: FIXED,
  },
];

/** All of them. */
export const CALLS: readonly Slip[] = [...WRITTEN, ...PATHS, ...ARGUMENTS, ...TEXTS];
