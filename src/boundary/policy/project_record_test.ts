import assert from "node:assert/strict";
import { inPlace, marker, patternsOf } from "../../../tests/helpers/record_place.ts";
import { lstatSync } from "../../platform/files.ts";
import { ProjectRecord } from "./project_record.ts";
import { knownProjects, knownRoots } from "./project_record_files.ts";

const isMoved = ({ notice }: ProjectRecord) => / is now at /.test(notice ?? "");
const isReplaced = ({ notice }: ProjectRecord) => / is another directory /.test(notice ?? "");
const NOTHING = { markers: [], endpoints: [] };
const unix = { ignore: Deno.build.os === "windows" };

Deno.test("a project without a marker leaves nothing in the home", () =>
  inPlace(async ({ base, home }) => {
    const record = await ProjectRecord.open(home, `${base}/project`, { markers: [], endpoints: ["never.lan"] });
    assert.deepEqual([record.known, record.trustedEndpoints, record.problem], [false, [], null]);
    assert.equal((await knownRoots(home)).length, 0);
    assert.equal(lstatSync(home.path), null);
  }));

Deno.test(
  "a marker that is first seen is recorded, privately, with the endpoints that stand in it",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      const markers = [marker(root, ".env")];
      await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"], create: false });
      assert.equal((await knownRoots(home)).length, 0, "a look leaves nothing");
      await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
      assert.equal((await knownRoots(home)).length, 1);
      const again = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan", "later.lan"] });
      assert.deepEqual([patternsOf(again.markers), again.trustedEndpoints], [[".env"], ["gpu.lan"]]);
      for (const { name } of Deno.readDirSync(home.file("projects"))) {
        assert.equal(lstatSync(home.file(`projects/${name}`))?.mode, 0o600, name);
      }
      assert.equal(lstatSync(home.file("projects"))?.mode, 0o700);
    }),
);

Deno.test("what a marker said is remembered when its line, or the marker, is gone, until the user says so", () =>
  inPlace(async ({ base, home }) => {
    const root = `${base}/project`;
    await ProjectRecord.open(home, root, { markers: [marker(root, ".env", "keys")], endpoints: [] });
    const fewer = await ProjectRecord.open(home, root, { markers: [marker(root, ".env", "new")], endpoints: [] });
    assert.deepEqual(patternsOf(fewer.markers), [".env", "keys", "new"]);
    Deno.removeSync(`${root}/.agentclisecret`);
    const none = await ProjectRecord.open(home, root, NOTHING);
    assert.deepEqual(patternsOf(none.markers), [".env", "keys", "new"]);
    await none.trust({ markers: [marker(root, "new")], endpoints: ["gpu.lan"], confirmed: [] });
    const told = await ProjectRecord.open(home, root, NOTHING);
    assert.deepEqual([patternsOf(told.markers), told.trustedEndpoints], [["new"], ["gpu.lan"]]);
    await told.trust({ ...NOTHING, confirmed: [] });
    assert.equal((await knownRoots(home)).length, 0);
    assert.equal((await ProjectRecord.open(home, root, NOTHING)).known, false);
  }));

Deno.test("markers that are met later are added, and a project that gets its first one then trusts no endpoint", () =>
  inPlace(async ({ base, home }) => {
    const root = `${base}/project`;
    const record = await ProjectRecord.open(home, root, NOTHING);
    await record.tighten({ markers: [marker(`${root}/sub`, "x")] });
    await record.tighten({
      markers: Array.from({ length: 100 }, (_, at) => marker(`${root}/d${at}`, `f${at}`)),
    });
    const again = await ProjectRecord.open(home, root, { markers: [], endpoints: ["gpu.lan"] });
    assert.equal(again.markers.length, 101);
    assert.deepEqual(again.trustedEndpoints, []);
    assert.ok(again.markers.some(({ path }) => path === `${root}/sub/.agentclisecret`));
  }));

