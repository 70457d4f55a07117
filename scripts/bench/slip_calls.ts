/** Slips in the form of a call: what other programs and other models call a tool, an argument, a path or a call itself. */
import { say } from "../../tests/helpers/fake_server.ts";
import type { Slip } from "./slip_run.ts";
import { EDITED, FIXED, meant, READ, use, written } from "./slip_steps.ts";

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

/** All of them. */
export const CALLS: readonly Slip[] = [...WRITTEN, ...PATHS];
