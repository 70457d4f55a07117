import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import type { JsonRecord } from "../../platform/record.ts";
import { ToolCallCollector } from "./tool_deltas.ts";

function collect(...deltas: JsonRecord[]) {
  const collector = new ToolCallCollector();
  const pieces = deltas.map((delta) => collector.push(delta));
  return { calls: collector.calls(), pieces };
}

const named = (name: string, args: unknown, more: JsonRecord = {}) => ({
  ...more,
  function: { name, arguments: args },
});

Deno.test("a call without an index is a new one, and what has neither id nor name continues it", () => {
  const { calls } = collect(
    named("f", '{"a"', { id: "x" }),
    { function: { arguments: ":1}" } },
    named("f", "{}", { id: "y" }),
  );
  assert.deepEqual(calls, [{ id: "x", name: "f", raw: '{"a":1}' }, { id: "y", name: "f", raw: "{}" }]);
});

Deno.test("arguments that are sent again and longer each time are taken once", () => {
  const { calls } = collect(
    named("f", '{"a"', { index: 0, id: "x" }),
    named("", '{"a":"b', { index: 0 }),
    named("", '{"a":"bc"}', { index: 0 }),
  );
  assert.equal(calls[0]?.raw, '{"a":"bc"}');
});

Deno.test("pieces that look like a repetition but make JSON when joined are joined", () => {
  const { calls } = collect(named("f", '{"a":', { index: 0 }), named("", '{"a":1}}', { index: 0 }));
  assert.equal(calls[0]?.raw, '{"a":{"a":1}}');
});

Deno.test("a whole call that is sent twice under one index and without id is one call", () => {
  const { calls } = collect(named("f", '{"a":1}', { index: 0 }), named("f", "", { index: 0 }));
  assert.equal(calls.length, 1);
});

Deno.test("the same tool twice under one index and without ids is two calls", () => {
  const { calls } = collect(named("f", '{"a":1}', { index: 0 }), named("f", '{"a":2}', { index: 0 }));
  assert.deepEqual(calls.map((call) => call.raw), ['{"a":1}', '{"a":2}']);
});

Deno.test("the word null is no id", () => {
  assert.equal(collect(named("f", "{}", { id: "null" })).calls[0]?.id, "");
});

Deno.test("a piece names its call and, once, the tool", () => {
  const { pieces } = collect(
    named("f", "", { index: 0, id: "x" }),
    named("f", "{", { index: 0, id: "x" }),
    named("g", { b: 1 }, { index: 1, id: "y" }),
    named("", "", { index: 0 }),
  );
  assert.deepEqual(pieces, [
    { index: 0, name: "f", arguments: "" },
    { index: 0, arguments: "{" },
    { index: 1, name: "g", arguments: '{"b":1}' },
    null,
  ]);
});

Deno.test("a flood of calls is bounded", () => {
  const deltas = Array.from({ length: 5000 }, (_, index) => named("f", "{}", { id: `c${index}` }));
  assert.equal(collect(...deltas).calls.length, 1000);
  const collector = new ToolCallCollector();
  for (const delta of deltas) collector.push(delta);
  assert.equal(collector.dropped, deltas.length - 1000);
});

Deno.test("calls that are sent in order in pieces come back as they were", () => {
  const call = fc.record({ name: fc.constantFrom("f", "g"), args: fc.dictionary(fc.string(), fc.jsonValue()) });
  fc.assert(fc.property(fc.array(call, { maxLength: 4 }), fc.nat({ max: 9 }), (wanted, cut) => {
    const deltas = wanted.flatMap(({ name, args }, index) => {
      const text = JSON.stringify(args);
      const place = Math.min(cut, text.length);
      return [named(name, text.slice(0, place), { index, id: `c${index}` }), named("", text.slice(place), { index })];
    });
    assert.deepEqual(
      collect(...deltas).calls,
      wanted.map(({ name, args }, index) => ({ id: `c${index}`, name, raw: JSON.stringify(args) })),
    );
  }));
});
