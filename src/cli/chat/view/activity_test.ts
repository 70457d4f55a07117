import assert from "node:assert/strict";
import { activityText, doneText, fitActivity, type Phase } from "./activity.ts";

function text(
  phase: Phase,
  { spent, silent = 0, prefill = null }: { spent: number; silent?: number; prefill?: number | null },
) {
  return activityText({ phase, since: 0, heard: spent - silent }, { now: spent, rates: { prefill } });
}

Deno.test("a prompt is followed by what the server says, with what it had from before", () => {
  const progress = { processed: 7500, total: 12_000, cached: 0 };
  const prompt = { kind: "prompt", tokens: 12_000, fresh: 12_000 } as const;
  const row = text({ ...prompt, progress }, { spent: 7500 / 0.91 });
  assert.equal(row, "processing prompt 7.5k/12k · 910 t/s · ~5s left · Esc stops");
  assert.equal(
    text({ ...prompt, progress: { processed: 11_600, total: 12_000, cached: 11_200 } }, { spent: 1000 }),
    "processing prompt 11.6k/12k · 11.2k of 12k cached · 400 t/s · ~1s left · Esc stops",
  );
});

Deno.test("without word of the server a prompt is predicted from the speed before, and a prediction that is over is none", () => {
  const prompt: Phase = { kind: "prompt", tokens: 12_000, fresh: 2000, progress: null };
  assert.equal(text(prompt, { spent: 3000 }), "processing prompt 12k · 3s · Esc stops");
  assert.equal(
    text(prompt, { spent: 1000, prefill: 500 }),
    "processing prompt ~10.5k/12k · 500 t/s · ~3s left · Esc stops",
  );
  assert.equal(text(prompt, { spent: 9000, prefill: 500 }), "processing prompt 12k · 9s · Esc stops");
  assert.equal(
    text({ ...prompt, tokens: null, fresh: null }, { spent: 9000, prefill: 500 }),
    "processing prompt 9s · Esc stops",
  );
});

Deno.test("a stream shows its time, tokens and speed, and when nothing comes", () => {
  assert.equal(
    text({ kind: "writing", bytes: 720, what: null }, { spent: 12_000 }),
    "writing 12s · 180 tokens · 15 t/s",
  );
  assert.equal(
    text({ kind: "writing", bytes: 40, what: "Edit" }, { spent: 500 }),
    "writing a call of Edit 0s · 10 tokens",
  );
  assert.equal(text({ kind: "thinking", words: "" }, { spent: 4000 }), "thinking 4s");
  assert.equal(
    text({ kind: "writing", bytes: 9, what: null }, { spent: 20_000, silent: 9000 }),
    "no data for 9s · Esc stops",
  );
  assert.equal(text({ kind: "thinking", words: "so" }, { spent: 20_000, silent: 2000 }), "thinking 20s: so");
});

Deno.test("a retry counts down, a load counts up in the server's words", () => {
  const retry: Phase = { kind: "retry", reason: "the server answers 503", until: 4000, attempts: " (2 of 9)" };
  assert.equal(text(retry, { spent: 0 }), "the server answers 503 · again in 4s (2 of 9) · Esc stops");
  assert.equal(text(retry, { spent: 3500 }), "the server answers 503 · again in 1s (2 of 9) · Esc stops");
  assert.equal(text(retry, { spent: 9000 }), "the server answers 503 · again in 0s (2 of 9) · Esc stops");
  assert.equal(
    text({ kind: "loading", reason: "Loading model" }, { spent: 75_000 }),
    "Loading model 1m 15s · Esc stops",
  );
  assert.equal(text({ kind: "running", what: "npm test" }, { spent: 12_000 }), "running npm test 12s · Esc stops");
});

Deno.test("the end of a turn shows its time, its tokens and the speed, as far as they are known", () => {
  const usage = { promptTokens: 1400, cachedTokens: 1200, completionTokens: 297 };
  assert.equal(
    doneText({ durationMs: 37_400, usage, rate: 15.2 }),
    "done in 37s · 1.4k in (1.2k cached) · 297 out · 15 t/s",
  );
  const none = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  assert.equal(doneText({ durationMs: 400, usage: none, rate: null }), "done in 0s");
});

Deno.test("on a narrow terminal the details go first, and the seconds and how to stop stay", () => {
  const row = "running for n in 1 2 3; do echo $n; done 12s · Esc stops";
  assert.equal(fitActivity(row, 80), row);
  assert.equal(fitActivity(row, 39), "running for n in 1 2 3… 12s · Esc stops");
  const prompt = "processing prompt 7.5k/12k · 910 t/s · ~5s left · Esc stops";
  assert.equal(fitActivity(prompt, 45), "processing prompt 7.5k/12k · Esc stops");
  for (const width of [4, 10, 19]) assert.ok(fitActivity(row, width).length <= width);
});
