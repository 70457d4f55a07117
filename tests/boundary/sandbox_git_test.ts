/** Threat 43: what git keeps is not there for commands, and a repository that is itself the attack runs nothing. */
import assert from "node:assert/strict";
import { writeProtectionOnDisk } from "../../src/boundary/policy/write_protected.ts";
import { gitLine } from "../../src/shell/git.ts";
import { parseSettings } from "../../src/tools/git/call.ts";
import { askGit, filtersOff, PLAIN_DIFF } from "../../src/tools/git/call.ts";
import { ask, say, want } from "../helpers/fake_server.ts";
import { openStage } from "./harness.ts";
import { hasBubblewrap, holdsCanary, inSandboxProject, type SandboxProject } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };

/** Commands that show what git keeps. */
const QUESTIONS: readonly string[] = [
  "git show HEAD:.env; git show HEAD~1:.env; git show HEAD~2:.env",
  "git log -p --all",
  "git cat-file --batch-all-objects --batch --buffer",
  "git grep CNRY $(git rev-list --all)",
  "git stash show -p; git show stash@{0}",
  "git worktree add -q ../wt HEAD~2 && cat ../wt/.env; git worktree add -q wt HEAD~2 && cat wt/.env",
  "git archive HEAD~2 | tar xO",
  "git checkout HEAD~2 -- .env; cat .env",
  "git reflog -p",
  "git clone -q . /tmp/c && cat /tmp/c/.env; git -C /tmp/c log -p",
  "git format-patch --stdout --root HEAD",
  "cp -r .git /tmp/g; git --git-dir=/tmp/g log -p --all",
  "GIT_DIR=.git git log -p --all; mv .git g2; git --git-dir=g2 log -p --all",
  "chmod -R 777 .git; cat .git/config .git/rebase-apply/patch .git/logs/HEAD",
];

function commitSecrets(project: SandboxProject): void {
  project.git("init", "-q");
  project.git("add", "-A");
  project.git("commit", "-qm", "one");
  project.write("pub.txt", "PUB 2\n");
  project.git("commit", "-qam", "two");
  project.git("rm", "-q", "--cached", "-r", ".env", "secrets", "deep");
  project.git("commit", "-qm", "three");
  project.write(".git/rebase-apply/patch", `+A=${project.canary}\n`);
  project.git("config", "remote.origin.url", `https://oauth2:${project.canary}@host.test/x`);
}

Deno.test(
  "a repository is not there for the commands of an open session",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      commitSecrets(project);
      for (const command of QUESTIONS) {
        const { text } = await project.sandboxed(command);
        assert.ok(!holdsCanary(text, project.canary), `${command} shows the canary:\n${text}`);
      }
      assert.match((await project.sandboxed("cat pub.txt; git status")).text, /PUB 2\n/);
      await project.unsandboxed("git config --global safe.directory '*'");
      for (const command of [QUESTIONS[1] ?? "", "cat .git/config", "cat .git/rebase-apply/patch"]) {
        assert.ok(holdsCanary(await project.unsandboxed(command), project.canary), command);
      }
    }),
);

Deno.test(
  "what runs later stays as it is where it really lies: links from hooks, start-up files and settings of the user",
  bubblewrap,
  () =>
    inSandboxProject(async ({ root, userHome, write, git, sandboxed, read }) => {
      git("init", "-q");
      write(`${userHome}/.gitconfig`, "[core]\nhooksPath = tools/hooks\n");
      const links = {
        [`${root}/.git/hooks/pre-commit`]: "scripts/pre-commit",
        [`${root}/tools/hooks/post-merge`]: "scripts/post-merge",
        [`${root}/.git/config.link`]: "scripts/not-run",
        [`${userHome}/.bashrc`]: "dotfiles/bashrc",
        [`${userHome}/.ssh/config`]: "dotfiles/ssh",
        [`${userHome}/.claude/settings.json`]: "dotfiles/assistant",
        [`${userHome}/.config/fish`]: "dotfiles/fish",
        [`${userHome}/.config/git/config`]: "dotfiles/git",
        [`${userHome}/.notes`]: "dotfiles/notes",
      };
      write("dotfiles/fish/config.fish", "mine\n");
      for (const [link, name] of Object.entries(links)) {
        if (name !== "dotfiles/fish") write(name, "mine\n");
        await Deno.mkdir(link.replace(/\/[^/]*$/, ""), { recursive: true });
        await Deno.symlink(`${root}/${name}`, link);
      }
      await Deno.symlink("../../scripts/missing", `${root}/.git/hooks/pre-push`);
      const free = ["scripts/not-run", "dotfiles/notes"];
      const frozen = [...Object.values(links), "dotfiles/fish/config.fish"].filter((name) => !free.includes(name));
      const names = [...free, ...frozen, "scripts/missing", "scripts/new"];
      const { report } = await sandboxed(names.map((name) => `echo evil > ${name}`).join("\n"));
      for (const name of [...free, "scripts/new"]) assert.equal(read(name), "evil\n", `control: ${name}`);
      for (const name of frozen) assert.notEqual(read(name), "evil\n", name);
      assert.deepEqual(report.quarantined?.paths, [`${root}/scripts/missing`]);
      const reason = (name: string) =>
        writeProtectionOnDisk({ path: `${root}/${name}`, real: `${root}/${name}` }, {
          ...{ roots: [root], markers: [], user: { userHome } },
        });
      for (const name of [...frozen, "scripts/missing"]) assert.ok(await reason(name), name);
      for (const name of [...free, "scripts/new"]) assert.equal(await reason(name), null, `control: ${name}`);
    }),
);

