import assert from "node:assert/strict";
import { type FailureFacts, LONGEST_WAIT, nextRetry, ProviderFailure, retryAfter, retryGroup } from "./failure.ts";

function failure(facts: FailureFacts): ProviderFailure {
  return new ProviderFailure("provider_error", "x", facts);
}

const state = { retries: 0, elapsedMs: 0, loadingLimitMs: 60_000, random: 0.5 };

Deno.test("a partly passed-on reply starts over once, unless the result would be the same", () => {
  const partial = { text: "", reasoning: "" };
  for (const kind of ["lost", "stream", "transient", "busy", "tool_parse"] as const) {
    assert.equal(nextRetry(failure({ kind, partial }), state)?.maxRetries, 1, kind);
    assert.equal(nextRetry(failure({ kind, partial }), { ...state, retries: 1 }), null, kind);
    assert.equal(retryGroup(failure({ kind, partial })), "restart");
  }
  for (const kind of ["context", "timeout", "auth", "quota", "request", "invalid", "model"] as const) {
    assert.equal(nextRetry(failure({ kind, partial }), state), null, kind);
  }
});

Deno.test("waits double up to their limit and are spread by a quarter", () => {
  const waits = [0, 1, 2].map((retries) => nextRetry(failure({ kind: "busy" }), { ...state, retries })?.delayMs);
  assert.deepEqual(waits, [500, 1000, 2000]);
  assert.equal(nextRetry(failure({ kind: "busy" }), { ...state, random: 0 })?.delayMs, 375);
  assert.equal(nextRetry(failure({ kind: "loading" }), { ...state, retries: 50 })?.delayMs, 5000);
});

Deno.test("a server's own failure is tried once more, a gateway's three times", () => {
  const retries = (status: number) => {
    let count = 0;
    while (nextRetry(failure({ kind: "transient", status }), { ...state, retries: count }) !== null) count++;
    return count;
  };
  assert.equal(retries(500), 1);
  assert.equal(retries(502), 3);
});

Deno.test("a call that the server cannot read is asked for once more", () => {
  assert(nextRetry(failure({ kind: "tool_parse" }), state) !== null);
  assert.equal(nextRetry(failure({ kind: "tool_parse" }), { ...state, retries: 1 }), null);
});

Deno.test("the server's wish wins, up to a minute", () => {
  assert.equal(nextRetry(failure({ kind: "busy", retryAfterMs: 9 }), state)?.delayMs, 9);
  assert.equal(nextRetry(failure({ kind: "busy", retryAfterMs: LONGEST_WAIT + 1 }), state), null);
});

Deno.test("the wish is read from either header, as seconds or as a date", () => {
  const wish = (headers: Record<string, string>) =>
    retryAfter(new Map(Object.entries(headers)), Date.parse("2026-01-01T00:00:00Z"));
  assert.equal(wish({ "retry-after": "2" }), 2000);
  assert.equal(wish({ "retry-after": "Thu, 01 Jan 2026 00:00:03 GMT" }), 3000);
  assert.equal(wish({ "retry-after": "Thu, 01 Jan 2025 00:00:03 GMT" }), 0);
  assert.equal(wish({ "retry-after-ms": "15", "retry-after": "2" }), 15);
  assert.equal(wish({ "retry-after": "soon" }), null);
  assert.equal(wish({}), null);
});
