import assert from "node:assert/strict";
import { bodyMaker } from "./http_body.ts";

function filled(size: number, value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).fill(value);
}

async function bytesOf(body: BodyInit): Promise<Uint8Array> {
  return await new Response(body).bytes();
}

Deno.test("few bytes are put together, whatever the number of pieces", async () => {
  const body = bodyMaker()([filled(2, 1), filled(0, 9), filled(3, 2)]);
  assert(body instanceof Uint8Array);
  assert.deepEqual([...await bytesOf(body)], [1, 1, 2, 2, 2]);
});

Deno.test("many bytes go out piece by piece, with their number told before and nothing taken from the pieces", async () => {
  const pieces = [filled(60_000, 1), filled(60_000, 2), filled(5, 3)];
  const make = bodyMaker();
  for (let time = 0; time < 2; time++) {
    const body = make(pieces);
    assert(body instanceof Blob);
    assert.equal(body.size, 120_005);
    const bytes = await bytesOf(body);
    assert.deepEqual([bytes.length, bytes[59_999], bytes[60_000], bytes[120_004]], [120_005, 1, 2, 3]);
  }
  assert.deepEqual(pieces.map((piece) => piece.length), [60_000, 60_000, 5]);
});
