import assert from "node:assert/strict";
import { outlineOf } from "./answer.ts";

function numbered(text: string): string {
  return text.split("\n").map((line, at) => `${at + 1}\t${line}`).join("\n");
}

const CASES: [string, string, string][] = [
  ["a.json", '{\n  "name": 1,\n  "more": {\n    "inner": 2\n  }\n}', "a.json: 6 lines read; keys: name, more"],
  ["a.md", "# A\n```\n# not a heading\n```\n## B ##", "a.md: 5 lines read; headings: A, B"],
  ["a.py", "class A:\n  def inner(self): ...\nasync def go(): ...", "a.py: 3 lines read; definitions: A, go"],
  ["a.go", "func (s *S) Run() {}\ntype S struct{}", "a.go: 2 lines read; definitions: Run, S"],
  ["a.csv", "\nx,y", "a.csv: 2 lines read; begins with: x,y"],
  ["a.sh", "start() {\n}", "a.sh: 2 lines read; functions: start"],
];

for (const [path, text, outline] of CASES) {
  Deno.test(`the outline of ${path} names what it defines`, () => {
    assert.equal(outlineOf(path, numbered(text)), outline);
  });
}

Deno.test("many names are cut and counted, and no file text gives no outline", () => {
  const keys = Array.from({ length: 10 }, (_, at) => `key${at}: 1`).join("\n");
  assert.match(outlineOf("a.yaml", numbered(keys)) ?? "", /key7, and 2 more$/);
  assert.equal(outlineOf("a.md", "There is no file a.md."), null);
});
