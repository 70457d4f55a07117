/** What the guard lets an assistant write outside of the project: nothing that a shell loads or finds as a program. */
import assert from "node:assert/strict";
import { guardedProject } from "./helpers/guarded_project.ts";

/**
 * Below the home of the user: what shells read when they start, of whatever framework, and where they find programs.
 */
const LOADED = [
  ".zshrc",
  ".oh-my-zsh/custom/x.zsh",
  ".config/zsh/.zshrc",
  ".config/fish/conf.d/x.fish",
  ".zsh.d/x",
  ".nvm/nvm.sh",
  ".local/bin/ls",
  ".deno/bin/x",
  "bin/ls",
  "tools/deep/ls",
  "tools",
  "linked/fish/config.fish",
  "../../../../../../../../etc/profile.d/x.sh",
];

/** What is nobody's start. */
const FREE = ["notes.txt", "Q/src/a.ts", "Q/.config/x", "binary/x", "P/.config/x.json", ".vendor/ide/memories/x.md"];

async function project() {
  const at = await guardedProject({ path: "/usr/bin:/H/tools:/H/tools/deep" });
  Deno.mkdirSync(`${at.home}/.config`);
  Deno.symlinkSync(`${at.home}/.config`, `${at.home}/linked`);
  return at;
}

Deno.test("a write outside of the project to what a shell loads or finds is blocked", async () => {
  await using at = await project();
  for (const path of LOADED) {
    for (const name of [`${at.home}/${path}`, `~/${path}`]) {
      assert.match((await at.write(name))?.reason ?? "", /may not be written/, name);
      for (const given of [{ path: name, content: "x" }, { file: name, edits: [{ newText: "x" }] }]) {
        assert.match((await at.mcp(given))?.reason ?? "", /may not be written/, name);
      }
      assert.notEqual(await at.mcp({ source: "src/a.ts", destination: name }, "move_file"), null, name);
    }
  }
  for (const path of FREE) {
    assert.equal(await at.write(`${at.home}/${path}`), null, path);
    assert.equal(await at.mcp({ path: `${at.home}/${path}`, content: "a word" }), null, path);
  }
});

Deno.test("a tool that writes may not write what makes other programs run commands either", async () => {
  await using at = await project();
  for (const path of [".vscode/tasks.json", ".husky/pre-commit", ".clinerules/hooks/PreToolUse"]) {
    assert.notEqual(await at.mcp({ path, content: "x" }), null, path);
    assert.equal(await at.mcp({ path }), null, path);
  }
  // Content is no path.
  assert.equal(await at.mcp({ path: "src/a.ts", content: ".vscode/tasks.json" }), null);
});

Deno.test("a project that lies in a hidden directory is written as any other", async () => {
  await using at = await project();
  const root = `${at.home}/.dotfiles`;
  Deno.renameSync(at.root, root);
  assert.equal(await at.ask("pre_write_code", { file_path: `${root}/zsh/aliases`, edits: [] }, root), null);
  assert.notEqual(await at.ask("pre_write_code", { file_path: `${at.home}/.zsh/aliases`, edits: [] }, root), null);
});
