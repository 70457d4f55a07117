import assert from "node:assert/strict";
import { toolHome } from "../../../tests/helpers/tool_home.ts";
import { openProject } from "../../boundary/policy/project.ts";
import { denoIo } from "../../platform/deno_io.ts";
import { ProtectedLookup } from "./lookup.ts";

async function project(more: (root: string) => void) {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const write = (path: string) => {
    Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${root}/${path}`, "x");
  };
  for (const path of ["secrets/key", "open/a/one", "open/two", "other/three", "config/.env"]) write(path);
  Deno.writeTextFileSync(`${root}/.agentclisecret`, "no-cloud: secrets\nno-cloud: **/.env\n");
  more(root);
  const io = { env: () => undefined, os: "linux", clock: denoIo().clock } as const;
  const lookup = await ProtectedLookup.open({ roots: [root], cwd: root, userHome: null }, io);
  return { root, lookup, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

/** Changes of the project, and what the directory `open` then holds. */
const CASES: readonly [string, (root: string) => void, string | null][] = [
  ["nothing more", () => {}, null],
  ["a hard link of an open file", (at) => Deno.linkSync(`${at}/other/three`, `${at}/open/a/three`), null],
  ["a link to an open file", (at) => Deno.symlinkSync("../../other/three", `${at}/open/a/three`), null],
  ["a link in a circle", (at) => Deno.symlinkSync("..", `${at}/open/a/up`), null],
  ["a hard link of a protected file", (at) => Deno.linkSync(`${at}/secrets/key`, `${at}/open/a/k`), "open/a/k"],
  ["two names, both protected", (at) => Deno.linkSync(`${at}/secrets/key`, `${at}/secrets/again`), null],
  ["a link to a protected file", (at) => Deno.symlinkSync("../../secrets/key", `${at}/open/a/k`), "open/a/k"],
  ["a link to a protected directory", (at) => Deno.symlinkSync("../secrets", `${at}/open/s`), "open/s"],
  ["a link to a directory that holds one", (at) => Deno.symlinkSync("../config", `${at}/open/c`), "config/.env"],
  ["links on and on to a protected file", (at) => {
    Deno.symlinkSync("../../other", `${at}/open/a/o`);
    Deno.symlinkSync("../secrets/key", `${at}/other/l`);
  }, "other/l"],
  ["links on and on to open files", (at) => {
    Deno.symlinkSync("../../other", `${at}/open/a/o`);
    Deno.symlinkSync("../open", `${at}/other/l`);
  }, null],
  ["a protected file far below", (at) => Deno.renameSync(`${at}/config/.env`, `${at}/open/a/.env`), "open/a/.env"],
  ["a marker below", (at) => Deno.writeTextFileSync(`${at}/open/a/.agentclisecret`, "no-cloud: one\n"), "open/a/one"],
];

for (const [what, change, expected] of CASES) {
  Deno.test(`a directory with ${what} ${expected === null ? "is open" : "holds protected content"}`, async () => {
    await using at = await project(change);
    const found = await at.lookup.insideOf(`${at.root}/open`);
    assert.equal(found === null ? null : found.path.slice(at.root.length + 1), expected);
  });
}

Deno.test("a directory outside of the project is checked by its own markers", async () => {
  await using at = await project(() => {});
  const other = await Deno.makeTempDir();
  try {
    Deno.writeTextFileSync(`${other}/x`, "x");
    assert.equal(await at.lookup.insideOf(other), null);
    Deno.writeTextFileSync(`${other}/.agentclisecret`, "no-cloud: x\n");
    assert.ok((await at.lookup.insideOf(other))?.path.endsWith("/x"));
    Deno.mkdirSync(`${other}/sub/open`, { recursive: true });
    assert.equal(await at.lookup.reasonInside(`${other}/sub`), null);
    Deno.writeTextFileSync(`${other}/.agentclisecret`, "no-cloud: x\nno-cloud: sub/keys\n");
    Deno.writeTextFileSync(`${other}/sub/keys`, "x");
    at.lookup.set.refresh();
    assert.match(await at.lookup.reasonInside(`${other}/sub`) ?? "", /sub\/keys is protected/);
    assert.equal(await at.lookup.reasonInside(`${other}/sub/open`), null);
    assert.equal(await at.lookup.insideOf(`${at.root}/open`), null);
    Deno.symlinkSync(other, `${at.root}/open/other`);
    assert.ok((await at.lookup.insideOf(`${at.root}/open`))?.path.endsWith("/x"));
  } finally {
    await Deno.remove(other, { recursive: true });
  }
});

Deno.test("what the home remembers of the project is protected, and a record that cannot be read stops the guard", async () => {
  await using place = await toolHome(null);
  await using at = await project(() => {});
  const env = (name: string) => name === "AGENTCLI_HOME" ? place.home.path : undefined;
  const io = { env, os: "linux", clock: denoIo().clock } as const;
  const around = { roots: [at.root], cwd: at.root, userHome: null };
  await openProject(place.home, at.root, { create: true });
  Deno.removeSync(`${at.root}/.agentclisecret`);
  const lookup = await ProtectedLookup.open(around, io);
  assert.ok(lookup.ruleAt(`${at.root}/secrets/key`));
  assert.equal(lookup.ruleAt(`${at.root}/open/two`), null, "the control");
  const record = [...Deno.readDirSync(place.home.file("projects"))].find(({ name }) =>
    /^[0-9a-f]{32}\.json$/.test(name)
  );
  Deno.writeTextFileSync(place.home.file(`projects/${record?.name}`), "{}");
  await assert.rejects(ProtectedLookup.open(around, io), { code: "home_unusable" });
});

for (const create of [true, false]) {
  Deno.test(`what a link led to is ${create ? "" : "not "}remembered by a guard that ${create ? "records" : "only looks"}`, async () => {
    await using place = await toolHome(null);
    await using at = await project((root) => {
      Deno.writeTextFileSync(`${root}/.agentclisecret`, "no-cloud: apps/*/keys\n");
      Deno.mkdirSync(`${root}/real/keys`, { recursive: true });
      Deno.writeTextFileSync(`${root}/real/keys/t`, "x");
      Deno.mkdirSync(`${root}/apps`);
      Deno.symlinkSync("../real", `${root}/apps/x`);
    });
    const env = (name: string) => name === "AGENTCLI_HOME" ? place.home.path : undefined;
    const open = () =>
      ProtectedLookup.open(
        { roots: [at.root], cwd: at.root, userHome: null },
        { env, os: "linux", clock: denoIo().clock },
        { create },
      );
    assert.ok((await open()).ruleAt(`${at.root}/real/keys/t`));
    Deno.removeSync(`${at.root}/apps/x`);
    assert.equal((await open()).ruleAt(`${at.root}/real/keys/t`) !== null, create);
    assert.equal((await open()).ruleAt(`${at.root}/open/two`), null);
  });
}

for (const isByLink of [true, false]) {
  Deno.test(`the markers above a link to the working directory ${isByLink ? "count" : "do not count without it"}`, async () => {
    const other = await Deno.realPath(await Deno.makeTempDir());
    await using at = await project((root) => Deno.symlinkSync(other, `${root}/config/way`));
    try {
      Deno.writeTextFileSync(`${at.root}/.agentclisecret`, "no-cloud: config/way/k\n");
      Deno.writeTextFileSync(`${other}/k`, "x");
      const io = { env: () => undefined, os: "linux", clock: denoIo().clock } as const;
      const cwd = isByLink ? `${at.root}/config/way` : other;
      const lookup = await ProtectedLookup.open({ roots: [other], cwd, userHome: null }, io);
      assert.equal(lookup.ruleAt(`${other}/k`) !== null, isByLink);
    } finally {
      await Deno.remove(other, { recursive: true });
    }
  });
}
