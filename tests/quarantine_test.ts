/** `agentcli quarantine`, with entries that a session left. */
import assert from "node:assert/strict";
import { keptRoots } from "../src/boundary/policy/identity.ts";
import { quarantine } from "../src/boundary/sandbox/quarantine.ts";
import { noteProgram } from "../src/boundary/sandbox/unfinished.ts";
import { listQuarantine } from "../src/cli/quarantine.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { temporaryHome } from "./helpers/program.ts";

Deno.test("what is in quarantine is listed and goes back where it was", async () => {
  await using home = await temporaryHome();
  const root = await Deno.realPath(home.project);
  await Deno.mkdir(`${root}/.vscode`);
  await Deno.writeTextFile(`${root}/.vscode/tasks.json`, "{}\n", { mode: 0o640 });
  await Deno.mkdir(`${root}/sub/.git/hooks`, { recursive: true });
  await Deno.writeTextFile(`${root}/sub/.git/hooks/pre-commit`, "#!/bin/sh\n");
  await Deno.chmod(`${root}/sub/.git/hooks/pre-commit`, 0o755);
  await Deno.symlink("hooks/pre-commit", `${root}/sub/.git/link`);
  const paths = [`${root}/.vscode/tasks.json`, `${root}/sub/.git`];
  const now = Date.UTC(2026, 2, 1, 10, 15);
  const { id = "" } = await quarantine(paths, { home: home.agentcliHome, roots: keptRoots([root]), now }) ?? {};
  assert.equal(id, "20260301-101500-1");
  for (const path of paths) await assert.rejects(Deno.lstat(path), Deno.errors.NotFound);

  const listed = await runInProcess(["quarantine", "list", "--json"], { home });
  assert.deepEqual(JSON.parse(listed.stdout).entries, [{ id, root, paths, time: "2026-03-01T10:15:00.000Z" }]);
  assert.match((await runInProcess(["quarantine", "list"], { home })).stdout, new RegExp(`${id} +.*sub/\\.git`));

  // What is there now is left alone.
  await Deno.writeTextFile(`${root}/.vscode/tasks.json`, "newer\n");
  const partly = await runInProcess(["quarantine", "restore", id], { home });
  assert.equal(partly.code, 1);
  assert.doesNotMatch(partly.stderr, /running/);
  assert.match(partly.stderr, /restored .*sub\/\.git[^]*tasks\.json stays in quarantine/);
  assert.equal(await Deno.readTextFile(`${root}/.vscode/tasks.json`), "newer\n");
  assert.equal(await Deno.readTextFile(`${root}/sub/.git/link`), "#!/bin/sh\n");
  assert.equal((await Deno.stat(`${root}/sub/.git/hooks/pre-commit`)).mode! & 0o777, 0o755);
  await Deno.remove(`${root}/.vscode/tasks.json`);
  const rest = await runInProcess(["quarantine", "restore", id, "--json"], { home });
  assert.deepEqual(JSON.parse(rest.stdout), { id, restored: [paths[0]], blocked: [] });
  assert.equal(await Deno.readTextFile(`${root}/.vscode/tasks.json`), "{}\n");
  assert.deepEqual(listQuarantine(home.agentcliHome), []);
  assert.match((await runInProcess(["quarantine", "list"], { home })).stderr, /the quarantine is empty/);
  const gone = await runInProcess(["quarantine", "restore", id], { home });
  assert.equal(gone.code, 2);
  assert.match(gone.stderr, /quarantine list/);
});

Deno.test("a file does not go back through a link that leads out of the project", async () => {
  await using home = await temporaryHome();
  const root = await Deno.realPath(home.project);
  await Deno.mkdir(`${root}/.vscode`);
  await Deno.writeTextFile(`${root}/.vscode/tasks.json`, "{}\n");
  const place = { home: home.agentcliHome, roots: keptRoots([root]), now: Date.now() };
  const { id = "" } = await quarantine([`${root}/.vscode/tasks.json`], place) ?? {};
  await Deno.remove(`${root}/.vscode`);
  await Deno.mkdir(`${home.root}/elsewhere`);
  await Deno.symlink(`${home.root}/elsewhere`, `${root}/.vscode`);
  assert.equal((await runInProcess(["quarantine", "restore", id], { home })).code, 1);
  assert.deepEqual([...Deno.readDirSync(`${home.root}/elsewhere`)], []);
  assert.equal(listQuarantine(home.agentcliHome).length, 1);
});

Deno.test("what an entry of a session whose root is gone holds is protected when it goes back", async () => {
  for (const isKept of [true, false]) {
    await using home = await temporaryHome();
    const root = await Deno.realPath(home.project);
    const paths = [`${root}/tasks.json`];
    const place = `${home.agentcliHome}/quarantine/20260301-101500-1`;
    await Deno.mkdir(place, { recursive: true });
    await Deno.writeTextFile(`${place}/0`, "{}\n");
    const roots = isKept ? keptRoots([root]) : [{ path: root, inode: -1, born: 0 }];
    await Deno.writeTextFile(`${place}/index.json`, JSON.stringify({ time: 5, paths, roots }));
    const { code, stderr } = await runInProcess(["quarantine", "restore", "20260301-101500-1"], { home });
    assert.equal(code, 0, stderr);
    assert.equal(await Deno.readTextFile(`${root}/tasks.json`), "{}\n");
    assert.equal(/protected from now on.*tasks\.json/.test(stderr), !isKept, stderr);
  }
});

Deno.test("a damaged index and a foreign name are no entries", async () => {
  await using home = await temporaryHome();
  await Deno.mkdir(`${home.agentcliHome}/quarantine/x`, { recursive: true });
  await Deno.writeTextFile(`${home.agentcliHome}/quarantine/x/index.json`, "{");
  assert.deepEqual(listQuarantine(home.agentcliHome), []);
  for (const id of ["x", "../x", "", "a/b"]) {
    assert.equal((await runInProcess(["quarantine", "restore", "--", id], { home })).code, 2, id);
  }
});

Deno.test("whoever restores a file while a command may be running hears that it can be quarantined again", async () => {
  await using home = await temporaryHome();
  const root = await Deno.realPath(home.project);
  await Deno.mkdir(`${root}/.vscode`);
  const { id = "" } =
    await quarantine([`${root}/.vscode`], { home: home.agentcliHome, roots: keptRoots([root]), now: Date.now() }) ?? {};
  await noteProgram(home.agentcliHome, { roots: keptRoots([root]), written: [] });
  const { code, stderr } = await runInProcess(["quarantine", "restore", id], { home });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /restored .*\.vscode[^]*a command that runs there ends, and it goes/);
});
