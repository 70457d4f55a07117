import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { jsonText } from "./clean.ts";

Deno.test("JSON carries control characters and direction signs only as escapes", () => {
  assert.equal(jsonText({ id: "a\u001b]0;x\u0007\u009b2J\u202eb" }), '{"id":"a\\u001b]0;x\\u0007\\u009b2J\\u202eb"}\n');
});

Deno.test("escaped JSON reads back as the same value", () => {
  fc.assert(fc.property(fc.jsonValue({ stringUnit: fc.codePoint }), (value) => {
    assert.deepEqual(JSON.parse(jsonText(value)), JSON.parse(JSON.stringify(value)));
  }));
});
