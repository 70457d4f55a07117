import assert from "node:assert/strict";
import { inToolProject } from "../../../tests/helpers/tool_project.ts";
import { git, marker, run, sandboxed, withRepository } from "../../../tests/helpers/git_tool.ts";
import { offersGit } from "../../runtime/tools_and_rules.ts";
import type { GitInput } from "../declarations.ts";

Deno.test("status names what changed and marks what is protected", sandboxed, () =>
  withRepository(async (project) => {
    assert.equal((await run(project, { action: "status" })).content, "on main, nothing changed");
    await project.write("pub.txt", "two\n");
    await project.write(".env", "A=CANARY2\n");
    await project.write("new.txt", "new\n");
    const { content, label } = await run(project, { action: "status" });
    assert.equal(content, "on main\n M .env [no-cloud]\n M pub.txt\n?? new.txt");
    assert.equal(label, "open");
  }));

Deno.test(
  "a diff shows open files alone, also where another name leads to a protected one",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await project.write("pub.txt", "two\n");
      await project.write(".env", "A=CANARY2\n");
      await project.write("secrets/k.txt", "CANARY2\n");
      await Deno.remove(`${project.root}/pub.txt`);
      await Deno.link(`${project.root}/.env`, `${project.root}/pub.txt`);
      const linked = await run(project, { action: "diff" });
      assert.doesNotMatch(linked.content, /CANARY/);
      assert.match(linked.content, /pub\.txt has changed; not shown: protected/);
      await Deno.remove(`${project.root}/pub.txt`);
      await project.write("pub.txt", "two\n");
      const { content } = await run(project, { action: "diff" });
      assert.match(content, /-one\n\+two/);
      assert.match(content, /\[\.env has changed; not shown: protected\]/);
      assert.doesNotMatch(content, /CANARY/);
      await git(project, "add", "-A");
      const staged = await run(project, { action: "diff", staged: true });
      assert.match(staged.content, /\+two/);
      assert.doesNotMatch(staged.content, /CANARY/);
      const named = await run(project, { action: "diff", staged: true, paths: [".env", "secrets"] });
      assert.match(named.content, /no changes to show/);
      assert.doesNotMatch(named.content, /CANARY/);
      // The control: git itself shows it.
      assert.match(await git(project, "diff", "--cached"), /CANARY2/);
    }),
);

Deno.test(
  "a file that took the place of a directory shows nothing of what the directory held",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await project.write("dir/deep/.env", "A=CANARY2\n");
      await project.write("dir/open.txt", "open\n");
      await git(project, "add", "-A", "-f");
      await git(project, "commit", "-qm", "second");
      await Deno.remove(`${project.root}/dir`, { recursive: true });
      await project.write("dir", "x\n");
      await project.write("pub.txt", "two\n");
      const looks = async (...calls: GitInput[]) => {
        for (const call of calls) {
          const { content } = await run(project, call);
          assert.match(content, /\[dir has changed; not shown: it was a directory\]/, JSON.stringify(call));
          assert.match(content, /-one\n\+two/, "control");
          assert.doesNotMatch(content, /CANARY/, JSON.stringify(call));
        }
      };
      await git(project, "add", "-N", "dir");
      await looks({ action: "diff", rev: "HEAD" });
      await git(project, "add", "-A");
      await looks({ action: "diff", staged: true }, { action: "diff", rev: "HEAD", paths: ["dir", "pub.txt"] });
      await git(project, "commit", "-qm", "third");
      await looks({ action: "show" }, { action: "diff", rev: "HEAD~1..HEAD" });
      assert.match(await git(project, "diff", "HEAD~1", "HEAD", "--", "dir"), /CANARY2/, "control");
    }),
);

Deno.test(
  "a renamed protected file does not come out under its new name",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await git(project, "config", "diff.renames", "copies");
      await git(project, "mv", "secrets/k.txt", "open.txt");
      const { content } = await run(project, { action: "diff", staged: true, paths: ["secrets"] });
      assert.doesNotMatch(content, /CANARY/);
    }),
);

Deno.test(
  "add takes open files of a directory, and commit stores them",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await project.write("dir/a.txt", "a\n");
      await project.write("secrets/new.txt", "CANARY\n");
      const added = await run(project, { action: "add", paths: ["dir", "secrets", "pub.txt"] });
      assert.equal(added.content, "added dir/a.txt\nsecrets was not added: protected");
      assert.equal((await run(project, { action: "add", paths: ["secrets"] })).isError, true);
      const committed = await run(project, { action: "commit", message: "second $(touch ran)\n\nwhy" });
      assert.match(committed.content, /^committed [0-9a-f]+ second \$\(touch ran\)$/);
      assert.equal(await git(project, "show", "--name-only", "--format=", "HEAD"), "dir/a.txt\n");
      assert.match((await run(project, { action: "log", count: 1 })).content, /: second/);
      assert.match((await run(project, { action: "commit", message: "x" })).content, /Nothing is staged/);
    }),
);

