import assert from "node:assert/strict";
import { builtinTools } from "./registry.ts";
import { checkCall, meantCall } from "./meant_call.ts";

const TOOLS = builtinTools();

/** The tool and its checked arguments, or the problem. */
function read(name: string, input: Record<string, unknown>, tools = TOOLS): unknown {
  const meant = meantCall({ name, input }, tools);
  if (meant === null || "problem" in meant) return meant;
  const checked = checkCall(meant.tool, meant.input);
  return "problem" in checked ? checked : [meant.tool.name, checked.value];
}

Deno.test("names that models were trained on are the tool that they mean", () => {
  const rows: Record<string, readonly string[]> = {
    Read: [
      "Read",
      "read",
      "READ",
      "functions.Read",
      "functions.read_file",
      "default_api:view",
      "open_file",
      "ReadTool",
    ],
    Write: ["write", "write_file", "create_file", "write_to_file", "writeFile", "create-file"],
    Edit: ["edit", "str_replace", "search_replace", "edit_file", "replace_in_file", "multi_edit"],
    Glob: ["glob", "find_files", "file_search"],
    Grep: ["grep", "grep_search", "ripgrep", "search_file_content"],
    Bash: ["bash", "shell", "run_shell_command", "execute_command", "run_terminal_cmd", "container.exec", "bash_tool"],
    TodoWrite: ["todo_write", "write_todos"],
  };
  for (const [tool, names] of Object.entries(rows)) {
    for (const name of names) {
      const meant = meantCall({ name, input: {} }, TOOLS);
      assert.equal(meant !== null && "tool" in meant ? meant.tool.name : null, tool, name);
    }
  }
});

Deno.test("a name that is declared, ambiguous, or of no tool, is not another's", () => {
  const [readTool] = TOOLS;
  assert.ok(readTool);
  const own = { ...readTool, name: "read_file" };
  const named = (name: string, tools: typeof TOOLS) => {
    const meant = meantCall({ name, input: {} }, tools);
    return meant === null ? null : "tool" in meant ? meant.tool.name : meant.problem;
  };
  assert.equal(named("read_file", [...TOOLS, own]), "read_file");
  assert.equal(named("READ_FILE", [...TOOLS, own, { ...own, name: "ReadFile" }]), null);
  assert.equal(named("shell", TOOLS.filter(({ name }) => name !== "Bash")), null);
  assert.equal(named("mcp__files__read_file", TOOLS), null);
  assert.equal(named("SearchEverything", TOOLS), null);
  assert.equal(named("", TOOLS), null);
  assert.equal(named("constructor", TOOLS), null);
});

Deno.test("arguments of other tools are those of ours", () => {
  const rows: readonly [string, Record<string, unknown>, string, Record<string, unknown>][] = [
    ["read_file", { path: "a", start_line: 3, end_line: 7 }, "Read", { file_path: "a", offset: 3, limit: 5 }],
    ["read_file", { target_file: "a" }, "Read", { file_path: "a" }],
    ["view", { path: "a", view_range: [2, 4] }, "Read", { file_path: "a", offset: 2, limit: 3 }],
    ["view", { path: "a", view_range: [2, -1] }, "Read", { file_path: "a", offset: 2 }],
    ["list_dir", {}, "Read", { file_path: "." }],
    ["list_dir", { dir_path: "src" }, "Read", { file_path: "src" }],
    ["str_replace_editor", { command: "view", path: "a" }, "Read", { file_path: "a" }],
    ["str_replace_editor", { command: "create", path: "a", file_text: "x" }, "Write", { file_path: "a", content: "x" }],
    ["str_replace_based_edit_tool", { command: "str_replace", path: "a", old_str: "x", new_str: "y" }, "Edit", {
      file_path: "a",
      old_string: "x",
      new_string: "y",
    }],
    ["str_replace_editor", { command: "insert", path: "a", insert_line: 2, new_str: "x" }, "Edit", {
      file_path: "a",
      new_string: "x",
      start_line: 3,
      end_line: 2,
    }],
    ["multi_edit", { file_path: "a", edits: [{ old_string: "x", new_string: "y" }] }, "Edit", {
      file_path: "a",
      old_string: "x",
      new_string: "y",
    }],
    ["edit_file", { path: "a", edits: [{ oldText: "x", newText: "y" }, { search: "v", replace: "w" }] }, "Edit", {
      file_path: "a",
      edits: [{ old_string: "x", new_string: "y" }, { old_string: "v", new_string: "w" }],
    }],
    [
      "replace_in_file",
      {
        path: "a",
        diff: "<<<<<<< SEARCH\n  x\n=======\n  y\n  z\n>>>>>>> REPLACE\n",
      },
      "Edit",
      { file_path: "a", old_string: "  x", new_string: "  y\n  z" },
    ],
    ["shell", { command: ["bash", "-lc", "ls -l"], workdir: "." }, "Bash", { command: "ls -l" }],
    ["shell", { command: ["git", "log", "-1", "it's"] }, "Bash", { command: "git log -1 'it'\\''s'" }],
    ["exec_command", { cmd: "ls", workdir: "sub dir" }, "Bash", { command: "cd 'sub dir' && ls" }],
    ["Bash", { command: "apply_patch --help" }, "Bash", { command: "apply_patch --help" }],
    ["Bash", { command: "sed", args: ["-i", "s/a b/c/", "x"] }, "Bash", { command: "sed -i 's/a b/c/' x" }],
    ["Bash", { commands: ["ls -l", "cat a"] }, "Bash", { command: "ls -l\ncat a" }],
    ["Edit", { path: "a", before: "x", after: "y" }, "Edit", { file_path: "a", old_string: "x", new_string: "y" }],
    ["Edit", { path: "a", from: "x", to: "y" }, "Edit", { file_path: "a", old_string: "x", new_string: "y" }],
    ["Write", { filename: "a", data: "x" }, "Write", { file_path: "a", content: "x" }],
    [
      "replace_file_content",
      {
        TargetFile: "a",
        ReplacementChunks: [{ TargetContent: "x", ReplacementContent: "y" }],
      },
      "Edit",
      { file_path: "a", old_string: "x", new_string: "y" },
    ],
  ];
  for (const [name, input, tool, meant] of rows) assert.deepEqual(read(name, input), [tool, meant], name);
  assert.deepEqual(read("str_replace_editor", { command: "undo_edit", path: "a" }), {
    problem: "Edits cannot be taken back by a call. Call Edit with the text as it was.",
  });
});

