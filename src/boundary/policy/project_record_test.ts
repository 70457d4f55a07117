import assert from "node:assert/strict";
import { type ToolHome, toolHome } from "../../../tests/helpers/tool_home.ts";
import { lstatSync } from "../../platform/files.ts";
import { ProjectRecord } from "./project_record.ts";
import { knownProjects, knownRoots, type MarkerLines } from "./project_record_files.ts";

interface Place {
  /** A directory with an empty directory `project`. */
  base: string;
  home: ToolHome["home"];
}

async function inPlace(work: (place: Place) => Promise<void>): Promise<void> {
  await using place = await toolHome(null);
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${base}/project`);
    await work({ base, home: place.home });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

function marker(root: string, ...patterns: string[]): MarkerLines {
  const path = `${root}/.agentclisecret`;
  Deno.mkdirSync(root, { recursive: true });
  Deno.writeTextFileSync(path, patterns.map((pattern) => `no-cloud: ${pattern}\n`).join(""));
  return { path, lines: patterns.map((pattern) => ({ tier: "no-cloud", pattern })) };
}

function patternsOf(markers: readonly MarkerLines[]): string[] {
  return markers.flatMap(({ lines }) => lines.map(({ pattern }) => pattern)).sort();
}

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
    await none.trust({ markers: [marker(root, "new")], endpoints: ["gpu.lan"], confirmed: [], released: [] });
    const told = await ProjectRecord.open(home, root, NOTHING);
    assert.deepEqual([patternsOf(told.markers), told.trustedEndpoints], [["new"], ["gpu.lan"]]);
    await told.trust({ ...NOTHING, confirmed: [], released: [] });
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
    assert.deepEqual([inner.outer, inner.trustedEndpoints], [root, []]);
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
      assert.deepEqual([moved.movedFrom, moved.trustedEndpoints], [root, ["gpu.lan"]]);
      assert.equal(moved.markers[0]?.path, `${base}/moved/.agentclisecret`);
      assert.equal(await moved.allows("harmless words"), true);
      const again = await ProjectRecord.open(home, `${base}/moved`, NOTHING);
      assert.deepEqual([again.movedFrom, again.trustedEndpoints], [null, ["gpu.lan"]], "it is told once");
      assert.deepEqual((await knownProjects(home)).map((known) => known.root), [root, `${base}/moved`]);
      Deno.mkdirSync(root);
      const left = await ProjectRecord.open(home, root, NOTHING);
      assert.deepEqual([left.replaced, left.trustedEndpoints, patternsOf(left.markers)], [true, [], [".env"]]);
      assert.equal(await left.allows("harmless words"), false);
      Deno.removeSync(root);
      Deno.renameSync(`${base}/moved`, root);
      const back = await ProjectRecord.open(home, root, NOTHING);
      assert.deepEqual([back.movedFrom, back.replaced, back.trustedEndpoints], [`${base}/moved`, false, ["gpu.lan"]]);
      assert.equal(await back.allows("harmless words"), true);
    }),
);

Deno.test(
  "another directory at the path of a known project keeps its rules and none of its trust",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      const first = await ProjectRecord.open(home, root, { markers: [marker(root, ".env")], endpoints: ["gpu.lan"] });
      assert.equal(first.replaced, false);
      Deno.renameSync(root, `${base}/away`);
      const markers = [marker(root, "other")];
      const second = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
      assert.deepEqual([second.replaced, second.trustedEndpoints], [true, []]);
      assert.deepEqual(patternsOf(second.markers), [".env", "other"]);
      await second.trust({ markers, endpoints: ["gpu.lan"], confirmed: [], released: [] });
      const third = await ProjectRecord.open(home, root, NOTHING);
      assert.deepEqual([third.replaced, third.trustedEndpoints, patternsOf(third.markers)], [false, ["gpu.lan"], [
        "other",
      ]]);
      const records = () =>
        [...Deno.readDirSync(home.file("projects"))].filter(({ name }) => /^[0-9a-f]{32}\.json$/.test(name));
      assert.equal(records().length, 2, "that of the directory that went away is kept");
      assert.equal((await knownProjects(home)).length, 1, "and counts nowhere");
      const away = await ProjectRecord.open(home, `${base}/away`, NOTHING);
      assert.deepEqual([away.movedFrom, away.trustedEndpoints], [root, ["gpu.lan"]]);
      assert.deepEqual(patternsOf(away.markers), [".env", "other"], "until it is found");
      assert.equal(records().length, 2);
      await away.trust({ markers: away.markers, endpoints: [], confirmed: [], released: [] });
      assert.equal(records().length, 2, "control: the user's word for the same directory");
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
      assert.deepEqual([lost.replaced, lost.trustedEndpoints, lost.firstHead], [true, [], null], session);
      assert.deepEqual(patternsOf(lost.markers), [".env"], "the marker protects as it is found");
    }
    const inner = await ProjectRecord.open(home, `${root}/inner`, {
      markers: [marker(`${root}/inner`, "x")],
      endpoints: ["cloud.example"],
    });
    assert.deepEqual([inner.outer, inner.trustedEndpoints], [root, []]);
    const trusting = await ProjectRecord.open(home, root, { markers, endpoints: [] });
    await trusting.trust({ markers, endpoints: ["gpu.lan"], confirmed: [], released: [] });
    const after = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
    assert.deepEqual([after.replaced, after.trustedEndpoints], [false, ["gpu.lan"]]);
  }));

Deno.test("fragments are allowed by salted digests, and nothing of their text is in the home", () =>
  inPlace(async ({ base, home }) => {
    const record = await ProjectRecord.open(home, `${base}/project`, NOTHING);
    await record.allow(["FRAGMENT-one", "FRAGMENT-two"]);
    const again = await ProjectRecord.open(home, `${base}/project`, NOTHING);
    const allowed = ["FRAGMENT-one", "FRAGMENT-two", "FRAGMENT-three"].map((text) => again.allows(text));
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
          await other.trust({ markers, endpoints: [], confirmed: [], released });
          const after = await ProjectRecord.open(home, root, NOTHING);
          assert.deepEqual(after.derived.map(({ path }) => path), [file], "control: it releases what is there");
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

Deno.test(
  "a home that cannot be written or read is told, and a damaged index is made again",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const root = `${base}/project`;
      const markers = [marker(root, ".env")];
      Deno.mkdirSync(home.path, { mode: 0o700 });
      Deno.writeTextFileSync(home.file("projects"), "in the way");
      const blocked = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
      assert.match(blocked.problem?.message ?? "", /^cannot use the home/);
      assert.deepEqual(blocked.trustedEndpoints, []);
      Deno.removeSync(home.file("projects"));
      assert.equal((await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] })).problem, null);
      Deno.writeTextFileSync(home.file("projects/index.json"), "{");
      assert.deepEqual((await ProjectRecord.open(home, root, NOTHING)).trustedEndpoints, ["gpu.lan"]);
      const name = [...Deno.readDirSync(home.file("projects"))].find((entry) => /^[0-9a-f]{32}/.test(entry.name))?.name;
      Deno.writeTextFileSync(home.file(`projects/${name}`), "{}");
      Deno.removeSync(home.file("projects/index.json"));
      await ProjectRecord.open(home, `${base}/other`, { markers: [marker(`${base}/other`, "x")], endpoints: [] });
      const damaged = await ProjectRecord.open(home, root, { markers, endpoints: ["gpu.lan"] });
      assert.match(damaged.problem?.message ?? "", /record of a project, cannot be read/);
      assert.deepEqual(damaged.trustedEndpoints, []);
    }),
);

const RUINED: readonly ((data: { [name: string]: unknown }) => unknown)[] = [
  (data) => data["root"] = 1,
  (data) => data["endpoints"] = [null],
  (data) => data["markers"] = [null],
  (data) => data["markers"] = [{ path: "x", inode: 1, lines: [null] }],
  (data) => data["markers"] = [{ path: "x", inode: 1, lines: [{ tier: "no-cloud", pattern: 3 }] }],
  (data) => data["derived"] = [{ path: "x" }],
];

Deno.test("a record with a value that is none is told with the way on, whatever it is", async (test) => {
  for (const ruin of RUINED) {
    await test.step(String(ruin), () =>
      inPlace(async ({ base, home }) => {
        const root = `${base}/project`;
        const markers = [marker(root, ".env")];
        await ProjectRecord.open(home, root, { markers, endpoints: [] });
        const file = [...Deno.readDirSync(home.file("projects"))].find(({ name }) => /^[0-9a-f]{32}\.json$/.test(name));
        const path = home.file(`projects/${file?.name}`);
        const data = JSON.parse(Deno.readTextFileSync(path));
        ruin(data);
        Deno.writeTextFileSync(path, JSON.stringify(data));
        const { problem } = await ProjectRecord.open(home, root, { markers, endpoints: [] });
        assert.match(problem?.message ?? "", /the record of .*, cannot be read/);
        assert.match(problem?.hint ?? "", /remove that file/);
      }));
  }
});

Deno.test("an index with an entry that is none is made again", async (test) => {
  for (const projects of [null, { x: null }, { x: { root: 1 } }]) {
    await test.step(JSON.stringify(projects), () =>
      inPlace(async ({ base, home }) => {
        const root = `${base}/project`;
        await ProjectRecord.open(home, root, { markers: [marker(root, ".env")], endpoints: ["gpu.lan"] });
        Deno.writeTextFileSync(home.file("projects/index.json"), JSON.stringify({ format: 1, projects }));
        const record = await ProjectRecord.open(home, root, NOTHING);
        assert.deepEqual([patternsOf(record.markers), record.trustedEndpoints, record.problem], [
          [".env"],
          ["gpu.lan"],
          null,
        ]);
      }));
  }
});

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
