import assert from "node:assert/strict";
import { createSessionSandbox } from "../../boundary/sandbox/session_sandbox.ts";
import { hasBubblewrap } from "../../../tests/boundary/sandbox_project.ts";
import { inToolProject, type ToolProject } from "../../../tests/helpers/tool_project.ts";
import { run as startProcess } from "../../platform/process.ts";
import { offersGit } from "./offer.ts";
import { openRepository } from "./repository.ts";
import { type GitInput, gitTool } from "./tool.ts";

const sandboxed = { ignore: !hasBubblewrap() };
const marker = "no-cloud: .env\nno-cloud: secrets\n";

async function withRepository(work: (project: ToolProject) => Promise<void>): Promise<void> {
  await inToolProject(async (project) => {
    await project.write(".env", "A=CANARY\n");
    await project.write("secrets/k.txt", "CANARY\n");
    await project.write("pub.txt", "one\n");
    for (
      const args of [["init", "-q", "-b", "main"], ["config", "user.name", "t"], [
        "config",
        "user.email",
        "t@example.com",
      ], [
        "add",
        "-A",
      ], ["commit", "-qm", "first"]]
    ) await git(project, ...args);
    const { root, context } = project;
    context.sandbox = createSessionSandbox({
      os: "linux",
      settings: { mode: "auto", network: false, read: [], write: [] },
      home: `${root}/../never-made-home`,
      roots: [root],
      userHome: undefined,
      path: "/usr/bin:/bin",
    });
    await work(project);
  }, { marker });
}

async function git(project: ToolProject, ...args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command("git", {
    args: ["-c", "safe.directory=*", ...args],
    cwd: project.root,
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
  }).output();
  return new TextDecoder().decode(stdout);
}

function run(project: ToolProject, input: GitInput) {
  return project.run(gitTool, input);
}

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
      assert.equal(added.content, "added dir/a.txt\nsecrets/new.txt was not added: protected");
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
    await project.write(".gitattributes", "* filter=f\n");
    await project.write("pub.txt", "two\n");
    for (const action of ["status", "diff", "add", "commit", "log"] as const) {
      await run(project, { action, paths: action === "add" ? ["pub.txt"] : [], message: "m" });
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

Deno.test(
  "what git is made to run sees nothing that is protected, and changes nothing",
  sandboxed,
  () =>
    withRepository(async (project) => {
      const repository = await openRepository("/usr/bin/git", project.context);
      assert.ok(typeof repository !== "string");
      const script =
        "cat pub.txt .env secrets/k.txt; tr '\\0' '\\n' < /proc/$PPID/environ; env; touch made .git/made; " +
        "echo x >> .git/config; ls .git/HEAD";
      for (const access of ["read", "write"] as const) {
        const env = { PATH: "/usr/bin:/bin" };
        const sandboxed = await repository.inSandbox?.({ argv: ["/bin/bash", "-c", script], env, access });
        assert.ok(sandboxed);
        let text = "";
        const onOutput = (bytes: Uint8Array) => text += new TextDecoder().decode(bytes);
        await startProcess({ ...sandboxed, onOutput });
        await sandboxed.finish();
        assert.match(text, /^one\n[^]*\.git\/HEAD\n/);
        assert.doesNotMatch(text, /CANARY/);
        const made = await Deno.stat(`${project.root}/.git/made`).then(() => true, () => false);
        assert.equal(made, access === "write");
      }
      await assert.rejects(Deno.stat(`${project.root}/made`), Deno.errors.NotFound);
      assert.doesNotMatch(await project.text(".git/config"), /^x$/m);
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

Deno.test("a repository that lies elsewhere can be worked with", sandboxed, () =>
  withRepository(async (project) => {
    const main = `${project.root}/../${crypto.randomUUID()}`;
    try {
      await Deno.rename(`${project.root}/.git`, main);
      await Deno.writeTextFile(`${project.root}/.git`, `gitdir: ${main}\n`);
      await project.write("pub.txt", "two\n");
      assert.equal((await run(project, { action: "status" })).content, "on main\n M pub.txt");
      await run(project, { action: "add", paths: ["pub.txt"] });
      assert.match((await run(project, { action: "commit", message: "second" })).content, /^committed .* second$/);
    } finally {
      await Deno.remove(main, { recursive: true });
    }
  }));

Deno.test("the tool is offered in repositories with a marker alone", async () => {
  await withRepository(async (project) => assert.equal(await offersGit(project.context.workspace), true));
  await inToolProject(async (project) => assert.equal(await offersGit(project.context.workspace), false), { marker });
  await inToolProject(async (project) => {
    await git(project, "init", "-q");
    assert.equal(await offersGit(project.context.workspace), false);
  });
});
