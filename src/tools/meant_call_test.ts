import assert from "node:assert/strict";
import { builtinTools } from "./registry.ts";
import { checkCall } from "./arguments.ts";
import { meantCall } from "./meant_call.ts";

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

Deno.test("a name that is declared, that two could mean, or that no tool is behind, is not another's", () => {
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
  ];
  for (const [name, input, tool, meant] of rows) assert.deepEqual(read(name, input), [tool, meant], name);
  assert.deepEqual(read("str_replace_editor", { command: "undo_edit", path: "a" }), {
    problem: "Edits cannot be taken back by a call. Call Edit with the text as it was.",
  });
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
