import assert from "node:assert/strict";
import * as property from "../../tests/property.ts";
import { readLines } from "./lines.ts";

/** The lines of these pieces. */
async function linesOf(pieces: Uint8Array[], limit?: number): Promise<(string | null)[]> {
  const waiting = [...pieces];
  return await Array.fromAsync(readLines(() => Promise.resolve(waiting.shift() ?? null), limit));
}

Deno.test("lines end at LF alone, however the bytes are cut", async () => {
  await property.assert(property.asyncProperty(
    property.array(property.string({ unit: "binary" }).map((text) => text.replaceAll("\n", "\u2028\r"))),
    property.array(property.nat(40)),
    async (lines, cuts) => {
      // What a decoder replaces is not what this test is about.
      const sane = lines.map((line) => new TextDecoder().decode(new TextEncoder().encode(line)));
      const bytes = new TextEncoder().encode(sane.map((line) => line + "\n").join("") + "rest");
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        pieces.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      // The decoder takes a byte order mark at the start of a line away.
      const plain = (text: string | null) => text?.replace(/^\uFEFF/, "");
      assert.deepEqual((await linesOf(pieces)).map(plain), [...sane, "rest"].map(plain));
    },
  ));
});

Deno.test("a line beyond the limit is dropped and the next one read", async () => {
  const bytes = new TextEncoder().encode("0123456789abcdef\nshort\n");
  assert.deepEqual(await linesOf([bytes.subarray(0, 12), bytes.subarray(12)], 10), [null, "short"]);
  // Half a character at the limit is no part of the next line.
  const umlauts = new TextEncoder().encode("ääääää\nshort\n0123456789abcdef");
  assert.deepEqual(await linesOf([umlauts.subarray(0, 11), umlauts.subarray(11)], 10), [null, "short"]);
});