Deno.test(
  "where nothing of the project is protected, commands work with git as they would outside",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      for (const gone of [".agentclisecret", ".env", "secrets", "deep"]) {
        await Deno.remove(`${project.root}/${gone}`, { recursive: true });
      }
      project.git("init", "-q");
      const name = "-c user.name=t -c user.email=t@example.com";
      const command =
        `git add pub.txt; git ${name} commit -qm one && git config core.hooksPath hooks; mkdir x; git init -q x`;
      const { report } = await project.sandboxed(command, { git: true });
      assert.equal(report.quarantined, null);
      assert.match(project.read(".git/config") ?? "", /hooksPath = hooks/);
      assert.match(project.git("log", "--oneline"), /one/);
      assert.notEqual(project.read("x/.git/HEAD"), null);
    }),
);

/** Settings of a repository that make git run something. */
const RUNS = (evil: string, root: string): readonly (readonly [string, string])[] => [
  ["core.fsmonitor", evil],
  ["core.hooksPath", root],
  ["core.pager", evil],
  ["pager.log", evil],
  ["diff.external", evil],
  ["core.sshCommand", evil],
  ["core.alternateRefsCommand", evil],
  ["filter.a b.clean", evil],
  ["filter.a b.smudge", evil],
  ["filter.a b.required", "true"],
  ["filter.p.process", evil],
  ["diff.x.textconv", evil],
  ["diff.x.command", evil],
  ["gpg.program", evil],
  ["log.showSignature", "true"],
];

Deno.test(
  "asking a repository runs none of its programs, even if there were no sandbox",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.git("init", "-q");
      project.git("add", "pub.txt");
      project.git("commit", "-qm", "one");
      const ran = `${project.base}/ran`;
      const settings = RUNS(`touch ${ran}; cat`, project.root);
      for (const [key, value] of settings) project.git("config", key, value);
      project.write(".gitattributes", '* filter=p diff=x\n*.txt filter="a b"\n');
      project.write("pub.txt", "changed\n");
      const repository = {
        git: "/usr/bin/git",
        top: project.root,
        directory: `${project.root}/.git`,
        common: `${project.root}/.git`,
        off: filtersOff(settings),
        inSandbox: (
          line: Parameters<typeof gitLine>[1] & { argv: [string, ...string[]]; env: Record<string, string> },
        ) => Promise.resolve({ argv: line.argv, env: line.env, cwd: project.root }),
      };
      const ask = (...args: string[]) =>
        // deno-lint-ignore no-explicit-any -- a repository without its sandbox
        askGit(repository as any, { timeoutMs: 10_000, limit: 100_000, args });
      assert.match(await ask("status", "--porcelain") ?? "", /M pub\.txt/);
      assert.match(await ask("diff", ...PLAIN_DIFF) ?? "", /\+changed/);
      assert.match(await ask("log", "-p", ...PLAIN_DIFF) ?? "", /one/);
      const told = parseSettings(await ask("config", "--null", "--list") ?? "");
      assert.ok(told.some(([key, value]) => key === "filter.p.process" && value.startsWith("touch")));
      assert.equal(project.read(ran), null);
    }),
);

