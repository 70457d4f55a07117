import assert from "node:assert/strict";
import { type CountedPrompt, judgeUsage, leastTokens } from "./tokens.ts";

const text = "The quick brown fox jumps over the lazy dog. ".repeat(1000);
const counted = (given: Partial<CountedPrompt>): CountedPrompt => ({
  promptTokens: 11_000,
  bytes: text.length,
  newBytes: text.length,
  bytesPerToken: 4,
  least: (enough) => leastTokens([text], enough),
  ...given,
});

Deno.test("a whole prompt calibrates the ratio", () => {
  const verdict = judgeUsage(counted({ promptTokens: 9000 }));
  assert.deepEqual(verdict, { kind: "whole", bytesPerToken: 5 });
});

Deno.test("a count of 4,096 for a prompt of 11,000 tokens shows that the server cut it", () => {
  assert.equal(judgeUsage(counted({ promptTokens: 4096 })).kind, "cut");
  assert.equal(judgeUsage(counted({ promptTokens: 4096, newBytes: text.length - 4000 })).kind, "cut");
});

Deno.test("a text of few tokens raises no alarm", () => {
  const blank = " ".repeat(45_000);
  assert.notEqual(
    judgeUsage(counted({ promptTokens: 3000, least: (enough) => leastTokens([blank], enough) })).kind,
    "cut",
  );
});

Deno.test("a short prompt raises no alarm, whatever is counted", () => {
  assert.notEqual(judgeUsage(counted({ promptTokens: 50, bytes: 4000, newBytes: 4000 })).kind, "cut");
});

Deno.test("a count of what was not cached is neither taken for a cut nor calibrated on", () => {
  assert.equal(judgeUsage(counted({ promptTokens: 1000, newBytes: 4000 })).kind, "unusable");
});

Deno.test("made-up counts change nothing", () => {
  assert.equal(judgeUsage(counted({ promptTokens: 100 })).kind, "unusable");
  assert.equal(judgeUsage(counted({ promptTokens: 0 })).kind, "unusable");
  assert.equal(judgeUsage(counted({ promptTokens: 200_000 })).kind, "unusable");
});

Deno.test("counting ends when enough is counted", () => {
  const texts = function* () {
    yield "one two three";
    throw new Error("read on");
  };
  assert.equal(leastTokens(texts(), 3), 3);
  assert.equal(leastTokens(["one", "two"], 3), 2);
});
