import assert from "node:assert/strict";
import { isWithin } from "../../platform/path.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { writeProtection } from "../policy/write_protected.ts";
import { StartedLater, type WatchedFiles } from "./started_later.ts";

/** One of each kind that `writeProtection` knows, and of what version control makes. */
const DECIDING = [
  ".ide/hooks.json",
  "sub/.ide/Hooks.json",
  ".devin/hooks.v1.json",
  ".ide/hooks/check.sh",
  "deep/er/.claude/hooks/a/b.sh",
  ".vendor/ide/hooks/x",
  ".codeium/windsurf/hooks.json",
  ".config/devin/hooks/x.sh",
  "mcp_config.json",
  "a/b/.mcp.json",
  ".cursor/mcp.json",
  ".claude/settings.local.json",
  ".vscode/tasks.json",
  ".vscode/settings.json",
  "packages/a/.VSCode/Tasks.json",
  ".husky/pre-commit",
  "sub/.GitHooks/post-checkout",
  ".gitmodules",
  ".devcontainer/Dockerfile",
  ".devcontainer.json",
  ".gemini/settings.json",
  ".codex/config.toml",
  "opencode.jsonc",
  ".opencode/plugin/x.js",
  "sub/app.code-workspace",
  ".zed/tasks.json",
  ".helix/languages.toml",
  ".kiro/hooks/on-save.kiro.hook",
  ".aider.conf.yml",
  "crush.json",
  ".bashrc",
  "sub/.git/config",
  "sub/.hg/hgrc",
  "bare/HEAD",
];

interface Place {
  root: string;
  watch(): Promise<WatchedFiles>;
  madeSince(before: WatchedFiles): Promise<string[]>;
  write(name: string): Promise<void>;
}

async function inPlace(work: (place: Place) => Promise<void>, below = ""): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const root = base + below;
  await Deno.mkdir(root, { recursive: true });
  const protection = new ProtectedSet([root]);
  const check = new StartedLater(null);
  const walk = async () => {
    protection.refresh();
    return await protection.hidden();
  };
  try {
    await work({
      root,
      watch: async () => check.watch(await walk(), { roots: [root], programs: [] }),
      madeSince: async (before) => check.madeSince(before, await walk()),
      async write(name) {
        await Deno.mkdir(`${root}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
        await Deno.writeTextFile(`${root}/${name}`, "x");
      },
    });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

Deno.test("whatever decides what other programs run is watched, at any depth, and found when it is new", () =>
  inPlace(async ({ root, watch, madeSince, write }) => {
    await write("src/open.ts");
    await write(".github/workflows/ci.yml");
    const before = await watch();
    for (const name of DECIDING) {
      if (name === "bare/HEAD") { for (const more of ["objects/x", "refs/x"]) await write(`bare/${more}`); }
      await write(name);
      assert.ok(/\.(?:git|hg)\/|bare/.test(name) || writeProtection(`${root}/${name}`, null) !== null, name);
    }
    const after = await watch();
    const made = await madeSince(before);
    for (const name of DECIDING) {
      assert.ok(made.some((path) => isWithin(path, `${root}/${name}`)), `${name} is not among ${made.join("\n")}`);
    }
    for (const name of ["src/open.ts", ".github/workflows/ci.yml"]) {
      assert.ok(!made.some((path) => isWithin(path, `${root}/${name}`)), name);
    }
    assert.deepEqual(await madeSince(after), []);
  }));

Deno.test("markers, packages and what is as it was are left alone", () =>
  inPlace(async ({ watch, madeSince, write }) => {
    await write(".vscode/tasks.json");
    const before = await watch();
    assert.equal(before.present.length, 1);
    for (const name of ["sub/.agentclisecret", "node_modules/x/.vscode/tasks.json", "x.pack", ".env.example"]) {
      await write(name);
    }
    assert.deepEqual(await madeSince(before), []);
  }));

Deno.test("in a root that is a package itself, settings are watched, and in its packages they are not", () =>
  inPlace(async ({ root, watch, madeSince, write }) => {
    const before = await watch();
    for (const name of [".mcp.json", "node_modules/x/.mcp.json", "node_modules/.vscode/tasks.json"]) await write(name);
    assert.deepEqual(await madeSince(before), [`${root}/.mcp.json`]);
  }, "/node_modules/own"));

Deno.test("a link with a leading dot is removed when settings appear behind it, and stays out of the way without them", () =>
  inPlace(async ({ root, watch, madeSince, write }) => {
    await write("shared/readme");
    await write("venv/lib/a.py");
    await Deno.symlink("shared", `${root}/.ide`);
    await Deno.symlink("venv", `${root}/.venv`);
    await Deno.symlink("nowhere", `${root}/.lock`);
    const before = await watch();
    assert.deepEqual(before.present, [], "control: a command can write there");
    await write("shared/hooks.json");
    await write("evil/hooks.json");
    await Deno.symlink("evil", `${root}/.other`);
    await Deno.symlink("evil", `${root}/plain`);
    await Deno.symlink("venv", `${root}/.next`);
    assert.deepEqual((await madeSince(before)).toSorted(), [`${root}/.ide`, `${root}/.other`]);
    const again = await watch();
    assert.deepEqual(again.present.toSorted(), [`${root}/evil`, `${root}/shared`], "what runs later is read-only");
    await write("shared/mcp.json");
    assert.deepEqual(await madeSince(again), [`${root}/.ide`], "more behind it");
    await Deno.remove(`${root}/.venv`);
    await Deno.symlink("evil", `${root}/.venv`);
    assert.ok((await madeSince(again)).includes(`${root}/.venv`), "a link that leads elsewhere by now");
  }));

Deno.test("a settings file that is a link is distinguished from another one in its place", () =>
  inPlace(async ({ root, watch, madeSince, write }) => {
    await write("conf/mcp.json");
    await Deno.symlink("conf/mcp.json", `${root}/.mcp.json`);
    const before = await watch();
    assert.deepEqual(before.present, [`${root}/conf/mcp.json`]);
    await Deno.remove(`${root}/.mcp.json`);
    await write(".mcp.json");
    assert.deepEqual(await madeSince(before), [`${root}/.mcp.json`]);
  }));
