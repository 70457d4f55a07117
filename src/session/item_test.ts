import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { callId, positionOfCall } from "./item.ts";

Deno.test("the id of a call is nine letters and digits and encodes its place", () => {
  fc.assert(fc.property(fc.nat(900_000), fc.nat(63), (position, index) => {
    const id = callId(position, index);
    assert.match(id, /^[a-z0-9]{9}$/);
    assert.equal(positionOfCall(id), position);
  }));
});
