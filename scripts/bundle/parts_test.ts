import assert from "node:assert/strict";
import { oneFile } from "./parts.ts";

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

const LAYOUT = { entry: "main.js", turn: "src/run.ts" };

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
  assert.deepEqual(await notesOf(oneFile(FILES, LAYOUT)), ["start", "run loaded", "table made"]);
});

Deno.test("what a turn imports is compiled with the file; what it may import later is not", () => {
  const text = oneFile(FILES, LAYOUT);
  assert.match(text, /const part_run = definePart\(\(function \(\) \{/);
  assert.match(text, /const part_rare = definePart\(function \(\) \{/);
  assert.match(text, /^const made = \(function made\(name\) \{[^}]+\}[^}]+\}\);$/m);
  assert.match(text, /^const later = \(async function later\(\) \{/m);
  assert.match(text, /^function rare\(\) \{/m);
});

Deno.test("the names the bundler gave its files do not show", () => {
  assert.doesNotMatch(oneFile(FILES, LAYOUT), /[A-Z]{4}\d{4}/);
});

Deno.test("an import without names runs nothing, and a file that has no names for others is refused", () => {
  assert.doesNotMatch(oneFile(FILES, LAYOUT), /^part_/m);
  const mute = new Map(FILES).set("rare-CCCC3333.js", `// src/rare.ts\nnote("rare");\n`);
  assert.throws(() => oneFile(mute, LAYOUT), /rare-CCCC3333.js would not run/);
});

Deno.test("a file that is written in an unknown way is refused", () => {
  const odd = new Map(FILES).set("rare-CCCC3333.js", `import rare from "./chunk-AAAA1111.js";\n`);
  assert.throws(() => oneFile(odd, LAYOUT), /a line of an unknown kind/);
});

Deno.test("parts that import each other are refused: they could not run in any order", () => {
  const cyclic = new Map(FILES).set(
    "chunk-AAAA1111.js",
    `import {\n  rare\n} from "./rare-CCCC3333.js";\n\n// src/note.ts\nvar note = rare;\n\nexport {\n  note\n};\n`,
  ).set(
    "rare-CCCC3333.js",
    `import {\n  note\n} from "./chunk-AAAA1111.js";\n\nvar rare = note;\n\nexport {\n  rare\n};\n`,
  );
  assert.throws(() => oneFile(cyclic, LAYOUT), /imports itself/);
});
