import { outputOf } from "../platform/process.ts";
import assert from "node:assert/strict";
import { array, assert as check, constantFrom, property, string } from "../../tests/property.ts";
import { parseIgnoreRules } from "./walk.ts";

function ignored(rules: string, path: string): boolean | null | undefined {
  const directory = path.endsWith("/");
  return parseIgnoreRules(rules)?.verdict(path.split("/").filter((name) => name !== ""), directory);
}

Deno.test("rules are read as git reads them", () => {
  for (
    const [rules, path, wanted] of [
      ["*.log", "a.log", true],
      ["*.log", "x/y/a.log", true],
      ["/a", "a", true],
      ["/a", "x/a", null],
      ["x/a", "x/a", true],
      ["x/a", "y/x/a", null],
      ["dist/", "dist/", true],
      ["dist/", "dist", null],
      ["dist/", "x/dist/", true],
      ["*.log\n!keep.log", "keep.log", false],
      ["!keep.log\n*.log", "keep.log", true],
      ["a/**/b", "a/x/y/b", true],
      ["a/**", "a/b", true],
      ["**/b", "x/b", true],
      ["a b \nc\\ ", "a b", true],
      ["c\\ ", "c ", true],
      ["\\#x", "#x", true],
      ["\\!x", "!x", true],
      ["{a,b}", "a", null],
      ["\uFEFFa\r\n", "a", true],
      ["[", "[", true],
    ] as const
  ) assert.equal(ignored(rules, path), wanted, `${JSON.stringify(rules)} ${path}`);
  assert.equal(parseIgnoreRules("# only a comment\n\n/\n"), null);
});

Deno.test("no text makes reading or asking throw or take long", { timeout: 60_000 }, () => {
  check(property(string({ unit: "binary" }), (text) => void parseIgnoreRules(text)?.verdict(["a", "b"], false)));
  const hostile = parseIgnoreRules(`${"*a".repeat(400)}b\n`.repeat(10));
  hostile?.verdict(["a".repeat(250)], false);
  parseIgnoreRules(`x${" ".repeat(200_000)}y`);
});

Deno.test("git agrees", { ignore: !await hasGit() }, async () => {
  const root = await Deno.makeTempDir();
  try {
    await git(root, ["init", "-q"]);
    const rule = constantFrom(
      "a",
      "*.x",
      "/a",
      "b/",
      "!a",
      "a/b",
      "!b/a",
      "**/a",
      "a/**",
      "?.x",
      "[ab]",
      "!*.x",
      "b/*",
    );
    const name = constantFrom("a", "b", "c.x", "a.x");
    const cases: [string[], string[]][] = [];
    check(
      property(
        array(rule, { minLength: 1, maxLength: 4 }),
        array(name, { minLength: 1, maxLength: 3 }),
        (rules, path) => {
          cases.push([rules, path]);
        },
      ),
      { numRuns: 60 },
    );
    for (const [rules, path] of cases) {
      await Deno.writeTextFile(`${root}/.gitignore`, rules.join("\n"));
      const parsed = parseIgnoreRules(rules.join("\n"));
      // A path is out when it or a directory above it is.
      const out = path.some((_, index) => parsed?.verdict(path.slice(0, index + 1), index < path.length - 1) === true);
      const git_ = await git(root, ["check-ignore", "-q", "--no-index", path.join("/")]);
      assert.equal(out, git_ === 0, `${JSON.stringify(rules)} ${path.join("/")}`);
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

async function git(root: string, args: string[]): Promise<number> {
  const command = new Deno.Command("git", { args: ["-C", root, ...args], stdout: "null", stderr: "null" });
  return (await command.output()).code;
}

async function hasGit(): Promise<boolean> {
  return await outputOf(new Deno.Command("git", { args: ["--version"], stdout: "null" })) !== null;
}
