import assert from "node:assert/strict";
import { findMarkers } from "../policy/path_rules.ts";
import { openWorkspace } from "./disk.ts";

Deno.test(
  "hooks that git finds elsewhere, by the repository's or the user's settings, are no more writable than its own",
  {
    ignore: Deno.build.os === "windows",
  },
  async () => {
    const base = await Deno.realPath(await Deno.makeTempDir());
    try {
      const root = `${base}/project`;
      for (const directory of ["project/.git", "project/hooks", "user", "project/src"]) {
        await Deno.mkdir(`${base}/${directory}`, { recursive: true });
      }
      await Deno.writeTextFile(`${root}/.git/HEAD`, "ref: refs/heads/main\n");
      for (const name of ["objects", "refs"]) await Deno.mkdir(`${root}/.git/${name}`);
      const open = async () =>
        await openWorkspace({
          root,
          additional: [],
          cwd: root,
          home: `${base}/home`,
          user: { userHome: `${base}/user` },
          localEndpoints: findMarkers(root).standingEndpoints,
          provider: { local: true, name: "p" },
        });
      const workspace = await open();
      const refused = async (name: string) => {
        const path = await workspace.resolve(name);
        assert.ok("real" in path);
        return await workspace.write(path, new TextEncoder().encode("x")).then((done) =>
          "refused" in done && done.message
        );
      };
      assert.equal(await refused("hooks/pre-push"), false, "the control: nobody runs it yet");
      await Deno.writeTextFile(`${root}/.git/config`, "[core]\n\thooksPath = hooks\n");
      assert.match(String(await refused("hooks/pre-commit")), /git runs it.*only the user changes it/);
      await Deno.writeTextFile(`${root}/.git/config`, "[core]\n\tbare = false\n");
      assert.equal(await refused("scripts/pre-commit"), false);
      await Deno.writeTextFile(`${base}/user/.gitconfig`, "[core]\n\thooksPath = scripts\n");
      assert.match(String(await refused("scripts/pre-commit")), /git runs it/);
      assert.equal(await refused("src/a.ts"), false);
    } finally {
      await Deno.remove(base, { recursive: true });
    }
  },
);
