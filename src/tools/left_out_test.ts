import assert from "node:assert/strict";
import { leftOutLine } from "./left_out.ts";

const found = (line: string, name = "a.ts", before = "") =>
  leftOutLine(`const a = 1;\n${line}\nconst b = 2;\n`, { before, name });

const LEFT_OUT: readonly (readonly [line: string, name: string])[] = [
  ["// ... existing code ...", "a.ts"],
  ["  // ...existing code...", "a.js"],
  ["// … rest of the file", "a.go"],
  ["// rest of the code remains unchanged", "a.rs"],
  ["// Rest of the implementation", "a.java"],
  ["// The rest of the file stays the same", "a.c"],
  ["// (other methods unchanged)", "a.ts"],
  ["// ... other methods ...", "a.ts"],
  ["// remaining functions here", "a.ts"],
  ["// TODO: keep existing code", "a.ts"],
  ["// TODO: keep the rest of the file", "a.ts"],
  ["/* ... */", "a.css"],
  ["/* existing styles unchanged */", "a.css"],
  ["{/* ... existing JSX ... */}", "a.tsx"],
  ["{/* rest of the component */}", "a.tsx"],
  ["<!-- ... rest of content ... -->", "a.html"],
  ["<!-- rest of the document unchanged -->", "a.md"],
  ["# ...", "a.py"],
  ["    # ... (rest of the function)", "a.py"],
  ["# existing code here", "a.rb"],
  ["# rest unchanged", "a.yaml"],
  ["-- ... same as before ...", "a.sql"],
  ["; ... unchanged ...", "a.lisp"],
  ["% ... rest of the document ...", "a.tex"],
  ["' ... existing code ...", "a.vb"],
  ["...", "a.ts"],
  ["... existing code ...", "a.ts"],
  ["... (rest of the file unchanged)", "a.md"],
  ["[rest of the file unchanged]", "a.txt"],
  ["...", "a.py"],
  ["// code omitted for brevity", "a.ts"],
  ["// snip", "a.ts"],
  ["# ... restlicher Code bleibt unverändert", "a.py"],
  ["// reste du code inchangé", "a.ts"],
  ["// resto del código sin cambios", "a.ts"],
  ["# ... остальной код без изменений", "a.py"],
  ["// 其余代码保持不变", "a.ts"],
  ["// 既存のコード", "a.ts"],
  ["// 기존 코드", "a.ts"],
];

Deno.test("a line that stands for left-out text is found, in comments of many languages", () => {
  for (const [line, name] of LEFT_OUT) {
    assert.deepEqual(found(line, name), { line: 2, text: line.trim() }, `${name}: ${line}`);
  }
});

Deno.test("a line that stands in the file already is no slip", () => {
  for (const [line, name] of LEFT_OUT) assert.equal(found(line, name, `x\n  ${line}\n`), null, `${name}: ${line}`);
});

const MEANT: readonly (readonly [line: string, name: string])[] = [
  ["  ...rest,", "a.ts"],
  ["  ...existing,", "a.ts"],
  ["    ...", "a.py"],
  ["...", "a.yaml"],
  ["...", "a.md"],
  ["    ...", "a.pyi"],
  ["// Wait for the rest of the queue.", "a.ts"],
  ["// load the existing items...", "a.ts"],
  ["// Other methods", "a.ts"],
  ["# Existing routes", "a.py"],
  ["// keep the original order", "a.ts"],
  ["// The rest of the bytes belong to the next frame.", "a.ts"],
  ["// Everything else stays the same when the code path is not taken, see above.", "a.ts"],
  ["// TODO: remove this", "a.ts"],
  ["# The remaining lines are read as one value", "a.py"],
  ["// unchanged rows are skipped", "a.ts"],
  ["const rest = a.slice(1); // the rest of the file", "a.ts"],
  ["# Rest API", "a.md"],
  ["* the rest of the file is data", "a.md"],
  ["- ... and more", "a.md"],
  ["print('...')", "a.py"],
  ["// e.g. ... or so", "a.ts"],
  ["[existing]", "a.toml"],
  ["[files]", "a.toml"],
];

Deno.test("what only looks like it is taken as it is", () => {
  for (const [line, name] of MEANT) assert.equal(found(line, name), null, `${name}: ${line}`);
});

Deno.test("code blocks of a document show what they like", () =>
  assert.equal(leftOutLine("# Title\n```ts\n// ... existing code ...\n```\n", { before: "", name: "a.md" }), null));