Deno.test("names with a number, a version, parentheses or a token after them are the tool", () => {
  for (
    const name of ["functions.Read:0", "Read-1.0", "read_v2", "Read()", 'Read(file_path="a")', "Read<|channel|>json"]
  ) {
    assert.deepEqual(read(name, { file_path: "a" }), ["Read", { file_path: "a" }], name);
  }
  const [readTool] = TOOLS;
  assert.ok(readTool);
  assert.deepEqual(read("Read2", { file_path: "a" }, [...TOOLS, { ...readTool, name: "Read2" }])?.valueOf(), [
    "Read2",
    { file_path: "a" },
  ]);
});

Deno.test("arguments in an object of their own are the arguments", () => {
  const edit = { file_path: "a", old_string: "x", new_string: "y" };
  const { file_path, ...texts } = edit;
  const rows: readonly Record<string, unknown>[] = [
    { arguments: edit },
    { name: "Edit", parameters: edit },
    { input: JSON.stringify(edit) },
    { file_path, edit: texts },
    { Edit: [edit] },
  ];
  for (const input of rows) assert.deepEqual(read("Edit", input), ["Edit", edit], JSON.stringify(input));
  assert.deepEqual(read("read_file", { files: [{ path: "a" }] }), ["Read", { file_path: "a" }]);
  assert.deepEqual(read("read_file", { paths: ["a"] }), ["Read", { file_path: "a" }]);
  assert.match(JSON.stringify(read("read_file", { paths: ["a", "b"] })), /not a list\. Send one call for each/);
  assert.match(
    JSON.stringify(read("Edit", { options: { deep: true } })),
    /`file_path` is missing \(given: `options`\)/,
  );
});

Deno.test("names of arguments with signs around them, and values with tags of a template after them", () => {
  const edit = { file_path: "a.py", old_string: "x", new_string: "y" };
  const rows: readonly Record<string, unknown>[] = [
    { '"file_path"': "a.py", "`old_string`": "x", "'new_string'": "y" },
    { "file_path:": "a.py", " old string": "x", "New-String": "y" },
    { file_path: "a.py</parameter>", old_string: "x</old_string>", new_string: "y</parameter>\n</function>" },
    { file_path: "a.py<|im_end|>", old_string: "x", new_string: "y</arg_value></tool_call>" },
  ];
  for (const input of rows) assert.deepEqual(read("Edit", input), ["Edit", edit], JSON.stringify(input));
  for (const content of ["<content>a</content>", "<parameter=a>\nb\n</parameter>", "</div>", "a</b>"]) {
    assert.deepEqual(read("Write", { file_path: "a.xml", content }), ["Write", { file_path: "a.xml", content }]);
  }
});

