import assert from "node:assert/strict";
import { inToolProject, promptBytes } from "../../../tests/helpers/tool_project.ts";
import { readTool } from "./tool.ts";

Deno.test("the prompt of Read costs at most 420 bytes", () => assert.ok(promptBytes(readTool) <= 420));

Deno.test("a text file is shown with line numbers and nothing else", () =>
  inToolProject(async ({ run, write, context, root }) => {
    await write("a.txt", "one\r\ntwo\n\nfour");
    const result = await run(readTool, { file_path: "a.txt" });
    assert.deepEqual(result, {
      content: "1\tone\n2\ttwo\n3\t\n4\tfour",
      isError: false,
      label: "open",
      details: { filePath: `${root}/a.txt` },
    });
    const known = context.memory.files.get(`${root}/a.txt`);
    assert.equal(known?.digest, "3848272e9f6d4d56082f5a1e96415219926bf3df2aa4fea07860704f22f6f240");
  }));

Deno.test("a long file comes in pages that lead to its end, every line once", () =>
  inToolProject(async ({ run, write }) => {
    await write("long.txt", Array.from({ length: 4500 }, (_, index) => `line ${index + 1}\n`).join(""));
    const seen: number[] = [];
    let offset = 1;
    for (let page = 0; page < 10; page++) {
      const { content } = await run(readTool, { file_path: "long.txt", offset });
      for (const row of content.split("\n")) if (!row.startsWith("[")) seen.push(Number.parseInt(row));
      const next = /go on with offset (\d+)\]$/.exec(content)?.[1];
      if (next === undefined) break;
      offset = Number(next);
    }
    assert.deepEqual(seen, Array.from({ length: 4500 }, (_, index) => index + 1));
  }));

Deno.test("offset and limit select lines; numbers that cannot be are taken as the nearest that can", () =>
  inToolProject(async ({ run, write }) => {
    await write("a.txt", "1\n2\n3\n4\n5\n");
    const middle = await run(readTool, { file_path: "a.txt", offset: 2, limit: 2 });
    assert.equal(middle.content, "2\t2\n3\t3\n[lines 2-3 of 5; go on with offset 4]");
    const end = await run(readTool, { file_path: "a.txt", offset: 4, limit: 9 });
    assert.equal(end.content, "4\t4\n5\t5\n[lines 4-5 of 5; end of file]");
    const odd = await run(readTool, { file_path: "a.txt", offset: 0, limit: -1 });
    assert.equal(odd.content.split("\n").length, 5);
    const beyond = await run(readTool, { file_path: "a.txt", offset: 6 });
    assert.equal(beyond.content, "[offset 6 is beyond the end; the last lines:]\n1\t1\n2\t2\n3\t3\n4\t4\n5\t5");
  }));

Deno.test("a page never exceeds 50 KB by more than a line, and long lines are cut between characters", () =>
  inToolProject(async ({ run, write }) => {
    await write("wide.txt", `${"x".repeat(1999)}😀${"y".repeat(9000)}\n`.repeat(100));
    const { content } = await run(readTool, { file_path: "wide.txt" });
    assert.ok(new TextEncoder().encode(content).length < 53_000);
    assert.match(content, /^1\tx{1999} \[line cut: 11,001 characters\]$/m);
    assert.match(content, /go on with offset 26\]$/);
  }));

Deno.test("an empty file and an empty directory are said to be empty", () =>
  inToolProject(async ({ run, write, root }) => {
    await write("empty.txt", "");
    await Deno.mkdir(`${root}/bare`);
    assert.equal((await run(readTool, { file_path: "empty.txt" })).content, "empty.txt is empty.");
    assert.equal((await run(readTool, { file_path: "bare" })).content, "bare is an empty directory.");
  }));

