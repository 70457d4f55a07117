/** What `editor init` installs: the texts send the assistant nowhere that the guard beside them closes. */
import assert from "node:assert/strict";
import { callHook, done, installProgram, runLine } from "./helpers/editor_program.ts";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const TEXTS = ["AGENTS.md", ".ide/workflows/agentcli-check.md", ".ide/skills/local-model/SKILL.md"] as const;

/** A project with a protected file in which the starting set is installed; asks its guard about commands. */
async function installed(home: TemporaryHome) {
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", "TOKEN=correct-horse-battery-staple-42\n");
  await home.write("src/a.ts", "let a = 1;\n");
  await installProgram(home);
  await done(home, "init", "--yes");
  const env = { PATH: `${home.root}:${Deno.env.get("PATH")}` };
  const guard = async (command: string) => {
    const input = JSON.stringify({ tool_info: { command_line: command, cwd: home.project } });
    const hook = { scaffold: "no-cloud-guard", event: "pre_run_command", settings: ["agentcli=agentcli"] };
    return await callHook(home, hook, { input, env });
  };
  return { env, guard };
}

/** Each command that the texts name, as an assistant would fill it in. */
async function commandsNamed(home: TemporaryHome): Promise<string[]> {
  const texts = await Promise.all(TEXTS.map((path) => home.read(path)));
  const named = texts.join("\n").matchAll(/`((?:agentcli|git) [^`]+)`/g);
  return [...named].map(([, command = ""]) =>
    command.replace("<task>", "Rename a to b in src/a.ts").replace("<file>", "src/a.ts").replace("<path>", ".env")
  );
}

Deno.test("the guard lets every command pass that the installed texts name, where nothing is protected", async () => {
  await using home = await temporaryHome();
  const { guard } = await installed(home);
  await Deno.remove(`${home.project}/.agentclisecret`);
  await Deno.remove(`${home.agentcliHome}/projects`, { recursive: true }).catch(() => {});
  const commands = await commandsNamed(home);
  assert.ok(commands.length >= 4, commands.join("\n"));
  for (const command of commands) {
    const { code, stderr } = await guard(command);
    assert.equal(code, 0, `${command}: ${stderr}`);
  }
});

Deno.test("where something is protected, the guard blocks of them what the texts give to the user", async () => {
  await using home = await temporaryHome();
  const { guard } = await installed(home);
  const commands = await commandsNamed(home);
  for (const command of [...commands, "agentcli run 'Summarize .env'", "git diff -- .env"]) {
    const { code, stderr } = await guard(command.replace("COMMAND", "ls"));
    assert.equal(code, /^agentcli (?:run|doctor)|^git/.test(command) ? 2 : 0, `${command}: ${stderr}`);
  }
  assert.ok(commands.some((command) => command.startsWith("agentcli sandbox -- ")));
});

Deno.test("the command of the installed skill edits a file where nobody can be asked", async () => {
  await using home = await temporaryHome();
  const { env } = await installed(home);
  await using server = startFakeServer({
    script: [ask(want("write", { path: "src/b.ts", content: "let b = 2;\n" })), say("Done.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const [command = assert.fail("no command")] = (await commandsNamed(home)).filter((one) =>
    /^agentcli run "/.test(one)
  );
  const { code, stdout, stderr } = await runLine(home, command, { input: "", env });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Done\./);
  assert.equal(await home.read("src/b.ts"), "let b = 2;\n");
});

Deno.test("before it asks, what would change is listed file by file; d shows the diff, as --dry-run does", async () => {
  for (
    const [words, path] of [[["editor", "init"], "AGENTS.md"], [["mcp", "install", "claude"], ".mcp.json"]] as const
  ) {
    await using home = await temporaryHome();
    await home.write(path, path === "AGENTS.md" ? "# Mine\n" : '{"mcpServers": {}}\n');
    const env = { PATH: home.root };
    await installProgram(home);
    const dry = await runInProcess([...words, "--dry-run"], { home, env });
    assert.match(dry.stdout, /^@@ .*\n[^]*^\+\S/m);
    const asked = await runInProcess(words, { home, env, terminal: true, answers: ["n"] });
    assert.match(
      asked.stdout,
      new RegExp(`^  change  ${path.replaceAll(".", "\\.")} +\\+\\d+(?: −\\d+)? +[a-z]+:\\w+$`, "m"),
    );
    assert.match(asked.stdout, /^ {2}create {2}\S+\/no-cloud-guard\.sh +\+\d+ +hook:no-cloud-guard$/m);
    assert.ok(asked.stdout.split("\n").length < 10, asked.stdout);
    assert.match(asked.stderr, /Write \d files\? d shows the diff\. \[y\/N\] /);
    assert.equal([...Deno.readDirSync(home.project)].length, 1);
    const looked = await runInProcess(words, { home, env, terminal: true, answers: ["d", "y"] });
    assert.equal(looked.stdout, asked.stdout + dry.stdout);
    assert.equal(looked.code, 0, looked.stderr);
    assert.ok([...Deno.readDirSync(home.project)].length > 1);
  }
});
