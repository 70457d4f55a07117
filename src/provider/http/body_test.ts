import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { bodyDecoder } from "./body.ts";
import type { BodyLength } from "./headers.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The body taken out of these pieces, and whether it was complete at their end. */
function taken(length: BodyLength, pieces: readonly Uint8Array[]): { text: string; done: boolean } {
  const body = bodyDecoder(length);
  let text = "";
  for (const piece of pieces) {
    const own = piece.slice();
    text += decoder.decode(own.subarray(0, body.take(own)));
  }
  return { text, done: body.done };
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length));
}

Deno.test("a chunked body is the same however it is cut", () => {
  const words = fc.array(fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(..."ab\r\n0;") }));
  fc.assert(fc.property(words, fc.array(fc.nat()), (chunks, places) => {
    const size = (text: string) => text.length.toString(16);
    const wire = `${chunks.map((chunk) => `${size(chunk)};x="y"\r\n${chunk}\r\n`).join("")}0\r\nx-after: 1\r\n\r\nmore`;
    assert.deepEqual(taken({ kind: "chunked" }, cut(encoder.encode(wire), places)), {
      text: chunks.join(""),
      done: true,
    });
  }));
});

Deno.test("a counted body ends with its count, and one without a count with the connection", () => {
  const pieces = [encoder.encode("abc"), encoder.encode("defgh")];
  assert.deepEqual(taken({ kind: "bytes", count: 5 }, pieces), { text: "abcde", done: true });
  assert.deepEqual(taken({ kind: "rest" }, pieces), { text: "abcdefgh", done: false });
  bodyDecoder({ kind: "rest" }).end();
  bodyDecoder({ kind: "bytes", count: 0 }).end();
});

Deno.test("a body that ends early is an error", () => {
  for (
    const [length, text] of [[{ kind: "bytes", count: 5 }, "abcd"], [{ kind: "chunked" }, "3\r\nabc\r\n"]] as const
  ) {
    const body = bodyDecoder(length);
    body.take(encoder.encode(text));
    assert.throws(() => body.end(), /unexpected end/);
  }
});

Deno.test("many small chunks with extensions are no trouble, an extension or a trailer without end is", () => {
  const many = encoder.encode(`${"1;a=b\r\nx\r\n".repeat(100_000)}0\r\n\r\n`);
  assert.equal(taken({ kind: "chunked" }, [many]).text.length, 100_000);
  for (const start of ["1;", "0\r\n"]) {
    assert.throws(() => taken({ kind: "chunked" }, [encoder.encode(start + "x".repeat(70_000))]), /invalid HTTP body/);
  }
});

for (const wire of ["\r\n", "xyz\r\n", "-1\r\n", "3\r\nabcd\r\n", "fffffffffffffff\r\n", ";\r\n"]) {
  Deno.test(`${JSON.stringify(wire)} is no chunk`, () => {
    assert.throws(() => taken({ kind: "chunked" }, [encoder.encode(wire)]), /invalid HTTP body/);
  });
}
