import assert from "node:assert/strict";
import { assert as check, integer, property } from "../../../tests/property.ts";
import { firstSizes, nextSize, type Search } from "./window_checks.ts";

Deno.test("a quarter, half and nine tenths of the claim are tried, none above the limit and none twice", () => {
  assert.deepEqual(firstSizes(8192, 32_768), [2048, 4096, 7372]);
  assert.deepEqual(firstSizes(131_072, 32_768), [32_768]);
  assert.deepEqual(firstSizes(40_000, 15_000), [10_000, 15_000]);
  assert.deepEqual(firstSizes(null, 8192), [2048, 4096, 8192]);
});

Deno.test("the search closes in on any window from both sides, whatever is guessed", () => {
  check(property(integer({ min: 300, max: 200_000 }), integer({ min: 0, max: 300_000 }), (window, guess) => {
    const state: Search = { passed: 200, failed: 250_000, guess };
    for (let step = 0; step < 64; step++) {
      const size = nextSize(state);
      if (size === null) return state.passed <= window && (state.failed ?? 0) > window;
      assert.ok(size > state.passed && size < (state.failed ?? 0));
      if (size <= window) state.passed = size;
      else state.failed = size;
      state.guess = 0;
    }
    return false;
  }));
});

Deno.test("a gap that is not worth a prompt ends the search, and so does no failure at all", () => {
  assert.equal(nextSize({ passed: 10_000, failed: 10_400, guess: 0 }), null);
  assert.equal(nextSize({ passed: 10_000, failed: null, guess: 12_000 }), null);
  assert.equal(nextSize({ passed: 200, failed: 8000, guess: 3600 }), 3600);
  assert.equal(nextSize({ passed: 200, failed: 8000, guess: 9000 }), 4100);
});
