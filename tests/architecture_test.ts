import assert from "node:assert/strict";
import { checkArchitecture, type Rule, showFinding, type Source } from "../scripts/architecture.ts";
import { readSources } from "../scripts/read_sources.ts";
import { importsOf, splitSource } from "../scripts/source_text.ts";

Deno.test("no source breaks a rule of the house", async () => {
  const sources = await readSources();
  assert.ok(sources.length > 50);
  assert.deepEqual(checkArchitecture(sources).map(showFinding), []);
});

/** What each text must be found guilty of when it stands at the path. */
const BAD: [string, string, Rule, ...Source[]][] = [
  ["src/config/a.ts", `import { chat } from "../provider/chat.ts";`, "arrow"],
  ["src/config/a.ts", `import type { Endpoint } from "../provider/types.ts";`, "arrow"],
  ["src/boundary/a.ts", `export * from "../config/load.ts";`, "arrow"],
  ["src/boundary/a.ts", `const { x } = await import("../tools/tool.ts");`, "arrow"],
  ["src/tools/read/a.ts", `import { run } from "../../agent/turn.ts";`, "arrow"],
  ["src/tools/a.ts", `import { write } from "../protocol/writer.ts";`, "arrow", {
    path: "src/protocol/b.ts",
    text: `import type { Tool } from "../tools/tool.ts";`,
  }],
  ["src/agent/a.ts", `import { main } from "../cli/main.ts";`, "arrow"],
  ["src/agent/a.ts", `import { clean } from "../terminal/clean.ts";`, "arrow"],
  ["src/demo/a.ts", `import { turn } from "../agent/turn.ts";`, "arrow"],
  ["src/demo/a.ts", `import { clean } from "../terminal/clean.ts";`, "arrow"],
  ["src/cli/a.ts", `import { x } from "../cellar/x.ts";`, "arrow"],
  ["src/cli/a.ts", `import { x } from "../../tests/helpers/x.ts";`, "arrow"],
  ["main.ts", `import { x } from "./src/agent/x.ts";`, "arrow"],
  ["src/errors.ts", `import { x } from "./platform/path.ts";`, "arrow"],
  ["src/agent/a.ts", `await fetch("http://localhost");`, "network"],
  ["src/engine/a.ts", `import { takesConnections } from "../platform/http_client.ts";`, "network"],
  ["src/agent/a.ts", `const get = fetch;`, "network"],
  ["src/agent/a.ts", `new WebSocket(url);`, "network"],
  ["src/agent/a.ts", `await globalThis.fetch(url);`, "platform"],
  ["src/agent/a.ts", `const { fetch: get } = globalThis;`, "platform"],
  ["src/platform/a.ts", `await Deno.connect({ port: 1 });`, "network"],
  ["src/agent/a.ts", `Deno.exit(1);`, "platform"],
  ["src/agent/a.ts", `globalThis.Deno.exit(1);`, "platform"],
  ["src/agent/a.ts", `const { Deno: runtime } = globalThis;`, "platform"],
  ["src/agent/a.ts", `const runtime = globalThis["Deno"];`, "platform"],
  ["src/agent/a.ts", "const text = `${Deno.cwd()}`;", "platform"],
  ["src/tools/a.ts", `new Worker("data:");`, "platform"],
  ["src/agent/a.ts", `import { join } from "node:path";`, "node"],
  ["src/agent/a.ts", `const { join } = await import("node:path");`, "node"],
  ["src/agent/a.ts", `process.exit(1);`, "node"],
  ["src/agent/a.ts", `Buffer.from("a");`, "node"],
  ["src/agent/a.ts", `console.log("a");`, "console"],
  ["src/agent/a.ts", `confirm("sure?");`, "console"],
  ["src/tools/a.ts", `import { openFile } from "../platform/files.ts";`, "reader"],
  ["src/tools/a.ts", `import { openFile as look } from "../platform/files.ts";`, "reader"],
  ["src/tools/a.ts", `import { openSync } from "../platform/files.ts";`, "reader"],
  ["src/agent/a.ts", `import { z } from "zod";`, "outside"],
  ["src/agent/a.ts", `import { z } from "https://example.com/z.ts";`, "outside"],
  ["src/agent/a.ts", `await import(name);`, "outside"],
  ["src/config/a.ts", `import * as z from "npm:zod";`, "package"],
  ["src/config/a.ts", `import * as z from "npm:zod@^4.1.0";`, "package"],
  ["src/config/a.ts", `import * as z from "npm:zod@4.1.0";`, "package", {
    path: "src/agent/b.ts",
    text: `await import("npm:zod@4.1.0/mini");`,
  }],
  ["src/agent/a.ts", "\n".repeat(401) + "let a;", "length"],
  ["tests/a_test.ts", "a;\n".repeat(401), "length"],
  ["src/agent/a.ts", `export function a() {}`, "docstring"],
  ["src/cli/a/run.ts", `export async function run() {}`, "docstring"],
  ["src/agent/a.ts", `/** Says. */\nconst b = 1;\nexport class A {}`, "docstring"],
  ["src/agent/a.ts", `// ${"TO"}DO: later`, "leftover"],
  ["src/agent/a.ts", `/* see /${"home"}/somebody/notes */`, "leftover"],
];

