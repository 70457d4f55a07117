import assert from "node:assert/strict";
import { inToolProject, promptBytes, type ToolProject } from "../../../tests/helpers/tool_project.ts";
import { readTool } from "../read/tool.ts";
import { writeTool } from "../write/tool.ts";
import { editTool } from "./tool.ts";

/** Writes, reads and edits one file; gives the result and the text after. */
async function edited(
  project: ToolProject,
  call: { before: string | Uint8Array; old: string; new: string; all?: boolean },
) {
  await project.write("a.txt", call.before);
  await project.run(readTool, { file_path: "a.txt" });
  const input = { file_path: "a.txt", old_string: call.old, new_string: call.new, replace_all: call.all };
  const result = await project.run(editTool, input);
  return { ...result, after: await project.text("a.txt") };
}

Deno.test("the prompt of Edit costs at most 520 bytes", () => assert.ok(promptBytes(editTool) <= 520));

Deno.test("an exact match is replaced and shown with the lines around it", () =>
  inToolProject(async (project) => {
    const before = "1\n2\n3\n4\nold\n6\n7\n8\n9\n";
    const result = await edited(project, { before, old: "old", new: "new\nnewer" });
    assert.equal(result.after, "1\n2\n3\n4\nnew\nnewer\n6\n7\n8\n9\n");
    assert.equal(result.content, "Edited a.txt.\n2\t2\n3\t3\n4\t4\n5\tnew\n6\tnewer\n7\t6\n8\t7\n9\t8");
    assert.deepEqual(result.details, {
      filePath: `${project.root}/a.txt`,
      oldString: "old",
      newString: "new\nnewer",
      structuredPatch: [{
        oldStart: 2,
        oldLines: 7,
        newStart: 2,
        newLines: 8,
        lines: [" 2", " 3", " 4", "-old", "+new", "+newer", " 6", " 7", " 8"],
      }],
    });
  }));

Deno.test("several edits follow each other without reading again", () =>
  inToolProject(async (project) => {
    await edited(project, { before: "a b c", old: "b", new: "B" });
    const again = await project.run(editTool, { file_path: "a.txt", old_string: "c", new_string: "C" });
    assert.equal(again.isError, false);
    assert.equal(await project.text("a.txt"), "a B C");
  }));

Deno.test("several matches are refused with their lines, and replaced with replace_all", () =>
  inToolProject(async (project) => {
    const before = "x\ny\nx x\n";
    const several = await edited(project, { before, old: "x", new: "z" });
    assert.ok(several.isError);
    assert.match(several.content, /occurs 3 times in a\.txt: lines 1, 3, 3\. Add surrounding lines/);
    assert.equal(several.after, before);
    const all = await edited(project, { before, old: "x", new: "z", all: true });
    assert.equal(all.after, "z\ny\nz z\n");
    assert.match(all.content, /^Edited a\.txt 3 places\./);
  }));

Deno.test("line ends, byte order mark and a missing final newline stay", () =>
  inToolProject(async (project) => {
    const crlf = await edited(project, { before: "\ufeffa\r\nb\r\nc", old: "a\nb", new: "a\nx\nb" });
    assert.equal(crlf.after, "\ufeffa\r\nx\r\nb\r\nc");
    const single = await edited(project, { before: "a\r\nb\r\nc", old: "b", new: "x\ny" });
    assert.equal(single.after, "a\r\nx\r\ny\r\nc");
    const opening = await edited(project, { before: "a\r\nb\r\n", old: "\nb", new: "" });
    assert.equal(opening.after, "a\r\n");
    const feeds = await edited(project, { before: "a\nb\n", old: "a\r\nb", new: "a\r\nc" });
    assert.equal(feeds.after, "a\nc\n");
  }));

Deno.test("UTF-16 and Latin-1 files keep their encoding", () =>
  inToolProject(async (project) => {
    await edited(project, { before: new Uint8Array([0xff, 0xfe, 0x61, 0, 0x62, 0]), old: "b", new: "é" });
    assert.deepEqual([...await project.bytes("a.txt")], [0xff, 0xfe, 0x61, 0, 0xe9, 0]);
    await edited(project, { before: new Uint8Array([0xe9, 0x62]), old: "b", new: "ü" });
    assert.deepEqual([...await project.bytes("a.txt")], [0xe9, 0xfc]);
    const impossible = await edited(project, { before: new Uint8Array([0xe9, 0x62]), old: "b", new: "€" });
    assert.match(impossible.content, /Latin-1 text, which has no "[^"]+"\. Replace/);
  }));

