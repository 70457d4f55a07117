/** The files of project records: damaged ones, and those of directories that are gone. */
import assert from "node:assert/strict";
import { inPlace, marker, patternsOf } from "../../../tests/helpers/record_place.ts";
import { ProjectRecord } from "./project_record.ts";
import { knownRoots } from "./project_record_files.ts";

const NOTHING = { markers: [], endpoints: [] };
const unix = { ignore: Deno.build.os === "windows" };

Deno.test(
  "a home that cannot be written or read is reported, and a damaged index is rebuilt",
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

Deno.test("the index is read once until another session changes it", () =>
  inPlace(async ({ base, home }) => {
    let reads = 0;
    const read = (name: string) => {
      if (name === "projects/index.json") reads++;
      return home.read(name);
    };
    const counted = { ...home, read };
    const roots = [`${base}/project`, `${base}/other`];
    for (const [at, root] of roots.entries()) {
      await ProjectRecord.open(home, root, { markers: [marker(root, ".env")] });
      for (let look = 0; look < 3; look++) {
        assert.deepEqual((await knownRoots(counted)).sort(), roots.slice(0, at + 1).sort());
      }
      assert.equal(reads, at + 1);
    }
  }));

const RUINED: readonly ((data: { [name: string]: unknown }) => unknown)[] = [
  (data) => data["root"] = 1,
  (data) => data["endpoints"] = [null],
  (data) => data["markers"] = [null],
  (data) => data["markers"] = [{ path: "x", inode: 1, lines: [null] }],
  (data) => data["markers"] = [{ path: "x", inode: 1, lines: [{ tier: "no-cloud", pattern: 3 }] }],
  (data) => data["derived"] = [{ path: "x" }],
];

Deno.test("a record with an invalid value is reported with what to do, whatever the value", async (test) => {
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

Deno.test("an index with an invalid entry is rebuilt", async (test) => {
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

Deno.test("of more than a thousand directories that were only seen, the oldest that are gone are forgotten", () =>
  inPlace(async ({ base, home }) => {
    const index = () => JSON.parse(Deno.readTextFileSync(home.file("projects/index.json")));
    const note = async (root: string) => {
      Deno.mkdirSync(root, { recursive: true });
      await (await ProjectRecord.open(home, root, { ...NOTHING })).note();
    };
    const there = `${base}/there`;
    await note(there);
    const { format, projects } = index();
    for (let at = 0; at < 999; at++) {
      projects[`gone ${at}`] = { root: `${base}/gone ${at}`, inode: 1, born: 1, open: true };
    }
    Deno.writeTextFileSync(home.file("projects/index.json"), JSON.stringify({ format, projects }));
    for (const [name, oldest] of [["one", "gone 0"], ["two", "gone 1"]] as const) {
      assert.equal(index().projects[oldest]?.open, true, "control: it is remembered before");
      await note(`${base}/${name}`);
    }
    const roots = Object.values<{ root: string }>(index().projects).map(({ root }) => root);
    assert.deepEqual(["there", "gone 0", "gone 1", "gone 2"].map((name) => roots.includes(`${base}/${name}`)), [
      true,
      false,
      true,
      true,
    ]);
  }));
