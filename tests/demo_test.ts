import assert from "node:assert/strict";
import { runInProcess } from "./helpers/in_process.ts";
import { temporaryHome } from "./helpers/program.ts";

Deno.test("the demo reads the file that the prompt names, with no configuration and no server", async () => {
  await using home = await temporaryHome();
  await home.write("notes.md", "# Plan\n\n## First step\n");
  const { code, stdout, stderr } = await runInProcess(["run", "--model", "demo", "Explain notes.md"], { home });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /demo script of agentcli, not a language model/);
  assert.match(stdout, /notes\.md: \d+ lines read; headings: Plan, First step/);
});

Deno.test("without a named file the demo looks at the directory and reads what matters", async () => {
  await using home = await temporaryHome();
  await home.write("README.md", "# Thing\n");
  await home.write("src/main.ts", "export function start() {}\n");
  const { code, stdout, stderr } = await runInProcess(["run", "--model", "demo", "What is this?"], { home });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /README\.md: \d+ lines? read; headings: Thing/);
});

Deno.test("the demo finds a word", async () => {
  await using home = await temporaryHome();
  await home.write("a/b.txt", "one\ntwo needle three\n");
  const { code, stdout, stderr } = await runInProcess(["run", "--model", "demo", 'find "needle"'], { home });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /b\.txt:2:/);
});

Deno.test("an edit of the demo is denied when nobody can allow it, and made when edits are accepted", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one two\n");
  const prompt = 'replace "two" with "three" in a.txt';
  const denied = await runInProcess(["run", "--model", "demo", prompt], { home });
  assert.equal(denied.code, 6, denied.stderr);
  assert.match(denied.stdout, /--permission-mode acceptEdits/);
  assert.equal(await home.read("a.txt"), "one two\n");
  const made = await runInProcess(["run", "--model", "demo", prompt, "--permission-mode", "acceptEdits"], { home });
  assert.equal(made.code, 0, made.stderr);
  assert.equal(await home.read("a.txt"), "one three\n");
});

Deno.test("a command of the demo runs once a rule allows it", async () => {
  await using home = await temporaryHome();
  const args = ["run", "--model", "demo", "run `echo it-ran`", "--allowed-tools", "Bash(echo:*)"];
  const { code, stdout, stderr } = await runInProcess(args, { home });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /it-ran/);
});