Deno.test("a match that differs in white space takes over the file's indentation", () =>
  inToolProject(async (project) => {
    const before = "def f():\n\tif x:\n\t\treturn 1\n\treturn 2\n";
    const old = "    if x:\n        return 1\n";
    const result = await edited(project, { before, old, new: "    if y:\n        if z:\n            return 3\n" });
    assert.equal(result.after, "def f():\n\tif y:\n\t\tif z:\n\t\t\treturn 3\n\treturn 2\n");
    assert.match(result.content, /white space differed/);
  }));

Deno.test("dropped indentation, wider levels and trailing spaces are found", () =>
  inToolProject(async (project) => {
    const dropped = await edited(project, {
      before: "{\n    a();\n    b();\n}\n",
      old: "a();\nb();",
      new: "a();\nc();",
    });
    assert.equal(dropped.after, "{\n    a();\n    c();\n}\n");
    const wider = await edited(project, {
      before: "{\n  if (a) {\n    b();\n  }\n}\n",
      old: "    if (a) {\n        b();\n    }",
      new: "    if (a) {\n        b();\n        if (c) {\n            d();\n        }\n    }",
    });
    assert.equal(wider.after, "{\n  if (a) {\n    b();\n    if (c) {\n      d();\n    }\n  }\n}\n");
    const trailing = await edited(project, { before: "a;  \nb;\n", old: "a;\nb;", new: "a;\nc;" });
    assert.equal(trailing.after, "a;\nc;\n");
    const within = await edited(project, { before: "let a = f( x );\n", old: "f(x)", new: "g(x)" });
    assert.equal(within.after, "let a = g(x);\n");
    const removed = await edited(project, { before: "a\n\tb\nc\n", old: "    b\n", new: "" });
    assert.equal(removed.after, "a\nc\n");
  }));

Deno.test("several places that differ in white space only are refused even with replace_all", () =>
  inToolProject(async (project) => {
    const result = await edited(project, { before: "f( a );\nf(a  );\n", old: "f(a)", new: "g", all: true });
    assert.match(result.content, /2 places differ only in white space: lines 1, 2/);
  }));

