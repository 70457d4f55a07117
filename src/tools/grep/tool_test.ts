import assert from "node:assert/strict";
import { inToolProject, type ToolProject } from "../../../tests/helpers/tool_project.ts";
import { findExecutable } from "../../platform/process.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import type { GrepInput } from "../declarations.ts";
import { type GrepOptions, grepTool, makeGrepTool } from "./tool.ts";

const PATH = Deno.env.get("PATH") ?? "";
const unix = { ignore: Deno.build.os === "windows" };
const RIPGREP = findExecutable("rg", PATH, { notBelow: [] });

/** Searches without ripgrep, unless told otherwise. */
function grep(project: ToolProject, input: GrepInput, options: Partial<GrepOptions> = {}): Promise<ToolResult> {
  const io = { ...project.context.io, env: (name: string) => name === "PATH" ? PATH : undefined };
  const tool = makeGrepTool({ deadlineMs: 20_000, ripgrep: false, ...options });
  return tool.run(input, { ...project.context, io });
}
async function found(project: ToolProject, input: GrepInput): Promise<string[]> {
  const result = await grep(project, input);
  assert.equal(result.isError, false, result.content);
  return result.content.split("\n");
}

async function writeTree({ write }: ToolProject): Promise<void> {
  await write("b.ts", "const one = 1;\nlet two = 2;\n");
  await write("a/x.ts", "one\r\ntwo one\r\n");
  await write("a/deep/y.md", "# one\n");
  await write(".hidden", "one\n");
  await write(".git/config", "one\n");
  await write("dist/out.ts", "one\n");
  await write("a/skip.log", "one\n");
  await write(".gitignore", "dist/\n*.log\n");
  await write("image.png", Uint8Array.of(111, 110, 101, 10, 0, 1));
}

Deno.test("matching lines come with path and number, in the order of the paths", () =>
  inToolProject(async (project) => {
    await writeTree(project);
    assert.deepEqual(await found(project, { pattern: "\\bone\\b" }), [
      ".hidden:1:one",
      "a/deep/y.md:1:# one",
      "a/x.ts:1:one",
      "a/x.ts:2:two one",
      "b.ts:1:const one = 1;",
    ]);
  }));

Deno.test("a path and a glob narrow the search, by name or by path", () =>
  inToolProject(async (project) => {
    await writeTree(project);
    assert.deepEqual(await found(project, { pattern: "one", path: "a" }), [
      "a/deep/y.md:1:# one",
      "a/x.ts:1:one",
      "a/x.ts:2:two one",
    ]);
    assert.deepEqual(await found(project, { pattern: "one", path: "b.ts" }), ["b.ts:1:const one = 1;"]);
    assert.deepEqual(await found(project, { pattern: "one", glob: "*.md" }), ["a/deep/y.md:1:# one"]);
    assert.deepEqual(await found(project, { pattern: "one", glob: "a/*.{ts,md}" }), [
      "a/x.ts:1:one",
      "a/x.ts:2:two one",
    ]);
    // What is asked for by name is searched, ignored or not.
    assert.deepEqual(await found(project, { pattern: "one", path: "dist" }), ["dist/out.ts:1:one"]);
  }));

Deno.test("files and counts can be asked for", () =>
  inToolProject(async (project) => {
    await writeTree(project);
    assert.deepEqual(await found(project, { pattern: "one", output_mode: "files_with_matches", path: "a" }), [
      "a/deep/y.md",
      "a/x.ts",
    ]);
    assert.deepEqual(await found(project, { pattern: "one", output_mode: "count", path: "a" }), [
      "a/deep/y.md:1",
      "a/x.ts:2",
    ]);
  }));

Deno.test("context shows lines around matches once, with gaps marked", () =>
  inToolProject(async (project) => {
    await project.write("a.txt", "1\n2 x\n3\n4 x\n5\n6\n7\n8\n9 x");
    assert.deepEqual(await found(project, { pattern: "x", context: 1 }), [
      "a.txt-1-1",
      "a.txt:2:2 x",
      "a.txt-3-3",
      "a.txt:4:4 x",
      "a.txt-5-5",
      "--",
      "a.txt-8-8",
      "a.txt:9:9 x",
    ]);
  }));

Deno.test("nothing found says so; a wrong pattern, path or glob says what to do", () =>
  inToolProject(async (project) => {
    await writeTree(project);
    assert.deepEqual(await found(project, { pattern: "nowhere" }), ["No match."]);
    const wrong = await grep(project, { pattern: "(" });
    assert.ok(wrong.isError && /Write \\ before a sign/.test(wrong.content));
    assert.match(
      (await grep(project, { pattern: "a", path: "absent" })).content,
      /^absent does not exist\. The project has: /,
    );
    assert.ok((await grep(project, { pattern: "a", path: "../" })).isError);
    assert.ok((await grep(project, { pattern: "a", glob: "{a,b}".repeat(20) })).isError);
  }));

