import assert from "node:assert/strict";
import { findMarkers } from "./path_rules.ts";
import { findProjectRoot } from "./project.ts";

async function inTemporary(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.realPath(await Deno.makeTempDir());
  try {
    await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("a project without a marker has none, and a marker above the root counts", () =>
  inTemporary(async (directory) => {
    await Deno.mkdir(`${directory}/project`);
    assert.deepEqual(findMarkers(`${directory}/project`).markers, []);
    await Deno.writeTextFile(`${directory}/.agentclisecret`, "no-cloud: x\n");
    assert.deepEqual(findMarkers(`${directory}/project`).markers, [`${directory}/.agentclisecret`]);
  }));

Deno.test("only the marker of the root opts hosts in", () =>
  inTemporary(async (directory) => {
    const root = `${directory}/project`;
    await Deno.mkdir(root);
    await Deno.writeTextFile(`${root}/.agentclisecret`, "no-cloud: x\nlocal-endpoints: own.lan\n");
    await Deno.writeTextFile(`${directory}/.agentclisecret`, "local-endpoints: above.lan\n");
    const state = findMarkers(root);
    assert.deepEqual(state.standingEndpoints, ["own.lan"]);
    assert.equal(state.warnings.length, 1);
  }));

Deno.test("a damaged marker is reported by name and opens nothing", () =>
  inTemporary(async (directory) => {
    await Deno.writeTextFile(`${directory}/.agentclisecret`, "local-endpoints: own.lan\nno-cloud:\n");
    const state = findMarkers(directory);
    assert.deepEqual(state.standingEndpoints, []);
    assert.deepEqual([state.damaged?.marker, state.damaged?.damaged], [
      `${directory}/.agentclisecret`,
      "line 2 names no path",
    ]);
  }));

Deno.test("a marker that is a directory counts as damaged", () =>
  inTemporary(async (directory) => {
    await Deno.mkdir(`${directory}/.agentclisecret`);
    assert.match(findMarkers(directory).damaged?.damaged ?? "", /cannot be read/);
  }));

Deno.test("the marker of the main tree counts in a linked git worktree", () =>
  inTemporary(async (directory) => {
    await Deno.mkdir(`${directory}/main/.git/worktrees/wt`, { recursive: true });
    await Deno.writeTextFile(`${directory}/main/.git/worktrees/wt/commondir`, "../..\n");
    await Deno.writeTextFile(`${directory}/main/.agentclisecret`, "no-cloud: .env\nlocal-endpoints: x.lan\n");
    await Deno.mkdir(`${directory}/wt`);
    await Deno.writeTextFile(`${directory}/wt/.git`, `gitdir: ${directory}/main/.git/worktrees/wt\n`);
    const state = findMarkers(`${directory}/wt`);
    assert.deepEqual(state.markers, [`${directory}/main/.agentclisecret`]);
    assert.deepEqual(state.standingEndpoints, []);
  }));

Deno.test("the project root is the nearest ancestor with .git, before one with a marker", () =>
  inTemporary(async (directory) => {
    const cwd = `${directory}/home/outer/inner/deep`;
    const home = `${directory}/home`;
    await Deno.mkdir(cwd, { recursive: true });
    assert.equal(await findProjectRoot(cwd, home), cwd);
    await Deno.writeTextFile(`${directory}/home/outer/inner/.agentclisecret`, "");
    assert.equal(await findProjectRoot(cwd, home), `${directory}/home/outer/inner`);
    await Deno.writeTextFile(`${directory}/home/outer/.git`, "gitdir: x\n");
    assert.equal(await findProjectRoot(cwd, home), `${directory}/home/outer`);
  }));

Deno.test("the user's home and what holds it are no project root unless they are the cwd", () =>
  inTemporary(async (directory) => {
    const home = `${directory}/home`;
    await Deno.mkdir(`${home}/work`, { recursive: true });
    await Deno.mkdir(`${home}/.git`);
    await Deno.mkdir(`${directory}/.git`);
    assert.equal(await findProjectRoot(`${home}/work`, home), `${home}/work`);
    assert.equal(await findProjectRoot(home, home), home);
    assert.equal(await findProjectRoot(`${home}/work`, undefined), home);
  }));

Deno.test("the project root is a real path, and a cwd that is gone is a usage error", () =>
  inTemporary(async (directory) => {
    await Deno.mkdir(`${directory}/real/.git`, { recursive: true });
    await Deno.symlink(`${directory}/real`, `${directory}/link`);
    assert.equal(await findProjectRoot(`${directory}/link`, undefined), `${directory}/real`);
    assert.throws(() => findProjectRoot(`${directory}/gone`, undefined), { code: "usage" });
  }));

Deno.test(
  "what somebody else puts into a directory that all may write makes no project of what lies below",
  { ignore: Deno.build.os === "windows" || Deno.uid() !== 0 },
  () =>
    inTemporary(async (directory) => {
      const shared = `${directory}/shared`;
      const cwd = `${shared}/work`;
      Deno.mkdirSync(cwd, { recursive: true });
      for (const name of [".git", ".agentclisecret"]) {
        const place = `${shared}/${name}`;
        Deno.mkdirSync(place);
        assert.equal(await findProjectRoot(cwd, undefined), shared, "control: of the same user");
        Deno.chownSync(place, 65_534, 65_534);
        assert.equal(await findProjectRoot(cwd, undefined), cwd);
        Deno.chownSync(shared, 65_534, 65_534);
        assert.equal(await findProjectRoot(cwd, undefined), shared, "in a directory of theirs all is theirs");
        Deno.chownSync(shared, 0, 0);
        Deno.removeSync(place);
      }
    }),
);
