import { cutText } from "../platform/text.ts";
import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { countLines, decodeText, encodeText } from "./text.ts";

Deno.test("whatever is decoded as text encodes to the same bytes", () => {
  const start = fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]);
  const bytes = fc.tuple(start, fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 }))
    .map((parts) => new Uint8Array(parts.flat()));
  fc.assert(fc.property(bytes, (original) => {
    const decoded = decodeText(original);
    if (decoded !== null) assert.deepEqual(encodeText(decoded.text, decoded), original);
  }));
});

Deno.test("Latin-1 has no other characters", () => {
  assert.equal(encodeText("é€", { encoding: "latin-1", marked: false }), null);
});

Deno.test("lines are counted as a reader counts them", () => {
  assert.deepEqual(["", "a", "a\n", "a\nb", "\n\n"].map(countLines), [0, 1, 1, 2, 2]);
});

Deno.test("a cut does not part a character", () => {
  assert.equal(cutText("a😀b", 2), "a");
  assert.equal(cutText("a😀b", 3), "a😀");
});
