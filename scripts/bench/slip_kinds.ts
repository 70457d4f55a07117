/**
 * The slips of small models, one row each: what the model does wrong, which words bring it back, and what must have
 * come of it. The model of a row never recovers by itself: only an answer of the program that names the next call helps
 * it.
 */
import { say } from "../../tests/helpers/fake_server.ts";
import { CALLS } from "./slip_calls.ts";
import type { Slip } from "./slip_run.ts";
import { bash, call, EDIT, edit, FIXED, meant, READ, read, unfinished, use, write } from "./slip_steps.ts";

const CREATE = '{"name": "Write", "arguments": {"file_path": "n.txt", "content": "one\\ntwo\\n"}}';
const CREATED = { "n.txt": "one\ntwo\n" };

const parts = Array.from({ length: 40 }, (_, at) => `def part${at}(x):\n    y = x + ${at}\n    return y\n`);
const BIG = parts.join("\n\n");
const PART = ["    y = x + 3\n", "    y = x + 300\n"] as const;
const BIG_FIXED = BIG.replace(...PART);
const BIG_EDIT = edit("big.py", ...PART);
const HALF = BIG_FIXED.slice(0, BIG_FIXED.indexOf("def part5"));

const lines = Array.from({ length: 1494 }, (_, at) => `line ${at + 1} of the log, as it was written that day`);
const LONG = lines.join("\n") + "\n";

const PATCH = "*** Begin Patch\n*** Update File: calc.py\n@@ def add(a, b):\n-    return a - b\n+    return a + b\n" +
  "*** End Patch";

/** Kinds that do not come right yet. Every other one must: a change that breaks it fails the tests. */
export const PENDING: readonly string[] = [];

