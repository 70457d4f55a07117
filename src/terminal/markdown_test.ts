import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { MarkdownStream } from "./markdown.ts";
import { paint, plainText, type Row, rowWidth } from "./style.ts";

function streamed(pieces: readonly string[], width = 40): Row[] {
  const stream = new MarkdownStream({ width: () => width, color: true });
  const rows: Row[] = [];
  for (const piece of pieces) {
    rows.push(...stream.push(piece));
    stream.open();
  }
  return [...rows, ...stream.end()];
}

function shown(text: string, width = 40): string[] {
  return streamed([text], width).map(plainText);
}

Deno.test("headings, lists, rules and quotes lose their signs and keep their shape", () => {
  const text = "# Title\n\nWords **bold** and `code`.\n- one\n  - two\n1. three\n> said\n---\n";
  assert.deepEqual(shown(text), [
    "Title",
    "",
    "Words bold and code.",
    "- one",
    "  - two",
    "1. three",
    "| said",
    "─".repeat(40),
  ]);
});

Deno.test("indented code keeps its lines, and what is indented below an item belongs to it", () => {
  assert.deepEqual(shown("Found:\n\n    a.ts:1: x * y\n    b.ts:2:   z\n\nEnd"), [
    "Found:",
    "",
    "    a.ts:1: x * y",
    "    b.ts:2:   z",
    "",
    "End",
  ]);
  assert.deepEqual(shown("- one\n\n    more **words**\n"), ["- one", "", "more words"]);
});

Deno.test("no row holds a tab, whose width only the terminal knows", () => {
  const rows = shown("1\tone\n\n\t2\ttwo\n\n- \tthree\n\n```\n\tfour\n```\n| a\tb |\n");
  assert.ok(rows.length > 5 && rows.every((line) => !line.includes("\t")), JSON.stringify(rows));
});

Deno.test("without color the signs that carry meaning stay", () => {
  const stream = new MarkdownStream({ width: () => 40, color: false });
  const rows = [...stream.push("## Title\nuse `x`\n"), ...stream.end()];
  assert.deepEqual(rows.map((line) => paint(line, { color: false })), ["## Title", "use `x`"]);
});

Deno.test("a link shows where it leads", () => {
  assert.deepEqual(shown("see [docs](https://example.org/a)"), ["see docs (https://example.org/a)"]);
});

Deno.test("a table is aligned, and its long cells are broken", () => {
  const rows = shown("| name | what it does |\n|---|---|\n| a | some words that are long enough to break |\n", 30);
  assert.equal(rows[0], "name  what it does");
  assert.match(rows[1] ?? "", /^─+ {2}─+$/);
  assert.equal(rows.length, 4);
  assert.ok(rows.every((line) => line.length <= 30));
});

Deno.test("code keeps its spaces and signs, and unclosed code is shown", () => {
  assert.deepEqual(shown("```ts\nconst  a = `**x**`;\n\n    # no heading\n"), [
    "  const  a = `**x**`;",
    "  ",
    "      # no heading",
  ]);
});

Deno.test("complete blocks are given at once, and the open one is all that is drawn again", () => {
  const stream = new MarkdownStream({ width: () => 40, color: true });
  assert.deepEqual(stream.push("first paragraph\n\nsec").map(plainText), ["first paragraph", ""]);
  assert.deepEqual(stream.open().map(plainText), ["sec"]);
  assert.deepEqual(stream.push("ond").map(plainText), []);
  assert.deepEqual(stream.open().map(plainText), ["second"]);
});

Deno.test("sequences of a hostile model are shown, not sent", () => {
  const rows = shown("\x1b]0;owned\x07 \x1b[2J `\x1b[31m` \u202eabc\n```\n\x1b[H\n```\n", 60);
  const text = rows.join("\n");
  assert.match(text, /\\x1b\]0;owned\\x07/);
  for (const line of rows) assert.ok(!line.includes("\x1b") && !line.includes("\u202e"));
});

Deno.test("a paragraph of a megabyte without an end is shown in time that grows with its length alone", {
  timeout: 60_000,
}, () => {
  const stream = new MarkdownStream({ width: () => 80, color: true });
  let rows = 0;
  for (let index = 0; index < 1000; index++) {
    rows += stream.push("*_`**__[".repeat(128)).length;
    stream.open();
  }
  rows += stream.end().length;
  assert.ok(rows > 1000);
});

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom("# ", "\n", "\n\n", "```", "- ", "1. ", "|", "|---|", "**", "`", " ", "\r", "\t", "> ", "[a](b)"),
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.constant("wide 漢字 😀 words"),
  ),
  { maxLength: 40 },
);

Deno.test("however a text is cut, the rows are the same and none is too wide", () => {
  fc.assert(fc.property(pieces, fc.integer({ min: 12, max: 90 }), (parts, width) => {
    const whole = streamed([parts.join("")], width).map(plainText);
    assert.deepEqual(streamed(parts, width).map(plainText), whole);
    for (const line of streamed(parts, width)) assert.ok(rowWidth(line) <= width, plainText(line));
  }));
});
