import assert from "node:assert/strict";
import { manualClock } from "../../../../tests/helpers/manual_clock.ts";
import { Bell, callSequence } from "./terminal_view.ts";

function bell() {
  const clock = manualClock();
  const rung: string[] = [];
  return { clock, rung, bell: new Bell(clock, (text) => void rung.push(text)) };
}

Deno.test("the end of a turn rings when it took more than ten seconds", async () => {
  for (const [milliseconds, times] of [[9000, 0], [11_000, 1]] as const) {
    const { clock, rung, bell: each } = bell();
    each.turnBegins();
    await clock.advance(milliseconds);
    each.turnEnds();
    assert.equal(rung.length, times);
  }
});

Deno.test("a question rings once it waits, and not when it was answered", async () => {
  const waiting = bell();
  waiting.bell.turnBegins();
  const { promise } = Promise.withResolvers<void>();
  const called = waiting.bell.waitsFor(promise);
  assert.deepEqual(waiting.rung, []);
  await waiting.clock.advance(11_000);
  await called;
  assert.deepEqual(waiting.rung, ["a question waits for your answer"]);

  const answered = bell();
  answered.bell.turnBegins();
  await answered.bell.waitsFor(Promise.resolve());
  await answered.clock.advance(20_000);
  assert.deepEqual(answered.rung, []);

  const late = bell();
  late.bell.turnBegins();
  await late.clock.advance(11_000);
  await late.bell.waitsFor(new Promise(() => {}));
  assert.equal(late.rung.length, 1);
});

Deno.test("a notice steers no terminal, and off is nothing", () => {
  assert.equal(callSequence(undefined, "x"), "\x07");
  assert.equal(callSequence("osc9", "done\x07\x1b[2J"), "\x1b]9;done\\x07\\x1b[2J\x07");
  assert.equal(callSequence("off", "x"), "");
});
