import assert from "node:assert/strict";
import { git, run, sandboxed, withRepository } from "../../../tests/helpers/git_tool.ts";

Deno.test(
  "branches are made, listed and switched to, where no protected file changes",
  sandboxed,
  () =>
    withRepository(async (project) => {
      assert.equal((await run(project, { action: "switch", rev: "work", create: true })).content, "on work");
      await project.write("pub.txt", "work\n");
      await run(project, { action: "add", paths: ["pub.txt"] });
      await run(project, { action: "commit", message: "on work" });
      assert.equal((await run(project, { action: "switch", rev: "main" })).content, "on main");
      assert.equal(await project.text("pub.txt"), "one\n");
      assert.equal((await run(project, { action: "branch", rev: "other" })).content, "made the branch other");
      const listed = (await run(project, { action: "branch" })).content;
      assert.match(listed, /^\* main [0-9a-f]+ first\n {2}other [0-9a-f]+ first\n {2}work [0-9a-f]+ on work$/m);
      for (const rev of ["-x", "a..b", "--detach", "a b", "HEAD~1", "nowhere", ""]) {
        assert.ok((await run(project, { action: "switch", rev })).isError, rev);
      }
      // What the working tree would lose is kept by git itself.
      await project.write("pub.txt", "mine\n");
      assert.ok((await run(project, { action: "switch", rev: "work" })).isError);
      assert.equal(await project.text("pub.txt"), "mine\n");
    }),
);

Deno.test(
  "a switch that would write or remove what is protected, or what runs, is left to the user",
  sandboxed,
  () =>
    withRepository(async (project) => {
      const cases: [string, () => Promise<unknown>][] = [
        [".env", () => project.write(".env", "A=CANARY_OLD\n")],
        ["secrets/new.txt", () => project.write("secrets/new.txt", "CANARY_OLD\n")],
        [".agentclisecret", () => project.write(".agentclisecret", "no-cloud: nothing\n")],
        [".vscode/mcp.json", () => project.write(".vscode/mcp.json", "{}\n")],
        [".gitattributes", () => project.write(".gitattributes", "*.txt filter=lfs\n")],
      ];
      for (const [index, [name, change]] of cases.entries()) {
        await git(project, "switch", "-q", "-c", `b${index}`);
        await change();
        await git(project, "add", "-Af");
        await git(project, "commit", "-qm", "x");
        await git(project, "switch", "-q", "main");
        const { content, isError } = await run(project, { action: "switch", rev: `b${index}` });
        assert.ok(isError, name);
        assert.match(content, new RegExp(`would change ${name.replaceAll(".", "\\.")}.*git switch b${index}`), name);
        assert.doesNotMatch(content, /CANARY/);
        assert.equal((await run(project, { action: "status" })).content, "on main, nothing changed");
      }
      assert.equal(await project.text(".env"), "A=CANARY\n");
    }),
);

Deno.test("a stash takes open files alone, and gives them back", sandboxed, () =>
  withRepository(async (project) => {
    await project.write("pub.txt", "two\n");
    await project.write(".env", "A=CANARY2\n");
    const pushed = await run(project, { action: "stash", message: "half done" });
    assert.equal(pushed.content, "stashed pub.txt");
    assert.equal(await project.text("pub.txt"), "one\n");
    assert.equal(await project.text(".env"), "A=CANARY2\n");
    assert.match((await run(project, { action: "stash", rev: "list" })).content, /^stash@\{0\}: .*half done$/);
    assert.match((await run(project, { action: "stash", rev: "show" })).content, /-one\n\+two/);
    assert.equal((await run(project, { action: "stash", rev: "pop" })).content, "pop: done");
    assert.equal(await project.text("pub.txt"), "two\n");
    assert.equal(await project.text(".env"), "A=CANARY2\n");
    // A stash of the user's own holds both.
    await git(project, "stash", "-q");
    await project.write(".env", "A=CANARY3\n");
    for (const rev of ["pop", "apply", "apply 0", "pop stash@{0}"]) {
      const { content, isError } = await run(project, { action: "stash", rev });
      assert.ok(isError, rev);
      assert.match(content, /would change \.env, which is protected.*git stash/);
    }
    assert.doesNotMatch((await run(project, { action: "stash", rev: "show" })).content, /CANARY/);
    assert.equal(await project.text(".env"), "A=CANARY3\n");
    assert.equal(await project.text("pub.txt"), "one\n");
    assert.match((await run(project, { action: "stash", rev: "drop" })).content, /push, list, show, apply or pop/);
    assert.ok((await run(project, { action: "stash", rev: "push" })).isError, "nothing is left to stash");
  }));

Deno.test(
  "a stash that holds protected files as they are is given back",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await git(project, "rm", "-q", "--cached", ".agentclisecret");
      await git(project, "commit", "-qm", "no marker");
      await project.write("pub.txt", "two\n");
      await run(project, { action: "add", paths: ["."] });
      assert.equal((await run(project, { action: "stash" })).content, "stashed pub.txt");
      assert.equal((await run(project, { action: "stash", rev: "apply" })).content, "apply: done");
      assert.equal(await project.text("pub.txt"), "two\n");
      await git(project, "checkout", "-q", "HEAD", "pub.txt");
      // As soon as it differs, it is the user's to decide.
      await project.write(".agentclisecret", "no-cloud: .env\nno-cloud: secrets\nno-cloud: more\n");
      const { content, isError } = await run(project, { action: "stash", rev: "pop" });
      assert.ok(isError);
      assert.match(content, /would change \.agentclisecret, which only the user may change/);
    }),
);

Deno.test(
  "a link to a directory is added and shown as what git keeps of it, its target",
  sandboxed,
  () =>
    withRepository(async (project) => {
      for (const name of ["v1/f", "v2/f"]) await project.write(name, "text\n");
      const point = async (target: string, name: string) => {
        await Deno.remove(`${project.root}/${name}`).catch(() => {});
        await Deno.symlink(target, `${project.root}/${name}`);
      };
      await point("v1", "current");
      await point("secrets", "kept");
      await point("..", "out");
      const added = (await run(project, { action: "add", paths: ["current", "kept", "."] })).content;
      assert.match(added, /^added current$/m);
      assert.match(added, /^kept was not added: protected$/m);
      assert.match(added, /^out was not added: it leads out of the project$/m);
      await run(project, { action: "commit", message: "link" });
      await point("v2", "current");
      assert.match((await run(project, { action: "diff" })).content, /-v1\n[^]*\+v2/);
      await point("secrets", "current");
      assert.doesNotMatch((await run(project, { action: "diff" })).content, /\+secrets/);
    }),
);