for (const [path, text, rule, ...others] of BAD) {
  Deno.test(`the check finds ${rule} in ${path}: ${text.trim().slice(0, 60)}`, () => {
    const findings = checkArchitecture([{ path, text }, ...others]);
    assert.deepEqual([...new Set(findings.map((finding) => finding.rule))], [rule]);
  });
}

/** What must pass. */
const GOOD: [string, string][] = [
  ["src/cli/a.ts", `import { clean } from "../terminal/clean.ts";\nimport { turn } from "../agent/turn.ts";`],
  ["src/protocol/a.ts", `import { callId } from "../session/item.ts";`],
  [
    "src/tools/a.ts",
    `import { AgentcliError } from "../errors.ts";\nimport prompt from "./prompt.md" with { type: "text" };`,
  ],
  ["src/provider/http/client.ts", `const response = await fetch(url);`],
  ["src/provider/http/proxy.ts", `const response = await fetch(url);`],
  [
    "src/agent/a.ts",
    `// Deno.exit and console.log and fetch(url) are named here\nconst text = "Deno.exit(); console.log(); fetch()";`,
  ],
  ["src/agent/a.ts", "const pattern = /console.log('Deno.')/;\nconst half = a / b; // Deno.cwd()\nconst c = d / e;"],
  ["src/agent/a.ts", `client.fetch(url); prefetch(url); const process = start(); process.kill();`],
  ["src/terminal/a.ts", `/** Asks. */\nexport async function confirm() {}\nawait confirm();`],
  ["src/agent/a.ts", `/** Says. */\n// deno-lint-ignore no-explicit-any -- a reason\nexport function a() {}`],
  ["src/agent/a_test.ts", `import assert from "node:assert/strict";\nDeno.test("a", () => assert.ok(true));`],
  ["src/cli/a/run.ts", `/** \`a\`: what the command does. */\nexport async function run() {}`],
  ["src/boundary/reader.ts", `import { openFile } from "../platform/files.ts";`],
  ["main.ts", `import { main } from "./src/cli/main.ts";`],
];

for (const [path, text] of GOOD) {
  Deno.test(`the check passes ${path}: ${text.slice(0, 60).replaceAll("\n", " ")}`, () => {
    assert.deepEqual(checkArchitecture([{ path, text }]).map(showFinding), []);
  });
}

Deno.test("a source is split into code, strings and comments of the same length", () => {
  const text = 'const a = `x ${b + "c"} y`; // d\nconst e = /[/"]/g; /* f */ g = \'h\';';
  const { code, withStrings, comments } = splitSource(text);
  assert.deepEqual([code.length, withStrings.length, comments.length], [text.length, text.length, text.length]);
  assert.equal(
    code.replaceAll(/\s+/g, " "),
    "const a = `${b + \" \"} `; const e = / /g; g = ' ';".replace("`$", "` $"),
  );
  assert.match(comments, /\/\/ d/);
});

Deno.test("imports are found with their names, also over several lines", () => {
  const text =
    `import {\n  a,\n  type B,\n  c as d,\n} from "./x.ts";\nimport "./y.ts";\nexport type { E } from "./z.ts";`;
  assert.deepEqual(importsOf(text), [
    { specifier: "./x.ts", line: 1, names: ["a", "B", "c"] },
    { specifier: "./y.ts", line: 6, names: [] },
    { specifier: "./z.ts", line: 7, names: ["E"] },
  ]);
});
