import assert from "node:assert/strict";
import { FragmentFinder } from "./fragment_finder.ts";
import { formsOf } from "./normalize.ts";

/** Returns a text as UTF-16. */
function wide(text: string, isBig: boolean): number[] {
  const codes = Array.from(text, (letter) => letter.charCodeAt(0));
  return codes.flatMap((one) => isBig ? [one >> 8, one & 0xff] : [one & 0xff, one >> 8]);
}

/** A value, and files that hold it. */
const FILES: Record<string, [value: string, bytes: (text: string) => number[]]> = {
  "UTF-16 with a mark": ["Кодсейфа:двадцатьсемь", (text) => [0xff, 0xfe, ...wide(text, false)]],
  "big-endian UTF-16 with a mark": ["Größe=Schlüsselwort", (text) => [0xfe, 0xff, ...wide(text, true)]],
  "UTF-16 without a mark": ["KEY=swordfish-4711", (text) => wide(text, false)],
  "big-endian UTF-16 without a mark": ["KEY=swordfish-4711", (text) => wide(text, true)],
  "Latin-1": ["Größe=Schlüsselwort", (text) => Array.from(text, (letter) => letter.charCodeAt(0))],
};

for (const [encoding, [value, bytes]] of Object.entries(FILES)) {
  Deno.test(`a file in ${encoding} is found in a text`, () => {
    const finder = new FragmentFinder();
    finder.add("a", Uint8Array.from(bytes(`first line\r\n${value}\r\n`)));
    assert.notEqual(finder.fragments(`is ${value} good?`, 1).length, 0);
    assert.deepEqual(finder.fragments(`${value.slice(0, 5)} and another text`, 1), [], "control");
  });
}

Deno.test("binary data cost no more than their bytes, and a mark is always believed", () => {
  // A linear congruential generator: the same bytes in each run.
  let state = 1;
  const data = Uint8Array.from({ length: 100_000 }, () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) >> 16);
  assert.equal(formsOf(data).length, 1);
  data.set([0xff, 0xfe]);
  assert.equal(formsOf(data).length, 2, "control: with a mark");
});
