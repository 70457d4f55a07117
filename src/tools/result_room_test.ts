import assert from "node:assert/strict";
import { inToolProject } from "../../tests/helpers/tool_project.ts";
import { bashTool } from "./bash/tool.ts";
import { globTool } from "./glob/tool.ts";
import { grepTool } from "./grep/tool.ts";
import { readTool } from "./read/tool.ts";
import type { Tool } from "./tool.ts";

const RESULT_BYTES = 1000;

Deno.test("every tool keeps to the room for its result, and says what it left out and how to get it", () =>
  inToolProject(async ({ context, write }) => {
    await write("lines.txt", Array.from({ length: 500 }, (_, at) => `this is line ${at + 1}\n`).join(""));
    await write("wide.txt", "word ".repeat(50_000));
    for (let at = 0; at < 60; at++) await write(`many/file with a long name ${at}.txt`, "");
    const io = { ...context.io, environment: () => ({ PATH: "/usr/bin:/bin" }) };
    const content = async (tool: Tool, input: Record<string, unknown>) =>
      (await tool.run(input, { ...context, io, resultBytes: RESULT_BYTES })).content;
    const expected: [Tool, Record<string, unknown>, RegExp][] = [
      [readTool, { file_path: "lines.txt" }, /^1\tthis is line 1\n[^]*\[lines 1-\d+ of 500; go on with offset \d+\]$/],
      [readTool, { file_path: "lines.txt", limit: 400 }, /go on with offset \d+\]$/],
      [readTool, { file_path: "wide.txt" }, /^1\tword .*\[line cut: 250,000 characters\]$/],
      [readTool, { file_path: "many" }, /\[\d+ more names; list a subdirectory/],
      [globTool, { pattern: "many/*" }, /\[\d+ more files; use a narrower pattern/],
      [grepTool, { pattern: "line" }, /\[more matches follow; narrow the search/],
    ];
    if (Deno.build.os !== "windows") {
      expected.push([bashTool, { command: "seq 1 5000" }, /^1\n2\n[^]*\[[\d,]+ bytes omitted; [^]*\n5000$/]);
    }
    for (const [tool, input, shape] of expected) {
      const shown = await content(tool, input);
      const bytes = new TextEncoder().encode(shown).length;
      assert.ok(bytes <= RESULT_BYTES * 1.3, `${tool.name} ${JSON.stringify(input)}: ${bytes} bytes`);
      assert.match(shown, shape);
    }
  }));

Deno.test("small pages of Read lead to the end of a file, every line once", () =>
  inToolProject(async ({ context, write }) => {
    await write(
      "lines.txt",
      Array.from({ length: 300 }, (_, at) => `${"x".repeat(at * 7 % 400)} ${at + 1}\n`).join(""),
    );
    const seen: number[] = [];
    let offset = 1;
    for (let page = 0; page < 300; page++) {
      const result = await readTool.run({ file_path: "lines.txt", offset }, { ...context, resultBytes: 400 });
      for (const row of result.content.split("\n")) if (!row.startsWith("[")) seen.push(Number.parseInt(row));
      const next = /go on with offset (\d+)\]$/.exec(result.content)?.[1];
      if (next === undefined) break;
      offset = Number(next);
    }
    assert.deepEqual(seen, Array.from({ length: 300 }, (_, index) => index + 1));
  }));
