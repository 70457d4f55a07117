import assert from "node:assert/strict";
import { asciiOnly, firstLeak, tabIndented, withoutCachePaths, withoutComments } from "./text.ts";

Deno.test("cache paths of packages become names, wherever the cache lies", () => {
  const text = [
    "// ../../home/a b/.cache/deno/npm/registry.example.org/yaml/2.9.1/browser/x.js",
    '  "../x/npm/localhost_4873/@scope/name/1.0.0-rc.1/y.js"() {',
    "// src/config/yaml.ts",
    'const path = "a/npm/host/yaml/2.9.1/x.js";',
  ].join("\n");
  assert.deepEqual(withoutCachePaths(text).split("\n"), [
    "// npm:yaml@2.9.1/browser/x.js",
    '  "npm:@scope/name@1.0.0-rc.1/y.js"() {',
    "// src/config/yaml.ts",
    'const path = "a/npm/host/yaml/2.9.1/x.js";',
  ]);
});

Deno.test("a path of the machine that is left is found with its line", () => {
  assert.deepEqual(firstLeak("a\nb /secret/place", ["", "/secret"]), { word: "/secret", line: 2 });
  assert.equal(firstLeak("a", ["b"]), null);
});

Deno.test("characters beyond ASCII are escaped and mean the same", () => {
  const source = `"\u2192 caf\u00e9 \u{1f600}"`;
  const escaped = asciiOnly(source);
  assert.match(escaped, /^[\x20-\x7e]*$/);
  assert.equal(JSON.parse(escaped), JSON.parse(source));
});

Deno.test("indentation becomes tabs, but for what stands in template literals", async () => {
  const code =
    "function f(a) {\n  return `x\n    ${(() => {\n      return [\n        a\n      ][0];\n    })()}\n   y`;\n}\nexport { f };\n";
  const short = tabIndented(code);
  assert.equal(
    short,
    "function f(a) {\n\treturn `x\n    ${(() => {\n\t\t\treturn [\n\t\t\t\ta\n\t\t\t][0];\n\t\t})()}\n   y`;\n}\nexport { f };\n",
  );
  const load = async (text: string) => await import(`data:text/javascript,${encodeURIComponent(text)}`);
  assert.equal((await load(short)).f(1), (await load(code)).f(1));
});

Deno.test("comments go, but for the names of modules and for licences, and texts that look like them stay", () => {
  const code = `// src/a.ts
var a = /* @__PURE__ */ make("/* x */ // y");
class B {
  /** What it is. */
  c = 1; // why
}
/*! (c) somebody */
/** @license MIT */
var d = \`// \${/* z */ a}\`;
`;
  assert.equal(
    withoutComments(code),
    `// src/a.ts
var a = make("/* x */ // y");
class B {
  c = 1; 
}
/*! (c) somebody */
/** @license MIT */
var d = \`// \${a}\`;
`,
  );
});
