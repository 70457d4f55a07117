import assert from "node:assert/strict";
import { functionsAt, oneFile } from "./bundle_parts.ts";

const FILES = new Map([
  [
    "main.js",
    `import {\n  note\n} from "./chunk-AAAA1111.js";\n\n// main.ts\nnote("start");\n` +
    `const { run } = await import("./run-BBBB2222.js");\nnote(run());\n`,
  ],
  [
    "chunk-AAAA1111.js",
    `// src/note.ts\nfunction note2(text) {\n  globalThis.notes.push(text);\n}\n\nexport {\n  note2 as note\n};\n`,
  ],
  [
    "run-BBBB2222.js",
    `import {\n  note as say\n} from "./chunk-AAAA1111.js";\n\n// src/run.ts\nsay("run loaded");\n` +
    `var table = made("table");\nfunction made(name) {\n  return \`\${name} made\`;\n}\n` +
    `async function later() {\n  return await import("./rare-CCCC3333.js");\n}\nvar run = () => table;\n\n` +
    `export {\n  later,\n  run\n};\n`,
  ],
  [
    "rare-CCCC3333.js",
    `import "./chunk-AAAA1111.js";\n\n// src/rare.ts\nfunction rare() {\n  return 1;\n}\n\nexport {\n  rare\n};\n`,
  ],
]);

function layout(...eager: string[]) {
  return { entry: "main.js", turn: "src/run.ts", eager: new Set(eager) };
}

async function notesOf(text: string): Promise<unknown> {
  const scope = globalThis as { notes?: string[] };
  const before = scope.notes;
  scope.notes = [];
  try {
    await import(`data:text/javascript,${encodeURIComponent(`${text}\n// ${crypto.randomUUID()}`)}`);
    return scope.notes;
  } finally {
    if (before === undefined) delete scope.notes;
    else scope.notes = before;
  }
}

Deno.test("one file runs its parts when they are imported, each once", async () => {
  assert.deepEqual(await notesOf(oneFile(FILES, layout()).text), ["start", "run loaded", "table made"]);
});

Deno.test("functions compiled ahead are there before their module runs, as all functions are", async () => {
  const { text } = oneFile(FILES, layout("src/run.ts made", "src/run.ts run", "src/note.ts note"));
  assert.match(text, /\/\/ src\/run\.ts\nvar made = \(function made\(name\) \{/);
  assert.match(text, /var note2 = \(function note2/);
  assert.match(text, /var run = \(\(\) => table\);/);
  assert.deepEqual(await notesOf(text), ["start", "run loaded", "table made"]);
});

Deno.test("what a turn imports is compiled ahead; what it may import later only when every turn calls it", () => {
  const { text } = oneFile(FILES, layout());
  assert.match(text, /const part_run = definePart\(\(function \(\) \{/);
  assert.match(text, /const part_rare = definePart\(function \(\) \{/);
  const called = oneFile(FILES, layout("src/rare.ts rare")).text;
  assert.match(called, /const part_rare = definePart\(\(function \(\) \{/);
  assert.match(called, /var rare = \(function rare/);
});

Deno.test("the names the bundler gave its files do not show", () => {
  assert.doesNotMatch(oneFile(FILES, layout()).text, /[A-Z]{4}\d{4}/);
});

Deno.test("the functions at some places are named by their modules and without the bundler's numbers", () => {
  const file = oneFile(FILES, layout());
  const places = ["(text) {", "(name) {", "() => table"].map((head) => {
    const at = file.text.indexOf(head);
    return { at, end: head.endsWith("{") ? file.text.indexOf("\n}\n", at) + 2 : at + head.length };
  });
  assert.deepEqual(functionsAt(file, places), ["src/note.ts note", "src/run.ts made", "src/run.ts run"]);
});

Deno.test("a file that is written in an unknown way is refused", () => {
  const odd = new Map(FILES).set("rare-CCCC3333.js", `import rare from "./chunk-AAAA1111.js";\n`);
  assert.throws(() => oneFile(odd, layout()), /a line of an unknown kind/);
});

Deno.test("parts that import each other are refused: they could not run in any order", () => {
  const cyclic = new Map(FILES).set(
    "chunk-AAAA1111.js",
    `import {\n  rare\n} from "./rare-CCCC3333.js";\n\n// src/note.ts\nvar note = rare;\n\nexport {\n  note\n};\n`,
  );
  assert.throws(() => oneFile(cyclic, layout()), /imports itself/);
});
