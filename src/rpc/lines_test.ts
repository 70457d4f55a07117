import assert from "node:assert/strict";
import * as property from "../../tests/property.ts";
import { createLineReader } from "./lines.ts";

Deno.test("lines end at LF alone, however the bytes are cut", () => {
  property.assert(property.property(
    property.array(property.string().map((text) => text.replaceAll("\n", "\u2028\r"))),
    property.array(property.nat(40)),
    (lines, cuts) => {
      // What a decoder replaces is not what this test is about.
      const sane = lines.map((line) => new TextDecoder().decode(new TextEncoder().encode(line)));
      const bytes = new TextEncoder().encode(sane.map((line) => line + "\n").join("") + "rest");
      const reader = createLineReader();
      const got: (string | null)[] = [];
      let at = 0;
      for (const cut of cuts) {
        got.push(...reader.push(bytes.subarray(at, at + cut)));
        at += cut;
      }
      got.push(...reader.push(bytes.subarray(at)));
      // The decoder takes a byte order mark at the start of a line away.
      const plain = (text: string | null) => text?.replace(/^\uFEFF/, "");
      assert.deepEqual(got.map(plain), sane.map(plain));
      assert.equal(reader.end(), "rest");
    },
  ));
});

Deno.test("a line beyond the limit is dropped and the next one read", () => {
  const reader = createLineReader(10);
  const bytes = new TextEncoder().encode("0123456789abcdef\nshort\n");
  assert.deepEqual([...reader.push(bytes.subarray(0, 12)), ...reader.push(bytes.subarray(12))], [null, "short"]);
});
