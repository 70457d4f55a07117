import assert from "node:assert/strict";
import { outputOf } from "../../src/platform/process_group.ts";
import { sha256 } from "./sums.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);
const TARGET = "aarch64-pc-windows-msvc";

/** A program for Windows on ARM, as far as its header tells. */
const PROGRAM = new Uint8Array(512);
PROGRAM.set([0x4d, 0x5a]);
PROGRAM.set([0x40], 0x3c);
PROGRAM.set([0x50, 0x45, 0, 0, 0x64, 0xaa], 0x40);

/** Stands in for the Deno that compiles. */
const COMPILER = `#!/bin/sh
[ "$1" != --version ] || { echo "deno 2.9.6 (stable)"; exit 0; }
while [ "$1" != --output ]; do shift; done
cp "$DENORT_BIN" "$2"
`;

const BUNDLE = `function definePart(make) {
  let exports;
  return () => exports ??= make();
}

const part_note = definePart((function () {
// src/note.ts
var COMMIT = "";
var RELEASE_ADDRESS = "";

return { COMMIT };
}));

const { COMMIT } = part_note();

// main.ts
console.log(COMMIT);
`;

interface Checkout extends AsyncDisposable {
  path: string;
  /** Beside it, for what a release is made with. */
  folder: string;
}

