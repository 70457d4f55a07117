import assert from "node:assert/strict";
import { displayWidth, fit, table } from "./table.ts";

Deno.test("columns are aligned and lines carry no trailing spaces", () => {
  assert.equal(
    table([["name", "url"], ["a", "http://x"], ["longer", ""]], { width: 80 }),
    "name    url\na       http://x\nlonger\n",
  );
});

Deno.test("wide and combining characters are counted in cells", () => {
  assert.equal(displayWidth("模型"), 4);
  assert.equal(displayWidth("e\u0301"), 1);
  assert.equal(table([["模型", "x"], ["abcd", "y"]], { width: 80 }), "模型  x\nabcd  y\n");
});

Deno.test("rows fit the width; the widest column is cut first", () => {
  const lines = table([["short", "x".repeat(100), "y".repeat(20)]], { width: 40 }).trimEnd();
  assert.equal(displayWidth(lines), 40);
  assert.match(lines, /^short {2}x+… {2}y+…$/);
});

Deno.test("a very narrow terminal still shows the start of every column", () => {
  const line = table([["a".repeat(50), "b".repeat(50)]], { width: 3 });
  assert.equal(line, "aaaaaaa…  bbbbbbb…\n");
});

Deno.test("no width cuts nothing, and no rows give nothing", () => {
  assert.equal(table([["z".repeat(500)]], { width: Infinity }), "z".repeat(500) + "\n");
  assert.equal(table([], { width: 80 }), "");
});

Deno.test("a wide character is not cut in half", () => {
  assert.equal(fit("模型模型", 4), "模…");
  assert.equal(fit("abc", 0), "");
});