Deno.test("a project below a known one trusts no endpoint by itself, one that was known before it does", () =>
  inPlace(async ({ base, home }) => {
    const root = `${base}/project`;
    const [before, after] = [`${root}/before`, `${root}/after`];
    const markers = [marker(root, ".env")];
    await ProjectRecord.open(home, before, { markers: [marker(before, "a")], endpoints: ["gpu.lan"] });
    await ProjectRecord.open(home, root, { markers, endpoints: [] });
    const inner = await ProjectRecord.open(home, after, {
      markers: [marker(after, "b")],
      endpoints: ["cloud.example"],
    });
    assert.deepEqual(inner.trustedEndpoints, []);
    assert.deepEqual(patternsOf(inner.markers), [".env", "b"], "the rules around it hold");
    await inner.trustEndpoint("cloud.example");
    const known = await ProjectRecord.open(home, after, NOTHING);
    assert.deepEqual(known.trustedEndpoints, ["cloud.example"]);
    assert.deepEqual((await ProjectRecord.open(home, before, NOTHING)).trustedEndpoints, ["gpu.lan"]);
    const outer = await ProjectRecord.open(home, root, NOTHING);
    assert.deepEqual(patternsOf(outer.markers), [".env", "a", "b"], "the rules inside of it hold too");
    assert.deepEqual(outer.trustedEndpoints, []);
  }));

Deno.test(
  "a project that was moved keeps its record, a copy is seen for the first time",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      const first = await ProjectRecord.open(home, root, { markers: [marker(root, ".env")], endpoints: ["gpu.lan"] });
      await first.allow(["harmless words"]);
      Deno.renameSync(root, `${base}/moved`);
      Deno.mkdirSync(`${base}/copy`);
      const copy = await ProjectRecord.open(home, `${base}/copy`, NOTHING);
      assert.equal(copy.known, false);
      const moved = await ProjectRecord.open(home, `${base}/moved`, NOTHING);
      assert.deepEqual([isMoved(moved), moved.trustedEndpoints], [true, ["gpu.lan"]]);
      assert.equal(moved.markers[0]?.path, `${base}/moved/.agentclisecret`);
      assert.equal(await moved.allows(["harmless words"]), true);
      const again = await ProjectRecord.open(home, `${base}/moved`, NOTHING);
      assert.deepEqual([again.notice, again.trustedEndpoints], [null, ["gpu.lan"]], "it is reported once");
      assert.deepEqual((await knownProjects(home)).map((known) => known.root), [`${base}/moved`]);
      const other = await ProjectRecord.open(home, root, { markers: [marker(root, "other")], endpoints: ["new.lan"] });
      assert.deepEqual([other.notice, other.trustedEndpoints], [null, ["new.lan"]]);
      assert.deepEqual(patternsOf(other.markers), ["other"], "nothing is left at the former path");
      assert.equal(await other.allows(["harmless words"]), false);
      Deno.removeSync(root, { recursive: true });
      Deno.renameSync(`${base}/moved`, root);
      const back = await ProjectRecord.open(home, root, NOTHING);
      assert.deepEqual([isMoved(back), back.trustedEndpoints], [true, ["gpu.lan"]]);
      assert.deepEqual(patternsOf(back.markers), [".env", "other"], "the rules of what had its path meanwhile hold");
      assert.equal(await back.allows(["harmless words"]), true);
    }),
);

Deno.test(
  "another directory at the path of a known project keeps its rules and none of its trust",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      const first = await ProjectRecord.open(home, root, { markers: [marker(root, ".env")], endpoints: ["gpu.lan"] });
      assert.equal(first.notice, null);
      Deno.renameSync(root, `${base}/away`);
      const markers = [marker(root, "other")];
      const second = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
      assert.deepEqual([isReplaced(second), second.trustedEndpoints], [true, []]);
      assert.deepEqual(patternsOf(second.markers), [".env", "other"]);
      await second.trust({ markers, endpoints: ["gpu.lan"], confirmed: [] });
      const third = await ProjectRecord.open(home, root, NOTHING);
      assert.deepEqual([third.notice, third.trustedEndpoints, patternsOf(third.markers)], [null, ["gpu.lan"], [
        "other",
      ]]);
      assert.equal((await knownRoots(home)).length, 2, "a sandbox is asked for also because of the one that went away");
      const away = await ProjectRecord.open(home, `${base}/away`, NOTHING);
      assert.deepEqual([isMoved(away), away.trustedEndpoints], [true, ["gpu.lan"]]);
      assert.deepEqual(patternsOf(away.markers), [".env"], "until it is found");
      assert.equal((await knownProjects(home)).length, 2);
    }),
);