const KINDS: readonly Slip[] = [
  unfinished("announces and does not call", { last: say("I see it. Now I'll edit calc.py:"), words: /not made|call/i }),
  unfinished("claims a change that it did not make", {
    last: say("I have fixed add in calc.py."),
    words: /no file|not.* changed/i,
  }),
  unfinished("claims it in another language", {
    last: say("Ich habe den Fehler in calc.py behoben."),
    words: /no file|not.* changed/i,
  }),
  unfinished("says that it is done", { last: say("Done."), words: /no file|not.* changed/i }),
  unfinished("shows the code instead", {
    last: say("Here is the corrected function:\n\n```python\ndef add(a, b):\n    return a + b\n```"),
    words: /no file|not.* changed/i,
  }),
  unfinished("offers to do it", { last: say("It subtracts. Would you like me to fix it?"), words: /\bdo it now\b/i }),
  {
    kind: "only looks and claims a change",
    rounds: 4,
    slips: [bash("cat calc.py"), say("I have fixed add in calc.py.")],
    recovers: [[/no file|not.* changed/i, EDIT]],
    leaves: FIXED,
  },
  {
    kind: "says that the tests pass, ran none",
    rounds: 5,
    slips: [READ, EDIT, say("I changed calc.py, and all tests pass.")],
    recovers: [[/\b(command|run|ran)\b/i, bash("echo yes > ran.txt")]],
    leaves: { ...FIXED, "ran.txt": "yes\n" },
  },
  unfinished("replies nothing", { last: say(""), words: /\bcall a tool\b/ }),
  unfinished("only thinks", { last: say("", { reasoning: "I have to edit it." }), words: /\bcall a tool\b/ }),
  {
    kind: "plain answers are left alone",
    rounds: 1,
    prompt: "How is a sum written in Python?",
    slips: [say("With `+`, as in calc.py: `a + b`. I can edit files too. Let me know what you need:")],
    answers: /as in calc\.py/,
  },
  {
    kind: "announces forever",
    rounds: 4,
    slips: [READ, say("Now I'll edit calc.py:"), say("I'll make the edit now:")],
    answers: /edit/,
  },
  {
    kind: 'Write with "rest unchanged"',
    rounds: 4,
    files: { "big.py": BIG },
    slips: [read("big.py"), write("big.py", `${HALF}# ... rest of the file unchanged ...\n`)],
    recovers: [[/\bEdit\b/, BIG_EDIT]],
    leaves: { "big.py": BIG_FIXED },
  },
  {
    kind: 'Edit with "existing code"',
    rounds: 4,
    files: { "big.py": BIG },
    slips: [
      read("big.py"),
      edit("big.py", parts.slice(2, 6).join("\n\n"), `${parts[2]}\n\n# ... existing code ...\n\n${parts[5]}`),
    ],
    recovers: [[/existing code/, BIG_EDIT]],
    leaves: { "big.py": BIG_FIXED },
  },
  {
    kind: "Write over a file of which it read a page",
    rounds: 4,
    files: { "log.txt": LONG },
    slips: [read("log.txt", { limit: 20 }), write("log.txt", lines.slice(0, 26).join("\n") + "\n")],
    recovers: [[/\bEdit\b/, edit("log.txt", "line 3 of the log", "line three of the log")]],
    leaves: { "log.txt": LONG.replace("line 3 of the log", "line three of the log") },
  },
  {
    kind: "inserts the same text twice",
    rounds: 4,
    slips: [READ, ...[1, 2].map(() => edit("calc.py", "def add(a, b):\n", "def add(a, b):\n    # The sum.\n"))],
    leaves: { "calc.py": "def add(a, b):\n    return a - b\n".replace(":\n", ":\n    # The sum.\n") },
  },
  meant("letter case of a tool's name", [use("read", { file_path: "calc.py" }), EDIT]),
  meant("functions.Read", [use("functions.Read", { file_path: "calc.py" }), EDIT]),
  meant("read_file and str_replace", [
    use("read_file", { path: "calc.py" }),
    use("str_replace", { path: "calc.py", old_str: "a - b", new_str: "a + b" }),
  ]),
  meant("str_replace_editor with its commands", [
    use("str_replace_editor", { command: "view", path: "calc.py" }),
    use("str_replace_editor", { command: "str_replace", path: "calc.py", old_str: "a - b", new_str: "a + b" }),
  ]),
  meant("write_file, run_shell_command, shell", [
    use("write_file", { path: "n.txt", content: "one\n" }),
    use("run_shell_command", { command: "echo two >> n.txt" }),
    use("shell", { command: "sed -i 's/-/+/' calc.py" }),
  ], { leaves: { ...CREATED, ...FIXED } }),
  meant("names of arguments", [
    use("Read", { filePath: "calc.py" }),
    use("Edit", { path: "calc.py", oldText: "a - b", "new-string": "a + b" }),
  ]),
  meant("a list of edits", [
    READ,
    use("Edit", { file_path: "calc.py", edits: [{ old_string: "a - b", new_string: "a + b" }] }),
  ]),
  meant("line numbers in old_string", [
    READ,
    edit("calc.py", "1\tdef add(a, b):\n2\t    return a - b", "def add(a, b):\n    return a + b"),
  ]),
  meant("typographic quotes in old_string", [
    read("said.txt"),
    edit("said.txt", "it’s “plain”", "it’s “clear”"),
  ], { files: { "said.txt": `it's "plain" text\n` }, leaves: { "said.txt": `it's "clear" text\n` } }),
  meant("no-break spaces in old_string", [
    READ,
    edit("calc.py", "\u00a0\u00a0\u00a0\u00a0return a\u00a0-\u00a0b", "    return a + b"),
  ]),
  meant("an exact edit of a file that it has not read", [EDIT]),
  meant("a comma too many in the arguments", [
    READ,
    use("Edit", `{"file_path": "calc.py", "old_string": "a - b", "new_string": "a + b",}`),
  ]),
  meant("arguments as JSON text in JSON", [
    READ,
    use("Edit", JSON.stringify(`{"file_path": "calc.py", "old_string": "a - b", "new_string": "a + b"}`)),
  ]),
  meant("Action: and Action Input:", [
    say('I look.\nAction: Read\nAction Input: {"file_path": "calc.py"}'),
    say(
      'Thought: it subtracts.\nAction: Edit\nAction Input: {"file_path": "calc.py", "old_string": "a - b", "new_string": "a + b"}',
    ),
  ]),
  meant("a raw line end in <tool_call>", [
    say(`<tool_call>\n${CREATE.replaceAll("\\n", "\n")}\n</tool_call>`),
  ], { leaves: CREATED }),
  meant("a call in a fence behind a few words", [
    say(`I'll make the file.\n\n\`\`\`json\n${CREATE}\n\`\`\``),
  ], { leaves: CREATED }),
  meant("a call of apply_patch", [READ, use("apply_patch", { input: PATCH })]),
  meant("apply_patch in a command", [READ, bash(`apply_patch <<'EOF'\n${PATCH}\nEOF`)]),
  meant("a patch as old_string of Edit", [
    READ,
    use("Edit", { file_path: "calc.py", patch: PATCH }),
  ]),
  meant("SEARCH/REPLACE in the text", [
    say('<tool_call>\n{"name": "Read", "arguments": {"file_path": "calc.py"}}\n</tool_call>'),
    say("calc.py\n```\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n```"),
  ], { model: { tool_calls: "text" } }),
  {
    kind: "arguments that nobody can read",
    rounds: 4,
    slips: [READ, use("Edit", "file_path: calc.py, replace the minus by a plus")],
    recovers: [[/JSON/, EDIT]],
    leaves: FIXED,
  },
  {
    kind: "a call in a form of its own",
    rounds: 3,
    slips: [say('I write it.\n<|plugin_call|>Write{path: "n.txt"}')],
    recovers: [[/<tool_call>\n\{"name"/, say(`<tool_call>\n${CREATE}\n</tool_call>`)]],
    leaves: CREATED,
  },
  {
    kind: "a reply that ends inside Write",
    rounds: 3,
    slips: [{
      kind: "message",
      finish: "length",
      calls: [call("Write", '{"file_path": "n.txt", "content": "one\\nt')],
    }],
    recovers: [[/length limit|cut|smaller|shorter/i, write("n.txt", "one\ntwo\n")]],
    leaves: CREATED,
  },
  {
    kind: "old_string from memory",
    rounds: 4,
    slips: [READ, edit("calc.py", "    return a-b  # difference", "    return a + b")],
    recovers: [[/return a - b/, EDIT]],
    leaves: FIXED,
  },
  {
    kind: "old_string in several places",
    rounds: 4,
    files: { "big.py": BIG },
    slips: [read("big.py"), edit("big.py", "    return y\n", "    return y + 1\n")],
    recovers: [[/surrounding lines/, edit("big.py", "+ 3\n    return y\n", "+ 3\n    return y + 1\n")]],
    leaves: { "big.py": BIG.replace("+ 3\n    return y\n", "+ 3\n    return y + 1\n") },
  },
  {
    kind: "a path that it guessed, outside",
    rounds: 4,
    slips: [read("/workspace/calc.py")],
    recovers: [[/(?<!\/workspace\/)\bcalc\.py/, READ], [/return a - b/, EDIT]],
    leaves: FIXED,
  },
  {
    kind: "a name spelled wrong",
    rounds: 4,
    slips: [read("clac.py")],
    recovers: [[/\bcalc\.py/, READ], [/return a - b/, EDIT]],
    leaves: FIXED,
  },
  {
    kind: "a tool that does not exist",
    rounds: 4,
    slips: [use("SearchCode", { query: "add" })],
    recovers: [[/\bGrep\b/, use("Grep", { pattern: "def add", output_mode: "content" })], [/calc\.py/, READ]],
    answers: /That is all/,
  },
  {
    kind: "the same call again and again",
    rounds: 5,
    slips: [READ, READ, READ],
    recovers: [[/same call/, EDIT]],
    leaves: FIXED,
  },
  {
    kind: "a file with an error of syntax",
    rounds: 3,
    slips: [write("set.json", '{\n  "a": 1\n  "b": 2\n}\n')],
    recovers: [[/line 3|syntax/i, write("set.json", '{\n  "a": 1,\n  "b": 2\n}\n')]],
    leaves: { "set.json": '{\n  "a": 1,\n  "b": 2\n}\n' },
  },
  {
    kind: "a command that asks for input",
    rounds: 2,
    slips: [bash("printf 'name? '; read name; echo \"hello $name\"")],
    answers: /That is all/,
  },
  {
    kind: "a command that floods a small window",
    rounds: 2,
    slips: [bash("seq 1 60000")],
    window: 4096,
    longest: 4096 / 8 * 4,
    answers: /That is all/,
  },
  {
    kind: "a long file in a small window",
    rounds: 3,
    files: { "log.txt": LONG },
    slips: [read("log.txt")],
    recovers: [[/offset/, read("log.txt", { offset: 1490 })]],
    window: 4096,
    longest: 4096 / 8 * 4,
    answers: /That is all/,
  },
  {
    kind: "a prompt that the server cuts in mid-session",
    rounds: 8,
    files: { "one.txt": LONG.slice(0, 6000), "two.txt": LONG.slice(6000, 12_000), "three.txt": LONG.slice(0, 6000) },
    slips: [read("one.txt"), read("two.txt"), read("three.txt"), EDIT],
    window: 4096,
    cuts: true,
    leaves: FIXED,
  },
];

/** Every kind. The order is that of the printed table. */
export const SLIPS: readonly Slip[] = [...KINDS, ...CALLS];
