import assert from "node:assert/strict";
import { bytesOutsidePrefix, roundTime } from "./rows.ts";

function body(...texts: string[]): string {
  return JSON.stringify({ tools: [{ name: "Read" }], messages: texts.map((content) => ({ role: "user", content })) });
}

Deno.test("requests that only grow send nothing outside the common prefix", () => {
  assert.equal(bytesOutsidePrefix([body("a"), body("a", "b"), body("a", "b", "c")]), 0);
});

Deno.test("a changed earlier message counts from its first changed byte", () => {
  const [before, after] = [body("a clock 1"), body("a clock 2", "b")];
  assert.equal(bytesOutsidePrefix([before, after]), '1"}'.length);
});

Deno.test("a round lasts from the end of an answer to the next request", () => {
  const log = [[0, 10], [14, 20], [22, 30], [39, 40]].map(([arrived, answered]) => ({
    arrived,
    answered,
    body: "",
    tools: true,
  }));
  assert.equal(roundTime(log as Parameters<typeof roundTime>[0]), 4);
});
