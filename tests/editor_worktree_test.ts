/** Linked worktrees: what is installed in the main tree, and the hooks that an editor runs in a new one. */
import assert from "node:assert/strict";
import { payload, project, SECRET } from "./helpers/editor_lines.ts";
import { done, editor, runLine } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { git, HAS_GIT } from "./helpers/git.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

Deno.test({
  name: "five sessions, each in a worktree of its own, find their own root, what is installed, and what is missing",
  ignore: !HAS_GIT,
  async fn() {
    await using home = await temporaryHome();
    await home.write(".gitignore", ".ide/\n");
    await home.write("src/a.txt", "a\n");
    await git(home.project, "init", "-q");
    await git(home.project, "add", ".");
    await git(home.project, "commit", "-qm", "first");
    await done(home, "init", "--yes");
    const trees = [1, 2, 3, 4, 5].map((number) => `${home.root}/tree ${number}`);
    for (const [at, tree] of trees.entries()) await git(home.project, "worktree", "add", "-q", "-b", `b${at}`, tree);
    const before = fileTree(home.root);
    const run = (cwd: string, ...words: string[]) => runInProcess(["editor", ...words], { home, cwd });
    await Promise.all(trees.map(async (tree) => {
      const listed = JSON.parse((await run(`${tree}/src`, "list", "--json")).stdout);
      assert.equal(listed.root, tree);
      // The guard of the main tree is not in this one: nobody is told no there.
      const checked = await run(tree, "check");
      assert.equal(checked.code, 1);
      assert.match(checked.stdout, /in this worktree .*hook:no-cloud-guard.* of .*project is missing/);
      const added = await run(tree, "init", "--yes");
      assert.equal(added.code, 0, added.stderr);
      assert.equal((await run(tree, "check")).code, 0);
    }));
    assert.equal((await run(home.project, "check")).code, 0);
    const { notes } = JSON.parse((await done(home, "list", "--json")).stdout);
    assert.deepEqual(notes, ["no hook prepares new worktrees: agentcli editor add hook setup-worktree"]);
    await git(home.project, "worktree", "add", "-q", "-b", "b6", `${home.root}/tree 6`);
    await git(home.project, "worktree", "add", "-q", "-b", "b7", `${home.root}/tree 7`);
    assert.match((await done(home, "check")).stderr, /7 linked worktrees; the editor runs at most 5/);
    for (const number of [6, 7]) await git(home.project, "worktree", "remove", "-f", `${home.root}/tree ${number}`);
    await Promise.all(trees.map((tree) => run(tree, "remove", "--all", "--yes")));
    const inTrees = (files: Map<string, string>) => [...files].filter(([path]) => path.includes("/tree "));
    assert.deepEqual(inTrees(fileTree(home.root)), inTrees(before));
  },
});

Deno.test({
  name: "what is committed is known in a worktree as what was installed",
  ignore: !HAS_GIT,
  async fn() {
    await using home = await temporaryHome();
    await git(home.project, "init", "-q");
    await done(home, "init", "--yes");
    await git(home.project, "add", ".");
    await git(home.project, "commit", "-qm", "first");
    const tree = `${home.root}/tree`;
    await git(home.project, "worktree", "add", "-q", tree);
    const run = (...words: string[]) => runInProcess(["editor", ...words], { home, cwd: tree });
    assert.equal((await run("check")).code, 0);
    const { artifacts } = JSON.parse((await run("list", "--json")).stdout);
    assert.ok(artifacts.length > 3 && artifacts.every(({ ours }: { ours: boolean }) => ours));
    // Before the notes on the worktree, which every look at it gives.
    assert.match((await run("import")).stderr, /^nothing to import\n/);
  },
});

/** A repository with something protected, of which `.ide/` is not committed. Gives the parameter for its program. */
async function repository(home: TemporaryHome): Promise<string> {
  const program = await project(home);
  await home.write(".gitignore", ".ide/\n.env\nsecrets/\nlocal/\n");
  await git(home.project, "init", "-q");
  await git(home.project, "add", ".gitignore", ".agentclisecret", "src");
  await git(home.project, "commit", "-qm", "first");
  return `agentcli=${program}`;
}

async function addHook(home: TemporaryHome, name: string, ...settings: string[]) {
  await done(home, "add", "hook", name, ...settings.flatMap((setting) => ["--set", setting]), "--yes");
}

/** The command lines of an event. */
async function linesOf(home: TemporaryHome, event: string): Promise<string[]> {
  const { hooks } = JSON.parse(await home.read(".ide/hooks.json"));
  return hooks[event].map(({ command }: { command: string }) => command);
}

/**
 * Makes a worktree and runs what is installed for one, as the editor does: in it, with the main tree's path at hand.
 */