Deno.test("hooks and filters of the repository do not run", sandboxed, () =>
  withRepository(async (project) => {
    await project.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch ran\n");
    await Deno.chmod(`${project.root}/.git/hooks/pre-commit`, 0o755);
    await git(project, "config", "filter.f.clean", "touch ran; cat");
    await git(project, "config", "core.fsmonitor", "touch ran; false");
    await project.write(".gitattributes", "*.txt filter=f\n");
    await project.write("plain.md", "plain\n");
    await project.write("pub.txt", "two\n");
    for (const action of ["status", "diff", "add", "commit", "log"] as const) {
      await run(project, { action, paths: action === "add" ? ["pub.txt", "plain.md"] : [], message: "m" });
    }
    await assert.rejects(Deno.stat(`${project.root}/ran`), Deno.errors.NotFound);
    assert.match((await run(project, { action: "log" })).content, /: m\n.*: first/);
  }));

Deno.test(
  "paths outside of the project and options in their place are refused or taken as names",
  sandboxed,
  () =>
    withRepository(async (project) => {
      assert.equal((await run(project, { action: "diff", paths: ["../x"] })).isError, true);
      const { content } = await run(project, { action: "diff", paths: ["--output=ran", ":(top)*"] });
      assert.match(content, /no changes/);
      await assert.rejects(Deno.stat(`${project.root}/ran`), Deno.errors.NotFound);
    }),
);

Deno.test("without a sandbox git is not run", () =>
  withRepository(async (project) => {
    delete project.context.sandbox;
    await git(project, "config", "core.fsmonitor", "touch ran; false");
    const { content, isError } = await run(project, { action: "status" });
    assert.ok(isError);
    assert.match(content, /not run: .*no sandbox/);
  }));

Deno.test(
  "a repository that lies elsewhere can be worked with once it names the tree",
  sandboxed,
  () =>
    withRepository(async (project) => {
      const main = `${project.root}/../${crypto.randomUUID()}`;
      try {
        await Deno.rename(`${project.root}/.git`, main);
        await Deno.writeTextFile(`${project.root}/.git`, `gitdir: ${main}\n`);
        await project.write("pub.txt", "two\n");
        assert.match((await run(project, { action: "status" })).content, /is not opened.*core\.worktree/s);
        await git(project, "config", "core.worktree", project.root);
        assert.equal((await run(project, { action: "status" })).content, "on main\n M pub.txt");
        await run(project, { action: "add", paths: ["pub.txt"] });
        assert.match((await run(project, { action: "commit", message: "second" })).content, /^committed .* second$/);
      } finally {
        await Deno.remove(main, { recursive: true });
      }
    }),
);

Deno.test("the tool is offered in repositories with a marker alone", async () => {
  await withRepository((project) => Promise.resolve(assert.equal(offersGit(project.context.workspace), true)));
  await inToolProject((project) => Promise.resolve(assert.equal(offersGit(project.context.workspace), false)), {
    marker,
  });
  await inToolProject(async (project) => {
    await git(project, "init", "-q");
    assert.equal(offersGit(project.context.workspace), false);
  });
});

Deno.test(
  "show tells of a commit and of a file of it, protected files by name alone",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await project.write("pub.txt", "two\n");
      await project.write(".env", "A=CANARY2\n");
      await git(project, "commit", "-qam", "second");
      const { content } = await run(project, { action: "show" });
      assert.match(content, /^[0-9a-f]+ \d{4}-\d\d-\d\d t\n\nsecond\n/);
      assert.match(content, /-one\n\+two/);
      assert.match(content, /\[\.env has changed; not shown: protected\]/);
      assert.equal((await run(project, { action: "show", rev: "HEAD~1:pub.txt" })).content, "one");
      for (const rev of ["HEAD:.env", "HEAD:secrets/k.txt", "HEAD~1:./.env", "HEAD:../x", "HEAD:x/../.env"]) {
        const result = await run(project, { action: "show", rev });
        assert.ok(result.isError, rev);
        assert.doesNotMatch(result.content, /CANARY/);
      }
      const blob = (await git(project, "rev-parse", "HEAD:.env")).trim();
      for (const rev of [blob, "--all", "-p", "HEAD -p", ":/first", "nothing", "HEAD^{tree}", "HEAD:"]) {
        for (const action of ["show", "log", "diff"] as const) {
          const result = await run(project, { action, rev });
          assert.doesNotMatch(result.content, /CANARY/, `${action} ${rev}`);
        }
      }
      const between = await run(project, { action: "diff", rev: "HEAD~1..HEAD" });
      assert.match(between.content, /\[\.env has changed; not shown: protected\][^]*-one\n\+two/);
      // The control: git itself shows it.
      assert.match(await git(project, "show", "HEAD"), /CANARY2/);
    }),
);

