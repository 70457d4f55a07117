import assert from "node:assert/strict";
import { unifiedDiff } from "./diff.ts";

Deno.test("a changed line is shown with its neighbours", () => {
  const diff = unifiedDiff("a\nb\nc\n", "a\nx\nc\n", { name: "providers.yaml" });
  assert.equal(diff, "--- providers.yaml\n+++ providers.yaml\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
});

Deno.test("a new file is compared with nothing", () => {
  const diff = unifiedDiff(null, "a\n", { name: "providers.yaml" });
  assert.match(diff, /^--- \/dev\/null\n\+\+\+ providers\.yaml\n@@ -0,0 \+1,1 @@\n\+a\n$/);
});

Deno.test("no change is an empty diff", () => {
  assert.equal(unifiedDiff("a", "a", { name: "x" }), "");
});

Deno.test("five thousand lines that are all new are one change, found at once", () => {
  const lines = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`);
  const same = ["same 1", "same 2", "same 3", "same 4"];
  const text = (word: string) => [...same, ...lines(word), ...same].join("\n") + "\n";
  const diff = unifiedDiff(text("old"), text("new"), { name: "a.txt" }).split("\n");
  assert.deepEqual(diff.slice(0, 6), [
    "--- a.txt",
    "+++ a.txt",
    "@@ -2,5006 +2,5006 @@",
    " same 2",
    " same 3",
    " same 4",
  ]);
  assert.equal(diff.filter((line) => line.startsWith("-old")).length, 5000);
  assert.equal(diff.filter((line) => line.startsWith("+new")).length, 5000);
  assert.deepEqual(diff.slice(-4), [" same 1", " same 2", " same 3", ""]);
});