Deno.test("texts as lists of lines, null for no text, and what a tool takes for no text", () => {
  const edit = (more: Record<string, unknown>) => ({ file_path: "a.py", old_string: "x\n  y", ...more });
  assert.deepEqual(read("Edit", edit({ old_string: ["x", "  y"], new_string: ["z\n", "v\n"] })), [
    "Edit",
    edit({ new_string: "z\nv\n" }),
  ]);
  assert.deepEqual(read("Edit", edit({ new_string: null })), ["Edit", edit({ new_string: "" })]);
  assert.deepEqual(read("str_replace", { path: "a.py", old_str: "x\n  y" }), ["Edit", edit({ new_string: "" })]);
  assert.match(JSON.stringify(read("Edit", edit({}))), /`new_string` is missing/);
  assert.deepEqual(read("Edit", edit({ new_string: "-x\n-  y\n+x\n+  z" })), ["Edit", edit({ new_string: "x\n  z" })]);
  assert.deepEqual(read("Edit", edit({ new_string: "-x\n+z" })), ["Edit", edit({ new_string: "-x\n+z" })]);
  for (const all of ["yes", 1, "on", "True"]) {
    assert.deepEqual(read("Edit", edit({ new_string: "", replace_all: all })), [
      "Edit",
      edit({ new_string: "", replace_all: true }),
    ]);
  }
});

Deno.test("texts of code in a fence are the code, and a number of expected places is taken along", () => {
  const edit = (old_string: string, new_string: string) => ({ file_path: "a.py", old_string, new_string });
  assert.deepEqual(read("Edit", edit("```python\nx = 1\n```", "```python\nx = 2\n```\n")), [
    "Edit",
    edit("x = 1", "x = 2"),
  ]);
  assert.deepEqual(read("Edit", edit("x = 1\n", "```\nx = 2\n```")), ["Edit", edit("x = 1\n", "x = 2\n")]);
  const prose = { ...edit("x", "```\nx = 2\n```"), file_path: "a.md" };
  assert.deepEqual(read("Edit", prose), ["Edit", prose]);
  assert.deepEqual(read("replace", { ...edit("x", "y"), expected_replacements: 2 }), [
    "Edit",
    { ...edit("x", "y"), expected_replacements: 2 },
  ]);
});

Deno.test("a content is the file that it is meant to be, where nothing else can be meant", () => {
  const write = (file_path: string, content: unknown) => read("Write", { file_path, content });
  const code = "def f():\n    return 1\n";
  const rows: readonly [file: string, content: unknown, meant: string][] = [
    ["a.py", "```python\n" + code + "```", code],
    ["a.py", "Here is a.py:\n\n```python\n" + code + "```\n", code],
    ["a.py", "1\tdef f():\n2\t    return 1\n", code],
    ["a.py", ["def f():", "    return 1"], code],
    ["a.py", code.replaceAll("\n", "\\n"), code],
    ["a.json", { a: [1] }, '{\n  "a": [\n    1\n  ]\n}\n'],
  ];
  for (const [file, content, meant] of rows) {
    assert.deepEqual(write(file, content), ["Write", { file_path: file, content: meant }], String(content));
  }
  const kept: readonly [file: string, content: string][] = [
    ["a.md", "```python\n" + code + "```"],
    ["a.tsv", "1\tone\n2\ttwo\n"],
    ["a.py", 'print("""\n```\nx\n```\n""")\n'],
    ["a.py", "```python\nx = 1\n```\nand\n```python\ny = 1\n```\n"],
    ["a.sh", 'printf "a\\nb\\n"'],
    ["a.c", 'puts("x\\n");\n'],
    ["a.py", "2\tx\n3\ty\n"],
    ["fix.patch", "--- a/c.txt\n+++ b/c.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"],
  ];
  for (const [file, content] of kept) {
    assert.deepEqual(write(file, content), ["Write", { file_path: file, content }], content);
  }
  assert.deepEqual(write("c.py", "--- a/c.py\n+++ b/c.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), ["Edit", {
    file_path: "c.py",
    old_string: "a\nb",
    new_string: "a\nc",
  }]);
});

Deno.test("commands as a page shows them, and times with their unit", () => {
  const rows: readonly [given: string, meant: string][] = [
    ["```bash\nls -l\n```", "ls -l"],
    ["$ ls -l", "ls -l"],
    ["$ cd src\n$ ls", "cd src\nls"],
    ["a &amp;&amp; b &gt; c", "a && b > c"],
    ["sed 's/&/&amp;/' a", "sed 's/&/&amp;/' a"],
    ['echo "a &lt; b"', 'echo "a &lt; b"'],
    ["$ ls\na.txt\n$ cat a.txt\nx", "$ ls\na.txt\n$ cat a.txt\nx"],
    ["$EDITOR a", "$EDITOR a"],
  ];
  for (const [given, command] of rows) assert.deepEqual(read("Bash", { command: given }), ["Bash", { command }]);
  for (const [timeout, ms] of [["30s", 30_000], ["2 minutes", 120_000], ["500ms", 500], ["40", 40]]) {
    assert.deepEqual(read("Bash", { command: "ls", timeout }), ["Bash", { command: "ls", timeout: ms }]);
  }
});

