import assert from "node:assert/strict";
import {
  fieldText,
  readFrontmatter,
  ruleProblems,
  skillProblems,
  workflowProblems,
  writeFrontmatter,
} from "./markdown.ts";
import { codePoints, lengthProblem, nameProblem, skillNameProblem } from "../limits.ts";

const FIXTURES = new URL("../../../tests/fixtures/editor/frontmatter/", import.meta.url);
const globsOf = async (name: string) =>
  fieldText(readFrontmatter(await Deno.readTextFile(new URL(name, FIXTURES))), "globs");

Deno.test("globs are read in every form that the editors accept", async () => {
  assert.equal(await globsOf("vendor-star.md"), "**/*.test.ts");
  assert.equal(await globsOf("vendor-ext.md"), "*.ts,*.js");
  assert.equal(await globsOf("flow.md"), "*.go,a/**");
  assert.equal(await globsOf("block.md"), "*.go");
  assert.equal(await globsOf("quoted.md"), "**/*.py");
  assert.equal(await globsOf("empty-values.md"), "");
});

Deno.test("a rule is checked by its trigger and what that needs", async () => {
  const problems = async (name: string) => ruleProblems(await Deno.readTextFile(new URL(name, FIXTURES))).length;
  assert.equal(await problems("comma.md"), 0);
  assert.equal(await problems("colon.md"), 0);
  assert.equal(await problems("brace.md"), 1);
  assert.equal(await problems("comma-space.md"), 1);
  assert.equal(await problems("no-trigger.md"), 1);
  assert.equal(ruleProblems("---\ntrigger: sometimes\n---\nx").length, 1);
});

Deno.test("a limit counts code points: 12,000 emoji pass, one sign more does not", () => {
  const head = "---\ndescription: d\n---\n";
  const full = head + "😀".repeat(12_000 - head.length);
  assert.equal(codePoints(full), 12_000);
  assert.deepEqual(workflowProblems(full), []);
  assert.match(workflowProblems(full + "x")[0] ?? "", /12001 characters/);
  assert.equal(lengthProblem("\ufeff" + "a".repeat(6_000), 6_000), null);
});

Deno.test("a skill follows the specification, its name being that of its directory", () => {
  const skill = (fields: string) => `---\n${fields}\n---\nbody`;
  const good = skill(
    'name: a-b\ndescription: d\nlicense: MIT\nmetadata:\n  version: "1.0"\nallowed-tools: Read Bash(git:*)',
  );
  assert.deepEqual(skillProblems(good, "a-b"), []);
  assert.equal(skillProblems(good, "other").length, 1);
  assert.equal(skillProblems(skill("name: a\ndescription: "), "a").length, 1);
  assert.equal(skillProblems(skill(`name: a\ndescription: ${"😀".repeat(1025)}`), "a").length, 1);
  assert.equal(skillProblems(skill("name: a\ndescription: d\nversion: 1"), "a").length, 1);
  assert.equal(skillProblems(skill("name: a\ndescription: d\nallowed-tools: [Read]"), "a").length, 1);
  assert.equal(skillProblems("no frontmatter", "a").length, 1);
});

Deno.test("a name is never a path, a hidden file or a device", () => {
  for (const bad of ["..", ".hidden", "a/b", "a\\b", "A", "", "a".repeat(65), "con", "nul.md", "com1", "a.", "é"]) {
    assert.notEqual(nameProblem(bad), null, bad);
  }
  for (const good of ["a", "0", "a.b_c-d", "console", "a".repeat(64)]) assert.equal(nameProblem(good), null, good);
  for (const bad of ["a--b", "-a", "a-", "a_b", "a.b"]) assert.notEqual(skillNameProblem(bad), null, bad);
});

Deno.test("frontmatter is written one line a key, so that a description cannot add one", () => {
  const text = writeFrontmatter({ trigger: "glob", globs: "**/*.ts", description: "a\n---\nb" }, "body\n\n");
  assert.equal(text, "---\ntrigger: glob\nglobs: **/*.ts\ndescription: a --- b\n---\n\nbody\n");
});
