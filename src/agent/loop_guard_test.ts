import assert from "node:assert/strict";
import { LoopGuard } from "./loop_guard.ts";

function verdict(guard: LoopGuard, name = "Read", path = "a"): string {
  try {
    return guard.mayRun(name, { file_path: path }) ? "run" : "notice";
  } catch {
    return "stop";
  }
}

Deno.test("the third identical call in a row is answered with a notice, the fifth stops the turn", () => {
  const guard = new LoopGuard();
  const verdicts = [1, 2, 3, 4, 5].map(() => {
    guard.countResponse();
    return verdict(guard);
  });
  assert.deepEqual(verdicts, ["run", "run", "notice", "notice", "stop"]);
});

Deno.test("calls of one response count once", () => {
  const guard = new LoopGuard();
  const verdicts = [1, 2, 3].flatMap(() => {
    guard.countResponse();
    return [1, 2, 3].map(() => verdict(guard));
  });
  assert.deepEqual(verdicts, [...Array(6).fill("run"), ...Array(3).fill("notice")]);
});

Deno.test("another call in between starts the count again", () => {
  const guard = new LoopGuard();
  verdict(guard);
  verdict(guard);
  assert.equal(verdict(guard, "Read", "b"), "run");
  assert.equal(verdict(guard), "run");
  assert.equal(verdict(guard, "Grep"), "run");
});