async function newWorktree(home: TemporaryHome, tree: string): Promise<string> {
  await git(home.project, "worktree", "add", "-q", "--detach", tree);
  const input = payload("post_setup_worktree", { worktree_path: tree, root_workspace_path: home.project });
  let output = "";
  for (const line of await linesOf(home, "post_setup_worktree")) {
    const { code, stdout, stderr } = await runLine(home, line, {
      input,
      cwd: tree,
      env: { ROOT_WORKSPACE_PATH: home.project },
    });
    assert.equal(code, 0, `${line}: ${stderr}`);
    output += stdout;
  }
  return output;
}

Deno.test({
  name: "a new worktree has the guard, though its hooks are not committed, and the log of the project tells of it",
  ignore: !HAS_GIT,
  async fn() {
    await using home = await temporaryHome();
    const program = await repository(home);
    await addHook(home, "no-cloud-guard", program);
    await addHook(home, "audit-log", program, "log=project");
    await addHook(home, "setup-worktree", program);
    const tree = `${home.root}/a tree`;
    assert.match(await newWorktree(home, tree), /^\.ide: 7 copied$/m);
    const [guard = ""] = await linesOf(home, "pre_read_code");
    const judged = (path: string) =>
      runLine(home, guard, { input: payload("pre_read_code", { file_path: path }), cwd: tree });
    assert.equal((await judged(`${tree}/src/a.ts`)).code, 0);
    await Deno.mkdir(`${tree}/secrets`);
    await Deno.writeTextFile(`${tree}/secrets/new.md`, SECRET);
    const blocked = await judged(`${tree}/secrets/new.md`);
    assert.equal(blocked.code, 2);
    assert.match(blocked.stderr, /blocked: /);
    const checked = await runInProcess(["editor", "check"], { home, cwd: tree });
    assert.equal(checked.code, 0, checked.stdout);
    // The log stands in the project that it is about, and the new worktree begins clean.
    assert.match(await home.read(".ide/audit-log.jsonl"), /"event":"post_setup_worktree"/);
    await assert.rejects(Deno.stat(`${tree}/.ide/audit-log.jsonl`), Deno.errors.NotFound);
  },
});

Deno.test({
  name: "a list of one's own decides what a new worktree gets",
  ignore: !HAS_GIT,
  async fn() {
    await using home = await temporaryHome();
    await addHook(home, "setup-worktree", await repository(home), "copy=local,.env");
    const tree = `${home.root}/tree`;
    assert.equal(await newWorktree(home, tree), "local: 1 copied\n.env: 1 copied\n");
    await assert.rejects(Deno.stat(`${tree}/.ide`), Deno.errors.NotFound);
  },
});

Deno.test("the script of a hook that others wrote for new worktrees is adopted with it", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/set-up.sh", "exit 0\n");
  const command = "bash $ROOT_WORKSPACE_PATH/.ide/set-up.sh";
  await home.write(".ide/hooks.json", JSON.stringify({ hooks: { post_setup_worktree: [{ command }] } }));
  await done(home, "import", "--all", "--yes");
  await home.write(".ide/set-up.sh", "exit 1\n");
  assert.match((await editor(home, "check")).stdout, /set-up\.sh/);
});

interface Finding {
  level: string;
  subject: string;
  message: string;
}

/** What doctor says of the event. */
async function setUpFindings(home: TemporaryHome, ...more: string[]): Promise<Finding[]> {
  const { findings } = JSON.parse((await editor(home, "doctor", "--json", ...more)).stdout);
  return findings.filter(({ subject }: Finding) => subject.startsWith("post_setup_worktree"));
}

Deno.test({
  name: "doctor runs the hooks of new worktrees in one, and finds those that do nothing there",
  ignore: !HAS_GIT,
  async fn() {
    await using home = await temporaryHome();
    const program = await repository(home);
    const add = (name: string, command: string) =>
      done(
        home,
        ...["add", "hook", name, "--event", "post_setup_worktree", "--powershell", "exit 0", "--yes"],
        "--command",
        command,
      );
    await addHook(home, "audit-log", program, "log=project");
    await addHook(home, "setup-worktree", program, "copy=local,.env,absent");
    await add(
      "mine",
      'test -f .git -a -f "$ROOT_WORKSPACE_PATH/src/a.ts" -a "$(git rev-parse --show-toplevel)" = "$PWD"',
    );
    await add("relative", "bash src/set-up.sh");
    const before = fileTree(home.project);
    const levels = Object.fromEntries(
      (await setUpFindings(home)).map(({ subject, level }) => [/, (.*)\)/.exec(subject)?.[1], level]),
    );
    assert.deepEqual(levels, {
      "audit-log": "ok",
      "setup-worktree": "ok",
      mine: "ok",
      // Whether the project has that file is not known from a worktree without its files.
      relative: "warning",
    });
    assert.deepEqual(fileTree(home.project), before);
    // A program that copies nothing is no hook of worktrees.
    await Deno.writeTextFile(program.replace("agentcli=", ""), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    const idle = (await setUpFindings(home)).find(({ level }) => level === "failure");
    assert.match(idle?.subject ?? "", /setup-worktree\)/);
    assert.match(idle?.message ?? "", /new worktree has no local, \.env/);
  },
});
