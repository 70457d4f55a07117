import { inToolProject, type ToolProject } from "../../tests/helpers/tool_project.ts";
import { isRefusal } from "./result.ts";
import { parseIgnoreRules, walkFiles } from "./walk.ts";
import { outputOf } from "../platform/process_group.ts";
import { array, assert as check, codePoint, constantFrom, property, string } from "../../tests/property.ts";
import assert from "node:assert/strict";

/** The display paths in the order and the groups of a walk; each look at the clock takes `lookMs`. */
async function walked(
  { context }: ToolProject,
  { lookMs = 0, onPause = () => {}, signal = context.signal }: {
    lookMs?: number;
    onPause?: () => void;
    signal?: AbortSignal;
  } = {},
): Promise<string[][]> {
  const { workspace } = context;
  const start = await workspace.resolve(".");
  assert.ok(!isRefusal(start));
  let now = 0;
  const clock = {
    monotonic: () => now += lookMs,
    // Lets everything else have its turn, as the real one does.
    sleep: () => Promise.resolve(onPause()),
  };
  const groups: string[][] = [];
  for await (const files of walkFiles(start, { workspace, signal, clock })) {
    groups.push(files.map(({ path }) => path.display));
  }
  return groups;
}

Deno.test("files come in the order of their names, in groups of one directory", () =>
  inToolProject(async (project) => {
    for (const name of ["a.txt", "b/x.txt", "b/y.txt", "c.txt", "d.txt"]) await project.write(name, "");
    assert.deepEqual(await walked(project), [["a.txt"], ["b/x.txt", "b/y.txt"], ["c.txt", "d.txt"]]);
  }));

Deno.test("a walk pauses so that a stop is heard, within a long directory too", () =>
  inToolProject(async (project) => {
    for (let at = 0; at < 200; at++) await project.write(`many/${at}.txt`, "");
    let pauses = 0;
    const groups = await walked(project, { lookMs: 210, onPause: () => pauses++ });
    assert.equal(groups.flat().length, 200);
    assert.ok(groups.length > 2 && groups.every(({ length }) => length < 50));
    assert.ok(pauses >= groups.length - 1, `${pauses} pauses`);
    const stop = new AbortController();
    const stopped = walked(project, { lookMs: 210, onPause: () => stop.abort(), signal: stop.signal });
    await assert.rejects(stopped, { name: "AbortError" });
  }));

Deno.test("a short walk does not pause", () =>
  inToolProject(async (project) => {
    await project.write("a.txt", "");
    await walked(project, { onPause: () => assert.fail("it paused") });
  }));

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
  check(property(string({ unit: codePoint }), (text) => void parseIgnoreRules(text)?.verdict(["a", "b"], false)));
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
