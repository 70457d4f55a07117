import assert from "node:assert/strict";
import { currentBranch, headCommit } from "./git_directory.ts";

async function inProject(files: Record<string, string>, work: (root: string) => void): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = `${root}/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(path, content.replaceAll("ROOT", root));
    }
    work(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("the branch is what HEAD names, also in a linked worktree", async () => {
  await inProject({ ".git/HEAD": "ref: refs/heads/fix/names of things\n" }, (root) => {
    assert.equal(currentBranch(root), "fix/names of things");
  });
  for (const pointer of ["gitdir: ROOT/main/.git/worktrees/w\n", "gitdir: ../main/.git/worktrees/w"]) {
    await inProject({ "w/.git": pointer, "main/.git/worktrees/w/HEAD": "ref: refs/heads/side\r\n" }, (root) => {
      assert.equal(currentBranch(`${root}/w`), "side");
    });
  }
});

Deno.test("without a repository, or with a commit alone, there is no branch", async () => {
  await inProject({ "a.txt": "" }, (root) => assert.equal(currentBranch(root), undefined));
  await inProject({ ".git/HEAD": `${"a".repeat(40)}\n` }, (root) => assert.equal(currentBranch(root), undefined));
  await inProject({ ".git": "something else\n" }, (root) => assert.equal(currentBranch(root), undefined));
});

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const REFERENCE = "ref: refs/heads/main\n";

for (
  const [what, files] of Object.entries<Record<string, string>>({
    "on a branch": { ".git/HEAD": REFERENCE, ".git/refs/heads/main": `${COMMIT}\n` },
    "on a packed branch": { ".git/HEAD": REFERENCE, ".git/packed-refs": `# pack-refs\n${COMMIT} refs/heads/main\n` },
    "without a branch": { ".git/HEAD": `${COMMIT}\n` },
    "in a worktree": {
      ".git": "gitdir: main/.git/worktrees/one\n",
      "main/.git/worktrees/one/HEAD": REFERENCE,
      "main/.git/worktrees/one/commondir": "../..\n",
      "main/.git/refs/heads/main": `${COMMIT}\n`,
    },
  })
) {
  Deno.test(`the commit of a checkout ${what}`, () =>
    inProject(files, (root) => assert.equal(headCommit(root), COMMIT)));
}

Deno.test("HEAD is null without a checkout, before the first commit, and if it names no commit", async () => {
  const unusable: Record<string, string>[] = [{}, { ".git/HEAD": REFERENCE }, {
    ".git/HEAD": REFERENCE,
    ".git/refs/heads/main": "x",
  }];
  for (const files of unusable) await inProject(files, (root) => assert.equal(headCommit(root), null));
});
