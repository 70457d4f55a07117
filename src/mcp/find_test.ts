import assert from "node:assert/strict";
import { anything, assert as check, codePoint, dictionary, property, string } from "../../tests/property.ts";
import { findTools, type FoundServer } from "./find.ts";
import { parameterList, plainSchema } from "./signature.ts";
import { cleanText, type McpTool, toolOf } from "./tool_info.ts";

function serverOf(name: string, tools: readonly Partial<McpTool>[], more: Partial<FoundServer> = {}): FoundServer {
  const all = tools.map((tool) => toolOf({ name: tool.name, description: tool.description, inputSchema: tool.schema }));
  const manifest = {
    title: name,
    revision: "",
    tools: all.filter((tool) => tool !== null),
    prompts: [],
    resources: [],
    fetched: 0,
    ttl: null,
  };
  return { name, description: "", manifest, isOffered: () => true, ...more };
}

const NOTES = serverOf("notes", [
  {
    name: "createNote",
    description: "Write a new note.",
    schema: { properties: { title: { type: "string" } }, required: ["title"] },
  },
  { name: "search_notes", description: "Search the notes by words." },
], { description: "A notebook. With more words." });
const CODE = serverOf("code", [
  { name: "create_issue", description: "Open an issue in a repository." },
  { name: "search_code", description: "Search through source files." },
]);

Deno.test("the tools whose names and words fit come first, however names are written", () => {
  assert.equal(
    findTools("create a note", [CODE, NOTES]).split("\n")[1],
    "notes.createNote(title: string) – Write a new note.",
  );
  assert.match(findTools("create issues", [NOTES, CODE]), /^code\.create_issue/);
  assert.match(findTools("search source", [NOTES, CODE]), /^code\.search_code/);
});

Deno.test("a server that is named is described, and without a match there is an overview", () => {
  assert.match(findTools("notes search", [NOTES, CODE]), /^notes: A notebook\.\nnotes\.search_notes/);
  assert.equal(
    findTools("zeppelin", [NOTES, CODE]),
    "No tool matches these words. Tools by server:\nnotes: createNote, search_notes\ncode: create_issue, search_code",
  );
});

Deno.test("the order of lists decides nothing, and no answer is longer than 600 tokens", () => {
  const tools = Array.from({ length: 200 }, (_, at) => ({
    name: `tool_${at}`,
    description: "Does the same as all the others do. ".repeat(9),
    schema: {
      properties: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`argument_${n}`, { type: "string" }])),
    },
  }));
  const [there, back] = [serverOf("many", tools), serverOf("many", tools.toReversed())];
  const answer = findTools("tool that does the same", [there]);
  assert.equal(findTools("tool that does the same", [back]), answer);
  assert.equal(answer.split("\n").length, 5);
  assert.ok(new TextEncoder().encode(answer).length <= 2_400);
});

Deno.test("signatures show what is required first, words to choose from, lists and objects", () => {
  const schema = {
    properties: {
      mode: { enum: ["a", "b"] },
      path: { type: "string" },
      list: { type: "array", items: { enum: ["x", "y"] } },
      at: { type: "object", properties: { x: { type: "number" }, y: { type: "number" } }, required: ["x"] },
      any: {},
    },
    required: ["path"],
  };
  assert.equal(
    parameterList(schema),
    '(path: string, mode?: "a"|"b", list?: ("x"|"y")[], at?: {x: number, y?: number}, any?: any)',
  );
});

Deno.test("schemas for model servers hold no keyword that their grammars reject, whatever comes", () => {
  const schema = {
    $schema: "x",
    type: ["object", "null"],
    allOf: [{ properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] }],
    properties: { b: { oneOf: [{ type: "null" }, { type: "array", items: false, uniqueItems: true }], default: null } },
    $defs: { a: { type: "string", pattern: "^x", format: "uri", description: "An a." } },
    additionalProperties: false,
  };
  assert.deepEqual(plainSchema(schema, schema), {
    type: "object",
    properties: { a: { type: "string", description: "An a." }, b: { type: "array", items: {} } },
    required: ["a"],
  });
  const circle = { $ref: "#" };
  assert.deepEqual(plainSchema(circle, circle), {});
  check(property(dictionary(string(), anything()), (odd) => void JSON.stringify(plainSchema(odd, odd))));
});

Deno.test("a schema that refers to itself from many places is followed a bounded number of times", () => {
  let read = 0;
  const circle = (count: number) => ({
    type: "object",
    get properties() {
      read += 1;
      return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { $ref: "#" }]));
    },
  });
  const forms = {
    description: "some",
    get allOf() {
      read += 1;
      return Array(5).fill({ $ref: "#" });
    },
  };
  assert.equal(JSON.stringify(plainSchema(circle(1), circle(1))).split("p0").length, 9, "control: eight levels of one");
  for (const schema of [circle(5), forms]) {
    read = 0;
    assert.ok(JSON.stringify(plainSchema(schema, schema)).length < 100_000);
    assert.ok(read < 5_000, `${read}`);
  }
});

Deno.test("texts of a server are cut, of one line, and without what nobody sees", () => {
  assert.equal(cleanText("a\u200bb\u202e\n c\u{e0041}\x1b[31md\x07"), "ab cd");
  assert.equal(cleanText("x".repeat(1_000)).length, 300);
  check(property(string({ unit: codePoint }), (text) => assert.ok(cleanText(text).length <= 300)));
});
