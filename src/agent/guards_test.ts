import assert from "node:assert/strict";
import { createCallGuard } from "./guards.ts";

Deno.test("the third identical call in a row is answered with a notice, the fifth stops the turn", () => {
  const guard = createCallGuard();
  const verdicts = [1, 2, 3, 4, 5].map(() => {
    guard.countResponse();
    return guard.check("Read", { file_path: "a" });
  });
  assert.deepEqual(verdicts, ["run", "run", "notice", "notice", "stop"]);
});

Deno.test("calls of one response count once", () => {
  const guard = createCallGuard();
  const verdicts = [1, 2, 3].flatMap(() => {
    guard.countResponse();
    return [1, 2, 3].map(() => guard.check("Read", { file_path: "a" }));
  });
  assert.deepEqual(verdicts, [...Array(6).fill("run"), ...Array(3).fill("notice")]);
});

Deno.test("another call in between starts the count again", () => {
  const guard = createCallGuard();
  guard.check("Read", { file_path: "a" });
  guard.check("Read", { file_path: "a" });
  assert.equal(guard.check("Read", { file_path: "b" }), "run");
  assert.equal(guard.check("Read", { file_path: "a" }), "run");
  assert.equal(guard.check("Grep", { file_path: "a" }), "run");
});
