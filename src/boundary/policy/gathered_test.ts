/** More files than a record has room for. */
import assert from "node:assert/strict";
import { identityAt } from "./inode_index.ts";
import { emptyRecord, gathered, tightened } from "./project_record_files.ts";

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

Deno.test("of files that have one directory in a record, the strictest counts", () => {
  const files = Array.from({ length: 12_000 }, (_, at) => ({
    ...{ path: `${deep}/${at}`, source: "/project/.env", inode: 2, born: 3 },
    ...at === 5 ? { tier: "list-only" as const } : {},
  }));
  assert.deepEqual(gathered(files, "/project").map(({ tier }) => tier), ["list-only"]);
});

Deno.test("protected files that were moved stay in a record, however many are made or replaced after them", async () => {
  const root = await Deno.makeTempDir();
  try {
    const at = (name: string) => ({ path: `${root}/${name}`, ...identityAt(`${root}/${name}`) });
    const make = (name: string) => {
      Deno.writeTextFileSync(`${root}/${name}`, "");
      return at(name);
    };
    const moved = make("moved.key");
    const kept = make("kept.key");
    let record = tightened(emptyRecord(root), { met: [moved, kept] });
    Deno.renameSync(moved.path, `${root}/pub.txt`);
    for (let round = 0; round < 4; round++) {
      const made = Array.from({ length: 500 }, (_, index) => make(`${round}-${index}.key`));
      record = tightened(record, { met: made });
      // An editor saves by replacing, and a build makes all files anew: those are gone, and none was moved.
      if (round === 1) { for (const { path } of made) Deno.renameSync(make("new").path, path); }
    }
    const names = record.met.map(({ path }) => path.slice(root.length + 1));
    assert.deepEqual([names[0], names[1], names.length], ["moved.key", "kept.key", 1_500]);
    assert.ok(names.includes("2-0.key"), "control: others come in as long as there is room");
    assert.ok(!names.includes("3-499.key"), "the newest have none");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
