/** The files of project records: damaged ones, those of earlier versions, and more than a record has room for. */
import assert from "node:assert/strict";
import { inPlace, marker, patternsOf } from "../../../tests/helpers/record_place.ts";
import { identityAt } from "./identity.ts";
import { ProjectRecord } from "./project_record.ts";
import { gathered, knownProjects, knownRoots } from "./project_record_files.ts";

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

Deno.test(
  "records of earlier versions are read: their rules hold, and what they say of other directories trusts nothing",
  unix,
  () =>
    inPlace(async ({ base, home }) => {
      const [root, former] = [`${base}/project`, `${base}/former`];
      Deno.mkdirSync(former);
      const write = async (
        id: string,
        { at, rule, ...more }: { at: string; rule: string; [name: string]: unknown },
      ) => {
        const lines = [{ tier: "no-cloud", pattern: rule }];
        const lists = { endpoints: ["gpu.lan"], confirmed: [], allowed: [], derived: [] };
        const met = [{ path: `${at}/x`, tier: "no-cloud", inode: 5, born: 6 }];
        const markers = [{ path: `${at}/.agentclisecret`, inode: 7, lines }];
        const data = { format: 1, root: at, device: 1, firstHead: null, salt: "s", markers, met, ...lists, ...more };
        await home.write(`projects/${id.repeat(32)}.json`, JSON.stringify(data));
        return [id.repeat(32), { root: at, device: 1, ...more }];
      };
      const there = identityAt(root);
      const projects = Object.fromEntries([
        await write("a", { at: root, rule: "here", ...there }),
        await write("b", { at: former, rule: "left", inode: 0, born: 0 }),
        await write("c", { at: root, rule: "lost", inode: 8, born: 9, isLost: true }),
        ["d".repeat(32), { root: base, open: true, firstHead: null, ...identityAt(base) }],
      ]);
      await home.write("projects/index.json", JSON.stringify({ format: 1, projects }));
      const [known, other] = [await ProjectRecord.open(home, root), await ProjectRecord.open(home, former)];
      assert.deepEqual([patternsOf(known.markers), known.trustedEndpoints], [["here"], ["gpu.lan"]]);
      assert.deepEqual([patternsOf(other.markers), other.trustedEndpoints], [["left"], []]);
      assert.equal((await ProjectRecord.open(home, base)).own?.root, base);
      assert.deepEqual([...new Set((await knownProjects(home)).map((one) => one.root))].sort(), [former, root]);
    }),
);

const deep = `/project/d/${"e".repeat(200)}`;

Deno.test("more files than a record has room for are kept by their directories at the top of the project", () => {
  const fileAt = (path: string) => ({ path, source: "/project/.env", inode: 2, born: 3 });
  const of = (count: number) =>
    gathered(
      [...Array.from({ length: count }, (_, at) => fileAt(`${deep}/${at}`)), fileAt("/project/a.txt"), fileAt("/w/b")],
      "/project",
    );
  assert.equal(of(50).length, 52, "control: a few are kept by themselves");
  const kept = of(12_000);
  assert.deepEqual(kept.map(({ path }) => path), ["/project/d", "/project/a.txt", "/w/b"]);
  assert.deepEqual(kept.map(({ inode }) => inode), [0, 2, 2], "a directory has no identity of a file");
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
