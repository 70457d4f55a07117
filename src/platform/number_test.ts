import assert from "node:assert/strict";
import { grouped } from "./number.ts";

for (
  const [number, text] of [
    [0, "0"],
    [999, "999"],
    [1000, "1,000"],
    [-32768, "-32,768"],
    [1234567.6, "1,234,568"],
  ] as const
) {
  Deno.test(`${number} is shown as ${text}`, () => assert.equal(grouped(number), text));
}