Deno.test("a long result ends at its limits and says so; long lines are cut", () =>
  inToolProject(async (project) => {
    await project.write("many.txt", "x\n".repeat(500));
    const many = await found(project, { pattern: "x" });
    assert.equal(many.length, 201);
    assert.match(many[200] ?? "", /^\[more matches follow/);
    await project.write("exact.txt", "y\n".repeat(200));
    assert.equal((await found(project, { pattern: "y" })).length, 200);
    await project.write("long.txt", `z${"é".repeat(1_000)}\n`);
    assert.deepEqual(await found(project, { pattern: "z" }), [`long.txt:1:z${"é".repeat(399)}…`]);
    await project.write("wide.txt", `w${"w".repeat(390)}\n`.repeat(100));
    assert.ok((await grep(project, { pattern: "w" })).content.length < 21 * 1024);
  }));

Deno.test("text in UTF-16 is searched, and a NUL byte far in still makes a file binary", () =>
  inToolProject(async (project) => {
    const wide = new Uint8Array([
      0xff,
      0xfe,
      ...new Uint8Array(new Uint16Array([..."héllo\n"].map((c) => c.charCodeAt(0))).buffer),
    ]);
    await project.write("wide.txt", wide);
    const late = new Uint8Array(3 * 1024 * 1024).fill(10);
    late.set(new TextEncoder().encode("héllo"));
    late[late.length - 1] = 0;
    await project.write("late.bin", late);
    assert.deepEqual(await found(project, { pattern: "héllo" }), ["wide.txt:1:héllo"]);
  }));

Deno.test(
  "a pattern made to take forever is answered in time",
  { timeout: 60_000 },
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", `${"a".repeat(50_000)}b\n`);
      assert.deepEqual(await found(project, { pattern: "(a+)+$" }), ["No match."]);
    }),
);

Deno.test("when the time is up, what was found is given with a notice", () =>
  inToolProject(async (project) => {
    for (const name of ["a", "b", "c"]) await project.write(name, "x\n");
    let now = 0;
    const clock = { ...project.context.io.clock, monotonic: () => now++ * 10 };
    const tool = makeGrepTool({ deadlineMs: 15, ripgrep: false });
    const result = await tool.run({ pattern: "x" }, { ...project.context, io: { ...project.context.io, clock } });
    assert.match(result.content, /^a:1:x\n(b:1:x\n)?\[INCOMPLETE: the time was up/);
    const nothing = await tool.run({ pattern: "y" }, { ...project.context, io: { ...project.context.io, clock } });
    assert.match(nothing.content, /^No match in what was searched\.\n\[INCOMPLETE/);
  }));

Deno.test("text is decoded as Read decodes it: Latin-1 where it is no UTF-8", () =>
  inToolProject(async (project) => {
    await project.write("latin.txt", Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 10));
    await project.write("utf.txt", "café\n");
    for (const ripgrep of [false, true]) {
      for (const pattern of ["café", "caf.$", "caf[^x]$"]) {
        const result = await grep(project, { pattern }, { ripgrep });
        assert.equal(result.content, "latin.txt:1:café\nutf.txt:1:café", `${pattern} ${ripgrep}`);
      }
      assert.equal((await grep(project, { pattern: "^caf", glob: "l*" }, { ripgrep })).content, "latin.txt:1:café");
    }
  }));

Deno.test(
  "ignore files that are no regular files stall nothing, whoever searches",
  unix,
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", "one\n");
      await project.write("sub/b.txt", "one\n");
      for (const place of [".gitignore", "sub/.gitignore"]) {
        const fifo = `${project.root}/${place}`;
        assert.ok((await new Deno.Command("mkfifo", { args: [fifo] }).output()).success);
        for (const path of [".", "sub"]) {
          const result = await grep(project, { pattern: "one", path }, { ripgrep: true });
          assert.equal(result.content, path === "." ? "a.txt:1:one\nsub/b.txt:1:one" : "sub/b.txt:1:one");
        }
        await Deno.remove(fifo);
      }
    }),
);

Deno.test("an abort ends the search with its reason", () =>
  inToolProject(async (project) => {
    await writeTree(project);
    const signal = AbortSignal.abort(new Error("interrupted"));
    await assert.rejects(grepTool.run({ pattern: "x" }, { ...project.context, signal }), /interrupted/);
  }));

Deno.test("links are not followed, and a link that leaves the project is not searched", () =>
  inToolProject(async (project) => {
    await project.write("a/x.txt", "one\n");
    await Deno.symlink(`${project.root}/a`, `${project.root}/loop`);
    await Deno.symlink("/etc/passwd", `${project.root}/passwd`);
    assert.deepEqual(await found(project, { pattern: "one|root" }), ["a/x.txt:1:one"]);
    assert.ok((await grep(project, { pattern: "root", path: "passwd" })).isError);
  }));

