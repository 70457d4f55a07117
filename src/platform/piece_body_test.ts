import assert from "node:assert/strict";
import { blobMaker } from "./piece_body.ts";

function filled(size: number, value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).fill(value);
}

Deno.test("a body of pieces tells its size, gives their bytes in order and takes nothing from them, for every request", async () => {
  const pieces = [filled(60_000, 1), filled(0, 9), filled(60_000, 2), filled(5, 3)];
  const make = blobMaker();
  for (let time = 0; time < 2; time++) {
    const body = make(pieces);
    assert(body !== null);
    assert.equal(body.size, 120_005);
    const bytes = await new Response(body).bytes();
    assert.deepEqual([bytes.length, bytes[59_999], bytes[60_000], bytes[120_004]], [120_005, 1, 2, 3]);
  }
  assert.deepEqual(pieces.map((piece) => piece.length), [60_000, 0, 60_000, 5]);
});
