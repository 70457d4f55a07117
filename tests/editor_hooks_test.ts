import assert from "node:assert/strict";
import { FALSE_FRIENDS } from "./helpers/editor_lines.ts";
import { callHook, done, editor, installProgram, runLine } from "./helpers/editor_program.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const SECRET = "correct-horse-battery-staple-42";

async function project(home: TemporaryHome) {
  await home.write(".agentclisecret", "no-cloud: secrets\nno-cloud: .env\n");
  await home.write("secrets/keys.md", `key ${SECRET}\n`);
  await home.write(".env", `TOKEN=${SECRET}\n`);
  await home.write("src/a.ts", "let a = 1;\n");
  return await installProgram(home);
}

async function installed(home: TemporaryHome, scaffold: string, ...settings: string[]) {
  const program = await project(home);
  const given = [`agentcli=${program}`, ...settings].flatMap((setting) => ["--set", setting]);
  await done(home, "add", "hook", scaffold, ...given, "--yes");
  const { hooks } = JSON.parse(await home.read(".ide/hooks.json"));
  const inputOf = (event: string, info: Record<string, unknown>) =>
    JSON.stringify({ agent_action_name: event, trajectory_id: "t", tool_info: info });
  return {
    /** Runs the installed line. */
    line: (event: string, info: Record<string, unknown>) =>
      runLine(home, hooks[event][0].command, { input: inputOf(event, info) }),
    /** Runs what the line calls. */
    call: (event: string, info: Record<string, unknown>) =>
      callHook(home, { scaffold, event, settings }, { input: inputOf(event, info) }),
  };
}

Deno.test("the audit log records what was done, never content, protected names or keys", async () => {
  await using home = await temporaryHome();
  const { call } = await installed(home, "audit-log", "log=project");
  for (
    const [event, info] of [
      ["post_read_code", { file_path: "src/a.ts" }],
      ["post_read_code", { file_path: "secrets/keys.md" }],
      ["post_write_code", { file_path: "src/a.ts", edits: [{ old_string: "", new_string: SECRET }] }],
      ["post_run_command", { command_line: "curl -H 'Authorization: Bearer sk-abcdefghijkl123'", cwd: "." }],
      ["post_run_command", { command_line: `echo ${SECRET}`, cwd: "." }],
      ["post_run_command", { command_line: "curl -u bob:s3cretpw x && mysql -ps3cretpw", cwd: "." }],
      ["post_cascade_response", { response: "done" }],
    ] as const
  ) {
    const finished = await call(event, info);
    assert.equal(finished.code, 0, finished.stderr);
  }
  const text = await home.read(".ide/audit-log.jsonl");
  const lines = text.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.length, 7);
  assert.deepEqual(lines.slice(0, 2).map(({ file_path }) => file_path), ["src/a.ts", "(protected)"]);
  for (const word of [SECRET, "s3cretpw", "keys.md", "sk-abcdef", "done"]) {
    assert.equal(text.includes(word), false, word);
  }
});

Deno.test("the audit log holds no protected word, whichever field of the input it stands in", async () => {
  await using home = await temporaryHome();
  await installed(home, "audit-log", "log=project");
  const fields = ["file_path", "command_line", "cwd", "mcp_server_name", "mcp_tool_name", "transcript_path", "other"];
  const logged = async (trajectory: string, info: Record<string, unknown>) => {
    const input = JSON.stringify({
      agent_action_name: "post_mcp_tool_use",
      trajectory_id: trajectory,
      tool_info: info,
    });
    const options = { scaffold: "audit-log", event: "post_mcp_tool_use", settings: ["log=project"] };
    const finished = await callHook(home, options, { input });
    assert.equal(finished.code, 0, finished.stderr);
    return (await home.read(".ide/audit-log.jsonl")).trim().split("\n").at(-1) ?? "";
  };
  const words = { SECRET, path: "secrets/keys.md", directory: `${home.project}/secrets`, key: "sk-abcdefghijkl123" };
  for (const [what, word] of Object.entries(words)) {
    for (const field of fields) {
      const line = await logged("t", { [field]: word });
      assert.equal(line.includes(word), false, `${what} in ${field}: ${line}`);
    }
    for (const line of [await logged(word, {}), await logged("t", { [word]: "x" })]) {
      assert.equal(line.includes(word), false, `${what}: ${line}`);
    }
  }
  // How long it is would say something of it, too.
  assert.equal(JSON.parse(await logged("t", { response: SECRET }))["response_length"], "(protected)");
  const { time: _, ...open } = JSON.parse(
    await logged("t-1", { cwd: home.project, mcp_server_name: "docs", response: "ok" }),
  );
  assert.deepEqual(open, {
    ...{ event: "post_mcp_tool_use", trajectory: "t-1" },
    ...{ cwd: home.project, mcp_server_name: "docs", response_length: 2 },
  }, "control");
});

