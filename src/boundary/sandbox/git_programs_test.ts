import assert from "node:assert/strict";
import { gitPrograms } from "./git_programs.ts";

Deno.test("files that include one another, and those that variables name, count", async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    const write = async (name: string, text: string) => {
      await Deno.mkdir(`${base}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${base}/${name}`, text);
    };
    await write(
      "project/.git/config",
      '[include]\npath = ../team.conf\n[includeIf "onbranch:x"]\npath = ~/by-branch\n',
    );
    await write("project/team.conf", "[include]\npath = .git/config\n[core]\nhooksPath = tools/hooks\n");
    await write("home/by-branch", '[filter "x"]\nclean = "bin/clean it" %f\n');
    await write("home/.gitconfig", "[core]\nfsmonitor = watch/one\n");
    await write("xdg/git/config", "[core]\nfsmonitor = watch/two\n");
    await write("other", "[core]\nfsmonitor = watch/three\n");
    const root = `${base}/project`;
    const find = (variables: Record<string, string> = {}) =>
      gitPrograms({ repositories: [`${root}/.git`] }, {
        roots: [root],
        user: { userHome: `${base}/home`, env: (name) => ({ GIT_CONFIG_SYSTEM: "/dev/null", ...variables })[name] },
      })?.filter((path) => !path.includes("/.git/")).map((path) => path.slice(root.length + 1)) ?? [];
    const always = ["team.conf", "tools/hooks", "bin/clean"];
    for (const name of always) assert.ok(find().includes(name), `${name}: ${find()}`);
    assert.ok(find().includes("watch/one") && !find().includes("watch/two"));
    const withPlace = find({ XDG_CONFIG_HOME: `${base}/xdg` });
    assert.ok(withPlace.includes("watch/one") && withPlace.includes("watch/two"));
    const named = find({ XDG_CONFIG_HOME: `${base}/xdg`, GIT_CONFIG_GLOBAL: `${base}/other` });
    assert.deepEqual(named.filter((path) => path.startsWith("watch")), ["watch/three"]);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});

Deno.test("what is too much is not passed over, however it is spread: files, repositories, words", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    const find = async (...texts: string[]) => {
      const repositories = texts.map((_, at) => `${root}/${at}/.git`);
      for (const [at, text] of texts.entries()) {
        await Deno.mkdir(`${root}/${at}/.git`, { recursive: true });
        await Deno.writeTextFile(`${root}/${at}/.git/config`, text);
      }
      const user = { userHome: null, env: () => "/dev/null" };
      return gitPrograms({ repositories }, { roots: [root], user });
    };
    const half = `[core]\nx = ${"y".repeat(600_000)}\n`;
    for (const name of ["one", "two", "three"]) await Deno.symlink(`${root}/half`, `${root}/${name}`);
    await Deno.writeTextFile(`${root}/half`, half);
    const once = "[include]\npath = ../../one\npath = ../../two\npath = ../../three\n";
    assert.ok((await find(once, once))?.includes(`${root}/three`), "control: one file by many names counts once");
    assert.equal(await find(half, half), null);
    assert.equal(await find(`[core "${"s".repeat(60_000)}"]\n${"a=\n".repeat(30)}`), null);
    const alias = (count: number) => `[alias]\na = !${"../tool ".repeat(count).replace(/ /g, () => ` x${count--} `)}\n`;
    assert.ok((await find(alias(100)))?.includes(`${root}/tool`), "control: an alias of a hundred words");
    assert.equal(await find(alias(40_000)), null);
    assert.equal(await find(`[alias]\na = !${"x/".repeat(1_000)} ${"y/".repeat(1_000)}\n`.repeat(20)), null);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
