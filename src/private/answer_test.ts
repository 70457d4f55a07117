import assert from "node:assert/strict";
import { answerIn, type AnswerSet, costOf, readAnswerSet } from "./answer.ts";

const CHOICE: AnswerSet = { type: "choice", options: ["postgres", "SQLite"] };
const COUNT: AnswerSet = { type: "count", max: 10 };
const PATHS: AnswerSet = { type: "paths", among: ["a", "b", "c"] };

Deno.test("a set costs at least the logarithm of its values, unknown among them", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `p${at}`);
  const sets: [AnswerSet, number][] = [
    [{ type: "yes_no" }, 3],
    [CHOICE, 3],
    [{ type: "choice", options: many(16) }, 17],
    [{ type: "count", max: 1000 }, 1002],
    [PATHS, 9],
    [{ type: "paths", among: many(12) }, 4097],
  ];
  for (const [set, size] of sets) {
    assert(2 ** (costOf(set) / 1000) >= size, JSON.stringify(set));
    assert(2 ** ((costOf(set) - 1) / 1000) < size, JSON.stringify(set));
  }
  // Above what a number holds exactly.
  assert.equal(costOf({ type: "paths", among: many(64) }), 64_001);
});

Deno.test("what is no set is refused", () => {
  const long = "x".repeat(61);
  const none = [
    null,
    {},
    { type: "text" },
    { type: "choice", options: ["one"] },
    { type: "choice", options: Array.from({ length: 17 }, String) },
    { type: "choice", options: ["a", long] },
    { type: "choice", options: ["a", "A"] },
    { type: "choice", options: ["a", "unknown"] },
    { type: "choice", options: ["a", 1] },
    { type: "count", max: 1001 },
    { type: "count", max: 1.5 },
    { type: "count", max: 0 },
    { type: "paths", among: [] },
    { type: "paths", among: Array.from({ length: 65 }, String) },
  ];
  for (const value of none) assert.equal(readAnswerSet(value), null, JSON.stringify(value));
  for (const value of [{ type: "yes_no" }, CHOICE, COUNT, PATHS]) assert.deepEqual(readAnswerSet(value), value);
});

Deno.test("a reply is one value of the set, or unknown", () => {
  const cases: [AnswerSet, string, unknown][] = [
    [{ type: "yes_no" }, '{"answer":"yes"}', "yes"],
    [{ type: "yes_no" }, '```json\n{"answer": "no"}\n```', "no"],
    [{ type: "yes_no" }, "Yes", "yes"],
    [{ type: "yes_no" }, '{"answer":"yes, it is 4711"}', "unknown"],
    [{ type: "yes_no" }, "the key is 4711", "unknown"],
    [{ type: "yes_no" }, "", "unknown"],
    [CHOICE, '{"answer":"sqlite"}', "SQLite"],
    [CHOICE, '{"answer":"mysql"}', "unknown"],
    [COUNT, '{"answer":7}', 7],
    [COUNT, '{"answer":"7"}', 7],
    [COUNT, '{"answer":11}', "unknown"],
    [COUNT, '{"answer":-0.5}', "unknown"],
    [PATHS, '{"answer":["c","a","c"]}', ["a", "c"]],
    [PATHS, '{"answer":[]}', []],
    [PATHS, '{"answer":["a","4711"]}', "unknown"],
    [PATHS, '{"answer":[["a"]]}', "unknown"],
  ];
  for (const [set, reply, answer] of cases) assert.deepEqual(answerIn(reply, set), answer, reply);
});
