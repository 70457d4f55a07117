import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { readArguments } from "./arguments.ts";
import cases from "../../../tests/fixtures/wire/jsonargs.json" with { type: "json" };

for (const { raw, want } of cases) {
  Deno.test(`arguments ${JSON.stringify(raw)} become ${JSON.stringify(want)}`, async () => {
    assert.deepEqual((await readArguments(raw)).input, want);
  });
}

Deno.test("backslashes survive the mending of something else", async () => {
  const read = await readArguments(String.raw`{path: "C:\Users\new", "re": "\d+\s", }`);
  assert.deepEqual(read.input, { path: String.raw`C:\Users` + "\new", re: String.raw`\d+\s` });
});

Deno.test("a fence and a leading empty object are taken off", async () => {
  assert.deepEqual((await readArguments('```json\n{"a":1}\n```')).input, { a: 1 });
  assert.deepEqual((await readArguments('{}{"a":1}')).input, { a: 1 });
});

Deno.test("lists, numbers and deep nesting are refused with words for the model", async () => {
  const deep = '{"a":'.repeat(300) + "1" + "}".repeat(300);
  for (const raw of ["[1]", "3", "true", deep]) {
    const read = await readArguments(raw);
    assert(read.input === null, raw);
    assert.match(read.problem, /^The arguments are not valid JSON: .+ Send the call again/);
    assert(read.problem.length < 300);
  }
});

Deno.test("valid JSON objects are read as they are", async () => {
  await fc.assert(fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), async (value) => {
    const text = JSON.stringify(value);
    assert.deepEqual((await readArguments(text)).input, JSON.parse(text));
  }));
});

Deno.test("arguments that were cut anywhere are never used", async () => {
  await fc.assert(fc.asyncProperty(
    fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }),
    fc.nat(),
    async (value, place) => {
      const text = JSON.stringify(value);
      const cut = text.slice(0, 1 + place % (text.length - 1));
      assert.equal((await readArguments(cut)).input, null, cut);
    },
  ));
});
