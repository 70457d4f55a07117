import assert from "node:assert/strict";
import { testSession } from "../../../tests/helpers/agent_session.ts";
import * as fc from "../../../tests/property.ts";
import type { ToolSchema } from "../../provider/types.ts";
import type { SessionItem } from "../../session/item.ts";
import { messageOf } from "../messages.ts";

function bytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

Deno.test("the bytes of a history are those of its items, however it grew, was cut or changed before", () => {
  const state = testSession(10_000).context;
  const step = fc.record({ kept: fc.nat(9), added: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }) });
  fc.assert(fc.property(fc.array(step, { maxLength: 9 }), fc.nat(30), (steps, asked) => {
    let items: SessionItem[] = [];
    for (const { kept, added } of steps) {
      items = [...items.slice(0, kept), ...added.map((text): SessionItem => ({ kind: "user", text, label: "open" }))];
      for (const count of [items.length, Math.min(asked, items.length)]) {
        const expected = items.slice(0, count).reduce(
          (sum, item) => sum + bytes(messageOf(item, state.history)) + 1,
          0,
        );
        assert.equal(state.sizeOfFirst(count, items), expected);
      }
    }
  }));
});

Deno.test("the bytes of the system message and the tools follow both of them", () => {
  const state = testSession(10_000).context;
  const tool = (name: string): ToolSchema => ({
    type: "function",
    function: { name, description: "\u20ac", parameters: {} },
  });
  const tools = [tool("Read"), tool("Write")];
  assert.equal(state.sizeOfBase("s", tools), bytes("s") + bytes(tools));
  tools.splice(0, 2, tool("Grep"));
  assert.equal(state.sizeOfBase("longer", tools), bytes("longer") + bytes(tools));
  assert.equal(state.sizeOfBase("longer", []), bytes("longer") + bytes([]));
  assert.equal(state.sizeOfBase("longer", null), bytes("longer"));
});
