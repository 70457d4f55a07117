import assert from "node:assert/strict";
import { inToolProject, type ToolProject } from "../../../tests/helpers/tool_project.ts";
import type { GlobInput } from "../declarations.ts";
import { globTool } from "./tool.ts";

async function found({ run }: ToolProject, input: GlobInput): Promise<string[]> {
  const result = await run(globTool, input);
  assert.equal(result.isError, false, result.content);
  return result.content.split("\n");
}

/** Files whose age follows their order: the last is the newest. */
async function writeInTurn({ write, root }: ToolProject, names: string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    await write(name, "");
    await Deno.utime(`${root}/${name}`, 1_000 + index, 1_000 + index);
  }
}

Deno.test("matching files come newest first", () =>
  inToolProject(async (project) => {
    await writeInTurn(project, ["b.ts", "src/a.ts", "src/deep/c.ts", "x.md"]);
    assert.deepEqual(await found(project, { pattern: "**/*.ts" }), ["src/deep/c.ts", "src/a.ts", "b.ts"]);
    assert.deepEqual(await found(project, { pattern: "*.ts" }), ["src/deep/c.ts", "src/a.ts", "b.ts"]);
    assert.deepEqual(await found(project, { pattern: "src/*.ts" }), ["src/a.ts"]);
    assert.deepEqual(await found(project, { pattern: "{src,lib}/**/*.{ts,md}" }), ["src/deep/c.ts", "src/a.ts"]);
    assert.deepEqual(await found(project, { pattern: "*.ts", path: "src/deep" }), ["src/deep/c.ts"]);
    assert.deepEqual(await found(project, { pattern: `${project.root}/src/*.ts` }), ["src/a.ts"]);
  }));

Deno.test("ignored files, .git and links are left out, hidden files are not", () =>
  inToolProject(async (project) => {
    await writeInTurn(project, ["a.txt", ".env.txt", "dist/b.txt", ".git/c.txt", "sub/.git/d.txt", "sub/dist/e.txt"]);
    await project.write(".gitignore", "dist\n");
    await Deno.symlink(`${project.root}/a.txt`, `${project.root}/link.txt`);
    // A repository within has rules of its own.
    assert.deepEqual(await found(project, { pattern: "*.txt" }), ["sub/dist/e.txt", ".env.txt", "a.txt"]);
    assert.deepEqual(await found(project, { pattern: "*.txt", path: "dist" }), ["dist/b.txt"]);
  }));

Deno.test("more than 200 files are counted, not listed", () =>
  inToolProject(async (project) => {
    for (let number = 0; number < 250; number++) await project.write(`${number}.txt`, "");
    const rows = await found(project, { pattern: "*.txt" });
    assert.equal(rows.length, 201);
    assert.equal(rows[200], "[50 more files; use a narrower pattern or a path]");
  }));

Deno.test("nothing found says so, and a wrong place or pattern says what to do", () =>
  inToolProject(async (project) => {
    await project.write("a.txt", "");
    assert.match((await found(project, { pattern: "*.rs" }))[0] ?? "", /^No file matches/);
    const above = await project.run(globTool, { pattern: "../**" });
    assert.match(above.content, /^The pattern .+ leads out of the working directory\. Give a directory/);
    const absent = await project.run(globTool, { pattern: "*", path: "b.txt" });
    assert.match(absent.content, /^b\.txt does not exist\. Did you mean a\.txt\?/);
    const file = await project.run(globTool, { pattern: "*", path: "a.txt" });
    assert.match(file.content, /^a\.txt is a file, not a directory\. Give its directory/);
    assert.match((await project.run(globTool, { pattern: "{a,b}".repeat(20) })).content, /200 alternatives\. Use/);
    for (
      const input of [
        { pattern: "*", path: "a.txt" },
        { pattern: "*", path: "absent" },
        { pattern: "*", path: "/etc" },
        { pattern: "../*" },
        { pattern: "/etc/*" },
        { pattern: "{a,b}".repeat(20) },
      ]
    ) assert.ok((await project.run(globTool, input)).isError, JSON.stringify(input));
  }));

Deno.test(
  "a name takes one line, whatever it holds",
  { ignore: Deno.build.os === "windows" },
  () =>
    inToolProject(async (project) => {
      await project.write("a\nb\x1b.txt", "");
      assert.deepEqual(await found(project, { pattern: "*.txt" }), ["a\\x0ab\\x1b.txt"]);
    }),
);

Deno.test("an abort ends the search with its reason", () =>
  inToolProject(async (project) => {
    const signal = AbortSignal.abort(new Error("interrupted"));
    await assert.rejects(globTool.run({ pattern: "*" }, { ...project.context, signal }), /interrupted/);
  }));

Deno.test("a pattern of many stars is answered at once", { timeout: 60_000 }, () =>
  inToolProject(async (project) => {
    await project.write(`${"a/".repeat(100)}b`, "");
    await found(project, { pattern: `${"**/".repeat(190)}x` });
  }));