Deno.test(
  "a directory that was removed and created again is first seen again if there was never a marker",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      await (await ProjectRecord.open(home, root)).note();
      Deno.removeSync(root);
      const markers = [marker(root, ".env")];
      const again = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
      assert.deepEqual([again.notice, again.trustedEndpoints], [null, ["gpu.lan"]]);
      Deno.removeSync(root, { recursive: true });
      const other = await ProjectRecord.open(home, root, { markers: [marker(root, ".env")], endpoints: ["gpu.lan"] });
      assert.deepEqual(
        [isReplaced(other), other.trustedEndpoints],
        [true, []],
        "control: with one it is another project",
      );
    }),
);

Deno.test(
  "what a session records after its project was replaced is for the directory that is there then, and trusts nothing",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      const markers = [marker(root, ".env")];
      const running = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
      Deno.renameSync(root, `${base}/away`);
      Deno.mkdirSync(root);
      const copy = { path: `${root}/copy`, source: `${root}/.env`, inode: 2, born: 3 };
      await running.tighten({ derived: [copy] });
      assert.deepEqual(running.trustedEndpoints, []);
      const there = await ProjectRecord.open(home, root, NOTHING);
      assert.deepEqual([there.derived, patternsOf(there.markers), there.trustedEndpoints], [[copy], [".env"], []]);
      const away = await ProjectRecord.open(home, `${base}/away`, NOTHING);
      assert.deepEqual([away.derived, away.trustedEndpoints], [[], ["gpu.lan"]]);
    }),
);

Deno.test(
  "what the user said of a project around counts for the directory that was there, and for no other at its path",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const [root, inner] = [`${base}/project`, `${base}/project/inner`];
      const above = marker(root, ".env");
      const outer = await ProjectRecord.open(home, root, { markers: [above], endpoints: ["gpu.lan"] });
      const opened = async () => {
        Deno.mkdirSync(inner, { recursive: true });
        return await ProjectRecord.open(home, inner, { markers: [above], create: false });
      };
      assert.equal((await opened()).opens("gpu.lan", above.path), true, "control");
      await outer.tighten({ derived: [{ path: `${inner}/copy`, source: `${root}/.env`, inode: 2, born: 3 }] });
      Deno.renameSync(root, `${base}/away`);
      const other = await opened();
      assert.deepEqual([other.opens("gpu.lan", above.path), patternsOf(other.markers)], [false, [".env", ".env"]]);
      assert.deepEqual(other.releasable, [`${inner}/copy`], "rules and copies hold there");
      await other.release([`${inner}/copy`]);
      assert.deepEqual((await opened()).derived, []);
    }),
);

Deno.test(
  "rules go with a project that moves, also for the projects inside of it",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      const record = await ProjectRecord.open(home, root, { markers: [marker(root, "inner/.env")] });
      const derived = [`${root}/inner/copy`].map((path) => ({ path, source: `${root}/.env`, inode: 2, born: 3 }));
      await record.tighten({ derived });
      Deno.mkdirSync(`${root}/inner`);
      Deno.renameSync(root, `${base}/moved`);
      const inner = await ProjectRecord.open(home, `${base}/moved/inner`, NOTHING);
      assert.deepEqual(inner.markers.map(({ path }) => path), [`${base}/moved/.agentclisecret`]);
      assert.deepEqual(inner.releasable, [`${base}/moved/inner/copy`]);
      await inner.release(inner.releasable);
      const moved = await ProjectRecord.open(home, `${base}/moved`, NOTHING);
      assert.deepEqual([patternsOf(moved.markers), moved.derived], [["inner/.env"], []]);
    }),
);