Deno.test("no match shows the nearest lines, the first difference and why", () =>
  inToolProject(async (project) => {
    const before = "one\nfunction greet(name) {\n  return `hello ${name}`;\n}\n";
    const near = await edited(project, {
      before,
      old: "function greet(name) {\n  return 'hello ' + name;\n}",
      new: "x",
    });
    assert.ok(near.isError);
    assert.match(near.content, /2\tfunction greet\(name\) \{\n3\t {2}return `hello/);
    assert.match(near.content, /First difference, line 3:\nfile: .*`hello .*\nold_string: .*'hello '/);
    const similar = await edited(project, { before, old: "function great(nam) {", new: "x" });
    assert.match(similar.content, /Nearest lines:\n2\tfunction greet/);
    const numbered = await edited(project, { before, old: "1\tone\n2\tfunction treat(name) {", new: "x" });
    assert.match(numbered.content, /holds the line numbers of Read/);
    const cased = await edited(project, { before, old: "ONE", new: "x" });
    assert.match(cased.content, /upper and lower case/);
    const nothing = await edited(project, { before, old: "%%%%%%", new: "x" });
    assert.match(nothing.content, /No line of the file is similar/);
    assert.equal(nothing.after, before);
  }));

Deno.test("edits that cannot be meant are refused with what to do instead", () =>
  inToolProject(async (project) => {
    assert.match((await edited(project, { before: "a", old: "", new: "x" })).content, /use Write/);
    assert.match(
      (await edited(project, { before: "a", old: "a", new: "a" })).content,
      /identical, so nothing would change/,
    );
    await project.write("unread.txt", "a a");
    const call = (file_path: string) => project.run(editTool, { file_path, old_string: "a", new_string: "b" });
    assert.match((await call("unread.txt")).content, /was not read in this session\. Call Read, then Edit again/);
    await project.write("a.txt", "changed again");
    assert.match((await call("a.txt")).content, /changed since it was read/);
    assert.match((await call("b.txt")).content, /b\.txt does not exist\. Did you mean a\.txt\?/);
    await project.write("c.bin", new Uint8Array([0, 97]));
    await project.run(readTool, { file_path: "c.bin" });
    assert.match((await call("c.bin")).content, /not a text file/);
    assert.match((await call(".git/config")).content, /may not be written/);
  }));

Deno.test("an edit of a protected file is no-cloud", () =>
  inToolProject(async (project) => {
    const result = await edited(project, { before: "a", old: "nothing", new: "b" });
    assert.equal(result.label, "no-cloud");
  }, { marker: "no-cloud: *.txt\n" }));

Deno.test("an edit that cannot be is objected to, one that can is not, and neither changes the file", () =>
  inToolProject(async ({ run, write, text, context }) => {
    await write("a.txt", "a\n");
    const precheck = async (old_string: string) =>
      await editTool.precheck?.({ file_path: "a.txt", old_string, new_string: "b" }, context);
    assert.match((await precheck("c"))?.content ?? "", /was not read in this session/);
    await run(readTool, { file_path: "a.txt" });
    assert.match((await precheck("c"))?.content ?? "", /old_string was not found/);
    assert.equal(await precheck("a"), null);
    assert.equal(await text("a.txt"), "a\n");
  }));

Deno.test("an exact and unique old_string is enough for a file that was not read, and shows no more of it", () =>
  inToolProject(async ({ run, write, text, context }) => {
    await write("a.txt", "one\ntwo\nthree\n");
    const call = (old_string: string, more = context) =>
      editTool.run({ file_path: "a.txt", old_string, new_string: "2" }, more);
    assert.match((await call(" two ")).content, /was not read/, "white space differs");
    const denied = await call("two", { ...context, readDenied: () => "Read(a.txt)" });
    assert.match(denied.content, /a rule denies reading it/);
    assert.equal(await text("a.txt"), "one\ntwo\nthree\n");
    assert.equal((await call("two")).isError, false);
    assert.equal(await text("a.txt"), "one\n2\nthree\n");
    const whole = await run(writeTool, { file_path: "a.txt", content: "x" });
    assert.match(whole.content, /you have not seen all of it \(line 1\)/);
  }));

Deno.test("quotes, dashes and spaces match whatever their kind, and those of the file stay", () =>
  inToolProject(async (project) => {
    const cases: readonly (readonly [before: string, old: string, text: string, after: string])[] = [
      [`say "a" - it's b\n`, "say “a” – it’s b", "say “a” – it’s c", `say "a" - it's c\n`],
      ["say “a” — it’s b\n", `say "a" - it's b`, `say "a" - it's c`, "say “a” — it’s c\n"],
      ["“a”\nb\n“c”\n", `"a"\nb\n"c"`, `"a"\nB\n"c"`, "“a”\nB\n“c”\n"],
      [
        "  if x:\n    y\n",
        "\u00a0\u00a0if\u00a0x:\n\u00a0\u00a0\u00a0\u00a0y",
        "\u00a0\u00a0if\u00a0x:\n\u00a0\u00a0\u00a0\u00a0z",
        "  if x:\n    z\n",
      ],
      ["  if x:\r\n    y\r\n", "\u00a0\u00a0if x:\n    y", "  if x:\n    z\n    w", "  if x:\r\n    z\r\n    w\r\n"],
      [
        "\tif x:\n\t\ty\n",
        "\u00a0\u00a0if x:\n\u00a0\u00a0\u00a0\u00a0y",
        "\u00a0\u00a0if x:\n\u00a0\u00a0\u00a0\u00a0z",
        "\tif x:\n\t\tz\n",
      ],
      ["a\u00a0b\n", "a b", "a c", "a\u00a0c\n"],
    ];
    for (const [before, old, text, after] of cases) {
      const result = await edited(project, { before, old, new: text });
      assert.equal(result.after, after, result.content);
    }
    const signs = await edited(project, { before: "it's\n", old: "it’s", new: "its" });
    assert.match(signs.content, /quotes, dashes or spaces differed; the file's were kept/);
    const several = await edited(project, { before: "it's it's\n", old: "it’s", new: "x" });
    assert.match(several.content, /2 places differ only in signs/);
  }));

Deno.test("line numbers of Read in every line of old_string are left out", () =>
  inToolProject(async (project) => {
    const before = "a\n  b\nc\n";
    for (const [old, text] of [["1\ta\n2\t  b", "1\ta\n2\t  B"], [" 2→  b\n 3→c", "  B\nc"], ["2: b", "B"]] as const) {
      const result = await edited(project, { before, old, new: text });
      assert.equal(result.after, "a\n  B\nc\n", result.content);
    }
    const real = await edited(project, { before: "1\tx\n2\ty\n", old: "1\tx", new: "1\tz" });
    assert.equal(real.after, "1\tz\n2\ty\n", "numbers of the file itself stay");
  }));

Deno.test("a list of edits is made whole or not at all", () =>
  inToolProject(async ({ run, write, text }) => {
    await write("a.txt", "a\nb\nc\n");
    await run(readTool, { file_path: "a.txt" });
    const call = (...edits: { old_string: string; new_string: string }[]) =>
      run(editTool, { file_path: "a.txt", edits });
    const [c, b] = [{ old_string: "c", new_string: "C" }, { old_string: "b", new_string: "B" }];
    const failed = await call(c, { old_string: "q", new_string: "Q" });
    assert.match(failed.content, /^Edit 2 of 2 failed; nothing was written\. old_string was not found/);
    assert.match((await call(b, { old_string: "b\nc", new_string: "x" })).content, /overlap; nothing was written/);
    assert.equal(await text("a.txt"), "a\nb\nc\n");
    assert.match((await call(c, b)).content, /^Edited a\.txt 2 places\./);
    assert.equal(await text("a.txt"), "a\nB\nC\n");
    await call({ old_string: "B", new_string: "2" }, { old_string: "", new_string: "end\n" });
    assert.equal(await text("a.txt"), "a\n2\nC\nend\n");
  }));

Deno.test("the second failed edit of a file offers lines, which are then replaced", () =>
  inToolProject(async ({ run, write, text }) => {
    await write("a.txt", "def f(a, b):\n    return a - b\nend\n");
    await run(readTool, { file_path: "a.txt" });
    const miss = {
      file_path: "a.txt",
      old_string: "def f(a,  c):\n    return a - c",
      new_string: "def f(a, b):\n    pass",
    };
    assert.doesNotMatch((await run(editTool, miss)).content, /start_line/);
    assert.match((await run(editTool, miss)).content, /send file_path, new_string, start_line 1 and end_line 2\.$/);
    const lines = { start_line: 1, end_line: 2 };
    assert.equal((await run(editTool, { ...miss, ...lines })).isError, false);
    assert.equal(await text("a.txt"), "def f(a, b):\n    pass\nend\n");
    await run(editTool, { file_path: "a.txt", new_string: "3\tlast", start_line: 3, end_line: 3 });
    await run(editTool, { file_path: "a.txt", new_string: "first", start_line: 1, end_line: 0 });
    assert.equal(await text("a.txt"), "first\ndef f(a, b):\n    pass\nlast\n");
    const far = await run(editTool, { file_path: "a.txt", new_string: "x", start_line: 9, end_line: 12 });
    assert.match(far.content, /has 4 lines: there are no lines 9-12\. Call Read/);
  }));

Deno.test("lines that were not shown cannot be replaced by their numbers", () =>
  inToolProject(async ({ run, write, text }) => {
    await write("a.txt", "1\n2\n3\n4\n");
    const call = { file_path: "a.txt", new_string: "x", start_line: 2, end_line: 3 };
    assert.match((await run(editTool, call)).content, /was not read/);
    await run(readTool, { file_path: "a.txt", limit: 2 });
    assert.match((await run(editTool, call)).content, /Line 3 of a\.txt was not shown yet\. Call Read/);
    assert.equal(await text("a.txt"), "1\n2\n3\n4\n");
  }));
