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
