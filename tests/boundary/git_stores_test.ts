/**
 * Threat 43 through the program itself: git stores that are not the project's `.git`, and repositories that run
 * programs.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { assertSealed, openStage, type Stage } from "./harness.ts";
import { hasBubblewrap, inSandboxProject } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const allowed = ["--permission-mode", "bypassPermissions"];
const marker = "no-cloud: .env\nno-cloud: **/.env\nno-cloud: secrets\n";

/** Runs a shell script in the project, as its owner would. */
async function shell(stage: Stage, script: string): Promise<string> {
  const name = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@example.test" };
  const output = await new Deno.Command("/bin/bash", {
    args: ["-ec", script],
    cwd: stage.project,
    clearEnv: true,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: stage.home.home,
      GIT_CONFIG_NOSYSTEM: "1",
      ...name,
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@example.test",
    },
  }).output();
  assert.ok(output.success, new TextDecoder().decode(output.stderr));
  return new TextDecoder().decode(output.stdout);
}

/** A place where git keeps an old value, and the command that shows it. */
interface Kept {
  where: string;
  make: string;
  show: string;
}

const INIT = "git init -q -b main .; git add pub.txt; git commit -qm one";
const HELD = "git add -f .env; git commit -qm two; git rm -q --cached .env; git commit -qm three";

const KEPT: readonly Kept[] = [
  {
    where: "a nested repository",
    make: `${INIT}; mkdir sub; cp .env sub; cd sub; git init -q .; ${HELD}; rm .env`,
    show: "git -C sub show HEAD~1:.env",
  },
  {
    where: "a nested repository without a name that a rule covers",
    make: `${INIT}; mkdir sub; cp .env sub/old; cd sub; git init -q .; git add old; git rm -q --cached old; rm old`,
    show: "git -C sub cat-file --batch-all-objects --batch",
  },
  {
    where: "a directory that the .git file names",
    make: `${INIT}; ${HELD}; mv .git store; echo 'gitdir: ./store' > .git`,
    show: "git --git-dir=store show HEAD~1:.env",
  },
  {
    where: "a bare repository",
    make: `${INIT}; ${HELD}; git clone -q --bare . copy; rm -rf .git; ${INIT}`,
    show: "git -C copy show HEAD~1:.env",
  },
  {
    where: "a submodule",
    make: `${INIT}; mkdir -p .git/modules/a; mkdir sub; cp .env sub; cd sub; git init -q .; ${HELD}; rm .env;
      mv .git ../.git/modules/a/b; echo 'gitdir: ../.git/modules/a/b' > .git`,
    show: "git -C sub show HEAD~1:.env; git --git-dir=.git/modules/a/b show HEAD~1:.env",
  },
  {
    where: "an object that nothing reaches",
    make: `${INIT}; git add -f .env; git rm -q --cached .env`,
    show: "git cat-file --batch-all-objects --batch",
  },
  {
    where: "a commit that nothing reaches",
    make: `${INIT}; ${HELD}; git reset -q --hard HEAD~2; git reflog expire --expire=now --all; rm -f .git/ORIG_HEAD`,
    show: "git cat-file --batch-all-objects --batch",
  },
  {
    where: "alternates",
    make: `${INIT}; ${HELD}; mv .git/objects shared; rm -rf .git; git init -q .;
      echo ../../shared > .git/objects/info/alternates; git add pub.txt; git commit -qm one`,
    show:
      "git cat-file --batch-all-objects --batch; GIT_OBJECT_DIRECTORY=shared git cat-file --batch-all-objects --batch",
  },
  {
    where: "the index of another worktree",
    make: `${INIT}; git worktree add -q ../elsewhere; cp .env ../elsewhere; git -C ../elsewhere add -f .env;
      rm ../elsewhere/.env`,
    show: "git cat-file --batch-all-objects --batch",
  },
  {
    where: "a bundle",
    make: `${INIT}; ${HELD}; git bundle create -q all.bundle --all; rm -rf .git; ${INIT}`,
    show: 'd=$(mktemp -d); git clone -q all.bundle "$d"; git -C "$d" show HEAD~1:.env; rm -rf "$d"',
  },
  {
    where: "a pack that stands alone",
    make: `${INIT}; ${HELD}; git repack -qad; cp .git/objects/pack/*.pack old.pack; rm -rf .git; ${INIT}`,
    show:
      'd=$(mktemp -d); git init -q "$d"; cd "$d"; git unpack-objects -q < "$OLDPWD/old.pack"; git cat-file --batch-all-objects --batch',
  },
];

for (const { where, make, show } of KEPT) {
  Deno.test(`a value that was replaced since does not come out of ${where}`, bubblewrap, async () => {
    for (const protection of [marker, null]) {
      await using stage = await openStage({ marker: null });
      const old = stage.canary("env");
      await shell(stage, make);
      await stage.plant(".env", "env");
      if (protection !== null) await stage.write(".agentclisecret", protection);
      for (const path of [".git", "store", "sub/.git", "copy", "shared", "all.bundle", "old.pack"]) stage.exempt(path);
      const script = [ask(want("shell", { command: show })), say("Done.")];
      const played = await stage.play("rem", { script, args: allowed });
      assert.equal(played.done.code, 0, played.done.stderr);
      if (protection !== null) assertSealed(played, where);
      // The control: without a marker the same command brings it.
      else assert.ok(played.sent.includes(old), `the control is empty: ${played.results[0]}`);
    }
  });
}