async function copied(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isFile } of Deno.readDir(from)) {
    if (isFile) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** A git checkout with the scripts, whose tasks do next to nothing. */
async function checkout(tasks: Record<string, string> = {}): Promise<Checkout> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/a checkout`;
  const scripts = ["bundle", "compile", "packaging", "release"].map((name) => `scripts/${name}`);
  for (const folder of ["scripts", ...scripts, "packaging", "packaging/npm"]) {
    await copied(`${root}${folder}`, `${path}/${folder}`);
  }
  await copied(`${root}src/platform`, `${path}/src/platform`);
  await Deno.mkdir(`${path}/src/cli`, { recursive: true });
  const files = {
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n- New.\n",
    LICENSE: "MIT\n",
    ".gitignore": "dist/\n",
    "src/errors.ts": "",
    "src/cli/version.ts": 'export const VERSION = "0.1.0";\n',
    "deno.lock": '{"version":"5"}\n',
    "bundle.js": BUNDLE,
    "deno.json": JSON.stringify(
      {
        version: "0.1.0",
        tasks: {
          check: "echo checked",
          test: "echo tested",
          bundle: "mkdir -p dist && cp bundle.js dist/agentcli.js && deno run -A scripts/release/commit.ts",
          ...tasks,
        },
      },
      null,
      2,
    ),
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${path}/${name}`, text);
  await Deno.writeTextFile(`${folder}/compiler`, COMPILER, { mode: 0o755 });
  await Deno.mkdir(`${folder}/bases`);
  await Deno.writeFile(`${folder}/bases/denort-${TARGET}`, PROGRAM, { mode: 0o755 });
  const made = { path, folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  for (const args of [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Start"]]) await git(made, args);
  return made;
}

const NAME = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@example.com" };
const COMMITTER = { GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@example.com" };

/** Of the system nothing but where programs are; git reads no settings of whoever runs this. */
function environment(folder: string, more: Record<string, string> = {}): Record<string, string> {
  const kept = { PATH: Deno.env.get("PATH") ?? "", HOME: folder, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  return { ...kept, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", ...NAME, ...COMMITTER, ...more };
}

async function git({ path, folder }: Checkout, args: string[]): Promise<string> {
  const command = new Deno.Command("git", { args, cwd: path, clearEnv: true, env: environment(folder) });
  return new TextDecoder().decode((await command.output()).stdout).trim();
}

async function release({ path, folder }: Checkout, args: string[], env: Record<string, string> = {}) {
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      `${path}/scripts/release/release.ts`,
      "0.2.0",
      "--deno",
      `${folder}/compiler`,
      ...args,
    ],
    cwd: folder,
    stdin: "null",
    clearEnv: true,
    env: environment(folder, env),
    signal: AbortSignal.timeout(180_000),
  });
  const { code, stdout, stderr } = await command.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** No commit, no tag, no changed file. */
async function assertUntouched(at: Checkout): Promise<void> {
  assert.equal(await git(at, ["log", "--format=%s"]), "Start");
  assert.equal(await git(at, ["tag"]), "");
  assert.equal(await git(at, ["status", "--porcelain"]), "");
}

const ignore = Deno.build.os === "windows" || await outputOf(new Deno.Command("git", { args: ["version"] })) === null;

Deno.test(
  { name: "a release goes from the checks to the tag, and its files are as its sums say", ignore },
  async () => {
    await using at = await checkout();
    const args = ["--bases", `${at.folder}/bases`, "--target", TARGET, "--address", "https://example.com/r"];
    const ran = await release(at, args);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(
      ran.stdout,
      /checked\n[^]*tested\n[^]*== git commit[^]*checked\n[^]*== deno task bundle[^]*== git tag/,
    );
    assert.equal(await git(at, ["log", "--format=%s"]), "Release 0.2.0\nStart");
    assert.equal(await git(at, ["rev-list", "-1", "v0.2.0"]), await git(at, ["rev-parse", "HEAD"]));
    assert.equal(await git(at, ["status", "--porcelain"]), "");
    assert.match(await git(at, ["show", "HEAD"]), /\+export const VERSION = "0\.2\.0";/);
    const made = `${at.path}/dist/release-0.2.0`;
    const names = [...Deno.readDirSync(made)].map(({ name }) => name).sort();
    const files = ["LICENSE", "NOTES.md", "SHA256SUMS", `agentcli-${TARGET}.exe`, "agentcli.cdx.json", "agentcli.js"];
    assert.deepEqual(
      names,
      [...files, "Containerfile", "agentcli-0.2.0.tgz", "install.ps1", "install.sh", "packaging"].sort(),
    );
    const sums = await outputOf(
      new Deno.Command("sha256sum", { args: ["--check", "--strict", "SHA256SUMS"], cwd: made }),
    );
    if (sums !== null) assert.equal(sums.success, true);
    const known = await sha256(await Deno.readFile(`${made}/SHA256SUMS`));
    assert.ok(ran.stdout.includes(`\nSHA-256 of SHA256SUMS: ${known}\n`));
    assert.match(
      await Deno.readTextFile(`${made}/NOTES.md`),
      /- New\.\n\nNo binary this time for: x86_64-unknown-linux/,
    );
    assert.match(await Deno.readTextFile(`${made}/install.sh`), /^release_address='https:\/\/example\.com\/r'$/m);
    const commit = await git(at, ["log", "-1", "--format=%h", "--abbrev=12"]);
    const bundle = await Deno.readTextFile(`${made}/agentcli.js`);
    assert.ok(bundle.includes(`var COMMIT = "${commit}";\nvar RELEASE_ADDRESS = "https://example.com/r";`));
    // The same again: the tag is there.
    await Deno.writeTextFile(`${at.path}/CHANGELOG.md`, "## [Unreleased]\n\n- New.\n");
    await git(at, ["commit", "--quiet", "-a", "-m", "More"]);
    assert.match((await release(at, args)).stderr, /^there is a tag v0\.2\.0 already\nnothing was changed\n$/);
  },
);

Deno.test({ name: "a release that lacks a base binary names it before anything is done", ignore }, async () => {
  await using at = await checkout();
  const ran = await release(at, [
    "--bases",
    `${at.folder}/bases`,
    "--target",
    TARGET,
    "--target",
    "x86_64-apple-darwin",
  ]);
  assert.equal(ran.code, 1);
  assert.equal(ran.stdout, "");
  assert.equal(
    ran.stderr,
    `x86_64-apple-darwin: there is no base binary ${at.folder}/bases/denort-x86_64-apple-darwin\n` +
      "  a release without it names the others: --target TARGET ...\nnothing was changed\n",
  );
  await assertUntouched(at);
});

Deno.test({ name: "a release that cannot be finished leaves no tag, and says what is left", ignore }, async (test) => {
  const args = (at: Checkout) => ["--bases", `${at.folder}/bases`, "--target", TARGET];
  await test.step("changes that are not committed", async () => {
    await using at = await checkout();
    await Deno.writeTextFile(`${at.path}/LICENSE`, "another\n");
    assert.match(
      (await release(at, args(at))).stderr,
      /^there are changes that are not committed: git status\nnothing/,
    );
  });
  await test.step("tests that fail", async () => {
    await using at = await checkout({ test: "exit 1" });
    const ran = await release(at, args(at));
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /failed: deno task test\nnothing was changed\n$/);
    await assertUntouched(at);
  });
  await test.step("a commit that git does not make", async () => {
    await using at = await checkout();
    const ran = await release(at, args(at), { GIT_AUTHOR_NAME: "", GIT_AUTHOR_EMAIL: "" });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /failed: git commit .*\nnothing was changed\n$/);
    await assertUntouched(at);
  });
  await test.step("files that cannot be made", async () => {
    await using at = await checkout({ bundle: "exit 1" });
    const ran = await release(at, args(at));
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /failed: deno task bundle\nthe commit is made and has no tag; to take it back: git reset/);
    assert.equal(await git(at, ["tag"]), "");
    await git(at, ["reset", "--keep", "HEAD~1"]);
    await assertUntouched(at);
  });
});
