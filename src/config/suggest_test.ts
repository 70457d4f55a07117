import assert from "node:assert/strict";
import { closest, didYouMean } from "./suggest.ts";

Deno.test("a swapped pair, a missing and a wrong letter still find the name", () => {
  const names = ["runtime_a", "runtime_b", "studio_f"];
  assert.equal(closest("runtmie_a", names)[0], "runtime_a");
  assert.equal(closest("studo_f", names)[0], "studio_f");
  assert.deepEqual(closest("RUNTIME_B", names)[0], "runtime_b");
});

Deno.test("a beginning of a name finds it", () => {
  assert.deepEqual(closest("valid", ["validate", "list"]), ["validate"]);
});

Deno.test("unrelated words find nothing", () => {
  assert.deepEqual(closest("banana", ["runtime_a", "list"]), []);
  assert.deepEqual(closest("a", ["b"]), []);
  assert.deepEqual(closest("", ["b"]), []);
  assert.equal(didYouMean("banana", ["list"]), undefined);
});

Deno.test("a word of a megabyte is not compared", () => {
  assert.deepEqual(closest("x".repeat(1_000_000), ["xxx"]), []);
});
