import assert from "node:assert/strict";
import { typedArguments } from "./tagged.ts";

function typed(value: string, schema: unknown): unknown {
  return typedArguments([["key", value]], { properties: { key: schema } })?.key;
}

Deno.test("written values get the type of the schema", () => {
  assert.equal(typed("5", { type: "integer" }), 5);
  assert.equal(typed(" 5.5 ", { type: "number" }), 5.5);
  assert.equal(typed("True", { type: "boolean" }), true);
  assert.equal(typed("None", { type: ["integer", "null"] }), null);
  assert.deepEqual(typed('["a"]', { type: "array" }), ["a"]);
  assert.deepEqual(typed('{"a":1}', { anyOf: [{ type: "object" }, { type: "null" }] }), { a: 1 });
});

Deno.test("written values that do not fit the schema stay text", () => {
  assert.equal(typed("5.5", { type: "integer" }), "5.5");
  assert.equal(typed("five", { type: "number" }), "five");
  assert.equal(typed("1e999", { type: "number" }), "1e999");
  assert.equal(typed("yes", { type: "boolean" }), "yes");
  assert.equal(typed('{"a":1}', { type: "array" }), '{"a":1}');
});

Deno.test("written values that may be text stay text", () => {
  assert.equal(typed("123", { type: "string" }), "123");
  assert.equal(typed("null", { type: ["string", "null"] }), "null");
  assert.equal(typed("123", {}), "123");
  assert.equal(typed("123", undefined), "123");
  assert.equal(typedArguments([["key", "1"]], undefined)?.key, "1");
});
