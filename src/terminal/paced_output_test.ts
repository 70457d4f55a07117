import assert from "node:assert/strict";
import type { Output } from "../platform/io.ts";
import { createPacedOutput } from "./paced_output.ts";

/** An output whose writes end when the test says so. */
function slowOutput() {
  const written: string[] = [];
  const open: PromiseWithResolvers<void>[] = [];
  const output: Output = {
    isTerminal: false,
    columns: () => 80,
    write(text: string) {
      written.push(text);
      const done = Promise.withResolvers<void>();
      open.push(done);
      return done.promise;
    },
  };
  return { output, written, open };
}

Deno.test("the first text is written at once, what comes meanwhile in one piece and in order", async () => {
  const { output, written, open } = slowOutput();
  const paced = createPacedOutput(output);
  assert.equal(paced.write("a"), undefined);
  assert.equal(paced.write("b"), undefined);
  paced.write("c");
  assert.deepEqual(written, ["a"]);
  open[0]?.resolve();
  const settled = paced.settled();
  await Promise.resolve().then(() => {}).then(() => {});
  assert.deepEqual(written, ["a", "bc"]);
  open[1]?.resolve();
  await settled;
});

Deno.test("a reader that is too slow is waited for", async () => {
  const { output, written, open } = slowOutput();
  const paced = createPacedOutput(output);
  paced.write("a");
  let waits = true;
  const wait = Promise.resolve(paced.write("b".repeat(300_000))).then(() => waits = false);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  assert.ok(waits);
  open[0]?.resolve();
  while (open[1] === undefined) await Promise.resolve();
  open[1].resolve();
  await wait;
  assert.equal(written.length, 2);
});

Deno.test("the next writer and whoever waits get a failed write's error, and nothing is written after it", async () => {
  const { output, written, open } = slowOutput();
  const paced = createPacedOutput(output);
  paced.write("a");
  paced.write("b");
  open[0]?.reject(new Error("gone"));
  await assert.rejects(paced.settled(), /gone/);
  await assert.rejects(Promise.resolve(paced.write("c")), /gone/);
  await assert.rejects(paced.settled(), /gone/);
  assert.deepEqual(written, ["a"]);
});

Deno.test("with nothing written there is nothing to wait for", async () => {
  const { output, written } = slowOutput();
  const paced = createPacedOutput(output);
  paced.write("");
  await paced.settled();
  assert.deepEqual(written, []);
});
