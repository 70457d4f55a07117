import assert from "node:assert/strict";
import { TOPICS } from "../src/cli/help/topics.ts";
import { jsonSchema } from "../src/config/schema.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { temporaryHome } from "./helpers/program.ts";

Deno.test("help of a command is the same in both spellings", async () => {
  await using home = await temporaryHome();
  for (const words of [["run"], ["providers"], ["providers", "add"], []]) {
    const [before, after] = await Promise.all([
      runInProcess(["help", ...words], { home }),
      runInProcess([...words, "--help"], { home }),
    ]);
    assert.equal(before.code, 0, before.stderr);
    assert.ok(before.stdout.startsWith(after.stdout), words.join(" "));
    if (words.length > 0) assert.equal(before.stdout, after.stdout);
  }
});

Deno.test("every topic is printed, within the width, and is in the list", async () => {
  await using home = await temporaryHome();
  const list = await runInProcess(["help"], { home });
  for (const { name, brief } of TOPICS) {
    const done = await runInProcess(["help", name], { home });
    assert.equal(done.code, 0, done.stderr);
    assert.ok(done.stdout.startsWith(`${brief}\n`));
    assert.ok(done.stdout.split("\n").every((line) => line.length <= 80), name);
    assert.ok(list.stdout.includes(name));
  }
});

Deno.test("help says what each field of a model in providers.yaml does", async () => {
  await using home = await temporaryHome();
  const { stdout } = await runInProcess(["help", "models"], { home });
  // deno-lint-ignore no-explicit-any -- a JSON Schema
  const schema: any = jsonSchema();
  const fields = Object.keys(schema.properties.providers.additionalProperties.properties.models.items.properties);
  assert.ok(fields.includes("reasoning"));
  for (const field of fields.filter((name) => name !== "id")) assert.match(stdout, new RegExp(`^ +${field} +\\S`, "m"));
  assert.match(stdout, /reasoning +keep: [^]* drop/);
});

Deno.test("a group without its command prints the help, as JSON an error", async () => {
  await using home = await temporaryHome();
  const text = await runInProcess(["providers"], { home });
  assert.equal(text.code, 2);
  assert.match(text.stdout, /^Usage: agentcli providers <command>/m);
  const json = await runInProcess(["providers", "--json"], { home });
  assert.equal(json.code, 2);
  const { error } = JSON.parse(json.stdout);
  assert.deepEqual([error.code, error.hint], ["usage", "see: agentcli providers --help"]);
});

Deno.test("the topic of exit codes says what the help of the program says", async () => {
  await using home = await temporaryHome();
  const [topic, root] = await Promise.all([
    runInProcess(["help", "exit-codes"], { home }),
    runInProcess(["--help"], { home }),
  ]);
  const codes = /Exit codes:\n(?: .*\n)+/.exec(topic.stdout)?.[0] ?? "missing";
  assert.ok(root.stdout.includes(codes));
});

Deno.test("a word that is neither command nor topic is answered with what was meant", async () => {
  await using home = await temporaryHome();
  for (
    const [words, meant] of [[["nocloud"], "no-cloud"], [["provider"], "providers"], [
      ["providers", "ad"],
      "add",
    ]] as const
  ) {
    const done = await runInProcess(["help", ...words], { home });
    assert.equal(done.code, 2);
    assert.match(done.stderr, new RegExp(`did you mean.* ?${meant}`));
  }
});
