import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { type Wishes, wishesOf } from "./wishes.ts";

const CASES: [string, Wishes][] = [
  ["Explain src/main.ts and `docs/a b.md`, e.g. the start.", { files: ["docs/a b.md", "src/main.ts"] }],
  ["What does the Makefile do? See https://example.com/x.html", { files: ["Makefile"] }],
  ["Version 1.2.3 of it", { files: [] }],
  ["find the word 'TODO' in app.py", { files: ["app.py"], search: "TODO" }],
  ["grep listModels", { files: [], search: "listModels" }],
  ["find out what this is", { files: [] }],
  ["Replace 'a' with '' in \"x.txt\"", { files: [], edit: { file: "x.txt", from: "a", to: "" } }],
  ["Execute the command `ls -la`", { files: [], command: "ls -la" }],
  ["@notes.md summarise", { files: ["notes.md"] }],
];

for (const [prompt, wishes] of CASES) {
  Deno.test(`the demo reads the wishes of: ${prompt}`, () => assert.deepEqual(wishesOf(prompt), wishes));
}

Deno.test("no prompt makes the demo fail", () => {
  fc.assert(fc.property(fc.string({ maxLength: 400 }), (prompt) => {
    assert.ok(Array.isArray(wishesOf(prompt).files));
  }));
});
