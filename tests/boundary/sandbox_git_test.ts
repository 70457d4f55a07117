/** Threat 43: what git keeps of protected files, and a repository that is itself the attack. */
import assert from "node:assert/strict";
import { historyHolds } from "../../src/boundary/sandbox/git_history.ts";
import { askGit, PLAIN_DIFF } from "../../src/boundary/sandbox/git_call.ts";
import { findMarkers } from "../../src/boundary/policy/marker.ts";
import { openWorkspace } from "../../src/boundary/workspace/disk.ts";
import type { ProtectedPlaces } from "../../src/boundary/sandbox/request.ts";
import { hasBubblewrap, holdsCanary, inSandboxProject, type SandboxProject } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };

async function protectionOf(project: SandboxProject): Promise<ProtectedPlaces> {
  const { root, home } = project;
  const markers = await findMarkers(root);
  const provider = { local: false, name: "test" };
  const workspace = await openWorkspace({ root, additional: [], cwd: root, home, markers, provider });
  assert.ok(workspace.protection);
  return workspace.protection;
}

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
];

function commitSecrets(project: SandboxProject): void {
  project.git("init", "-q");
  project.git("add", "-A");
  project.git("commit", "-qm", "one");
  project.write("pub.txt", "PUB 2\n");
  project.git("commit", "-qam", "two");
  project.git("rm", "-q", "--cached", "-r", ".env", "secrets", "deep");
  project.git("commit", "-qm", "three");
}

Deno.test(
  "a history that holds a protected path is hidden as a whole",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      commitSecrets(project);
      const protection = await protectionOf(project);
      const git = await project.sandbox.gitVisibility([project.root], protection);
      assert.equal(git, "hidden");
      for (const command of QUESTIONS) {
        const { text } = await project.sandboxed(command, { git });
        assert.ok(!holdsCanary(text, project.canary), `${command} shows the canary:\n${text}`);
      }
      assert.match((await project.sandboxed("cat pub.txt; git status", { git })).text, /PUB 2\n/);
      assert.ok(
        holdsCanary(
          await project.unsandboxed(`git config --global safe.directory '*'; ${QUESTIONS[1]}`),
          project.canary,
        ),
      );
    }),
);

Deno.test(
  "a history without protected paths stays in sight, and can be worked with",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(".gitignore", ".env\nsecrets\ndeep\n");
      project.git("init", "-q");
      project.git("add", "-A");
      project.git("commit", "-qm", "one");
      const protection = await protectionOf(project);
      const git = await project.sandbox.gitVisibility([project.root], protection);
      assert.equal(git, "open");
      const name = "-c user.name=t -c user.email=t@example.com";
      const command = `echo x >> pub.txt; git add pub.txt; git ${name} commit -qm two && git log --oneline | wc -l`;
      assert.equal((await project.sandboxed(command, { git })).text, "2\n");
      const worktree = await project.sandboxed("git worktree add -q wt && git -C wt log --oneline | wc -l", { git });
      assert.deepEqual([worktree.text, worktree.report.undone], ["2\n", []]);
      assert.equal((await project.sandboxed("git -C wt status --porcelain", { git })).text, "");
      assert.equal(await project.sandbox.gitVisibility([project.root], protection), "open");
      // A commit that holds one changes the verdict.
      project.git("add", "-f", ".env");
      assert.equal(await project.sandbox.gitVisibility([project.root], protection), "hidden");
    }),
);

const HELD: readonly [string, (project: SandboxProject) => void][] = [
  ["in the index", (project) => project.git("add", "-f", ".env")],
  ["only in an old commit", commitSecrets],
  ["only on another branch", (project) => {
    project.git("commit", "-q", "--allow-empty", "-m", "none");
    project.git("checkout", "-qb", "other");
    project.git("add", "-f", "secrets");
    project.git("commit", "-qm", "held");
    project.git("checkout", "-q", "-");
  }],
  ["only in the stash", (project) => {
    project.git("add", "pub.txt");
    project.git("commit", "-qm", "one");
    project.git("add", "-f", ".env");
    project.git("stash", "-q");
    project.write(".env", "B=other value\n");
  }],
  ["only in the reflog", (project) => {
    project.git("add", "pub.txt");
    project.git("commit", "-qm", "one");
    project.git("add", "-f", ".env");
    project.git("commit", "-qm", "two");
    project.git("reset", "-q", "HEAD~1");
  }],
  ["as an object that nothing reaches", (project) => project.git("hash-object", "-w", ".env")],
  ["under an earlier name", (project) => {
    project.write("old.txt", `A=${project.canary}\n`);
    project.git("add", "old.txt");
    project.git("commit", "-qm", "one");
  }],
  ["as a path that is no longer there", (project) => {
    project.write("secrets/gone.txt", "gone\n");
    project.git("add", "-f", "secrets/gone.txt");
    project.git("commit", "-qm", "one");
    project.git("rm", "-q", "-f", "secrets/gone.txt");
    project.git("commit", "-qm", "two");
  }],
];

for (const [where, make] of HELD) {
  Deno.test(`a repository holds what is protected: ${where}`, bubblewrap, () =>
    inSandboxProject(async (project) => {
      project.git("init", "-q");
      const protection = await protectionOf(project);
      const options = { protection, hide: await protection.hidden() };
      const { root } = project;
      const repository = { git: "/usr/bin/git", top: root, directory: `${root}/.git`, tops: [root] };
      assert.equal(await historyHolds(repository, options), false);
      make(project);
      assert.equal(await historyHolds(repository, options), true);
    }));
}

Deno.test(
  "a broken repository, and one that git will not speak of, count as holding",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(".git/HEAD", "nonsense");
      const protection = await protectionOf(project);
      assert.equal(await project.sandbox.gitVisibility([project.root], protection), "hidden");
    }),
);

Deno.test("asking a repository runs none of its programs", bubblewrap, () =>
  inSandboxProject(async (project) => {
    project.git("init", "-q");
    project.git("add", "pub.txt");
    project.git("commit", "-qm", "one");
    const ran = `${project.base}/ran`;
    const evil = `touch ${ran}; cat`;
    for (
      const [key, value] of [
        ["core.fsmonitor", evil],
        ["core.hooksPath", project.root],
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
        ["gpg.program", ran],
        ["log.showSignature", "true"],
        ["core.worktree", "/"],
      ] as const
    ) project.git("config", key, value);
    project.write(".gitattributes", '* filter=p diff=x\n*.txt filter="a b"\n');
    project.write("pub.txt", "changed\n");
    const repository = { git: "/usr/bin/git", top: project.root };
    const options = { timeoutMs: 10_000, limit: 100_000 };
    const status = await askGit(repository, { ...options, args: ["status", "--porcelain"] });
    assert.match(status ?? "", /M pub\.txt/);
    assert.match(
      await askGit(repository, { ...options, args: ["diff", ...PLAIN_DIFF] }) ?? "",
      /\+changed/,
    );
    assert.match(await askGit(repository, { ...options, args: ["log", "-p", ...PLAIN_DIFF] }) ?? "", /one/);
    const protection = await protectionOf(project);
    await project.sandbox.gitVisibility([project.root], protection);
    assert.equal(project.read(ran), null);
  }));
