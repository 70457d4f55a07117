import assert from "node:assert/strict";
import { writeProtection, writeProtectionOnDisk } from "./write_protected.ts";

const home = "/home/u";

Deno.test("markers, git internals and files that start processes are write-protected in every spelling", () => {
  const paths = [
    ".agentclisecret",
    "a/.AgentCLISecret",
    ".git",
    ".git/hooks/pre-commit",
    "sub/.GIT/config",
    ".g\u200cit/config",
    ".ｇｉｔ/config",
    ".git./config",
    ".git::$INDEX_ALLOCATION/config",
    "git~1/config",
    ".ide/hooks.json",
    "sub/.ide/Hooks.json",
    ".windsurf/hooks.json",
    ".devin/hooks.v1.json",
    ".ide/hooks/check.sh",
    "mcp_config.json",
    "a/b/.mcp.json",
    ".cursor/mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".vscode/tasks.json",
    ".husky/pre-commit",
    "sub/.GitHooks/post-checkout",
    ".gitmodules",
    "sub/.VSCode/Tasks.json",
    ".devcontainer",
    ".devcontainer/devcontainer.json",
    ".devcontainer/Dockerfile",
    ".devcontainer.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".codex/config.toml",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/plugin/x.js",
    ".vscode/settings.json",
    "sub/app.code-workspace",
    ".zed/tasks.json",
    ".helix/languages.toml",
    ".kiro/hooks/on-save.kiro.hook",
    ".clinerules/hooks/PreToolUse",
    ".github/hooks/x.json",
    "sub/.assistant/hooks/deep/x.sh",
    ".factory/settings.json",
    ".amazonq/cli-agents/x.json",
    ".aider.conf.yml",
    "crush.json",
    ".crush.json",
  ];
  for (const path of paths) assert.ok(writeProtection(`/p/${path}`, home), path);
});

Deno.test("ordinary files are not write-protected, nor is .envrc", () => {
  const paths = [".gitignore", ".github/workflows/a.yml", "hooks.json", "src/mcp.json", ".envrc", ".env", "git/config"];
  for (
    const path of [
      ...paths,
      "settings.json",
      ".vscode/launch.json",
      "devcontainer/x",
      ".agentclisecret.md",
      ".bashrc",
      "ssh/config",
    ]
  ) {
    assert.equal(writeProtection(`/p/${path}`, home), null, path);
  }
});

Deno.test("start-up files are write-protected in the user's home, and everywhere when the home is unknown", () => {
  for (const name of [".bashrc", ".zshenv", ".profile", ".ssh/authorized_keys", ".config/fish/config.fish"]) {
    assert.ok(writeProtection(`${home}/${name}`, home), name);
  }
  assert.equal(writeProtection(`${home}/dotfiles/.bashrc`, home), null);
  assert.ok(writeProtection("/p/.bashrc", null));
});

Deno.test("hooks of the user and of all users, and the program itself, are write-protected", () => {
  const own = [
    ".vendor/ide/hooks.json",
    ".vendor/ide/hooks/guard.sh",
    ".codeium/windsurf/hooks.json",
    ".codeium/windsurf/hooks/guard.ps1",
    ".config/devin/hooks.json",
    ".config/devin/hooks/x.sh",
    ".local/share/agentcli/agentcli.js",
    ".local/bin/agentcli",
  ];
  for (const path of [...own.map((name) => `${home}/${name}`), "/etc/windsurf/hooks.json", "/etc/devin/hooks/x.sh"]) {
    assert.ok(writeProtection(path, home), path);
  }
  for (const path of [".vendor/ide/notes.md", ".codeium/hooks.md", ".local/bin/other", ".local/share/agentclip/a"]) {
    assert.equal(writeProtection(`${home}/${path}`, home), null, path);
  }
});

Deno.test("another name of a write-protected file is known behind links and by what it is", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const name of ["conf", ".vscode", "sub", "rules"]) await Deno.mkdir(`${root}/${name}`);
    for (const name of ["conf/settings.json", "tasks.json", "rules/m", "sub/own", ".mcp.json", "open.txt"]) {
      await Deno.writeTextFile(`${root}/${name}`, name);
    }
    await Deno.symlink("conf", `${root}/.claude`);
    await Deno.symlink("../tasks.json", `${root}/.vscode/tasks.json`);
    await Deno.symlink("../rules/m", `${root}/sub/.agentclisecret`);
    await Deno.link(`${root}/.mcp.json`, `${root}/second.txt`);
    await Deno.link(`${root}/open.txt`, `${root}/twice.txt`);
    await Deno.symlink("open.txt", `${root}/.link`);
    const options = { roots: [root], markers: [`${root}/sub/.agentclisecret`], user: { userHome: null } };
    const reason = (name: string) =>
      writeProtectionOnDisk({ path: `${root}/${name}`, real: `${root}/${name}` }, options);
    for (const name of ["conf/settings.json", "conf/settings.new.json", "tasks.json", "rules/m", "second.txt"]) {
      assert.ok(await reason(name), name);
    }
    for (const name of ["open.txt", "twice.txt", "conf/other.txt", "new.txt", "sub/own", "rules/other"]) {
      assert.equal(await reason(name), null, name);
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