/** Runs `work` with a program in ripgrep's place, outside of the project. */
async function withRipgrep(script: string, work: (search: typeof grep) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${directory}/rg`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await work((project, input) => {
      const io = { ...project.context.io, env: () => directory };
      return grepTool.run(input, { ...project.context, io });
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test(
  "ripgrep is used where nothing is protected and it knows the pattern",
  unix,
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", "one one\n");
      await withRipgrep("exit 1", async (search) => {
        assert.equal((await search(project, { pattern: "one" })).content, "No match.");
        assert.equal((await search(project, { pattern: "o.e" })).content, "a.txt:1:one one");
        assert.equal((await search(project, { pattern: "one", glob: "./*" })).content, "a.txt:1:one one");
        assert.equal((await search(project, { pattern: "one", path: "a.txt" })).content, "a.txt:1:one one");
      });
    }),
);

Deno.test(
  "where paths are protected ripgrep is not used, and what shows one of them is no-cloud",
  unix,
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", "one\n");
      await project.write(".env", "two\n");
      await withRipgrep("echo never; exit 1", async (search) => {
        const open = await search(project, { pattern: "one" });
        assert.deepEqual([open.content, open.label], ["a.txt:1:one", "open"]);
        const found = await search(project, { pattern: "^(one|two)" });
        assert.deepEqual([found.content, found.label], [".env:1:two\na.txt:1:one", "no-cloud"]);
      });
    }, { marker: "no-cloud: .env\n" }),
);

Deno.test(
  "a ripgrep that fails or says what is not understood is not believed",
  unix,
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", "one\n");
      const scripts = [
        "exit 2",
        "exit 0",
        "echo nonsense",
        "printf './x\\0half'",
        "printf '/etc/passwd\\0'",
        "printf './x\\0'; exit 1",
        "echo 'regex parse error' >&2; exit 2",
        "echo './y: gone (os error 2)' >&2; kill -9 $$",
      ];
      for (const script of scripts) {
        await withRipgrep(script, async (search) => {
          assert.equal((await search(project, { pattern: "one" })).content, "a.txt:1:one", script);
        });
      }
    }),
);

Deno.test(
  "a ripgrep that the project brings along is not run",
  { ignore: Deno.build.os === "windows" },
  () =>
    inToolProject(async (project) => {
      await project.write("bin/rg", "#!/bin/sh\ntouch ran\n");
      await Deno.chmod(`${project.root}/bin/rg`, 0o755);
      const io = { ...project.context.io, env: () => `${project.root}/bin:bin:.` };
      const result = await grepTool.run({ pattern: "touch" }, { ...project.context, io } as ToolContext);
      assert.equal(result.content, "bin/rg:2:touch ran");
      await assert.rejects(Deno.stat(`${project.root}/ran`), Deno.errors.NotFound);
    }),
);

Deno.test(
  "ripgrep finds the same, byte for byte",
  { ignore: RIPGREP === null },
  () =>
    inToolProject(async (project) => {
      await writeTree(project);
      const { write } = project;
      await write("nested/.git/HEAD", "x\n");
      await write("nested/a.log", "one\n");
      await write("nested/dist/a.ts", "one\n");
      await write("a/.gitignore", "!skip.log\n/deep\n");
      await write("sub/inner/x.log", "one\n");
      await write("sub/inner/x.ts", "one\n");
      await write("sub/dist/x.ts", "one\n");
      await write(".ignore", "b.ts\n");
      await write("a/deeper/.rgignore", "c.ts\n");
      await write("a/deeper/c.ts", "one\n");
      await write("a-b/z.ts", "one\n");
      await write("a.txt", "ONE\n\none  \n  one\ttwo\n\u00a0one\n");
      await write("-e", "one\n");
      await write("bad.txt", Uint8Array.of(111, 110, 101, 0xff, 10));
      await write("bom.txt", "\uFEFFone\n");
      await write("crlf.txt", "one\r\n\r\ntwo\r\n");
      await write("no-end.txt", "x\none");
      await write("many.txt", "many one\n".repeat(150));
      await write("long.txt", `one ${"x".repeat(3_000)}\n`);
      await Deno.symlink(`${project.root}/a`, `${project.root}/link`);
      const inputs: GrepInput[] = [
        { pattern: "one" },
        { pattern: "one", context: 1 },
        { pattern: "one", output_mode: "count" },
        { pattern: "one", output_mode: "files_with_matches" },
        { pattern: "one", path: "a" },
        { pattern: "one", path: "sub" },
        { pattern: "one", path: "sub/inner" },
        { pattern: "one", path: "nested" },
        { pattern: "one", path: "dist" },
        { pattern: "one", glob: "*.ts" },
        { pattern: "one", glob: "*.log" },
        { pattern: "one", glob: "x.*", path: "sub" },
        { pattern: "(?i)one$" },
        { pattern: "^one\\s*$", output_mode: "count" },
        { pattern: "^$", output_mode: "count" },
        { pattern: "^\\s+one", context: 2 },
        { pattern: "\\bt\\w{2}\\b|x{3,}$" },
        { pattern: "o[^x]e" },
        { pattern: "(o|n)+e", output_mode: "count" },
        { pattern: "\\W\\D\\S", output_mode: "count" },
        { pattern: "many", path: "many.txt" },
        { pattern: "nothing at all" },
      ];
      for (const input of inputs) {
        const own = await grep(project, input);
        const fast = await grep(project, input, { ripgrep: true });
        assert.deepEqual(fast, own, JSON.stringify(input));
      }
    }),
);
