import assert from "node:assert/strict";
import { manualClock } from "../../../../tests/helpers/manual_clock.ts";
import { userItem } from "../../../../tests/helpers/transcripts.ts";
import { traceLabel, type TurnEvent, type TurnResult } from "../../../protocol/turn_event.ts";
import type { ChatDelta, RetryNotice } from "../../../provider/types.ts";
import { plainText } from "../../../terminal/style.ts";
import { eventLine } from "../../run/text_output.ts";
import { eventRows } from "./event_rows.ts";
import { TurnView } from "./turn_view.ts";

function shownTurn({ tokens = 1000 as number | null } = {}) {
  const clock = manualClock();
  const printed: string[] = [];
  const view = new TurnView({
    width: () => 100,
    color: false,
    clock,
    promptTokens: () => tokens,
    print: (rows) => void printed.push(...rows.map(plainText)),
    changed: () => {},
  });
  const activity = () => {
    const row = view.activityRow(100);
    return row === null ? null : plainText(row);
  };
  const delta = (delta: ChatDelta) => view.event({ kind: "delta", messageId: "m", delta });
  const notice = (more: Partial<RetryNotice>): TurnEvent => ({
    kind: "retry",
    notice: { kind: "busy", attempt: 2, maxRetries: 9, delayMs: 4000, status: 503, reason: "busy", ...more },
  });
  return { clock, view, printed, activity, delta, notice };
}

const RESULT = {
  outcome: "success",
  durationMs: 37_000,
  usage: { promptTokens: 1400, cachedTokens: 1200, completionTokens: 30 },
} as TurnResult;

const request: TurnEvent = { kind: "request", messageId: "m", turn: 1, position: 0 };

function response(promptTokens: number): TurnEvent {
  const usage = { promptTokens, cachedTokens: 0, completionTokens: 30 };
  const item = { kind: "assistant", text: "", reasoning: "", calls: [], label: "open" } as unknown;
  return { kind: "response", item, model: "m", usage, stopReason: "stop" } as TurnEvent;
}

Deno.test("something is shown at every step of a turn, and nothing after it", async () => {
  const { clock, view, printed, activity, delta, notice } = shownTurn();
  const seen: (string | null)[] = [];
  const step = async (event: TurnEvent | null, milliseconds = 1000) => {
    if (event !== null) view.event(event);
    await clock.advance(milliseconds);
    seen.push(activity());
  };
  assert.equal(activity(), null);
  view.beginTurn();
  await step(null);
  await step(request);
  await step({ kind: "sent" });
  await step(notice({}));
  await step(notice({ kind: "loading", attempt: 3, reason: "Loading model" }));
  await step({ kind: "sent" });
  delta({ kind: "reasoning", text: "Perhaps so" });
  await step(null);
  delta({ kind: "text", text: "x".repeat(60) });
  await step(null);
  await step(null, 5000);
  await step(response(1000));
  await step({ kind: "tool_start", callId: "c", toolName: "Bash", subject: "npm test\nmore" });
  await step({
    kind: "tool_result",
    item: { kind: "tool_result", callId: "c", name: "Bash", content: "ok", isError: false, label: "open" },
    details: undefined,
  });
  await step({ kind: "status", status: "compacting" });
  await step({ kind: "status", status: null });
  await step({ kind: "steered", item: userItem("and this"), text: "and this", id: undefined });
  assert.deepEqual(
    seen,
    [
      "preparing the request 1s",
      "preparing the request 1s",
      "processing prompt 1000 · 1s · Esc stops",
      "busy · again in 3s (2 of 9) · Esc stops",
      "Loading model 1s · Esc stops",
      "Loading model 2s · Esc stops",
      "thinking 1s: Perhaps so",
      "writing 1s · 15 tokens · 15 t/s",
      "no data for 6s · Esc stops",
      "preparing the request 1s",
      "running npm test 1s · Esc stops",
      "preparing the request 1s",
      "summarizing the older part 1s",
      "preparing the request 1s",
      "preparing the request 2s",
    ].map((text) => text.replace("1000", "1k")),
  );
  view.finish(RESULT);
  assert.equal(activity(), null);
  assert.match(printed.at(-2) ?? "", /^done in 37s · 1\.4k in \(1\.2k cached\) · 30 out · [\d.]+ t\/s$/);
});