Deno.test("the options of search programs, and todos of other forms", () => {
  const grep = (input: Record<string, unknown>) => read("Grep", { pattern: "x", ...input });
  assert.deepEqual(grep({ "-i": true, "-n": true }), ["Grep", { pattern: "(?i)x" }]);
  assert.deepEqual(grep({ case_sensitive: false }), ["Grep", { pattern: "(?i)x" }]);
  assert.deepEqual(grep({ "-C": 2, type: "python" }), ["Grep", { pattern: "x", context: 2, glob: "*.py" }]);
  assert.deepEqual(grep({ path: "src/**/*.ts" }), ["Grep", { pattern: "x", path: "src", glob: "**/*.ts" }]);
  assert.deepEqual(grep({ path: "*.ts", "-i": "false" }), ["Grep", { pattern: "x", path: ".", glob: "*.ts" }]);
  const todos = [{ content: "Read it", status: "completed" }, { content: "Change it", status: "pending" }];
  for (
    const input of [
      { todos: "- [x] Read it\n- [ ] Change it" },
      { todos: ["[x] Read it", "Change it"] },
      { items: [{ task: "Read it", state: "done" }, { title: "Change it", status: "todo", id: 2 }] },
      { todos: JSON.stringify(todos) },
    ]
  ) assert.deepEqual(read("TodoWrite", input), ["TodoWrite", { todos }], JSON.stringify(input));
  assert.match(JSON.stringify(read("TodoWrite", { todos: [{ content: "a", status: "blocked" }] })), /one of/);
});

Deno.test("a call of the tool's own form stays as it is", () => {
  const rows: readonly [string, Record<string, unknown>][] = [
    ["Edit", { file_path: "a", old_string: "x", new_string: "y", replace_all: true }],
    ["Edit", { file_path: "a", old_string: "@@ -1 +1 @@\n x", new_string: "@@ -1 +2 @@\n x" }],
    ["Bash", { command: "cat <<'EOF'\n*** Begin Patch\nEOF" }],
    ["Read", { file_path: "a", offset: 2, limit: 3 }],
    ["Write", { file_path: "a", content: "*** Begin Patch\n*** Update File: b\n*** End Patch\n" }],
  ];
  for (const [name, input] of rows) assert.deepEqual(read(name, input), [name, input]);
  assert.match(JSON.stringify(read("Edit", { file_path: "a" })), /`old_string` is missing/);
});

const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

Deno.test("a patch is the edits that it describes, wherever it stands", () => {
  const text = patch(
    "*** Update File: src/a.py",
    "@@ def f():",
    "     x = 1",
    "-    return x",
    "+    return x + 1",
    "@@",
    "-gone",
  );
  const meant = ["Edit", {
    file_path: "src/a.py",
    edits: [
      { old_string: "    x = 1\n    return x", new_string: "    x = 1\n    return x + 1", after: "def f():" },
      { old_string: "gone\n", new_string: "" },
    ],
  }];
  for (const input of [{ input: text }, { patch: text }, { file_path: "src/a.py", old_string: text, new_string: "" }]) {
    assert.deepEqual(read("apply_patch", input), meant);
  }
  for (
    const command of [`apply_patch <<'EOF'\n${text}\nEOF`, `apply_patch <<EOF\n${text}\nEOF\n`, `apply_patch "${text}"`]
  ) {
    assert.deepEqual(read("Bash", { command }), meant);
  }
  assert.deepEqual(read("shell", { command: ["apply_patch", text] }), meant);
  const added = patch("*** Add File: b.txt", "+one", "+", "+two");
  assert.deepEqual(read("apply_patch", { input: added }), ["Write", { file_path: "b.txt", content: "one\n\ntwo\n" }]);
  const unified = "--- a/c.txt\n+++ b/c.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
  assert.deepEqual(read("Edit", { diff: unified }), ["Edit", {
    file_path: "c.txt",
    old_string: "a\nb",
    new_string: "a\nc",
  }]);
  const inserted = patch("*** Update File: a", "@@", "+last");
  assert.deepEqual(read("apply_patch", { input: inserted }), ["Edit", {
    file_path: "a",
    edits: [{ old_string: "", new_string: "last\n" }],
  }]);
});

Deno.test("a patch that cannot be one edit says which calls to make", () => {
  const problem = (...lines: string[]) =>
    (read("apply_patch", { input: patch(...lines) }) as { problem: string }).problem;
  assert.match(
    problem("*** Update File: a", "-x", "+y", "*** Update File: b", "-x", "+y"),
    /several files \(a, b\); send one/,
  );
  assert.match(problem("*** Delete File: a"), /call Bash with rm/);
  assert.match(problem("*** Update File: a", "*** Move to: b", "-x", "+y"), /call Bash with mv/);
  assert.match(problem("*** Update File: a", " x"), /changes nothing\. Call Edit/);
});
