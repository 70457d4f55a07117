import assert from "node:assert/strict";
import { asciiOnly, firstLeak, withoutCachePaths } from "./bundle_text.ts";

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
