import assert from "node:assert/strict";
import { manualClock } from "../../tests/helpers/manual_clock.ts";
import { aborted, inTime, orLate } from "./time_limit.ts";

Deno.test("work can still return a partial result when the time limit aborts its signal", async () => {
  const clock = manualClock();
  const limits = { clock, signal: new AbortController().signal, late: new RangeError("not done in time") };
  const kept = inTime(1000, limits, async (signal) => {
    await aborted(signal);
    return "half";
  });
  const closed = async (signal: AbortSignal) => {
    await aborted(signal);
    throw new TypeError("body closed");
  };
  const lost = inTime(1000, limits, closed);
  const none = orLate(1000, limits, closed);
  await clock.advance(1000);
  assert.equal(await kept, "half");
  await assert.rejects(lost, limits.late);
  assert.equal(await none, null);
  await assert.rejects(orLate(1000, limits, () => Promise.reject(new TypeError("bug"))), TypeError);
});
