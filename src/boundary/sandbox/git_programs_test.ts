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
    await write("project/.git/config", `[core]\nx = ${"y".repeat(9_000_000)}\n`);
    assert.equal(
      gitPrograms({ repositories: [`${root}/.git`] }, { roots: [root], user: { userHome: null } }),
      null,
      "what is too much is not passed over",
    );
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});
