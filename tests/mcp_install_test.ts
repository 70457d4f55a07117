/** `agentcli mcp install` and `uninstall`: each assistant's server, guard and rule, and what becomes of them. */
import assert from "node:assert/strict";
import { fileTree } from "./helpers/file_tree.ts";
import { done, prepared } from "./helpers/installed_assistant.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { problemsOf } from "./helpers/json_schema.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const ASSISTANTS = ["claude", "codex", "cursor", "windsurf"] as const;
type AssistantId = (typeof ASSISTANTS)[number];

/** Files that people have, with other servers, comments and line ends of their own. */
const THEIRS: Readonly<Record<string, string>> = {
  "P/.mcp.json": '{\r\n  // mine\r\n  "mcpServers": {"files": {"command": "x"}},\r\n}\r\n',
  "P/.claude/settings.json":
    '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}',
  "P/.codex/config.toml": '# mine\nmodel = "x"\n\n[mcp_servers.files]\ncommand = "x" # there',
  "P/.cursor/hooks.json": '{\n\t"version": 1,\n\t"hooks": {}\n}\n',
  "P/AGENTS.md": "# Ours\n\ntext",
  "H/.claude.json": '{"numStartups":3,"mcpServers":{},"projects":{}}',
  "H/.claude/settings.json": "{}\n",
  "H/.codex/config.toml": '[projects."/a"]\ntrust_level = "trusted"\n',
  "H/.cursor/mcp.json": '{ "mcpServers": { "files": { "url": "https://example.com/mcp" } } }',
  "H/.codeium/windsurf/mcp_config.json": '{"mcpServers":{"files":{"serverUrl":"https://example.com/mcp"}}}',
  "H/.codeium/windsurf/memories/global_rules.md": "# Rules\n",
};

