import assert from "node:assert/strict";
import { denoIo } from "../../platform/deno_io.ts";
import { findPathReference, type TextKind } from "./path_references.ts";
import { ProtectedLookup } from "./lookup.ts";

async function project() {
  const root = await Deno.realPath(await Deno.makeTempDir());
  await Deno.writeTextFile(
    `${root}/.agentclisecret`,
    "no-cloud: secrets\nno-cloud: .env\nno-cloud: my keys.txt\nno-cloud: credentials\n",
  );
  for (const directory of ["secrets", "src"]) await Deno.mkdir(`${root}/${directory}`);
  for (
    const name of [
      "secrets/keys.md",
      "secrets/index.ts",
      ".env",
      "my keys.txt",
      "credentials",
      "src/index.ts",
      "index.ts",
    ]
  ) {
    await Deno.writeTextFile(`${root}/${name}`, "x");
  }
  const io = { env: () => undefined, os: "linux", clock: denoIo().clock } as const;
  const lookup = await ProtectedLookup.open({ roots: [root], cwd: root, userHome: null }, io);
  return { root, lookup, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

const CASES: readonly [TextKind, string, boolean][] = [
  ["command", "cat ./src/../secrets/keys.md", true],
  ["command", "cat SECRETS/Keys.md", true],
  ["command", 'cat "my keys.txt"', true],
  ["command", "cat my\\ keys.txt", true],
  ["command", 'X="$(<.env)"; echo $X', true],
  ["command", "cat .en?", true],
  ["command", "cat s[e]crets/*", true],
  ["command", "cat {secrets,src}/keys.md", true],
  ["command", "type secrets\\keys.md", true],
  ["command", "cat credentials", true],
  ["command", "cat index.ts src/index.ts", false],
  ["command", "ls *.ts", false],
  ["command", "git status --short", false],
  ["prose", "look at keys.md, please", true],
  ["prose", "open secrets/", true],
  ["prose", "see [this](file:///nowhere) and `credentials`", true],
  ["prose", "secrets%2Fkeys.md", true],
  ["prose", "does it handle credentials and secrets well?", false],
  ["prose", "explain index.ts", false],
];

for (const [kind, text, named] of CASES) {
  Deno.test(`${kind} ${JSON.stringify(text)} ${named ? "names" : "does not name"} a protected path`, async () => {
    await using at = await project();
    assert.equal(await findPathReference(text, kind, at.lookup) !== null, named);
  });
}

Deno.test("a path is found by its absolute name, also with text around it", async () => {
  await using at = await project();
  assert.notEqual(await findPathReference(`see <${at.root}/secrets/keys.md>:3`, "prose", at.lookup), null);
});

Deno.test("a long text is looked at in time that grows with its length", { timeout: 60_000 }, async () => {
  await using at = await project();
  assert.equal(await findPathReference("word another/one -x=y ".repeat(40_000), "prose", at.lookup), null);
});
