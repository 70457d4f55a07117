import { byteLength } from "../../platform/text.ts";
import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import type { SessionItem } from "../../session/item.ts";
import { compactRequest, planCompaction, provenBytes, recordOf } from "./compact_plan.ts";

const open = { label: "open" as const };
const text = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: fc.codePoint, maxLength: 300 }),
  fc.tuple(fc.constantFrom("x", "\n", "\u0001", '"', "é", "漢", "😀"), fc.nat(4000)).map(([sign, times]) =>
    sign.repeat(times)
  ),
);

/** Sessions as they are between two requests: the user's words, then rounds. */
const session: fc.Arbitrary<SessionItem[]> = fc.array(
  fc.record({ prompt: text, rounds: fc.array(fc.tuple(text, fc.array(text, { maxLength: 3 })), { maxLength: 6 }) }),
  { minLength: 1, maxLength: 6 },
).map((turns) => {
  const items: SessionItem[] = [];
  for (const { prompt, rounds } of turns) {
    items.push({ kind: "user", text: prompt, ...open });
    for (const [said, results] of rounds) {
      const id = items.length;
      const calls = results.map((_, at) => ({ id: `c${id}_${at}`, name: "Read", input: { file_path: said } }));
      items.push({ kind: "assistant", id: `${id}`, text: said, reasoning: "", calls, ...open });
      results.forEach((content, at) =>
        items.push({ kind: "tool_result", callId: `c${id}_${at}`, name: "Read", content, isError: false, ...open })
      );
    }
  }
  return items;
});

Deno.test("a request for a summary fits into any window, whatever the session holds", () => {
  fc.assert(
    fc.property(session, fc.integer({ min: 256, max: 9000 }), fc.double({ min: 1, max: 6, noNaN: true }), (
      items,
      window,
      bytesPerToken,
    ) => {
      const limits = { model: "m", window, maxTokens: Math.floor(window / 4), bytesPerToken };
      const request = compactRequest(items, limits);
      if (request === null) return;
      const bytes = byteLength(JSON.stringify(request.messages));
      assert.ok(bytes <= provenBytes(limits), `${bytes} bytes`);
      assert.ok(bytes / Math.min(bytesPerToken, 2) + limits.maxTokens <= window);
    }),
    { numRuns: 300 },
  );
});

Deno.test("a record keeps to its limit and to the order of the session, and holds the newest", () => {
  const items: SessionItem[] = Array.from({ length: 50 }, (_, at) => ({
    kind: "user",
    text: `words ${at} ${"x".repeat(100)}`,
    ...open,
  }));
  const record = recordOf(items, 2000);
  assert.ok(byteLength(record) <= 2000);
  const numbers = [...record.matchAll(/words (\d+)/g)].map((match) => Number(match[1]));
  assert.equal(numbers[0], 0);
  assert.equal(numbers.at(-1), 49);
  assert.deepEqual(numbers, [...numbers].sort((one, other) => one - other));
  assert.match(record, /Earlier parts are left out/);
});

Deno.test("what is kept is the user's first and last words and whole rounds", () => {
  fc.assert(
    fc.property(session, fc.nat(20_000), (items, keepBytes) => {
      const plan = planCompaction(items, {
        keepBytes,
        leastBytes: 0,
        sizeOf: (item) => byteLength(JSON.stringify(item)),
      });
      if (plan === null) return;
      const lastWords = items.findLast((item) => item.kind === "user");
      assert.ok(lastWords !== undefined && plan.kept.includes(lastWords));
      assert.ok(!plan.summarized.includes(lastWords));
      assert.equal(plan.head.length + plan.summarized.length + plan.kept.length, items.length);
      const [first] = items;
      const isShort = first !== undefined && byteLength(JSON.stringify(first)) <= keepBytes / 3;
      assert.equal(first !== undefined && [...plan.head, ...plan.kept].includes(first), isShort || first === lastWords);
      const calls = new Set(
        plan.kept.flatMap((item) => item.kind === "assistant" ? item.calls.map((call) => call.id) : []),
      );
      const results = plan.kept.flatMap((item) => item.kind === "tool_result" ? [item.callId] : []);
      assert.deepEqual([...calls].sort(), results.sort());
    }),
  );
});

Deno.test("what is next to nothing is not worth a summary", () => {
  const items: SessionItem[] = [
    { kind: "user", text: "go", ...open },
    { kind: "assistant", id: "1", text: "y".repeat(300), reasoning: "", calls: [], ...open },
    { kind: "user", text: "go on", ...open },
  ];
  const sizeOf = (item: SessionItem) => byteLength(JSON.stringify(item));
  assert.equal(planCompaction(items, { keepBytes: 100, leastBytes: 1000, sizeOf }), null);
  assert.notEqual(planCompaction(items, { keepBytes: 100, leastBytes: 300, sizeOf }), null);
});

Deno.test("a session of nothing but a summary and the last words is not summarized again", () => {
  const items: SessionItem[] = [
    { kind: "user", origin: "summary", text: "s".repeat(5000), ...open },
    { kind: "user", text: "go on", ...open },
  ];
  assert.equal(planCompaction(items, { keepBytes: 10, leastBytes: 0, sizeOf: () => 5000 }), null);
});