Deno.test(
  "git fetches nothing that a partial clone lacks, by no protocol",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.git("init", "-q");
      project.git("add", "pub.txt");
      project.git("commit", "-qm", "one");
      const tree = project.git("rev-parse", "HEAD^{tree}").trim();
      await Deno.remove(`${project.root}/.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`);
      const ran = `${project.base}/ran`;
      for (
        const [key, value] of [
          ["extensions.partialClone", "origin"],
          ["remote.origin.url", project.root],
          ["remote.origin.promisor", "true"],
          ["remote.origin.uploadpack", `touch '${ran}'; git-upload-pack`],
          ["protocol.file.allow", "always"],
          ["core.repositoryFormatVersion", "1"],
        ] as const
      ) project.git("config", key, value);
      const start = async (strict: boolean) => {
        const { argv, env } = gitLine({ git: "/usr/bin/git", top: project.root, directory: `${project.root}/.git` }, {
          args: ["log", "-p"],
        });
        // As a git that does not know of it: those before 2.39.4.
        delete env["GIT_NO_LAZY_FETCH"];
        if (!strict) {
          delete env["GIT_ALLOW_PROTOCOL"];
          for (const [name, value] of Object.entries(env)) {
            if (value.startsWith("protocol.")) env[name] = "x.x";
          }
        }
        await new Deno.Command(argv[0], { args: argv.slice(1), cwd: project.root, clearEnv: true, env }).output();
        return project.read(ran) !== null;
      };
      assert.equal(await start(true), false);
      // The control: with protocols it runs.
      assert.equal(await start(false), true);
    }),
);

Deno.test(
  "what git says it would run cannot be changed, nor made where it is missing",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.git("init", "-q");
      project.write(".githooks/pre-commit", "mine\n");
      project.write("tools/filter.sh", "mine\n");
      project.write("shared.gitconfig", "[alias]\n\tx = !./tools/alias.sh\n");
      project.write("tools/alias.sh", "mine\n");
      project.write("tools/free.sh", "theirs\n");
      project.write(`${project.userHome}/.gitconfig`, "[core]\n\tfsmonitor = ./watch.sh\n");
      for (
        const [key, value] of [
          ["core.hooksPath", ".githooks"],
          ["filter.f.clean", "sh ./tools/filter.sh --clean"],
          ["include.path", "../shared.gitconfig"],
          ["diff.d.textconv", "./later.sh"],
        ] as const
      ) project.git("config", key, value);
      const kept = [".githooks/pre-commit", "tools/filter.sh", "shared.gitconfig", "tools/alias.sh"];
      const before = kept.map(project.read);
      const made = [".githooks/post-commit", "later.sh", "watch.sh"];
      const command = [...kept, ...made, "tools/free.sh"].map((name) => `echo evil > ${name}; mv ${name} ${name}2`)
        .join("\n") + "\nmv tools t2; rm -rf .githooks; echo evil > later.sh; echo evil > watch.sh";
      const { report } = await project.sandboxed(command);
      assert.deepEqual(kept.map(project.read), before);
      assert.deepEqual(made.map(project.read), [null, null, null]);
      assert.deepEqual(report.quarantined?.paths.sort(), [`${project.root}/later.sh`, `${project.root}/watch.sh`]);
      assert.equal(project.read("tools/free.sh2"), "evil\n");
      // A second command asks git no more, and a change of the settings is seen.
      project.git("config", "diff.d.textconv", "./tools/free.sh2");
      await project.sandboxed("echo again > tools/free.sh2; echo again > tools/filter.sh");
      assert.equal(project.read("tools/free.sh2"), "evil\n");
      assert.equal(project.read("tools/filter.sh"), "mine\n");
    }),
);

Deno.test("a local session that holds protected content takes nothing out of the history", bubblewrap, async () => {
  await using stage = await openStage({ git: true });
  const args = ["--permission-mode", "bypassPermissions"];
  const old = "OLD_" + crypto.randomUUID();
  await stage.write(".env", `KEY=${old}\n`);
  await stage.git("add", "-f", ".env");
  await stage.git("commit", "--quiet", "-m", "old");
  await stage.plant(".env", "env");
  const command = "git show HEAD:.env > old.txt 2>&1; cat .git/HEAD; cat .env; echo done";
  const script = [ask(want("read", { path: ".env" })), ask(want("shell", { command })), say("Done.")];
  const local = await stage.play("loc", { args, script });
  assert.match(local.results[1] ?? "", /done/, "control: it ran");
  const remote = await stage.play("rem", { script: [ask(want("read", { path: "old.txt" })), say("Done.")] });
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assert.doesNotMatch(local.results[1] ?? "", /refs\/heads/);
  assert.ok(!remote.sent.includes(old));
});