Deno.test("a record that was removed while the index knows the project is not first seen: nothing is trusted until the user says so", () =>
  inPlace(async ({ base, home }) => {
    const root = `${base}/project`;
    const markers = [marker(root, ".env")];
    await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
    const name = [...Deno.readDirSync(home.file("projects"))].find((entry) => /^[0-9a-f]{32}/.test(entry.name))?.name;
    Deno.removeSync(home.file(`projects/${name}`));
    for (const session of ["first", "second"]) {
      const lost = await ProjectRecord.open(home, root, { markers, endpoints: ["cloud.example"] });
      assert.deepEqual([lost.trustedEndpoints, lost.firstHead], [[], null], session);
      assert.deepEqual(patternsOf(lost.markers), [".env"], "the marker protects as it is found");
    }
    const inner = await ProjectRecord.open(home, `${root}/inner`, {
      markers: [marker(`${root}/inner`, "x")],
      endpoints: ["cloud.example"],
    });
    assert.deepEqual(inner.trustedEndpoints, []);
    const trusting = await ProjectRecord.open(home, root, { markers, endpoints: [] });
    await trusting.trust({ markers, endpoints: ["gpu.lan"], confirmed: [] });
    const after = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
    assert.deepEqual(after.trustedEndpoints, ["gpu.lan"]);
  }));

Deno.test("fragments are allowed by salted digests, and nothing of their text is in the home", () =>
  inPlace(async ({ base, home }) => {
    const record = await ProjectRecord.open(home, `${base}/project`, NOTHING);
    await record.allow(["FRAGMENT-one", "FRAGMENT-two"]);
    const again = await ProjectRecord.open(home, `${base}/project`, NOTHING);
    const allowed = ["FRAGMENT-one", "FRAGMENT-two", "FRAGMENT-three"].map((text) => again.allows([text]));
    assert.deepEqual(await Promise.all(allowed), [true, true, false]);
    for (const { name } of Deno.readDirSync(home.file("projects"))) {
      assert.ok(!Deno.readTextFileSync(home.file(`projects/${name}`)).includes("FRAGMENT"), name);
    }
  }));

Deno.test("derived files are recorded until they are released", () =>
  inPlace(async ({ base, home }) => {
    const root = `${base}/project`;
    const record = await ProjectRecord.open(home, root, { markers: [marker(root, ".env")], endpoints: [] });
    const of = (name: string) => ({
      path: `${root}/${name}`,
      inode: 2,
      born: 3,
      source: `${root}/.env`,
    });
    await record.tighten({ derived: [of("a"), of("b"), of("a")].slice(0, 2) });
    await record.tighten({ derived: [of("a")] });
    const again = await ProjectRecord.open(home, root, NOTHING);
    assert.deepEqual(again.derived.map(({ path }) => path).sort(), [`${root}/a`, `${root}/b`]);
    assert.equal(again.derived[0]?.source, `${root}/.env`);
    await again.release([`${root}/a`]);
    const kept = await ProjectRecord.open(home, root, NOTHING);
    assert.deepEqual(kept.derived.map(({ path }) => path), [`${root}/b`]);
  }));

