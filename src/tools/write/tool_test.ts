import assert from "node:assert/strict";
import { inToolProject, promptBytes } from "../../../tests/helpers/tool_project.ts";
import { editTool } from "../edit/tool.ts";
import { readTool } from "../read/tool.ts";
import { writeTool } from "./tool.ts";

Deno.test("the prompt of Write costs at most 300 bytes", () => assert.ok(promptBytes(writeTool) <= 300));

Deno.test("a new file is created with its directories and may be replaced at once", () =>
  inToolProject(async ({ run, text, root }) => {
    const created = await run(writeTool, { file_path: "new/a.txt", content: "é\nb\n" });
    assert.deepEqual(created, {
      content: "Created new/a.txt (2 lines, 5 bytes).",
      isError: false,
      label: "open",
      details: { type: "create", filePath: `${root}/new/a.txt` },
      change: { name: "new/a.txt", before: null, after: "é\nb\n" },
    });
    const updated = await run(writeTool, { file_path: "new/a.txt", content: "c" });
    assert.equal(updated.content, "Updated new/a.txt (1 line, 1 byte; it had 2 lines).");
    assert.equal(await text("new/a.txt"), "c");
  }));

Deno.test("a file that was not read is not replaced", () =>
  inToolProject(async ({ run, write, text }) => {
    await write("a.txt", "mine");
    const result = await run(writeTool, { file_path: "a.txt", content: "yours" });
    assert.ok(result.isError);
    assert.match(result.content, /exists \(1 line\) and was not read .* call Edit; .* call Read first/);
    assert.equal(await text("a.txt"), "mine");
    await run(readTool, { file_path: "a.txt" });
    assert.equal((await run(writeTool, { file_path: "a.txt", content: "yours" })).isError, false);
  }));

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");

Deno.test("a file is replaced only when all of its lines were shown, in whatever pages", () =>
  inToolProject(async ({ run, write, text }) => {
    await write("a.txt", numbered(1494));
    const replace = () => run(writeTool, { file_path: "a.txt", content: "short\n" });
    const page = (offset: number, limit: number) => run(readTool, { file_path: "a.txt", offset, limit });
    await page(1, 20);
    const refused = await replace();
    assert.ok(refused.isError);
    assert.match(refused.content, /has 1,494 lines, .* call Edit; .* call Read with offset 21 first/);
    assert.equal(await text("a.txt"), numbered(1494));
    await page(1000, 2000);
    assert.match((await replace()).content, /offset 21 /);
    await page(15, 900);
    assert.match((await replace()).content, /offset 915 /);
    await page(900, 100);
    assert.equal((await replace()).content, "Updated a.txt (1 line, 6 bytes; it had 1,494 lines).");
    assert.equal(await text("a.txt"), "short\n");
  }));

Deno.test("an edit shows no more of a file than it changed", () =>
  inToolProject(async ({ run, write, text }) => {
    await write("a.txt", numbered(40));
    await run(readTool, { file_path: "a.txt", offset: 10, limit: 5 });
    await run(editTool, { file_path: "a.txt", old_string: "line 12\n", new_string: "12a\n12b\n12c\n" });
    const replace = () => run(writeTool, { file_path: "a.txt", content: "x" });
    assert.match((await replace()).content, /offset 1 /);
    await run(readTool, { file_path: "a.txt", limit: 9 });
    assert.match((await replace()).content, /offset 17 /);
    assert.match((await run(readTool, { file_path: "a.txt", offset: 17 })).content, /^17\tline 15\n/);
    assert.equal((await replace()).isError, false);
    assert.equal(await text("a.txt"), "x");
  }));

Deno.test("what Read cannot show is not replaced, and an empty file always may be", () =>
  inToolProject(async ({ run, write }) => {
    await write("a.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]));
    await write("long.txt", `a\n${"x".repeat(9000)}\nb\n`);
    await write("empty.txt", "");
    for (const file_path of ["a.png", "long.txt"]) {
      await run(readTool, { file_path });
      const result = await run(writeTool, { file_path, content: "x" });
      assert.match(result.content, /remove it with a command first/, file_path);
    }
    assert.equal((await run(writeTool, { file_path: "empty.txt", content: "x" })).isError, false);
  }));

Deno.test("a file that changed since it was read is not replaced, even when size and time are the same", () =>
  inToolProject(async ({ run, write, text, root }) => {
    await write("a.txt", "mine");
    await run(readTool, { file_path: "a.txt" });
    const { mtime } = await Deno.stat(`${root}/a.txt`);
    await write("a.txt", "ours");
    if (mtime !== null) await Deno.utime(`${root}/a.txt`, mtime, mtime);
    const result = await run(writeTool, { file_path: "a.txt", content: "yours" });
    assert.match(result.content, /changed since it was read/);
    assert.equal(await text("a.txt"), "ours");
  }));

Deno.test("a file that was only touched counts as unchanged", () =>
  inToolProject(async ({ run, write, root }) => {
    await write("a.txt", "mine");
    await run(readTool, { file_path: "a.txt" });
    await Deno.utime(`${root}/a.txt`, 1, 1);
    assert.equal((await run(writeTool, { file_path: "a.txt", content: "yours" })).isError, false);
  }));

Deno.test("writing what is there already is reported and not done", () =>
  inToolProject(async ({ run, write, root }) => {
    await write("a.txt", "same\n");
    await run(readTool, { file_path: "a.txt" });
    const before = await Deno.stat(`${root}/a.txt`);
    const result = await run(writeTool, { file_path: "a.txt", content: "same\n" });
    assert.deepEqual([result.isError, /already has exactly this/.test(result.content)], [false, true]);
    assert.equal((await Deno.stat(`${root}/a.txt`)).ino, before.ino);
  }));

Deno.test("protected places, links, directories and the outside are refused and stay as they were", () =>
  inToolProject(async ({ run, write, root }) => {
    await write(".git/config", "git");
    await write("target.txt", "target");
    await Deno.symlink("target.txt", `${root}/link`);
    for (
      const path of [".git/config", ".git/hooks/x", ".agentclisecret", "link", ".git", "../x", "~/.bashrc", ".mcp.json"]
    ) {
      const result = await run(writeTool, { file_path: path, content: "evil" });
      assert.ok(result.isError, path);
    }
    assert.equal(await Deno.readTextFile(`${root}/target.txt`), "target");
    assert.deepEqual([...Deno.readDirSync(root)].map((entry) => entry.name).sort(), [".git", "link", "target.txt"]);
  }));

Deno.test("a write that cannot be or changes nothing is objected to, one that can is not, and neither writes", () =>
  inToolProject(async ({ run, write, text, context }) => {
    await write("a.txt", "a\n");
    const precheck = async (file_path: string, content: string) =>
      await writeTool.precheck?.({ file_path, content }, context);
    assert.match((await precheck("a.txt", "b\n"))?.content ?? "", /was not read in this session/);
    await run(readTool, { file_path: "a.txt" });
    assert.match((await precheck("a.txt", "a\n"))?.content ?? "", /nothing was written/);
    assert.equal(await precheck("a.txt", "b\n"), null);
    assert.equal(await precheck("new.txt", "b\n"), null);
    assert.equal(await text("a.txt"), "a\n");
    await assert.rejects(text("new.txt"));
  }));
