import assert from "node:assert/strict";
import type { SessionItem } from "../../session/item.ts";
import * as fc from "../../../tests/property.ts";
import { byteLength, headOf, tailOf } from "../../platform/text.ts";
import { cutResults, lastCallsStart, shortenOld } from "./shorten.ts";

const open = { label: "open" as const };
let calls = 0;
function round(name: string, content: string): SessionItem[] {
  const id = `c${calls++}`;
  return [
    {
      kind: "assistant",
      id,
      text: "",
      reasoning: "",
      calls: [{ id, name, input: { file_path: `${name}.ts` } }],
      ...open,
    },
    { kind: "tool_result", callId: id, name, content, isError: false, ...open },
  ];
}
const contents = (items: readonly SessionItem[]) =>
  items.flatMap((item) => item.kind === "tool_result" ? [item.content] : []);

Deno.test("old and large results are shortened first, in one batch, and only as many as needed", () => {
  const items = [...round("A", "a".repeat(5000)), ...round("B", "b".repeat(9000)), ...round("C", "c".repeat(5000))];
  const done = shortenOld(items, { end: items.length, saveBytes: 8000 });
  assert.ok(done !== null);
  const [a, b, c] = contents(done.items);
  assert.ok(byteLength(b ?? "") < 1200);
  assert.equal(a?.length, 5000);
  assert.equal(c?.length, 5000);
  assert.equal(done.first, 3);
});

Deno.test("a shortened result says what it was and how to have it again", () => {
  const [read] = contents(shortenOld(round("Read", "x".repeat(5000)), { end: 2, saveBytes: 1 })?.items ?? []);
  assert.match(read ?? "", /^\[Read \{"file_path":"Read\.ts"\}: .*5000 bytes\. Call Read again/);
  const [bash] = contents(
    shortenOld(round("Bash", `head${"x".repeat(5000)}tail`), { end: 2, saveBytes: 1 })?.items ?? [],
  );
  assert.match(bash ?? "", /safe to repeat.*\nhead[^]*tail$/);
});

Deno.test("results of the last round and short ones stay", () => {
  const items = [...round("A", "short"), ...round("B", "b".repeat(9000))];
  assert.equal(shortenOld(items, { end: lastCallsStart(items), saveBytes: 1e6 }), null);
});

Deno.test("shortening again changes nothing", () => {
  const items = round("A", "é".repeat(5000));
  const once = shortenOld(items, { end: 2, saveBytes: 1e6 });
  assert.equal(shortenOld(once?.items ?? [], { end: 2, saveBytes: 1e6 }), null);
});

Deno.test("new results that do not fit are cut, the largest most", () => {
  const items = [...round("A", "a".repeat(1000)), ...round("B", "b".repeat(50_000))];
  const done = cutResults(items, { start: 0, bytes: 9000 });
  const [a, b] = contents(done?.items ?? []);
  assert.equal(a?.length, 1000);
  assert.match(b ?? "", /^b+\n\[\d+ of 50000 bytes left out: .*offset and limit.*\]\nb+$/);
  assert.ok(byteLength(b ?? "") <= 8300, `${byteLength(b ?? "")}`);
  assert.equal(cutResults(items, { start: 0, bytes: 60_000 }), null);
});

Deno.test("text is cut between characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.codePoint, maxLength: 60 }), fc.nat(80), (text, bytes) => {
      const sound = text.toWellFormed();
      const [head, tail] = [headOf(sound, bytes), tailOf(sound, bytes)];
      assert.ok(byteLength(head) <= bytes && byteLength(tail) <= bytes);
      assert.ok(sound.startsWith(head) && sound.endsWith(tail));
      assert.ok(byteLength(head) > bytes - 4 || head === sound);
    }),
  );
});