Deno.test("how fast prompts are read is measured, and what is known of the server is not read again", async () => {
  const { clock, view, activity, delta } = shownTurn({ tokens: 3000 });
  const turn = async () => {
    view.event(request);
    view.event({ kind: "sent" });
    await clock.advance(2000);
    const row = activity();
    delta({ kind: "text", text: "x" });
    await clock.advance(1000);
    view.event(response(2000));
    return row;
  };
  view.beginTurn();
  assert.equal(await turn(), "processing prompt 3k · 2s · Esc stops");
  // 2,030 of the tokens are in the server's cache: all but 970 of 3,000, which took a second.
  assert.equal(await turn(), "processing prompt 3k · 2s · Esc stops");
  view.event({
    kind: "cache_invalidated",
    reason: "shortened",
    bytesKept: 0,
    bytesBefore: 1,
    bytesAfter: 1,
    count: 1,
    callIds: [],
  });
  assert.equal(await turn(), "processing prompt ~2k/3k · 1000 t/s · ~1s left · Esc stops");
});

Deno.test("the server's own count of what it read overrides any prediction", async () => {
  const { clock, view, activity, delta } = shownTurn();
  view.beginTurn();
  view.event(request);
  view.event({ kind: "sent" });
  await clock.advance(1000);
  delta({ kind: "prefill", processed: 512, total: 900 });
  assert.equal(activity(), "processing prompt 512/900 · 512 t/s · ~1s left · Esc stops");
});

Deno.test("the wait for a model that loads does not count, and is reported once in a chat", () => {
  const notice: RetryNotice = {
    kind: "loading",
    attempt: 1,
    maxRetries: 2,
    delayMs: 500,
    status: 503,
    reason: "loads",
  };
  const told = "loads; retrying until it is ready";
  assert.equal(eventLine({ kind: "retry", notice }, traceLabel()), `  ${told}`);
  const rows = (more: Partial<RetryNotice>) =>
    eventRows({ kind: "retry", notice: { ...notice, ...more } }, 80).map((row) => row.map(({ text }) => text).join(""));
  assert.match(rows({}).join(), new RegExp(told));
  assert.deepEqual(rows({ attempt: 2 }), []);
  assert.match(rows({ kind: "busy", attempt: 2, maxRetries: 9 }).join(), /retrying in 0\.5 s \(2 of 9\)/);
  assert.deepEqual(rows({ kind: "refused", status: null }), []);
  assert.match(rows({ kind: "refused", status: null, delayMs: 2500 }).join(), /retrying in 2\.5 s/);
});

Deno.test("what a search does is shown indented, what it says and reads is not", () => {
  const rows: string[] = [];
  const view = new TurnView({
    width: () => 80,
    color: false,
    clock: { monotonic: () => 0 },
    promptTokens: () => null,
    print: (printed) => rows.push(...printed.map((row) => row.map(({ text }) => text).join(""))),
    changed: () => {},
  });
  const nested = (event: TurnEvent) => view.event({ kind: "nested", callId: "c", event });
  view.event({ kind: "tool_start", callId: "c", toolName: "Explore", subject: "the rate" });
  nested({ kind: "request", messageId: "m", turn: 1, position: 0 });
  nested({ kind: "delta", messageId: "m", delta: { kind: "text", text: "I look." } });
  nested({ kind: "tool_start", callId: "d", toolName: "Read", subject: "pump.py" });
  assert.deepEqual(rows, []);
  const live = view.openRows(80).map((row) => row.map(({ text }) => text).join(""));
  assert.deepEqual(live, ["* Explore the rate", "  * Read pump.py"]);
  assert.equal(view.activityRow(80)?.[0]?.text, "searching 0s");
});