Deno.test(
  "a store of objects is hidden without a repository, and directories of common names are not",
  bubblewrap,
  () =>
    inSandboxProject(async ({ write, sandboxed }) => {
      const named = ["info/a.txt", "de/a.txt", "fonts/pack/a.txt", "fonts/fa/a.txt"];
      for (const name of named) write(name, "open\n");
      for (const name of ["pack/x", "info/x", "ab/x"]) write(`store/${name}`, "kept\n");
      const { text } = await sandboxed(`cat ${named.join(" ")}; cat store/*/x`);
      assert.equal(text.match(/open/g)?.length, 4, text);
      assert.doesNotMatch(text, /kept/, "the control");
    }),
);

/** A submodule whose own settings name a program, as somebody else's checkout can bring it. */
const EVIL =
  `${INIT}; mkdir evil; cd evil; git init -q -b main .; echo a > a; git add a; git -c user.name=t -c user.email=t@example.test commit -qm x
echo 'cat "$(dirname "$0")/.env" | rev > "$(dirname "$0")/out.txt"; cat' > ../x.sh
git config filter.e.clean "sh '$(realpath ..)/x.sh'"; echo '* filter=e' > .gitattributes; echo c > a
S=$(git rev-parse HEAD); cd ..; git update-index --add --cacheinfo 160000,$S,evil
printf '[submodule "evil"]\\n\\tpath = evil\\n\\turl = ./evil\\n\\tignore = none\\n' > .gitmodules
git config submodule.evil.ignore none; echo changed > pub.txt`;

Deno.test("the Git tool runs no program that a submodule names", bubblewrap, async () => {
  await using stage = await openStage();
  await shell(stage, EVIL);
  stage.exempt("out.txt");
  const inputs = [
    { action: "status" },
    { action: "diff" },
    { action: "add", paths: ["pub.txt", "evil", "."] },
    { action: "diff", staged: true },
    { action: "commit", message: "two" },
    { action: "log" },
  ];
  const script = [ask(...inputs.map((input) => ({ name: "Git", input }))), say("Done.")];
  const played = await stage.play("rem", { script, args: allowed });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertSealed(played);
  assert.match(played.results[0] ?? "", /M pub\.txt/);
  await assert.rejects(Deno.stat(`${stage.project}/out.txt`), Deno.errors.NotFound);
  // The control: git itself, asked by hand, does run it.
  await shell(stage, "echo d > evil/a; git status --porcelain --ignore-submodules=none");
  assert.ok((await Deno.readTextFile(`${stage.project}/out.txt`)).includes("NEKOT_IPA"));
});

Deno.test(
  "a command leaves no settings behind in a repository that it makes below the project",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    await shell(stage, INIT);
    stage.exempt(".git");
    const script = [ask(want("shell", { command: EVIL.slice(INIT.length + 2) })), say("Done.")];
    const played = await stage.play("rem", { script, args: allowed });
    assertSealed(played);
    assert.match(played.results[0] ?? "", /moved to quarantine.*\.gitmodules/);
    assert.match(played.results[0] ?? "", /moved to quarantine.*evil\/\.git/);
    await shell(stage, "echo d > evil/a; git status --porcelain --ignore-submodules=none; test ! -e out.txt");
    // The control: where nothing is protected, commands may.
    await using open = await openStage({ marker: null });
    await shell(open, INIT);
    await open.play("rem", { script, args: allowed });
    await shell(open, "echo d > evil/a; git status --porcelain --ignore-submodules=none; test -e out.txt");
  },
);

Deno.test("a command cannot make another repository that of the project", bubblewrap, async () => {
  const command = 'ln -s "$OTHER" .git; mkdir a b; echo "gitdir: $OTHER/worktrees/x" > a/.git; ln -s "$OTHER" b/.git';
  const places = [".git", "a/.git", "b/.git"];
  for (const protection of [marker, null]) {
    await using stage = await openStage({ marker: protection });
    const other = `${stage.home.root}/other`;
    await Deno.mkdir(`${other}/worktrees/x`, { recursive: true });
    const script = [ask(want("shell", { command: command.replaceAll("$OTHER", other) })), say("Done.")];
    assertSealed(await stage.play("rem", { script, args: allowed }));
    const made = await Promise.all(
      places.map((place) => Deno.lstat(`${stage.project}/${place}`).then(() => true, () => false)),
    );
    // The control: where nothing is protected, it may.
    assert.deepEqual(made, places.map(() => protection === null));
  }
});

Deno.test("a rule may name Git, whether or not the session has it", bubblewrap, async () => {
  for (const option of ["--allowed-tools", "--disallowed-tools"]) {
    for (const protection of [marker, null]) {
      await using stage = await openStage({ git: true, marker: protection });
      const script = [ask({ name: "Git", input: { action: "status" } }), say("Done.")];
      const played = await stage.play("rem", { script, args: [option, "Git"] });
      assert.equal(played.done.code, 0, played.done.stderr);
      const ran = /on main/.test(played.results[0] ?? "");
      assert.equal(ran, protection !== null && option === "--allowed-tools", played.results[0]);
    }
  }
});
