import assert from "node:assert/strict";
import { commitOfCheckout } from "./checkout.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A folder with these files. */
async function folder(files: Files) {
  const path = await Deno.makeTempDir();
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(`${path}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${path}/${name}`, text);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

type Files = Record<string, string>;

const REFERENCE = "ref: refs/heads/main\n";

for (
  const [what, files] of Object.entries<Files>({
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
  Deno.test(`the commit of a checkout ${what}`, async () => {
    await using place = await folder(files);
    assert.equal(commitOfCheckout(place.path), COMMIT.slice(0, 12));
  });
}

Deno.test("no commit is told where there is no checkout, no commit yet, or something that is none", async () => {
  const unusable: Files[] = [{}, { ".git/HEAD": REFERENCE }, { ".git/HEAD": REFERENCE, ".git/refs/heads/main": "x" }];
  for (const files of unusable) {
    await using place = await folder(files);
    assert.equal(commitOfCheckout(place.path), null);
  }
});
