import assert from "node:assert/strict";
import { array, assert as check, constantFrom, property, string } from "../../tests/property.ts";
import { compilePattern } from "./path_pattern.ts";

function matches(pattern: string, path: string, options = {}): boolean {
  const compiled = compilePattern(pattern, options);
  assert.ok(compiled !== null);
  return compiled.matches(path.split("/"));
}

Deno.test("stars, question marks, classes and braces match within a name", () => {
  for (
    const [pattern, yes, no] of [
      ["*.ts", "a.ts", "a.tsx"],
      ["*", ".hidden", "a/b"],
      ["a?c", "abc", "ac"],
      ["[a-c]x", "bx", "dx"],
      ["[!a-c]x", "dx", "ax"],
      ["[]]x", "]x", "ax"],
      ["a[b", "a[b", "ab"],
      ["a\\*", "a*", "ab"],
      ["*.{ts,js}", "a.js", "a.md"],
      ["{a,b{c,d}}.x", "bd.x", "b.x"],
      ["{a", "{a", "a"],
      ["{a}", "{a}", "a"],
      ["a*b*c", "axxbyyc", "axxbyy"],
      ["src/*.ts", "src/a.ts", "src/b/a.ts"],
    ] as const
  ) {
    assert.equal(matches(pattern, yes), true, `${pattern} ${yes}`);
    assert.equal(matches(pattern, no), false, `${pattern} ${no}`);
  }
});

Deno.test("two stars match any number of directories, and at the end at least one name", () => {
  assert.equal(matches("**/a.ts", "a.ts"), true);
  assert.equal(matches("**/a.ts", "x/y/a.ts"), true);
  assert.equal(matches("src/**/a.ts", "src/a.ts"), true);
  assert.equal(matches("src/**/a.ts", "lib/src/a.ts"), false);
  assert.equal(matches("src/**", "src/a/b"), true);
  assert.equal(matches("src/**", "src"), false);
  assert.equal(matches("**/test/**/*.ts", "a/test/b/test/c/x.ts"), true);
  assert.equal(matches("./src//a.ts", "src/a.ts"), true);
});

Deno.test("letter case is ignored when asked", () => {
  assert.equal(matches("Src/*.TS", "src/a.ts"), false);
  assert.equal(matches("Src/*.TS", "src/a.ts", { ignoreCase: true }), true);
});

Deno.test("no pattern takes long, whatever it repeats", { timeout: 60_000 }, () => {
  const path = "a/".repeat(300) + "b";
  for (const pattern of ["**/".repeat(200) + "x", "**/**/**/x", "**/a/**/a/**/a/**/x"]) matches(pattern, path);
  for (const pattern of ["*a".repeat(300) + "x", "a*".repeat(300) + "x"]) matches(pattern, "a".repeat(600));
  assert.equal(compilePattern("{a,b}".repeat(20)), null);
  assert.equal(compilePattern("{a,".repeat(400)) !== null, true);
  assert.equal(compilePattern("x".repeat(10_000)), null);
});

/** The same question to the runtime's own regular expressions, for patterns of letters, `*` and `?`. */
function byRegularExpression(pattern: string): RegExp {
  const names = pattern.split("/").filter((name) => name !== "");
  const source = names.map((name, index) => {
    const last = index === names.length - 1;
    if (name === "**") return last ? "[^/]+(?:/[^/]+)*" : "(?:[^/]+/)*";
    return name.replace(/\*+/g, "[^/]*").replaceAll("?", "[^/]") + (last ? "" : "/");
  });
  return new RegExp(`^${source.join("")}$`);
}

Deno.test("matching agrees with regular expressions", () => {
  const name = constantFrom("a", "b", "*", "?", "a*", "*b", "a*b", "**", "ab?", "?*");
  const names = array(string({ unit: constantFrom("a", "b"), minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 5,
  });
  check(
    property(array(name, { minLength: 1, maxLength: 5 }), names, (pattern, path) => {
      const text = pattern.join("/");
      assert.equal(matches(text, path.join("/")), byRegularExpression(text).test(path.join("/")));
    }),
    { numRuns: 2_000 },
  );
});
