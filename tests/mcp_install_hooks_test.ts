/** The hooks that `agentcli mcp install` adds, run as each assistant runs them. */
import assert from "node:assert/strict";
import { runLine } from "./helpers/editor_program.ts";
import { done, prepared } from "./helpers/installed_assistant.ts";

/** An input of each assistant that touches a path, by the event that it is for. */
const INPUTS: Readonly<Record<"claude" | "codex" | "cursor", [event: string, input: (path: string) => unknown][]>> = {
  claude: [
    ["PreToolUse", (path) => ({ tool_name: "Read", tool_input: { file_path: path } })],
    [
      "PreToolUse",
      (path) => ({ tool_name: "Edit", tool_input: { file_path: path, old_string: "a", new_string: "b" } }),
    ],
    [
      "PreToolUse",
      (path) => ({ tool_name: "Bash", tool_input: { command: `agentcli sandbox -- 'true'; cat ${path}` } }),
    ],
    ["UserPromptSubmit", (path) => ({ prompt: `explain @${path}` })],
  ],
  codex: [["PreToolUse", (path) => ({ tool_name: "view_image", tool_input: { path } })]],
  cursor: [
    ["beforeReadFile", (path) => ({ file_path: path, content: "TOKEN=correct-horse-battery-staple-42" })],
    ["beforeMCPExecution", (path) => ({ tool_name: "read", tool_input: JSON.stringify({ path }) })],
  ],
};

for (const id of ["claude", "codex", "cursor"] as const) {
  Deno.test(`the hooks of ${id} block and let pass as it runs them, with its answers`, async () => {
    await using home = await prepared();
    await home.write("src/a.ts", "let a = 1;\n");
    await done(home.mcp("install", id, "--yes"));
    const file = id === "claude" ? ".claude/settings.json" : `.${id}/hooks.json`;
    const { hooks } = JSON.parse(await home.read(file));
    const env = { PATH: `${home.root}:${Deno.env.get("PATH")}`, CLAUDE_PROJECT_DIR: home.project };
    for (const [event, input] of INPUTS[id]) {
      const [entry] = hooks[event];
      const line = entry.hooks?.[0].command ?? entry.command;
      const ask = (path: string) => {
        const common = { hook_event_name: event, cwd: home.project, workspace_roots: [home.project] };
        return runLine(home, line, { input: JSON.stringify({ ...common, ...input(path) as object }), env });
      };
      const blocked = await ask(".env");
      assert.equal(blocked.code, 2, blocked.stderr);
      assert.match(blocked.stderr, /\.env is protected \(\.agentclisecret:1 no-cloud: \.env\).*use ask_private/);
      assert.doesNotMatch(blocked.stderr + blocked.stdout, /battery/);
      const isCommand = JSON.stringify(input("x")).includes("Bash");
      const open = isCommand ? null : await ask("src/a.ts");
      if (open !== null) assert.equal(open.code, 0, open.stderr);
      if (id !== "cursor") assert.deepEqual([blocked.stdout, open?.stdout ?? ""], ["", ""]);
      else {
        assert.equal(JSON.parse(blocked.stdout).permission, "deny");
        assert.match(JSON.parse(blocked.stdout).agent_message, /use ask_private/);
        assert.deepEqual(JSON.parse(open?.stdout ?? ""), { permission: "allow" });
      }
    }
    // Whatever goes wrong blocks, with a reason: some take a refusal without one for a failure, and go on.
    const [event, input] = INPUTS[id][0] ?? assert.fail();
    const line = hooks[event][0].hooks?.[0].command ?? hooks[event][0].command;
    await Deno.writeTextFile(`${home.root}/agentcli`, '#!/bin/sh\necho "no-cloud-guard: help"\n', { mode: 0o755 });
    const other = await runLine(home, line, { input: JSON.stringify(input("src/a.ts")), env });
    assert.deepEqual([other.code, other.stderr.trim() !== "", other.stdout], [2, true, ""]);
    const gone = await runLine(home, line, { input: "{}", env: { ...env, PATH: Deno.env.get("PATH") ?? "" } });
    assert.deepEqual([gone.code, gone.stderr.trim() !== ""], [2, true]);
    await Deno.remove(`${home.project}/.${id}/hooks/no-cloud-guard.sh`);
    const without = await runLine(home, line, { input: "{}", env });
    assert.deepEqual([without.code, without.stderr.trim() !== ""], [2, true]);
  });
}

Deno.test("in a subdirectory of a repository Codex finds the script, and a guard of the user works anywhere", async () => {
  await using home = await prepared();
  await home.write("sub/a.ts", "let a = 1;\n");
  await new Deno.Command("git", { args: ["init", "-q", home.project] }).output();
  const env = { PATH: `${home.root}:${Deno.env.get("PATH")}` };
  const cwd = `${home.project}/sub`;
  for (const user of [false, true]) {
    await done(home.mcp("install", "codex", "--yes", ...user ? ["--user"] : []));
    const { hooks } = JSON.parse(await Deno.readTextFile(`${user ? home.home : home.project}/.codex/hooks.json`));
    const ask = (path: string) => {
      const input = { hook_event_name: "PreToolUse", cwd, tool_name: "view_image", tool_input: { path } };
      return runLine(home, hooks.PreToolUse[0].hooks[0].command, { input: JSON.stringify(input), env, cwd });
    };
    assert.match((await ask("../.env")).stderr, /\.env is protected/);
    const { code, stderr } = await ask("a.ts");
    assert.equal(code, 0, stderr);
  }
});

Deno.test("install says where the hooks of the assistant are turned off", async () => {
  for (const name of ["settings.local.json", "settings.json"]) {
    await using home = await prepared();
    await home.write(`.claude/${name}`, '{"disableAllHooks": true}');
    const { stderr } = await done(home.mcp("install", "claude", "--yes"));
    assert.match(
      stderr,
      /note: .*\.claude\/settings(?:\.local)?\.json switches all hooks off, so nothing is blocked/,
      name,
    );
  }
  await using home = await prepared();
  await home.write(".claude/settings.local.json", '{"disableAllHooks": false}');
  assert.doesNotMatch((await done(home.mcp("install", "claude", "--yes"))).stderr, /switches all/);
});
