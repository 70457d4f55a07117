import assert from "node:assert/strict";
import { writeProtection } from "./write_protected.ts";

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
  ];
  for (const path of paths) assert.ok(writeProtection(`/p/${path}`, home), path);
});

Deno.test("ordinary files are not write-protected, nor is .envrc", () => {
  const paths = [".gitignore", ".github/workflows/a.yml", "hooks.json", "src/mcp.json", ".envrc", ".env", "git/config"];
  for (const path of [...paths, "settings.json", ".agentclisecret.md", ".bashrc", "ssh/config"]) {
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