for (const way of ["nothing", "an endpoint is trusted", "all is trusted"]) {
  Deno.test(
    `a file that a project left elsewhere stays known when another directory has its path: ${way}`,
    unix,
    () =>
      inPlace(async ({ base, home }) => {
        const [root, file] = [`${base}/project`, `${base}/other/notes`];
        const markers = [marker(root, ".env")];
        const record = await ProjectRecord.open(home, root, { markers });
        const derived = [`${root}/inside`, file].map((path) => ({
          ...{ path, source: `${root}/.env`, inode: 2, born: 3 },
        }));
        await record.tighten({ derived });
        Deno.renameSync(root, `${base}/away`);
        Deno.mkdirSync(root);
        const other = await ProjectRecord.open(home, root, { markers });
        assert.deepEqual(other.releasable, [`${root}/inside`], "what the user is asked about");
        if (way.startsWith("an")) await other.trustEndpoint("gpu.lan");
        if (way.startsWith("all")) {
          const released = derived.map(({ path }) => path);
          await other.trust({ markers, endpoints: [], confirmed: [] });
          await other.release(released);
          const after = await ProjectRecord.open(home, root, NOTHING);
          assert.deepEqual(after.derived, [], "control: it releases what is there");
        }
        const beside = await ProjectRecord.open(home, `${base}/other`, NOTHING);
        assert.deepEqual([...new Set(beside.derived.map(({ path }) => path))], [file]);
      }),
  );
}

Deno.test("the commit when a project is first seen is read from a branch, a packed one, and a commit alone", () =>
  inPlace(async ({ base, home }) => {
    const [one, two] = ["1".repeat(40), "2".repeat(40)];
    const files: [string, Record<string, string>, string | null][] = [
      ["loose", { HEAD: "ref: refs/heads/a/b\n", "refs/heads/a/b": `${one}\n` }, one],
      [
        "packed",
        { HEAD: "ref: refs/heads/b\n", "packed-refs": `# x\n${one} refs/heads/a/b\n${two} refs/heads/b\n` },
        two,
      ],
      ["alone", { HEAD: `${two}\n` }, two],
      ["unborn", { HEAD: "ref: refs/heads/main\n" }, null],
      ["odd", { HEAD: "ref: ../config\n", config: "[core]\n" }, null],
    ];
    for (const [name, git, head] of files) {
      const root = `${base}/${name}`;
      for (const [path, text] of Object.entries(git)) {
        const file = `${root}/.git/${path}`;
        Deno.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
        Deno.writeTextFileSync(file, text);
      }
      const record = await ProjectRecord.open(home, root, { markers: [marker(root, ".env")], endpoints: [] });
      assert.equal(record.firstHead, head, name);
      Deno.writeTextFileSync(`${root}/.git/HEAD`, `${"3".repeat(40)}\n`);
      assert.equal((await ProjectRecord.open(home, root, NOTHING)).firstHead, head, "and stays");
    }
  }));

Deno.test("a linked worktree is read where the shared branches are", () =>
  inPlace(async ({ base, home }) => {
    const root = `${base}/project`;
    Deno.mkdirSync(`${base}/main/.git/worktrees/w`, { recursive: true });
    Deno.mkdirSync(`${base}/main/.git/refs/heads`, { recursive: true });
    Deno.writeTextFileSync(`${base}/main/.git/refs/heads/side`, `${"a".repeat(64)}\n`);
    Deno.writeTextFileSync(`${base}/main/.git/worktrees/w/commondir`, "../..\n");
    Deno.writeTextFileSync(`${base}/main/.git/worktrees/w/HEAD`, "ref: refs/heads/side\n");
    Deno.writeTextFileSync(`${root}/.git`, `gitdir: ${base}/main/.git/worktrees/w\n`);
    const record = await ProjectRecord.open(home, root, { markers: [marker(root, "x")], endpoints: [] });
    assert.equal(record.firstHead, "a".repeat(64));
  }));

Deno.test("sessions that see a project at the same time leave one whole record", () =>
  inPlace(async ({ base, home }) => {
    const root = `${base}/project`;
    Deno.mkdirSync(home.path, { mode: 0o700 });
    await Promise.all(Array.from({ length: 8 }, async (_, at) => {
      const record = await ProjectRecord.open(home, root, {
        markers: [marker(`${root}/d${at}`, `f${at}`)],
        endpoints: [],
      });
      await record.tighten({ markers: [marker(`${root}/e${at}`, `g${at}`)] });
    }));
    assert.equal((await ProjectRecord.open(home, root, NOTHING)).markers.length, 16);
  }));
