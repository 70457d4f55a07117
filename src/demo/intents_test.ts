import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { type Intents, intentsOf } from "./intents.ts";

const CASES: [string, Intents][] = [
  ["Explain src/main.ts and `docs/a b.md`, e.g. the start.", { files: ["docs/a b.md", "src/main.ts"] }],
  ["What does the Makefile do? See https://example.com/x.html", { files: ["Makefile"] }],
  ["Version 1.2.3 of it", { files: [] }],
  ["find the word 'TODO' in app.py", { files: ["app.py"], search: "TODO" }],
  ["grep listModels", { files: [], search: "listModels" }],
  ["find out what this is", { files: [] }],
  ["Replace 'a' with '' in \"x.txt\"", { files: [], edit: { file: "x.txt", from: "a", to: "" } }],
  ["Execute the command `ls -la`", { files: [], command: "ls -la" }],
  ["@notes.md summarize", { files: ["notes.md"] }],
];

for (const [prompt, intents] of CASES) {
  Deno.test(`the demo reads the intents of: ${prompt}`, () => assert.deepEqual(intentsOf(prompt), intents));
}

Deno.test("no prompt makes the demo fail", () => {
  fc.assert(fc.property(fc.string({ maxLength: 400 }), (prompt) => {
    assert.ok(Array.isArray(intentsOf(prompt).files));
  }));
});
