import assert from "node:assert/strict";
import { manualClock } from "../../../../tests/helpers/manual_clock.ts";
import { MessageQueue } from "../../../runtime/prompts.ts";
import { ChatWork } from "./chat_work.ts";

function chatWork() {
  const clock = manualClock();
  const told: unknown[] = [];
  const work = new ChatWork(clock, new MessageQueue(), {
    failed: (error) => told.push(error === null ? "stopped" : error),
    answerNothing: () => {},
    takeBack: (texts) => told.push(texts),
    idle: () => {},
  });
  return { work, clock, told };
}

const message = (text: string) => ({ text, toPrompt: () => Promise.resolve({ text }) });

/** Returns what `take` was given, and a promise for its first call, which runs until it is stopped. */
function endless() {
  const taken: string[] = [];
  const begun = Promise.withResolvers<void>();
  const take = (text: string, signal: AbortSignal) => {
    taken.push(text);
    begun.resolve();
    return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  return { taken, begun: begun.promise, take };
}

const begin = () => Promise.resolve();

Deno.test("an interrupt stops what runs and gives back what waits, a second one soon after leaves", async () => {
  const { work, clock, told } = chatWork();
  const { taken, begun, take } = endless();
  const code = work.run(begin, take);
  for (const text of ["one", "two", "three"]) work.add(message(text));
  await begun;
  assert.deepEqual(work.waiting().map(({ text }) => text), ["two", "three"]);
  assert.equal(work.interrupt(), false);
  assert.deepEqual([taken, work.waiting(), told], [["one"], [], [["two", "three"]]]);
  await clock.advance(2000);
  assert.equal(work.interrupt(), true);
  assert.equal(await code, 0);
  assert.deepEqual(told.at(-1), "stopped");
});

Deno.test("interrupts with a pause between them leave nothing", async () => {
  const { work, clock } = chatWork();
  const code = work.run(begin, () => Promise.resolve());
  assert.equal(work.interrupt(), false);
  await clock.advance(4000);
  assert.equal(work.interrupt(), false);
  work.leave();
  assert.equal(await code, 0);
});

Deno.test("what does not end when it is stopped is left after a while, with the code of the signal", async () => {
  for (const [stop, expected] of [["interrupt", 130], ["terminate", 143]] as const) {
    const { work, clock } = chatWork();
    const begun = Promise.withResolvers<void>();
    const code = work.run(begin, () => {
      begun.resolve();
      return new Promise(() => {});
    });
    work.add(message("one"));
    await begun.promise;
    work[stop]();
    work[stop]();
    await clock.advance(1500);
    assert.equal(await code, expected);
  }
});

Deno.test("an error is reported and the next text is taken", async () => {
  const { work, told } = chatWork();
  const code = work.run(begin, (text) => {
    if (text === "two") work.leave();
    return Promise.reject(new Error(text));
  });
  work.add(message("one"));
  work.add(message("two"));
  assert.equal(await code, 0);
  assert.deepEqual(told.map((error) => error instanceof Error ? error.message : error), ["one", "stopped"]);
});

Deno.test("an interrupt of a text that was sent since the last one stops that text and does not leave", async () => {
  const { work, told } = chatWork();
  const taken: string[] = [];
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const code = work.run(begin, (text, signal) => {
    begun[taken.push(text) - 1]?.resolve();
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  for (const [index, text] of ["one", "two"].entries()) {
    work.add(message(text));
    await begun[index]?.promise;
    assert.equal(work.interrupt(), false);
  }
  assert.equal(work.interrupt(), true);
  assert.equal(await code, 130);
  assert.deepEqual([taken, told], [["one", "two"], ["stopped", "stopped"]]);
});