Deno.test("a new worktree gets what is listed, and protected files only where they are listed themselves", async () => {
  await using home = await temporaryHome();
  const { call } = await installed(home, "setup-worktree", "copy=local,.env,../outside");
  await home.write("local/a.txt", "a");
  await home.write("local/deep/.env", "b");
  await home.write(".agentclisecret", "no-cloud: .env\nno-cloud: **/.env\n");
  const worktree = `${home.root}/worktree`;
  await Deno.mkdir(worktree);
  const finished = await call("post_setup_worktree", { worktree_path: worktree, root_workspace_path: home.project });
  assert.equal(finished.code, 0, finished.stderr);
  assert.equal(await Deno.readTextFile(`${worktree}/local/a.txt`), "a");
  assert.match(await Deno.readTextFile(`${worktree}/.env`), /TOKEN/);
  assert.equal(await Deno.stat(`${worktree}/local/deep/.env`).catch(() => null), null);
  assert.match(finished.stdout, /1 protected and left out/);
  assert.match(finished.stdout, /not below the project/);
});

Deno.test("the formatter runs on the written file, and not on a protected one", async () => {
  await using home = await temporaryHome();
  const formatter = `${home.root}/format`;
  await Deno.writeTextFile(formatter, '#!/bin/sh\necho "formatted $1" >"$2"\n', { mode: 0o755 });
  await home.write("a file.txt", "x");
  // The path of the test's home holds a space, which parts words: the formatter is found on a path without.
  await Deno.mkdir(`${home.root}/bin`);
  const { call, line } = await installed(home, "format-on-write", "formatter=sh format.sh --flag");
  await home.write("format.sh", 'echo "formatted $1" >"$2"\n');
  assert.equal((await line("post_write_code", { file_path: "a file.txt", edits: [] })).code, 0);
  assert.equal(await home.read("a file.txt"), "formatted --flag\n");
  // The script formats what the program names: nothing here.
  const { code, stdout } = await call("post_write_code", { file_path: ".env", edits: [] });
  assert.deepEqual([code, stdout], [0, ""]);
});

Deno.test("notes are added, and an answer with protected content is left out", async () => {
  await using home = await temporaryHome();
  const { call } = await installed(home, "session-note", "file=notes.md");
  assert.equal((await call("post_cascade_response", { response: "It is done." })).code, 0);
  assert.equal((await call("post_cascade_response", { response: `It is ${SECRET}.` })).code, 0);
  const notes = await home.read("notes.md");
  assert.match(notes, /It is done\./);
  assert.match(notes, /left out/);
  assert.equal(notes.includes(SECRET), false);
});

Deno.test("exit 0 without the answer of the guard lets nothing pass", async () => {
  await using home = await temporaryHome();
  const real = await project(home);
  const program = `${home.root}/program`;
  await done(home, "add", "hook", "no-cloud-guard", "--set", `agentcli=${program}`, "--yes");
  const { hooks } = JSON.parse(await home.read(".ide/hooks.json"));
  const tried = async (path: string, env: Record<string, string> = {}) => {
    const input = JSON.stringify({ tool_info: { file_path: path } });
    return (await runLine(home, hooks.pre_read_code[0].command, { input, env })).code;
  };
  for (const [what, script] of FALSE_FRIENDS) {
    await Deno.writeTextFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    assert.equal(await tried("src/a.ts"), 2, `the program ${what}`);
  }
  await Deno.copyFile(real, program);
  assert.equal(await tried(".env", { DENO_V8_FLAGS: "--help" }), 2);
  assert.equal(await tried("src/a.ts"), 0);
  const wrong = await callHook(home, { scaffold: "no-cloud-guard", event: "pre_everything" }, { input: "{}" });
  assert.equal(wrong.code, 2);
});

Deno.test("the formatter of a scaffolded hook is no command, and the message says how to set it", async () => {
  await using home = await temporaryHome();
  const { stderr } = await editor(home, "add", "hook", "format-on-write", "--command", "prettier --write", "--yes");
  assert.match(stderr, /--command has no effect on a built-in hook/);
  assert.match(stderr, /set agentcli or formatter of format-on-write with --set name=value/);
  for (const [id, event] of [["format-on-write", "post_run_command"], ["setup-worktree", "post_write_code"]]) {
    const refused = await editor(home, "add", "hook", id ?? "", "--event", event ?? "", "--yes");
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /does nothing on the event/);
  }
  const inDirectory = await editor(home, "add", "instructions", "src", "--scope", "user", "--file", "x", "--yes");
  assert.equal(inDirectory.code, 2, inDirectory.stderr);
  assert.match(inDirectory.stderr, /apply everywhere, not only to src/);
});
