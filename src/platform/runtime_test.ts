import { commitOfCheckout, neededRuntime } from "./runtime.ts";
import assert from "node:assert/strict";

Deno.test("a Deno that is too old for the form is told with the one that is needed", () => {
  const needed = (version: string, form: "binary" | "bundle" | "source") =>
    neededRuntime({ version, form, system: "linux x86_64" });
  for (const old of ["1.46.3", "2.0.0", "2.7.10"]) assert.equal(needed(old, "bundle"), "2.7.11", old);
  for (const new_ of ["2.7.11", "2.7.11+1b2c3d4", "2.10.0", "3.0.0-rc.1"]) {
    assert.equal(needed(new_, "bundle"), null, new_);
  }
  assert.equal(needed("2.7.11", "source"), "2.8.0");
  assert.equal(needed("2.8.0", "source"), null);
});

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
