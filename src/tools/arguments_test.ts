import assert from "node:assert/strict";
import { anything, assert as check, constantFrom, dictionary, property, record, string } from "../../tests/property.ts";
import { checkArguments } from "./arguments.ts";
import type { ParameterSchema } from "./tool.ts";

const SCHEMA: ParameterSchema = {
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

function value(input: Record<string, unknown>): Record<string, unknown> {
  const checked = checkArguments(SCHEMA, { file_path: "a", ...input });
  assert.ok("value" in checked, JSON.stringify(checked));
  const { file_path: _, ...rest } = checked.value;
  return rest;
}

function problem(input: Record<string, unknown>): string {
  const checked = checkArguments(SCHEMA, input);
  assert.ok("problem" in checked);
  return checked.problem;
}

Deno.test("values of a neighbouring type are mended", () => {
  assert.deepEqual(value({ limit: "5" }), { limit: 5 });
  assert.deepEqual(value({ limit: " -5.0 " }), { limit: -5 });
  assert.deepEqual(value({ ratio: "1e3" }), { ratio: 1000 });
  assert.deepEqual(value({ replace_all: "True" }), { replace_all: true });
  assert.deepEqual(value({ replace_all: "false" }), { replace_all: false });
  assert.deepEqual(value({ mode: "Count" }), { mode: "count" });
  assert.deepEqual(checkArguments(SCHEMA, { file_path: 5 }), { value: { file_path: "5" } });
});

Deno.test("one value becomes a list, and JSON text becomes what it says", () => {
  assert.deepEqual(value({ tags: "a" }), { tags: ["a"] });
  assert.deepEqual(value({ tags: '["a","b"]' }), { tags: ["a", "b"] });
  assert.deepEqual(value({ todos: { content: "x" } }), { todos: [{ content: "x" }] });
  assert.deepEqual(value({ todos: '{"content":"x"}' }), { todos: [{ content: "x" }] });
  assert.deepEqual(value({ options: '{"deep":"1"}' }), { options: { deep: 1 } });
});

Deno.test("null for an optional value is no value, and unknown names are dropped", () => {
  assert.deepEqual(value({ limit: null, color: "red", ["__proto__"]: 1 }), {});
  assert.deepEqual(
    Object.keys(value(JSON.parse('{"__proto__":{"limit":1},"constructor":1}') as Record<string, unknown>)),
    [],
  );
});

Deno.test("another name is taken for the one that is meant, when there is only one", () => {
  assert.deepEqual(checkArguments(SCHEMA, { path: "x" }), { value: { file_path: "x" } });
  assert.deepEqual(checkArguments(SCHEMA, { filePath: "x" }), { value: { file_path: "x" } });
  assert.deepEqual(checkArguments(SCHEMA, { file_path: "x", path: "y" }), { value: { file_path: "x" } });
  assert.match(problem({ path: "x", filename: "y" }), /`file_path` is missing/);
});

Deno.test("the problem names the argument, what was expected, and what came", () => {
  assert.equal(
    problem({}),
    "The argument `file_path` is missing (given: none). Send the call again with `file_path`: text.",
  );
  assert.equal(
    problem({ file_path: "a", limit: "soon" }),
    'The argument `limit` must be a whole number, not the text "soon". Send the call again.',
  );
  assert.equal(
    problem({ file_path: "a", limit: 1.5 }),
    "The argument `limit` must be a whole number, not 1.5. Send the call again.",
  );
  assert.equal(
    problem({ file_path: "a", mode: "x" }),
    'The argument `mode` must be one of "content", "count", not the text "x". Send the call again.',
  );
  assert.equal(
    problem({ file_path: ["a", "b"] }),
    "The argument `file_path` must be text, not a list. Send one call for each.",
  );
  assert.equal(
    problem({ file_path: "a", todos: [{ content: "x" }, {}] }),
    "The argument `todos[1].content` is missing (given: none). Send the call again with `todos[1].content`: text.",
  );
  assert.ok(problem({ file_path: "a", limit: "x".repeat(100_000) }).length < 200);
});

Deno.test("whatever comes, checking never throws, and what passes passes again unchanged", () => {
  const name = constantFrom("file_path", "limit", "ratio", "replace_all", "mode", "todos", "tags", "options", "path");
  check(
    property(dictionary(name, anything()), record({ file_path: string() }), (odd, base) => {
      const checked = checkArguments(SCHEMA, { ...base, ...odd });
      if ("value" in checked) assert.deepEqual(checkArguments(SCHEMA, checked.value), checked);
    }),
  );
});
