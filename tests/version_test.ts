import assert from "node:assert/strict";
import { runProgram, temporaryHome } from "./helpers/program.ts";

Deno.test("version says version, form, runtime and system; its first line is that of --version", async () => {
  await using home = await temporaryHome();
  const [short, long] = [await runProgram(["--version"], { home }), await runProgram(["version"], { home })];
  assert.equal(long.code, 0, long.stderr);
  assert.ok(long.stdout.startsWith(short.stdout));
  assert.match(
    long.stdout,
    /^\d+\.\d+\.\d+ \(agentcli\)\n(commit [0-9a-f]{7,40}(-modified)?, )?(source|bundle|binary), Deno [\d.]+, \w+ \w+\n$/,
  );
});

Deno.test("version --json has the same facts", async () => {
  await using home = await temporaryHome();
  const { stdout } = await runProgram(["version", "--json"], { home });
  assert.deepEqual(Object.keys(JSON.parse(stdout)), ["version", "commit", "form", "runtime", "system"]);
  assert.equal((await runProgram(["--version", "--json"], { home })).stdout, stdout);
});
