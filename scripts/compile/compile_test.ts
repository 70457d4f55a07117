import assert from "node:assert/strict";
import { reasonOf } from "./binary.ts";
import { componentList, packagesOf } from "./components.ts";
import { modulesOf } from "./modules.ts";
import { withCommit } from "../release/commit.ts";
import { writeSums } from "../release/sums.ts";

const BUNDLE = `// Every part
function definePart(make) {
  let exports;
  return () => exports ??= make();
}
function importPart(part) {
  return Promise.resolve().then(part);
}
const part_note = definePart((function () {
// src/note.ts
var COMMIT = "";
var note = [];

return { note };
}));

const part_rare = definePart(function () {
const { note: list } = part_note();

// src/rare.ts
list.push("rare");
[1].map((n) => {
  return { n };
});

return { list };
});

const { note } = part_note();

// main.ts
globalThis.compiled = [note.length, (await importPart(part_rare)).list.length];
`;

Deno.test("the binary's modules do what the one file does, and read what is rare only when it is asked for", async () => {
  const modules = modulesOf(BUNDLE);
  assert.deepEqual([...modules.keys()], ["main.js", "start.js", "part_rare.js"]);
  assert.doesNotMatch(modules.get("start.js") ?? "", /src\/rare/);
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of modules) await Deno.writeTextFile(`${folder}/${name}`, text);
    await import(`file://${folder}/main.js`);
    assert.deepEqual((globalThis as { compiled?: unknown }).compiled, [0, 1]);
  } finally {
    delete (globalThis as { compiled?: unknown }).compiled;
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a bundle that is written in another way is refused", () => {
  assert.throws(() => modulesOf("console.log(1);\n"), /has no parts/);
  assert.throws(() => modulesOf(BUNDLE.replace("return { list };", "")), /part_rare does not end/);
});

Deno.test("the commit is written where the bundle has its line, and nothing else is taken for one", () => {
  assert.match(withCommit(BUNDLE, "0123456789ab-modified"), /^var COMMIT = "0123456789ab-modified";$/m);
  assert.throws(() => withCommit(BUNDLE, 'a"; evil()'), /no name of a commit/);
  assert.throws(() => withCommit("", "0123456789ab"), /no line for the commit/);
});

const CONTENTS = {
  bundle: `// npm:yaml@2.9.1/browser/a.js\n    "npm:@scope/one@1.0.0/b.js"() {\n// npm:yaml@2.9.1/c.js\n`,
  lock: { npm: { "yaml@2.9.1": { integrity: "sha512-AAEC" }, "@scope/one@1.0.0": { integrity: "sha512-/w==" } } },
  version: "1.2.3",
  runtime: "2.9.6",
  seconds: 0,
};

Deno.test("the list of components names each package once with the sum of the lock, and the runtime", () => {
  assert.deepEqual(packagesOf(CONTENTS.bundle), ["@scope/one@1.0.0", "yaml@2.9.1"]);
  const { components, metadata } = JSON.parse(componentList(CONTENTS));
  assert.deepEqual(components.map(({ purl }: { purl: string }) => purl), [
    "pkg:npm/%40scope/one@1.0.0",
    "pkg:npm/yaml@2.9.1",
    "pkg:github/denoland/deno@v2.9.6",
  ]);
  assert.equal(components[1].hashes[0].content, "000102");
  assert.equal(metadata.timestamp, "1970-01-01T00:00:00.000Z");
});

Deno.test("a package in the bundle that the lock does not know is an error", () => {
  assert.throws(() => componentList({ ...CONTENTS, lock: {} }), /does not know @scope\/one@1\.0\.0/);
});

Deno.test("a base binary that cannot be fetched is reported with what to do", () => {
  const stderr = "error: Writing deno compile executable\n\nCaused by:\n    0: Setting up base binary.\n";
  assert.match(
    reasonOf(stderr, { target: "x86_64-apple-darwin", version: "2.9.6" }),
    /^x86_64-apple-darwin: .*cannot be had\n.* of Deno 2\.9\.6 .*DENORT_BIN/,
  );
  assert.equal(
    reasonOf("error: No space left on device (os error 28)", { target: "x86_64-apple-darwin", version: "2.9.6" }),
    "x86_64-apple-darwin: no space left on the disk",
  );
});

Deno.test("the sums are those of all files of the folder, sorted by name", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/b`, "");
    await Deno.writeTextFile(`${folder}/a`, "abc");
    await writeSums(folder);
    assert.equal(
      await writeSums(folder),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n" +
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n",
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a wrong command line of the compile task is reported in one line", async () => {
  const compile = async (
    args: string[],
    { env = {}, exit = 1 }: { env?: Record<string, string>; exit?: number } = {},
  ) => {
    const script = decodeURIComponent(new URL("compile.ts", import.meta.url).pathname);
    const command = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", "--quiet", script, ...args],
      env: { ...env, DENO_NO_UPDATE_CHECK: "1" },
    });
    const { code, stderr } = await command.output();
    assert.equal(code, exit);
    return new TextDecoder().decode(stderr);
  };
  assert.match(
    await compile(["--target", "s390x"], { exit: 2 }),
    /^no target s390x; there are: x86_64-unknown-linux-gnu, /,
  );
  assert.match(await compile(["--output"], { exit: 2 }), /^--output needs a value\n/);
  assert.match(await compile(["--deno", "/nowhere"]), /^\/nowhere is no Deno that runs here\n$/);
  assert.match(
    await compile(["--all"], { env: { DENORT_BIN: "/nowhere" } }),
    /^DENORT_BIN names the base binary of one target.*\n$/,
  );
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/bundle.js`, BUNDLE);
    const here = ["--bundle", `${folder}/bundle.js`, "--output", folder, "--bases", folder];
    const target = "x86_64-pc-windows-msvc";
    const missing = await compile([...here, "--target", target]);
    assert.equal(missing, `${target}: there is no base binary ${folder}/denort-${target}\n`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
