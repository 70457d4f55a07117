import assert from "node:assert/strict";
import { anything, assert as check, constantFrom, dictionary, property } from "../../tests/property.ts";
import { checkBySchema } from "./check_arguments.ts";

const SCHEMA = {
  type: "object",
  properties: {
    owner_name: { type: "string" },
    count: { type: "integer", minimum: 1 },
    ratio: { type: ["number", "null"] },
    deep: { $ref: "#/$defs/deep" },
    either: { anyOf: [{ type: "integer" }, { type: "string", enum: ["all", "none"] }] },
    tags: { type: "array", items: { type: "string" }, maxItems: 2 },
    map: { type: "object", additionalProperties: { type: "integer" } },
  },
  $defs: {
    deep: {
      type: "object",
      properties: { on: { type: "boolean" }, again: { $ref: "#/$defs/deep" } },
      required: ["on"],
    },
  },
  required: ["owner_name"],
  additionalProperties: false,
};

function value(input: Record<string, unknown>) {
  const checked = checkBySchema(SCHEMA, { owner_name: "a", ...input });
  assert.ok("value" in checked, JSON.stringify(checked));
  const { owner_name: _, ...rest } = checked.value;
  return rest;
}

function problem(input: Record<string, unknown>): string {
  const checked = checkBySchema(SCHEMA, input);
  assert.ok("problem" in checked, JSON.stringify(checked));
  return checked.problem;
}

Deno.test("values of a neighboring type are mended, in references and forms too", () => {
  assert.deepEqual(value({ count: "5", ratio: null, tags: "x" }), { count: 5, ratio: null, tags: ["x"] });
  assert.deepEqual(value({ deep: '{"on":"true","again":{"on":false}}' }), { deep: { on: true, again: { on: false } } });
  assert.deepEqual(value({ either: "all" }), { either: "all" });
  assert.deepEqual(value({ either: "7" }), { either: 7 });
  assert.deepEqual(value({ map: { a: "1", b: 2 } }), { map: { a: 1, b: 2 } });
});

Deno.test("near names are meant, null for what can be left out is left out, and unknown names go only where they may", () => {
  assert.deepEqual(checkBySchema(SCHEMA, { ownerName: "x", count: null, more: 1 }), { value: { owner_name: "x" } });
  const open = { type: "object", properties: { a: { type: "string" } } };
  assert.deepEqual(checkBySchema(open, { a: 1, b: 2 }), { value: { a: "1", b: 2 } });
});

Deno.test("a problem names the argument, what was expected, and what came", () => {
  assert.equal(problem({ count: 1 }), "The argument `owner_name` is missing (given: `count`). It is text.");
  assert.equal(problem({ owner_name: "a", count: "soon" }), 'The argument `count` must be a whole number, not "soon".');
  assert.equal(problem({ owner_name: "a", count: 0 }), "The argument `count` must be a number of at least 1, not 0.");
  assert.match(problem({ owner_name: "a", deep: {} }), /`deep\.on` is missing/);
  assert.match(problem({ owner_name: "a", tags: ["a", "b", "c"] }), /`tags` must be at most 2 items long/);
  assert.ok(problem({ owner_name: "a", count: "x".repeat(100_000) }).length < 200);
});

Deno.test("nothing outside of the schema is ever looked up, and circles end", () => {
  const schema = {
    type: "object",
    properties: {
      a: { $ref: "https://example.com/schema.json" },
      b: { $ref: "#/nowhere" },
      c: { $ref: "#/properties/c" },
    },
  };
  assert.deepEqual(checkBySchema(schema, { a: 1, b: 2, c: 3 }), { value: { a: 1, b: 2, c: 3 } });
});

Deno.test("whatever schema and arguments come, checking never throws, and what passes passes again unchanged", () => {
  const keyword = constantFrom(
    "type",
    "properties",
    "required",
    "items",
    "anyOf",
    "allOf",
    "$ref",
    "enum",
    "const",
    "minimum",
  );
  check(property(dictionary(keyword, anything()), dictionary(constantFrom("a", "b"), anything()), (schema, input) => {
    const checked = checkBySchema(schema, input);
    if ("value" in checked) checkBySchema(schema, checked.value);
  }));
  check(property(dictionary(constantFrom("count", "ratio", "either", "tags", "map"), anything()), (input) => {
    const checked = checkBySchema(SCHEMA, { owner_name: "a", ...input });
    if ("value" in checked) assert.deepEqual(checkBySchema(SCHEMA, checked.value), checked);
  }));
});
