import assert from "node:assert/strict";
import { checkUsage, type CountedPrompt, leastTokens } from "./tokens.ts";

const text = "The quick brown fox jumps over the lazy dog. ".repeat(1000);
const counted = (given: Partial<CountedPrompt>): CountedPrompt => ({
  promptTokens: 11_000,
  bytes: text.length,
  newBytes: text.length,
  bytesPerToken: 4,
  least: (enough) => leastTokens([text], enough),
  before: null,
  ...given,
});

Deno.test("a whole prompt calibrates the ratio", () => {
  const verdict = checkUsage(counted({ promptTokens: 9000 }));
  assert.deepEqual(verdict, { kind: "whole", bytesPerToken: 5 });
});

Deno.test("a count of 4,096 for a prompt of 11,000 tokens shows that the server cut it", () => {
  assert.equal(checkUsage(counted({ promptTokens: 4096 })).kind, "cut");
  assert.equal(checkUsage(counted({ promptTokens: 4096, newBytes: text.length - 4000 })).kind, "cut");
});

Deno.test("a text of few tokens raises no alarm", () => {
  const blank = " ".repeat(45_000);
  assert.notEqual(
    checkUsage(counted({ promptTokens: 3000, least: (enough) => leastTokens([blank], enough) })).kind,
    "cut",
  );
});

Deno.test("a short prompt raises no alarm, whatever is counted", () => {
  assert.notEqual(checkUsage(counted({ promptTokens: 50, bytes: 4000, newBytes: 4000 })).kind, "cut");
});

Deno.test("a count of what was not cached is neither taken for a cut nor calibrated on", () => {
  assert.equal(checkUsage(counted({ promptTokens: 1000, newBytes: 4000 })).kind, "unusable");
});

Deno.test("made-up counts change nothing", () => {
  assert.equal(checkUsage(counted({ promptTokens: 100 })).kind, "unusable");
  assert.equal(checkUsage(counted({ promptTokens: 0 })).kind, "unusable");
  assert.equal(checkUsage(counted({ promptTokens: 200_000 })).kind, "unusable");
});

Deno.test("a prompt that grew and is counted shorter was cut, unless the count may leave out the cache", () => {
  const grown = (promptTokens: number, newTokens: number, slack = 0) =>
    checkUsage(counted({
      promptTokens,
      bytes: 16_000 + newTokens * 4,
      newBytes: newTokens * 4,
      before: { promptTokens: 4000, slack, leastNew: (enough) => Math.min(enough, newTokens * 0.8) },
    }));
  assert.equal(grown(5000, 1000).kind, "whole");
  assert.equal(grown(4800, 1000).kind, "whole");
  assert.deepEqual(grown(3900, 1000), { kind: "cut", certain: true, fell: true });
  assert.deepEqual(grown(4050, 1000), { kind: "cut", certain: true, fell: false });
  assert.deepEqual(grown(1000, 1000), { kind: "cut", certain: false, fell: true });
  assert.equal(grown(3990, 20).kind, "whole", "templates differ by a few tokens");
  assert.equal(grown(3200, 100, 1000).kind, "whole", "the reasoning of turns before may have gone");
  assert.equal(grown(4000, 1000).kind, "whole", "the same number twice says nothing");
});

Deno.test("counting ends when enough is counted", () => {
  const texts = function* () {
    yield "one two three";
    throw new Error("read on");
  };
  assert.equal(leastTokens(texts(), 3), 3);
  assert.equal(leastTokens(["one", "two"], 3), 2);
});
