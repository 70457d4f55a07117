/**
 * What the guard lets an assistant write: outside of the project nothing that a shell loads or finds as a program, and
 * no directory with something protected, as a whole.
 */
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

/** Paths for a tool that removes, and whether something protected, or what decides about it, is in or behind them. */
const REMOVED: Readonly<Record<string, boolean>> = {
  "conf": true,
  "conf/cur": true,
  "apps": true,
  "apps/x": true,
  "links": true,
  "l": false,
  ".cursor": true,
  "sub": true,
  ".": true,
  "/H": true,
  "other/open": false,
  "docs": true,
  "docs/deep": false,
  "empty": false,
  "conf/other.txt": false,
};

Deno.test("a directory or a link is not removed by a tool where that would open something", async () => {
  await using at = await project();
  const write = (path: string, text: string) => {
    Deno.mkdirSync(`${at.root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${at.root}/${path}`, text);
  };
  write(".agentclisecret", "no-cloud: .env\nno-cloud: conf/cur\nno-cloud: apps/*/keys\nno-cloud: data\n");
  write("conf/other.txt", "x");
  write("envs/prod.txt", "x");
  write("real/keys/t", "x");
  write(".cursor/hooks.json", "{}");
  write("sub/.agentclisecret", "no-cloud: later\n");
  for (const directory of ["apps", "empty"]) Deno.mkdirSync(`${at.root}/${directory}`);
  Deno.symlinkSync("../envs/prod.txt", `${at.root}/conf/cur`);
  Deno.symlinkSync("../real", `${at.root}/apps/x`);
  for (const [name, isBlocked] of Object.entries(REMOVED)) {
    const path = name.replace("/H", at.home);
    const refusal = await at.askAs("cursor", "preToolUse", { tool_name: "Delete", tool_input: { path } });
    assert.equal(refusal !== null, isBlocked, `${name}: ${refusal?.reason}`);
  }
});

Deno.test("what a link led to stays protected when it is gone, also for an assistant alone", async () => {
  await using at = await project();
  const link = `${at.root}/current`;
  Deno.writeTextFileSync(`${at.root}/.agentclisecret`, "no-cloud: current\n");
  Deno.symlinkSync("src", link);
  assert.notEqual(await at.read("src/a.ts"), null);
  Deno.removeSync(link);
  assert.notEqual(await at.read("src/a.ts"), null);
  assert.equal(await at.read("other/open"), null);
});
