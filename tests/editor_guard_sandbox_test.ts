/** The installed guard and `agentcli sandbox` as an editor's assistant meets them: blocked, told how, run so. */
import assert from "node:assert/strict";
import { callHook, done, installProgram, runLine } from "./helpers/editor_program.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const SECRET = "correct-horse-battery-staple-42";

function inputOf(home: TemporaryHome, line: string): string {
  return JSON.stringify({ tool_info: { command_line: line, cwd: home.project } });
}

async function guarded(home: TemporaryHome, { onPath }: { onPath: boolean }) {
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `TOKEN=${SECRET}\n`);
  await home.write("src/a.ts", "let a = 1;\n");
  await Deno.symlink("../.env", `${home.project}/src/link`);
  const program = await installProgram(home);
  await done(home, "add", "hook", "no-cloud-guard", ...onPath ? [] : ["--set", `agentcli=${program}`], "--yes");
  const { hooks } = JSON.parse(await home.read(".ide/hooks.json"));
  const env = { PATH: `${onPath ? `${home.root}:` : ""}${Deno.env.get("PATH")}` };
  return {
    program,
    ask: (line: string) => {
      const hook = { scaffold: "no-cloud-guard", event: "pre_run_command" };
      const settings = [`agentcli=${onPath ? "agentcli" : program}`];
      return callHook(home, { ...hook, settings }, { input: inputOf(home, line), env });
    },
    askByLine: (line: string) => runLine(home, hooks.pre_run_command[0].command, { input: inputOf(home, line), env }),
    run: (line: string) => runLine(home, line, { input: "", env }),
  };
}

for (const onPath of [true, false]) {
  Deno.test(`a blocked command runs as its refusal says, with agentcli ${onPath ? "on PATH" : "elsewhere"}`, async () => {
    await using home = await temporaryHome();
    const { ask, askByLine, run, program } = await guarded(home, { onPath });
    const lines = ["cat src/a.ts && cd src && grep -r '' . ../.env; true"];
    for (const line of onPath ? ["cat src/a.ts", ...lines] : lines) {
      const blocked = await askByLine(line);
      assert.equal(blocked.code, 2);
      const [, told = assert.fail(blocked.stderr)] = /Run this instead: (.*)\.\n/.exec(blocked.stderr) ?? [];
      assert.equal(told.startsWith(onPath ? "agentcli sandbox -- " : `'${program}' sandbox -- `), true, told);
      const passed = await ask(told);
      assert.equal(passed.code, 0, passed.stderr);
      const ran = await run(told);
      assert.equal(ran.code, 0, ran.stderr);
      assert.match(ran.stdout, /let a = 1;/);
      assert.equal((ran.stdout + ran.stderr).includes(SECRET), false);
    }
  });
}

Deno.test("what passes the guard has nothing that is protected, and its exit code is the command's", async () => {
  await using home = await temporaryHome();
  const { ask, run } = await guarded(home, { onPath: true });
  const line = "agentcli sandbox -- 'cat .env src/link .e* /proc/self/cwd/.env; rm -rf .ide .agentclisecret; exit 7'";
  assert.equal((await ask(line)).code, 0);
  const { code, stdout, stderr } = await run(line);
  assert.equal(code, 7);
  assert.equal((stdout + stderr).includes(SECRET), false);
  assert.match(await home.read(".agentclisecret"), /no-cloud/);
  assert.match(await home.read(".ide/hooks/no-cloud-guard.sh"), /no-cloud-guard/);
  // The control: the same without the sandbox is blocked, and would have shown it.
  const bare = line.replace("agentcli sandbox -- ", "bash -c ").replace(/rm -rf[^;]*;/, "");
  assert.equal((await ask(bare)).code, 2);
  assert.equal((await run(bare)).stdout.includes(SECRET), true);
});

Deno.test("a line with more than the sandbox in it is blocked, and nothing it says is run", async () => {
  await using home = await temporaryHome();
  const { ask } = await guarded(home, { onPath: true });
  for (
    const line of [
      "agentcli sandbox -- 'ls'; cat src/a.ts",
      "agentcli sandbox -- 'ls' | cat",
      "agentcli sandbox --network -- 'ls'",
      "agentcli run 'Show me what the project is about'",
    ]
  ) {
    assert.equal((await ask(line)).code, 2, line);
  }
});
