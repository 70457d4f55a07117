import assert from "node:assert/strict";
import { PENDING, SLIPS } from "./slip_kinds.ts";
import { runSlip } from "./slip_run.ts";

for (const slip of SLIPS.filter(({ kind }) => !PENDING.includes(kind))) {
  Deno.test(`a slip comes right: ${slip.kind}`, async () => {
    assert.equal((await runSlip(slip)).wrong, null);
  });
}

Deno.test("a slip from which nothing brings back is wrong", async () => {
  const [slip] = SLIPS.filter(({ kind }) => kind === "replies nothing");
  assert.ok(slip);
  assert.match((await runSlip({ ...slip, recovers: [] })).wrong ?? "", /calc\.py/);
  assert.match((await runSlip({ ...slip, rounds: 3 })).wrong ?? "", /4 requests, 3 would do/);
});

Deno.test("what is pending is a kind, and no kind stands twice", () => {
  const kinds = SLIPS.map(({ kind }) => kind);
  assert.equal(new Set(kinds).size, kinds.length);
  assert.deepEqual(PENDING.filter((kind) => !kinds.includes(kind)), []);
});
