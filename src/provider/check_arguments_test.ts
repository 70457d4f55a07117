import assert from "node:assert/strict";
import { anything, assert as check, constantFrom, dictionary, property, record, string } from "../../tests/property.ts";
import { checkArguments } from "./check_arguments.ts";
import type { PlainSchema } from "../mcp/signature.ts";

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
  const checked = checkArguments(SCHEMA, { owner_name: "a", ...input });
  assert.ok("value" in checked, JSON.stringify(checked));
  const { owner_name: _, ...rest } = checked.value;
  return rest;
}

function problem(input: Record<string, unknown>): string {
  const checked = checkArguments(SCHEMA, input);
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
  assert.deepEqual(checkArguments(SCHEMA, { ownerName: "x", count: null, more: 1 }), { value: { owner_name: "x" } });
  const open = { type: "object", properties: { a: { type: "string" } } };
  assert.deepEqual(checkArguments(open, { a: 1, b: 2 }), { value: { a: "1", b: 2 } });
});

Deno.test("a problem names the argument, what was expected, and what came", () => {
  assert.equal(
    problem({ count: 1 }),
    "The argument `owner_name` is missing (given: `count`). Send the call again with `owner_name`: text.",
  );
  assert.equal(
    problem({ owner_name: "a", count: "soon" }),
    'The argument `count` must be a whole number, not the text "soon". Send the call again.',
  );
  assert.equal(
    problem({ owner_name: "a", count: 0 }),
    "The argument `count` must be a number of at least 1, not 0. Send the call again.",
  );
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
  assert.deepEqual(checkArguments(schema, { a: 1, b: 2, c: 3 }), { value: { a: 1, b: 2, c: 3 } });
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
    const checked = checkArguments(schema, input);
    if ("value" in checked) checkArguments(schema, checked.value);
  }));
  check(property(dictionary(constantFrom("count", "ratio", "either", "tags", "map"), anything()), (input) => {
    const checked = checkArguments(SCHEMA, { owner_name: "a", ...input });
    if ("value" in checked) assert.deepEqual(checkArguments(SCHEMA, checked.value), checked);
  }));
});

const OWN: PlainSchema = {
  type: "object",
  properties: {
    file_path: { type: "string" },
    limit: { type: "integer" },
    ratio: { type: "number" },
    replace_all: { type: "boolean" },
    mode: { type: "string", enum: ["content", "count"] },
    todos: {
      type: "array",
      items: { type: "object", properties: { content: { type: "string" } }, required: ["content"] },
    },
    tags: { type: "array", items: { type: "string" } },
    options: { type: "object", properties: { deep: { type: "integer" } } },
  },
  required: ["file_path"],
};

function checkOwn(input: Record<string, unknown>) {
  return checkArguments(OWN, input, { isClosed: true });
}

function ownValue(input: Record<string, unknown>): Record<string, unknown> {
  const checked = checkOwn({ file_path: "a", ...input });
  assert.ok("value" in checked, JSON.stringify(checked));
  const { file_path: _, ...rest } = checked.value;
  return rest;
}

function ownProblem(input: Record<string, unknown>): string {
  const checked = checkOwn(input);
  assert.ok("problem" in checked);
  return checked.problem;
}

Deno.test("values of a neighboring type are mended for tools of our own", () => {
  assert.deepEqual(ownValue({ limit: "5" }), { limit: 5 });
  assert.deepEqual(ownValue({ limit: " -5.0 " }), { limit: -5 });
  assert.deepEqual(ownValue({ ratio: "1e3" }), { ratio: 1000 });
  assert.deepEqual(ownValue({ replace_all: "True" }), { replace_all: true });
  assert.deepEqual(ownValue({ replace_all: "false" }), { replace_all: false });
  assert.deepEqual(ownValue({ mode: "Count" }), { mode: "count" });
  assert.deepEqual(checkOwn({ file_path: 5 }), { value: { file_path: "5" } });
});

Deno.test("one value becomes a list, and JSON text becomes what it says", () => {
  assert.deepEqual(ownValue({ tags: "a" }), { tags: ["a"] });
  assert.deepEqual(ownValue({ tags: '["a","b"]' }), { tags: ["a", "b"] });
  assert.deepEqual(ownValue({ todos: { content: "x" } }), { todos: [{ content: "x" }] });
  assert.deepEqual(ownValue({ todos: '{"content":"x"}' }), { todos: [{ content: "x" }] });
  assert.deepEqual(ownValue({ options: '{"deep":"1"}' }), { options: { deep: 1 } });
});

Deno.test("null for an optional value is no value, and unknown names are dropped where the schema is closed", () => {
  assert.deepEqual(ownValue({ limit: null, color: "red", ["__proto__"]: 1 }), {});
  assert.deepEqual(
    Object.keys(ownValue(JSON.parse('{"__proto__":{"limit":1},"constructor":1}') as Record<string, unknown>)),
    [],
  );
});

Deno.test("another name is taken for the one that is meant, when there is only one", () => {
  assert.deepEqual(checkOwn({ path: "x" }), { value: { file_path: "x" } });
  assert.deepEqual(checkOwn({ filePath: "x" }), { value: { file_path: "x" } });
  assert.deepEqual(checkOwn({ file_path: "x", path: "y" }), { value: { file_path: "x" } });
  assert.match(ownProblem({ path: "x", filename: "y" }), /`file_path` is missing/);
});

Deno.test("the problem is one sentence, and what to send", () => {
  assert.equal(
    ownProblem({}),
    "The argument `file_path` is missing (given: none). Send the call again with `file_path`: text.",
  );
  assert.equal(
    ownProblem({ file_path: "a", limit: "soon" }),
    'The argument `limit` must be a whole number, not the text "soon". Send the call again.',
  );
  assert.equal(
    ownProblem({ file_path: "a", limit: 1.5 }),
    "The argument `limit` must be a whole number, not 1.5. Send the call again.",
  );
  assert.equal(
    ownProblem({ file_path: "a", mode: "x" }),
    'The argument `mode` must be one of "content", "count", not the text "x". Send the call again.',
  );
  assert.equal(
    ownProblem({ file_path: ["a", "b"] }),
    "The argument `file_path` must be text, not a list. Send one call for each.",
  );
  assert.equal(
    ownProblem({ file_path: "a", todos: [{ content: "x" }, {}] }),
    "The argument `todos[1].content` is missing (given: none). Send the call again with `todos[1].content`: text.",
  );
  assert.ok(ownProblem({ file_path: "a", limit: "x".repeat(100_000) }).length < 200);
});

Deno.test("whatever comes for a tool of our own, checking never throws, and what passes passes again unchanged", () => {
  const name = constantFrom("file_path", "limit", "ratio", "replace_all", "mode", "todos", "tags", "options", "path");
  check(
    property(dictionary(name, anything()), record({ file_path: string() }), (odd, base) => {
      const checked = checkOwn({ ...base, ...odd });
      if ("value" in checked) assert.deepEqual(checkOwn(checked.value), checked);
    }),
  );
});

Deno.test("a schema that refers to itself from many places is followed a bounded number of times", () => {
  let read = 0;
  const schema = {
    get anyOf() {
      read += 1;
      return [...Array(11).fill({ $ref: "#" }), { type: "integer" }];
    },
  };
  assert.deepEqual(checkArguments({ properties: { a: schema }, ...schema }, { a: 1 }), { value: { a: 1 } });
  assert.ok(read < 150_000, `${read}`);
});