Deno.test("a directory is listed by name, directories marked, long ones cut", () =>
  inToolProject(async ({ run, write }) => {
    await write("src/b.ts", "");
    await write("src/a/x.ts", "");
    assert.equal((await run(readTool, { file_path: "src/" })).content, "src (directory)\na/\nb.ts");
    await write("odd/one\n[999 more names]", "");
    await write("odd/two\u202etxt.exe", "");
    assert.equal(
      (await run(readTool, { file_path: "odd" })).content,
      "odd (directory)\none\\x0a[999 more names]\ntwo\\u202etxt.exe",
    );
    for (let index = 0; index < 501; index++) await write(`many/${index}`, "");
    assert.match((await run(readTool, { file_path: "many" })).content, /\[1 more name; /);
  }));

Deno.test("files that are no text are described by type and size", () =>
  inToolProject(async ({ run, write }) => {
    await write("a.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]));
    await write("b.pdf", "%PDF-1.7\n");
    await write("c.bin", new Uint8Array([1, 0, 2]));
    assert.match((await run(readTool, { file_path: "a.png" })).content, /^a\.png: PNG image, 10 bytes\./);
    assert.match((await run(readTool, { file_path: "b.pdf" })).content, /PDF document, 9 bytes/);
    assert.match((await run(readTool, { file_path: "c.bin" })).content, /binary file, 3 bytes/);
  }));

Deno.test("byte order marks are hidden, UTF-16 and Latin-1 are decoded", () =>
  inToolProject(async ({ run, write }) => {
    await write("bom.txt", "\ufeffé\n");
    await write("little.txt", new Uint8Array([0xff, 0xfe, 0xe9, 0x00, 0x0a, 0x00]));
    await write("big.txt", new Uint8Array([0xfe, 0xff, 0x00, 0xe9]));
    await write("latin.txt", new Uint8Array([0xe9, 0x0a]));
    for (const name of ["bom.txt", "little.txt", "big.txt", "latin.txt"]) {
      assert.equal((await run(readTool, { file_path: name })).content, "1\té", name);
    }
  }));

Deno.test("an absent path suggests the nearest names, or the same name elsewhere", () =>
  inToolProject(async ({ run, write }) => {
    await write("src/deep/workspace.ts", "");
    await write("src/readme.md", "");
    const near = await run(readTool, { file_path: "src/raedme.md" });
    assert.deepEqual([near.isError, near.content], [true, "src/raedme.md does not exist. Did you mean src/readme.md?"]);
    const elsewhere = await run(readTool, { file_path: "lib/workspace.ts" });
    assert.match(elsewhere.content, /Did you mean src\/deep\/workspace\.ts\?/);
    assert.match((await run(readTool, { file_path: "zzz" })).content, /does not exist\. The project has: src\/\./);
  }));

Deno.test("what the workspace refuses is a result that says why", () =>
  inToolProject(async ({ run }) => {
    const result = await run(readTool, { file_path: "/etc/passwd" });
    assert.ok(result.isError);
    assert.match(result.content, /outside of the project/);
  }));

Deno.test("the content of a protected file is no-cloud, names are not", () =>
  inToolProject(async ({ run, write }) => {
    await write("a.txt", "x");
    await write(".env", "y");
    assert.equal((await run(readTool, { file_path: ".env" })).label, "no-cloud");
    for (const path of ["a.txt", "gone", "."]) {
      assert.equal((await run(readTool, { file_path: path })).label, "open", path);
    }
    assert.match((await run(readTool, { file_path: "." })).content, /^\.env \[no-cloud\]$/m);
  }, { marker: "no-cloud: .env\n" }));

Deno.test("a file beyond the whole-file limit is paged with flat memory and known by size and time", () =>
  inToolProject(async ({ run, root, context }) => {
    const line = "0123456789abcdef".repeat(64) + "\n";
    using file = await Deno.open(`${root}/huge.log`, { write: true, create: true });
    const block = new TextEncoder().encode(line.repeat(1024));
    for (let written = 0; written < 17; written++) await file.write(block);
    await file.write(new TextEncoder().encode("é".repeat(9000)));
    const first = await run(readTool, { file_path: "huge.log", limit: 2 });
    assert.match(first.content, /\n\[lines 1-2; go on with offset 3\]$/);
    assert.equal(context.memory.files.get(`${root}/huge.log`)?.digest, "");
    const last = await run(readTool, { file_path: "huge.log", offset: 17 * 1024 });
    assert.match(
      last.content,
      /^17408\t0123.*\n17409\té{2000} \[line cut: [\d,]+ characters\]\n\[lines 17408-17409 of 17409; end of file\]$/,
    );
  }));

Deno.test("a sparse file of 10 GB is described at once", () =>
  inToolProject(async ({ run, root }) => {
    using file = await Deno.open(`${root}/sparse`, { write: true, create: true });
    await file.truncate(10 * 1024 ** 3);
    const { content } = await run(readTool, { file_path: "sparse" });
    assert.match(content, /binary file, 10,737,418,240 bytes/);
  }));

Deno.test("an aborted call does nothing", () =>
  inToolProject(async ({ write, context }) => {
    await write("a.txt", "x");
    const aborted = { ...context, signal: AbortSignal.abort(new Error("stop")) };
    await assert.rejects(readTool.run({ file_path: "a.txt" }, aborted), /stop/);
  }));
