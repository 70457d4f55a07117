/**
 * Trees of one repository: a linked one has the rules of the main one, and a repository is opened only where it names
 * the tree that names it.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const bubblewrap = { ignore: !hasBubblewrap() };
const args = ["--permission-mode", "bypassPermissions"];
const SHOW = [ask({ name: "Git", input: { action: "show", rev: "HEAD" } }), say("Done.")];

async function git(cwd: string, ...words: string[]): Promise<void> {
  const settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
  const { success, stderr } = await new Deno.Command("git", { args: [...settings, ...words], cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

async function commitAll(cwd: string): Promise<void> {
  await git(cwd, "add", "-A");
  await git(cwd, "commit", "-qm", "x");
}

/** Makes a repository with one open file and a linked worktree of it; returns both. */
async function linkedTrees(stage: Stage): Promise<[main: string, tree: string]> {
  const [main, tree] = [`${stage.home.root}/M`, `${stage.home.root}/W`];
  await Deno.mkdir(main);
  await git(main, "init", "-q");
  await stage.write(`${main}/a.txt`, "an open line\n");
  await commitAll(main);
  await git(main, "worktree", "add", "-q", tree);
  return [main, tree];
}

async function shown(stage: Stage, cwd: string): Promise<string> {
  const { results, done } = await stage.play("rem", { cwd, args, script: SHOW });
  assert.equal(done.code, 0, done.stderr);
  return results[0] ?? "";
}

Deno.test("a .git that names the repository of another project is not opened", bubblewrap, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const [a, b, gits] = ["A", "B", "gits"].map((name) => `${stage.home.root}/${name}`) as [string, string, string];
  for (const path of [a, b, gits]) await Deno.mkdir(path);
  await git(b, "init", "-q", `--separate-git-dir=${gits}/B.git`);
  await stage.plant(`${b}/sub/.env`, "env");
  await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
  await commitAll(b);
  await stage.play("loc", { cwd: b, script: [say("Hello.")] });
  await stage.write(`${a}/.agentclisecret`, "no-cloud: nothing\n");
  await stage.write(`${a}/.git`, `gitdir: ${gits}/B.git\n`);
  assert.match(await shown(stage, a), /is not opened/);
  await git(b, "config", "core.worktree", b);
  assert.match(await shown(stage, b), /protected/, "control: the tree that it names, with its rules");
});

Deno.test("a submodule is opened by its own tree alone, a linked worktree too", bubblewrap, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const [a, b, other, tree] = ["A", "B", "L", "W"].map((name) => `${stage.home.root}/${name}`) as [
    string,
    string,
    string,
    string,
  ];
  for (const path of [a, b, other]) await Deno.mkdir(path);
  await git(other, "init", "-q");
  await stage.write(`${other}/open.txt`, "an open line\n");
  await commitAll(other);
  await git(b, "init", "-q");
  await git(b, "submodule", "--quiet", "add", other, "mod");
  await commitAll(b);
  await git(b, "worktree", "add", "-q", tree);
  for (const root of [a, `${b}/mod`, tree]) await stage.write(`${root}/.agentclisecret`, "no-cloud: nothing\n");
  for (const pointer of [`${b}/.git/modules/mod`, `${b}/.git/worktrees/W`, `${b}/.git`]) {
    await stage.write(`${a}/.git`, `gitdir: ${pointer}\n`);
    assert.match(await shown(stage, a), /is not opened/, pointer);
  }
  await Deno.remove(`${a}/.git`);
  await Deno.symlink(`${b}/.git`, `${a}/.git`);
  assert.match(await shown(stage, a), /is not opened/);
  assert.match(await shown(stage, `${b}/mod`), /an open line/, "control: the submodule");
  assert.match(await shown(stage, tree), /\.gitmodules/, "control: the worktree");
});

Deno.test("a linked worktree has the rules of its main tree, also by lines that are gone", bubblewrap, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const [main, tree] = [`${stage.home.root}/main`, `${stage.home.root}/tree`];
  await Deno.mkdir(main);
  await git(main, "init", "-q");
  await stage.plant(`${main}/secrets/k.txt`, "k");
  await stage.write(`${main}/a.txt`, "an open line\n");
  await commitAll(main);
  await git(main, "worktree", "add", "-q", tree);
  stage.exempt(`${tree}/secrets/k.txt`);
  await stage.write(`${main}/.agentclisecret`, "no-cloud: secrets\n");
  await stage.play("loc", { cwd: main, script: [say("Hello.")] });
  const script = [
    ask(want("read", { path: "secrets/k.txt" }), want("read", { path: "a.txt" })),
    ask(want("shell", { command: "cat secrets/k.txt; git show HEAD:secrets/k.txt; cat a.txt" })),
    say("Done."),
  ];
  for (const isGone of [false, true]) {
    if (isGone) await Deno.remove(`${main}/.agentclisecret`);
    const { results, sent } = await stage.play("rem", { cwd: tree, args, script });
    assert.match(results[0] ?? "", /is protected/);
    assert.match(results[1] ?? "", /an open line/, "control: an open file");
    assert.match(results[2] ?? "", /an open line/, "control: the command ran");
    assert.ok(!sent.includes(stage.canary("k")));
  }
});