Deno.test(
  "words for the repository are scanned before they are used",
  sandboxed,
  () =>
    withRepository(async (project) => {
      const asked: [string, string][] = [];
      project.context.checkWrite = (text, display) => {
        asked.push([display, text]);
        const held = /CANARY/.test(text);
        return Promise.resolve(held ? { refused: "protected", message: `${display} holds protected content` } : null);
      };
      await project.write("n-CANARY.txt", "x\n");
      const calls: GitInput[] = [
        { action: "add", paths: ["n-CANARY.txt"] },
        { action: "branch", rev: "b-CANARY" },
        { action: "switch", rev: "s-CANARY", create: true },
      ];
      for (const call of calls) {
        const { content, isError } = await run(project, call);
        assert.ok(isError, call.action);
        assert.match(content, /holds protected content/);
      }
      await project.write("pub.txt", "two\n");
      await run(project, { action: "add", paths: ["pub.txt"] });
      assert.ok((await run(project, { action: "commit", message: "key CANARY" })).isError);
      assert.ok((await run(project, { action: "stash", message: "key CANARY" })).isError);
      assert.equal((await git(project, "branch", "--list")).trim(), "* main");
      assert.equal((await git(project, "log", "--oneline")).trim().split("\n").length, 1);
      assert.equal((await git(project, "ls-files", "n-CANARY.txt")).trim(), "");
      assert.equal(await project.text("pub.txt"), "two\n");
      assert.deepEqual(asked.map(([display]) => display).length, 6);
      assert.match((await run(project, { action: "commit", message: "fine" })).content, /^committed/);
    }),
);

Deno.test(
  "the name for commits is the user's, from their own settings",
  sandboxed,
  () =>
    withRepository(async (project) => {
      const home = await Deno.makeTempDir();
      try {
        await git(project, "config", "--unset", "user.name");
        await project.write("pub.txt", "two\n");
        await run(project, { action: "add", paths: ["pub.txt"] });
        assert.match((await run(project, { action: "commit", message: "m" })).content, /no name and address/);
        await Deno.writeTextFile(`${home}/.gitconfig`, "[user]\n\tname = Somebody\n[core]\n\tpager = touch ran\n");
        project.context.io = { ...project.context.io, env: (name) => name === "HOME" ? home : undefined };
        assert.match((await run(project, { action: "commit", message: "m" })).content, /^committed/);
        assert.match(await git(project, "log", "-n1", "--format=%an %ae"), /^Somebody t@example\.com/);
      } finally {
        await Deno.remove(home, { recursive: true });
      }
    }),
);

Deno.test(
  "what a program of the user's filters is left to the user",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await project.write(".gitattributes", "*.bin filter=lfs\n");
      await project.write("big.bin", "big\n");
      const { content } = await run(project, { action: "add", paths: ["."] });
      assert.equal(
        content,
        "added .gitattributes\nnot added: big.bin, which the program lfs filters; only the user can add it",
      );
      assert.equal((await git(project, "ls-files", "big.bin")).trim(), "");
    }),
);

Deno.test(
  "switch and stash change no hooks that git finds by its settings",
  sandboxed,
  () =>
    withRepository(async (project) => {
      await git(project, "config", "core.hooksPath", "tools/hooks");
      await git(project, "switch", "-qc", "other");
      await project.write("tools/hooks/pre-commit", "evil\n");
      await project.write(".envrc", "evil\n");
      await git(project, "-c", "core.hooksPath=/dev/null", "add", "-A", "tools");
      await git(project, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "hooks");
      await git(project, "switch", "-q", "main");
      const refused = await run(project, { action: "switch", rev: "other" });
      assert.match(refused.content, /tools\/hooks\/pre-commit, which only the user may change.*git switch other/);
      assert.equal((await git(project, "branch", "--show-current")).trim(), "main");
      await git(project, "switch", "-q", "other");
      await project.write("tools/hooks/pre-commit", "mine\n");
      assert.match((await run(project, { action: "stash" })).content, /nothing to stash/);
      assert.equal(await Deno.readTextFile(`${project.root}/tools/hooks/pre-commit`), "mine\n");
      await git(project, "config", "core.hooksPath", "elsewhere");
      const { content } = await run(project, { action: "stash" });
      assert.match(content, /stashed tools\/hooks\/pre-commit/, "the control");
    }),
);
