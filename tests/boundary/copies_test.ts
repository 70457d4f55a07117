/** What commands of a session that read protected content leave in files: found, protected, told, and released by the user. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runProgram } from "../helpers/program.ts";
import { openStage, type Played } from "./harness.ts";

const sandboxed = { ignore: Deno.build.os !== "linux" };
const COMMANDS = ["--permission-mode", "bypassPermissions"];
const READ = ask(want("read", { path: ".env" }));

/** The project holds the copies: what counts is that no request does. */
function assertNotSent({ sent }: Played, canary: string): void {
  for (const form of [canary, btoa(canary), canary.toLowerCase()]) assert.ok(!sent.includes(form));
}

function shell(command: string) {
  return ask(want("shell", { command }));
}

Deno.test(
  "a command of a protected session writes a copy, and a later remote session does not get it",
  sandboxed,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    const left: Record<string, string> = {
      "notes.txt": `echo 'the key is ${canary}' > notes.txt`,
      "build/app.js": `mkdir -p build && printf 'const key = "%s";' '${canary}' > build/app.js`,
      "coded.txt": `echo '${btoa(canary)}' > coded.txt`,
    };
    const script = [READ, ...Object.values(left).map(shell), shell("echo nothing > plain.txt"), say("Done.")];
    const local = await stage.play("loc", { script, args: COMMANDS });
    assert.equal(local.done.code, 0, local.done.stderr);
    for (const path of Object.keys(left)) {
      assert.match(local.done.stderr, new RegExp(`protected from now on.*${path}`), path);
      const read = [ask(want("read", { path })), say("Done.")];
      const remote = await stage.play("rem", { script: read });
      assertNotSent(remote, canary);
      assert.match(remote.results.at(-1) ?? "", /is protected \(it holds content of \.env\)/, path);
      const again = await stage.play("loc", { script: read });
      assert.ok(again.sent.includes(canary) || again.sent.includes(btoa(canary)), `control: ${path} for a local model`);
    }
    const plain = await stage.play("rem", { script: [ask(want("read", { path: "plain.txt" })), say("Done.")] });
    assert.match(plain.results.at(-1) ?? "", /nothing/, "control: a file without a copy stays open");
  },
);

Deno.test("secrets list shows what was left, and secrets trust releases it", sandboxed, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const script = [READ, shell(`echo '${canary}' > notes.txt`), say("Done.")];
  await stage.play("loc", { script, args: COMMANDS });
  const { home } = stage;
  const listed = await runProgram(["secrets", "list"], { home });
  assert.match(listed.stdout, /notes\.txt.*holds content of \.env/);
  const trusted = await runProgram(["secrets", "trust", "notes.txt", "--yes"], { home });
  assert.equal(trusted.code, 0, trusted.stderr);
  const after = await runProgram(["secrets", "check", "notes.txt"], { home });
  assert.equal(after.code, 1, after.stdout);
});

Deno.test("a name that holds protected content makes its file protected", sandboxed, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const script = [READ, shell(`touch 'n-${canary}'`), say("Done.")];
  const local = await stage.play("loc", { script, args: COMMANDS });
  assert.match(local.done.stderr, /protected from now on.*a file whose name holds some/);
  assert.ok(!local.done.stderr.includes(canary), "stderr may go into a log");
  for await (const entry of Deno.readDir(`${stage.home.agentcliHome}/projects`)) {
    if (!entry.isFile) continue;
    const text = await Deno.readTextFile(`${stage.home.agentcliHome}/projects/${entry.name}`);
    assert.ok(!text.includes(canary), entry.name);
  }
  const remote = await stage.play("rem", { script: [ask(want("list", { path: "." })), say("Done.")] });
  assertNotSent(remote, canary);
});