Deno.test("a file of a worktree that is known from the main tree is released where it lies", bubblewrap, async () => {
  const line = "a public default of the connection\n";
  const read = [ask(want("read", { path: "pub.txt" })), say("Done.")];
  await using stage = await openStage({ bare: true, marker: null });
  const [main, tree] = await linkedTrees(stage);
  await stage.write(`${main}/.env`, line);
  await stage.write(`${main}/.agentclisecret`, "no-cloud: .env\n");
  await stage.play("loc", { cwd: main, script: [say("Hello.")] });
  await stage.write(`${tree}/pub.txt`, line);
  const script = [ask(want("shell", { command: `printf '%s' '${line.trim()}' > pub.txt` })), say("Done.")];
  await stage.play("loc", { cwd: main, args, script });
  await stage.write(`${main}/.env`, "the content that it has since then\n");
  const secrets = async (cwd: string, ...argv: string[]) =>
    (await stage.play("loc", { cwd, script: [], argv: ["secrets", ...argv] })).done;
  const remote = async () => (await stage.play("rem", { cwd: tree, script: read })).results[0] ?? "";
  assert.match(await remote(), /is protected/, "control");
  const refused = await secrets(tree, "trust", "pub.txt", "--yes");
  assert.match(refused.stderr, /another tree of the repository .*run this there/);
  assert.equal((await secrets(main, "trust", "pub.txt", "--yes")).code, 0);
  if (/is protected/.test(await remote())) {
    const trusted = await secrets(tree, "trust", "pub.txt", "--yes");
    assert.equal(trusted.code, 0, trusted.stderr);
  }
  assert.match(await remote(), /a public default/);
  assert.match(await remote(), /a public default/, "and in the next session");
});

Deno.test("a local model changes a protected file in a linked worktree, as the rules of the main tree last", async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const [main, tree] = await linkedTrees(stage);
  await stage.write(`${main}/.agentclisecret`, "no-cloud: .env\n");
  await stage.plant(`${tree}/.env`, "env", (canary) => `TOKEN=${canary}\n`);
  stage.exempt(`${tree}/a.txt`);
  const edit = (path: string, text: string) => ask({ name: "Write", input: { file_path: path, content: text } });
  const content = `KEY=${stage.canary("env")}\n`;
  const script = [
    ...[".env", "a.txt"].map((path) => ask(want("read", { path }))),
    ...[".env", "a.txt"].map((path) => edit(path, content)),
    say("Done."),
  ];
  const { results } = await stage.play("loc", { cwd: tree, args, script });
  assert.match(results[2] ?? "", /^Wrote|^Updated|^Edited/);
  assert.match(results[3] ?? "", /is not protected/, "control");
  assert.equal(await Deno.readTextFile(`${tree}/.env`), content);
});

for (const inside of ["a plain directory", "a repository", "a submodule", "a linked worktree"]) {
  Deno.test(`the rules of a main tree hold in its linked worktree below ${inside}`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const [main, tree, other] = ["main", "tree", "other"].map((name) => `${stage.home.root}/${name}`) as [
      string,
      string,
      string,
    ];
    for (const root of [main, other]) {
      await Deno.mkdir(root);
      await git(root, "init", "-q");
      await stage.write(`${root}/a.txt`, "an open line\n");
      await commitAll(root);
    }
    if (inside === "a submodule") {
      await git(main, "submodule", "--quiet", "add", other, "config");
      await commitAll(main);
    }
    await git(main, "worktree", "add", "-q", tree);
    const config = `${tree}/config`;
    if (inside === "a submodule") await git(tree, "submodule", "--quiet", "update", "--init");
    else if (inside === "a linked worktree") await git(other, "worktree", "add", "-q", config);
    else await stage.write(`${config}/a.txt`, "an open line\n");
    if (inside === "a repository") await git(config, "init", "-q");
    await stage.plant(`${config}/.env`, "env");
    await stage.write(`${main}/.agentclisecret`, "no-cloud: .env\n");
    await stage.play("loc", { cwd: main, script: [say("Hello.")] });
    for (const isGone of [false, true]) {
      if (isGone) await Deno.remove(`${main}/.agentclisecret`);
      for (const [cwd, prefix] of [[tree, "config/"], [config, ""]] as const) {
        const paths = [`${prefix}.env`, `${prefix}a.txt`];
        const script = [ask(...paths.map((path) => want("read", { path }))), say("Done.")];
        const { results } = await stage.play("rem", { cwd, script });
        assert.match(results[0] ?? "", /is protected/, `${cwd}, ${isGone}`);
        assert.match(results[1] ?? "", /an open line/, "control: an open file");
      }
    }
  });
}