async function withTheirs(home: TemporaryHome): Promise<void> {
  for (const [name, text] of Object.entries(THEIRS)) {
    const path = pathOf(home, name);
    await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
}

function pathOf({ project, home }: TemporaryHome, name: string): string {
  return name.replace(/^P/, project).replace(/^H/, home);
}

const treeOf = ({ project, home }: TemporaryHome) => [...fileTree(project), ...fileTree(home)];

const read = (home: TemporaryHome, name: string) => Deno.readTextFile(pathOf(home, name));

for (const id of ASSISTANTS) {
  for (const user of [false, true]) {
    for (const theirs of [false, true]) {
      const where = `${user ? "for the user" : "in a project"}, ${
        theirs ? "beside what others wrote" : "where nothing was"
      }`;
      Deno.test(`${id} is installed ${where}, once, and removed to the byte`, async () => {
        await using home = await prepared();
        if (theirs) await withTheirs(home);
        const before = treeOf(home);
        const options = user ? ["--user"] : [];
        const dry = await done(home.mcp("install", id, ...options, "--dry-run"));
        assert.match(dry.stdout, /\+.*"?agentcli"?/);
        assert.deepEqual(treeOf(home), before);
        await done(home.mcp("install", id, ...options, "--yes"));
        const after = treeOf(home);
        const again = await done(home.mcp("install", id, ...options, "--yes"));
        assert.match(again.stderr, /nothing to change/);
        assert.deepEqual(treeOf(home), after);
        for (const [path, text] of theirs ? Object.entries(THEIRS) : []) {
          for (
            const line of text.split(/\r?\n/).filter((one) =>
              /mine|there|files|numStartups|trust_level|"true"/.test(one)
            )
          ) {
            // What was written on one line may get others beside it.
            const words = line.match(/\/\/ mine|# mine|there|"?files"?|numStartups|trust_level|"true"/g) ?? [];
            for (const word of words) assert.ok((await read(home, path)).includes(word), `${path}: ${word}`);
          }
        }
        await done(home.mcp("uninstall", id, ...options, "--yes"));
        assert.deepEqual(treeOf(home), before);
      });
    }
  }
}

const json = async (home: TemporaryHome, name: string) => JSON.parse(await read(home, name));

Deno.test("Claude Code gets a server, hooks on every tool and every prompt, and a rule", async () => {
  await using home = await prepared();
  const { stderr } = await done(home.mcp("install", "claude", "--yes"));
  assert.match(stderr, /no directory in your home/);
  const entry = { type: "stdio", command: "agentcli", args: ["mcp", "serve"] };
  assert.deepEqual(await json(home, "P/.mcp.json"), { mcpServers: { agentcli: entry } });
  const { hooks } = await json(home, "P/.claude/settings.json");
  assert.deepEqual(Object.keys(hooks), ["PreToolUse", "UserPromptSubmit"]);
  const [group] = hooks.PreToolUse;
  assert.deepEqual(Object.keys(group), ["hooks"], "without a matcher it is for every tool");
  const [{ type, command, timeout, onFailure }] = group.hooks;
  assert.deepEqual([type, timeout > 20, onFailure], ["command", true, "block"]);
  assert.match(
    command,
    /^bash "\$\{CLAUDE_PROJECT_DIR:-\.\}"\/'\.claude\/hooks\/no-cloud-guard\.sh' PreToolUse claude \|\| exit 2$/,
  );
  assert.match(await read(home, "P/.claude/rules/agentcli-private.md"), /ask_private/);
  await done(home.mcp("install", "claude", "--user", "--yes"));
  assert.deepEqual((await json(home, "H/.claude.json")).mcpServers.agentcli.command, `${home.root}/agentcli`);
  assert.match(JSON.stringify(await json(home, "H/.claude/settings.json")), /bash '[^']*\/\.claude\/hooks\//);
  // One goes, and the other stays.
  await done(home.mcp("uninstall", "claude", "--yes"));
  assert.ok((await json(home, "H/.claude.json")).mcpServers.agentcli);
});

Deno.test("Codex gets a table after its settings, a line for each shell, and a request to trust the hook", async () => {
  await using home = await prepared();
  await withTheirs(home);
  const { stderr } = await done(home.mcp("install", "codex", "--yes"));
  assert.match(stderr, /until you trust the hook, Codex does not run it and nothing is blocked/);
  assert.equal(
    await read(home, "P/.codex/config.toml"),
    `${THEIRS["P/.codex/config.toml"]}\n\n[mcp_servers.agentcli]\ncommand = "agentcli"\nargs = ["mcp", "serve"]\n`,
  );
  const { hooks } = await json(home, "P/.codex/hooks.json");
  assert.deepEqual(Object.keys(hooks), ["PreToolUse", "UserPromptSubmit"]);
  const [{ command, commandWindows }] = hooks.PreToolUse[0].hooks;
  assert.match(command, /'\.codex\/hooks\/no-cloud-guard\.sh' PreToolUse codex \|\| exit 2$/);
  assert.match(commandWindows, /no-cloud-guard\.ps1'.* PreToolUse codex .*exit 2/);
  assert.match(await read(home, "P/AGENTS.md"), /^# Ours\n\ntext\n\n<!-- agentcli:begin agentcli-private -->/);
});

Deno.test("Cursor gets hooks that block when they fail, and keeps the version while others have hooks", async () => {
  await using home = await prepared();
  await done(home.mcp("install", "cursor", "--yes"));
  const { args } = (await json(home, "P/.cursor/mcp.json")).mcpServers.agentcli;
  assert.deepEqual(args, ["--cwd", "${workspaceFolder}", "mcp", "serve"]);
  const { version, hooks } = await json(home, "P/.cursor/hooks.json");
  assert.equal(version, 1);
  assert.ok(
    ["beforeReadFile", "beforeShellExecution", "beforeMCPExecution", "preToolUse"].every((event) => event in hooks),
  );
  for (const [entry] of Object.values(hooks) as { failClosed: boolean }[][]) assert.equal(entry?.failClosed, true);
  assert.match(await read(home, "P/.cursor/rules/agentcli-private.mdc"), /^---\n[^]*alwaysApply: true\n---\n\n## /);
  hooks.stop = [{ command: "./theirs.sh" }];
  await home.write(".cursor/hooks.json", JSON.stringify({ version, hooks }));
  await done(home.mcp("uninstall", "cursor", "--yes"));
  assert.deepEqual(await json(home, "P/.cursor/hooks.json"), {
    version: 1,
    hooks: { stop: [{ command: "./theirs.sh" }] },
  });
});

Deno.test("Windsurf gets what its schemas know, and keeps the guard where that is asked", async () => {
  await using home = await prepared();
  await done(home.mcp("install", "windsurf", "--yes"));
  for (
    const [name, file] of [["windsurf-hooks", "P/.windsurf/hooks.json"], [
      "windsurf-mcp-config",
      "H/.codeium/windsurf/mcp_config.json",
    ]] as const
  ) {
    const schema = JSON.parse(
      await Deno.readTextFile(new URL(`fixtures/editor/schemas/${name}.schema.json`, import.meta.url)),
    );
    assert.deepEqual(problemsOf(await json(home, file), schema), []);
  }
  await done(home.mcp("uninstall", "windsurf", "--yes", "--keep-guard"));
  assert.ok("hooks" in await json(home, "P/.windsurf/hooks.json"));
  assert.deepEqual(fileTree(home.home).size, 0);
});

Deno.test("the server that projects share in Windsurf goes with the last of them", async () => {
  await using home = await prepared();
  const other = `${home.root}/other`;
  await Deno.mkdir(`${other}/.git`, { recursive: true });
  const env = { PATH: `${home.root}:${Deno.env.get("PATH")}` };
  const there = (command: string) => runInProcess(["mcp", command, "windsurf", "--yes"], { home, env, cwd: other });
  await done(home.mcp("install", "windsurf", "--yes"));
  await done(there("install"));
  await done(home.mcp("uninstall", "windsurf", "--yes"));
  assert.ok((await json(home, "H/.codeium/windsurf/mcp_config.json")).mcpServers.agentcli);
  await done(there("uninstall"));
  assert.equal(fileTree(home.home).size, 0);
});

Deno.test("an entry of others, a file that does not parse, and a link are reported and not touched", async () => {
  await using home = await prepared();
  const foreign: [AssistantId, string, string][] = [
    ["claude", ".mcp.json", '{"mcpServers":{"agentcli":{"command":"theirs"}}}'],
    ["claude", ".claude/settings.json", '{"hooks": {,}'],
    ["codex", ".codex/config.toml", '[mcp_servers.agentcli]\ncommand = "theirs"\n'],
    ["codex", ".codex/config.toml", 'mcp_servers.agentcli = { command = "theirs" }\n'],
    ["codex", ".codex/config.toml", 'a = "no end\n'],
    ["cursor", ".cursor/hooks.json", '{"version": 2, "hooks": {}}'],
    ["cursor", ".cursor/mcp.json", "[]"],
  ];
  for (const [id, file, text] of foreign) {
    await home.write(file, text);
    const { code, stderr } = await home.mcp("install", id, "--yes");
    assert.equal(code, 1, file);
    assert.match(stderr, new RegExp(`not applied: \\w+:[\\w-]+: ${file.replaceAll(".", "\\.")}: `));
    assert.equal(await home.read(file), text);
    await done(home.mcp("uninstall", id, "--yes"));
    await Deno.remove(`${home.project}/${file}`);
  }
  await home.write("elsewhere/settings.json", "{}\n");
  await Deno.mkdir(`${home.project}/.claude`, { recursive: true });
  await Deno.symlink("../elsewhere/settings.json", `${home.project}/.claude/settings.json`);
  const linked = await home.mcp("install", "claude", "--yes");
  assert.deepEqual([linked.code, /is a link/.test(linked.stderr)], [1, true]);
  assert.equal(await home.read("elsewhere/settings.json"), "{}\n");
});

Deno.test("a file that is read-only stops all of it", async () => {
  await using home = await prepared();
  await home.write(".cursor/hooks.json", '{"version": 1}');
  await Deno.chmod(`${home.project}/.cursor/hooks.json`, 0o444);
  const before = treeOf(home);
  const { code, stderr } = await home.mcp("install", "cursor", "--yes");
  assert.deepEqual([code, /read-only; nothing was changed/.test(stderr)], [2, true], stderr);
  assert.deepEqual(treeOf(home), before);
});

Deno.test("what somebody changed by hand stays and is reported; --force removes it", async () => {
  await using home = await prepared();
  await done(home.mcp("install", "claude", "--yes"));
  await done(home.mcp("install", "codex", "--yes"));
  await home.write(".mcp.json", (await home.read(".mcp.json")).replace('"serve"', '"serve", "--audit"'));
  await home.write(".codex/config.toml", (await home.read(".codex/config.toml")).replace('"agentcli"', '"other"'));
  const settings = await json(home, "P/.claude/settings.json");
  settings.hooks.PreToolUse[0].hooks.push({ type: "command", command: "theirs" });
  await home.write(".claude/settings.json", JSON.stringify(settings));
  const drift = await runInProcess(["editor", "check"], { home });
  assert.equal(drift.code, 1);
  for (const file of [".mcp.json", ".codex/config.toml", ".claude/settings.json"]) {
    assert.ok(drift.stdout.includes(file), file);
  }
  for (const id of ["claude", "codex"]) {
    const { code, stderr } = await home.mcp("uninstall", id, "--yes");
    assert.equal(code, 1);
    assert.match(stderr, /it was changed by hand since it was installed/);
  }
  assert.match(await home.read(".mcp.json"), /--audit/);
  assert.match(await home.read(".codex/config.toml"), /"other"/);
  assert.match(await home.read(".claude/settings.json"), /theirs/);
  for (const id of ["claude", "codex"]) await done(home.mcp("uninstall", id, "--yes", "--force"));
  assert.doesNotMatch([...fileTree(home.project).keys()].join(), /\.mcp\.json|no-cloud-guard|config\.toml/);
});

Deno.test("another program and an older guard are upgraded, and its time limit stays", async () => {
  await using home = await prepared();
  await done(home.mcp("install", "claude", "--yes"));
  const script = `${home.project}/.claude/hooks/no-cloud-guard.sh`;
  await done(home.mcp("install", "claude", "--yes", "--program", "/opt/agentcli"));
  assert.equal((await json(home, "P/.mcp.json")).mcpServers.agentcli.command, "/opt/agentcli");
  assert.match(await Deno.readTextFile(script), /^agentcli='\/opt\/agentcli'$/m);
  // As an earlier version would have written and noted it.
  const ledger = `${home.agentcliHome}/editor/ledger.json`;
  const old = (await Deno.readTextFile(script)).replace("limit_seconds='20'", "limit_seconds='9'") + "# earlier\n";
  await Deno.writeTextFile(script, old);
  await done(home.mcp("uninstall", "claude", "--yes", "--force"));
  await done(home.mcp("install", "claude", "--yes"));
  const noted = JSON.parse(await Deno.readTextFile(ledger));
  const guard = noted.artifacts.find(({ kind }: { kind: string }) => kind === "hook");
  const piece = guard.pieces.find(({ piece }: { piece: { path: string } }) => piece.path === script);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(old))).toHex();
  Object.assign(piece, { written: hash });
  piece.piece.content = new TextEncoder().encode(old).toBase64();
  await Deno.writeTextFile(ledger, JSON.stringify(noted));
  await Deno.writeTextFile(script, old);
  const checked = await runInProcess(["editor", "check"], { home });
  assert.match(checked.stderr, /an earlier version wrote hook:no-cloud-guard/);
  await done(home.mcp("install", "claude", "--yes"));
  const now = await Deno.readTextFile(script);
  assert.ok(!now.includes("# earlier") && now.includes("limit_seconds='9'"));
});

Deno.test("without the program on PATH nothing is written, unless it is named", async () => {
  await using home = await temporaryHome();
  const env = { PATH: "/usr/bin:/bin" };
  const without = await runInProcess(["mcp", "install", "cursor", "--yes"], { home, env });
  assert.equal(without.code, 2);
  assert.match(without.stderr, /not on PATH[^]*--program/);
  assert.equal(fileTree(home.project).size, 0);
  const relative = await runInProcess(["mcp", "install", "cursor", "--yes", "--program", "./agentcli"], { home, env });
  assert.equal(relative.code, 2);
  const named = await runInProcess(["mcp", "install", "cursor", "--yes", "--program", "/opt/agentcli"], { home, env });
  assert.equal(named.code, 0, named.stderr);
  assert.match(named.stderr, /nothing is protected in this project yet/);
});

Deno.test("the variables of an assistant name its directory", async () => {
  await using home = await prepared();
  const elsewhere = `${home.root}/conf`;
  const env = { PATH: `${home.root}:${Deno.env.get("PATH")}`, CODEX_HOME: elsewhere, CLAUDE_CONFIG_DIR: elsewhere };
  for (const id of ["codex", "claude"]) {
    await done(runInProcess(["mcp", "install", id, "--user", "--yes"], { home, env }));
  }
  const names = [...fileTree(elsewhere).keys()].map((path) => path.slice(elsewhere.length + 1));
  assert.ok(
    [".claude.json", "config.toml", "hooks.json", "settings.json", "AGENTS.md"].every((name) => names.includes(name)),
    String(names),
  );
  for (const id of ["codex", "claude"]) {
    await done(runInProcess(["mcp", "uninstall", id, "--user", "--yes"], { home, env }));
  }
  assert.deepEqual(
    [...fileTree(home.home).keys(), ...await Array.fromAsync(Deno.readDir(elsewhere)).catch(() => [])],
    [],
  );
});

Deno.test("the plan for a program names the assistant and every file", async () => {
  await using home = await prepared();
  const { stdout } = await done(home.mcp("install", "codex", "--dry-run", "--json"));
  const { dialect, changes, applied } = JSON.parse(stdout);
  assert.deepEqual([dialect, applied], ["codex", false]);
  const paths = changes.map(({ path }: { path: string }) => path.slice(home.project.length + 1)).sort();
  assert.deepEqual(paths, [
    ".codex/config.toml",
    ".codex/hooks.json",
    ".codex/hooks/no-cloud-guard.ps1",
    ".codex/hooks/no-cloud-guard.sh",
    "AGENTS.md",
  ]);
});

Deno.test("its own server is never one of its own sessions", async () => {
  await using home = await prepared();
  await done(home.mcp("install", "claude", "--yes"));
  const mcp = JSON.parse(await home.read(".mcp.json"));
  mcp.mcpServers.other = { command: "true" };
  await home.write("other.json", JSON.stringify(mcp));
  const listed = await done(home.mcp("list", "--json"));
  assert.deepEqual(JSON.parse(listed.stdout).servers, []);
  const imported = await home.mcp("import", "other.json");
  assert.match(imported.stdout, /^added other\n$/);
  assert.match(imported.stderr, /agentcli is left out: it is the server of agentcli itself/);
  const added = await home.mcp("add", "self", "--", "agentcli", "mcp", "serve");
  assert.equal(added.code, 2);
  // The control: another server of the project's file is there.
  await home.write(".mcp.json", JSON.stringify({ mcpServers: { ...mcp.mcpServers, third: { command: "true" } } }));
  const names = JSON.parse((await done(home.mcp("list", "--json"))).stdout).servers.map(({ name }: { name: string }) =>
    name
  );
  assert.deepEqual(names.sort(), ["other", "third"]);
});

Deno.test("the doctor runs each guard, finds the one that does not block, and starts no server of ours", async () => {
  await using home = await prepared();
  const env = {
    PATH: `${home.root}:${Deno.env.get("PATH")}`,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
  };
  for (const id of ["claude", "cursor"]) await done(home.mcp("install", id, "--yes"));
  const doctor = () => runInProcess(["editor", "doctor", "--json"], { home, env });
  const well = await doctor();
  const findings: { level: string; subject: string; message: string; fix?: string }[] =
    JSON.parse(well.stdout).findings;
  assert.equal(well.code, 0, well.stdout);
  const ok = findings.filter(({ level, message }) =>
    level === "ok" && /blocks a protected file with its rule/.test(message)
  );
  assert.equal(ok.length, 8, well.stdout);
  assert.equal(findings.some(({ level }) => level === "warning"), false);
  await Deno.remove(`${home.project}/.claude/hooks/no-cloud-guard.sh`);
  await home.write(".cursor/hooks.json", (await home.read(".cursor/hooks.json")).replaceAll("true", "false"));
  const ill = await doctor();
  assert.equal(ill.code, 1);
  const failures = JSON.parse(ill.stdout).findings.filter(({ level }: { level: string }) => level === "failure");
  assert.deepEqual(
    new Set(failures.map(({ fix }: { fix: string }) => fix)),
    new Set([
      "agentcli mcp install claude --force",
      "agentcli mcp install cursor --force",
    ]),
  );
});

Deno.test("the doctor finds what turns all hooks of an assistant off", async () => {
  await using home = await prepared();
  const doctor = async () => {
    const env = { PATH: `${home.root}:${Deno.env.get("PATH")}` };
    const { stdout } = await runInProcess(["editor", "doctor", "--json"], { home, env });
    return (JSON.parse(stdout).findings as { message: string }[]).filter(({ message }) => /switches all/.test(message));
  };
  for (const id of ["claude", "codex"]) await done(home.mcp("install", id, "--yes"));
  assert.deepEqual(await doctor(), []);
  await home.write(".claude/settings.local.json", '{"disableAllHooks": true}');
  await home.write(".codex/config.toml", `${await home.read(".codex/config.toml")}\n[features]\nhooks = false\n`);
  assert.equal((await doctor()).length, 2);
});

Deno.test("keys that stand beside ours are in no diff", async () => {
  await using home = await prepared();
  const key = "0f1e2d3c4b5a69788796a5b4";
  await home.write(
    ".codex/config.toml",
    `[mcp_servers.files]\ncommand = "x"\nenv = { A = "b", API_KEY = "${key}", TOKEN = "${key}", C = "d" }\n`,
  );
  await home.write(".mcp.json", `{"mcpServers":{"files":{"command":"x","env":{"API_KEY":"${key}"}}}}`);
  for (const id of ["codex", "claude"]) {
    const { stdout } = await done(home.mcp("install", id, "--dry-run"));
    assert.match(stdout, /API_KEY/);
    assert.doesNotMatch(stdout, new RegExp(key));
  }
});
