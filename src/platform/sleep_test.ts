import assert from "node:assert/strict";
import { createSleep } from "./sleep.ts";

/** Timers that a test sets off, and the waiting on them. */
function hand() {
  let time = 0;
  const timers: { due: number; controller: AbortController; listeners: number }[] = [];
  const sleep = createSleep({
    now: () => time,
    timer(milliseconds) {
      const controller = new AbortController();
      const timer = { due: time + milliseconds, controller, listeners: 0 };
      timers.push(timer);
      const { signal } = controller;
      const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
      signal.addEventListener = (...given: unknown[]) => {
        timer.listeners++;
        Reflect.apply(add, signal, given);
      };
      signal.removeEventListener = (...given: unknown[]) => {
        timer.listeners--;
        Reflect.apply(remove, signal, given);
      };
      return signal;
    },
  });
  const ended: string[] = [];
  return {
    timers,
    ended,
    wait(name: string, milliseconds: number) {
      const cut = new AbortController();
      sleep(milliseconds, cut.signal).then(() => ended.push(name), (reason) => ended.push(`${name}: ${reason}`));
      return cut;
    },
    /** Moves the time on; timers go off in order. */
    async to(next: number) {
      for (;;) {
        const pending = timers.filter(({ due, controller }) => due <= next && !controller.signal.aborted);
        const [first] = pending.sort((one, other) => one.due - other.due);
        if (first === undefined) break;
        time = Math.max(time, first.due);
        first.controller.abort();
      }
      time = next;
      for (let turn = 0; turn < 3; turn++) await Promise.resolve();
    },
  };
}

Deno.test("waits end in their order, each at its time", async () => {
  const given = hand();
  given.wait("long", 50);
  given.wait("short", 20);
  given.wait("at once", 0);
  await given.to(0);
  assert.deepEqual(given.ended, ["at once"]);
  await given.to(49);
  assert.deepEqual(given.ended, ["at once", "short"]);
  await given.to(50);
  assert.deepEqual(given.ended, ["at once", "short", "long"]);
});

Deno.test("a wait that is cut short ends with the reason, and one that was cut before does not begin", async () => {
  const given = hand();
  given.wait("first", 20).abort("enough");
  await given.to(30);
  const cut = AbortSignal.abort("too late");
  const sleep = createSleep({ now: () => 0, timer: () => assert.fail("a timer was made") });
  assert.deepEqual(given.ended, ["first: enough"]);
  await assert.rejects(sleep(5, cut), (reason) => reason === "too late");
});

Deno.test("waits that are cut short again and again share one timer", async () => {
  const given = hand();
  for (let at = 0; at < 100; at++) {
    await given.to(at);
    given.wait(`${at}`, 1000).abort("over");
  }
  assert.equal(given.timers.length, 1);
  given.wait("last", 1000);
  await given.to(1000);
  assert.equal(given.ended.includes("last"), false);
  await given.to(1099);
  assert.equal(given.ended.at(-1), "last");
});

Deno.test("a timer that nothing waits for is not listened to: it would keep the process alive", async () => {
  const given = hand();
  const cut = given.wait("only", 1000);
  assert.deepEqual(given.timers.map((timer) => timer.listeners), [1]);
  cut.abort("over");
  assert.deepEqual(given.timers.map((timer) => timer.listeners), [0]);
  given.wait("next", 2000);
  assert.deepEqual(given.timers.map((timer) => timer.listeners), [1]);
  await given.to(2000);
  assert.equal(given.ended.at(-1), "next");
});
