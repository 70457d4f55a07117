import assert from "node:assert/strict";
import { type Home, openHome } from "../../platform/home.ts";
import { applyChanges, planChanges } from "./apply.ts";
import { type Artifact, type Resource, textFile } from "../resources/artifact.ts";
import { interruptedPaths, readLedger } from "./ledger.ts";
import { DISK, type DiskAccess } from "./disk.ts";
import type { Wanted } from "./operations.ts";

const FOREIGN_HOOKS = '// mine\r\n{ "hooks": { "pre_read_code": [ {"command": "theirs"} ] } // end\r\n}\r\n';
const FOREIGN_NOTES = "# Notes\n\nBy hand.\n";

/** Every file and directory of the project with its content. */
function snapshot(directory: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    found.set(path, isDirectory ? "" : Deno.readTextFileSync(path));
    if (isDirectory) { for (const [inner, text] of snapshot(path)) found.set(inner, text); }
  }
  return new Map([...found].sort());
}

async function place() {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const base = `${root}/project`;
  await Deno.mkdir(base);
  await Deno.writeTextFile(`${base}/hooks.json`, FOREIGN_HOOKS);
  await Deno.writeTextFile(`${base}/AGENTS.md`, FOREIGN_NOTES);
  const home = await openHome({ env: () => `${root}/home`, os: "linux" });
  return { base, home, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

type Place = Awaited<ReturnType<typeof place>>;

function resources({ base }: Place, version: number): Resource[] {
  const file = (name: string): Resource =>
    textFile(`${base}/${name}`, `${name} ${version}\n`, { executable: name.endsWith(".sh") });
  const item = (event: string): Resource => ({
    kind: "item",
    path: `${base}/hooks.json`,
    at: ["hooks", event],
    value: { command: `bash ${version}` },
  });
  return [
    file("hooks/guard.sh"),
    item("pre_read_code"),
    { kind: "section", path: `${base}/AGENTS.md`, name: "notes", content: `version ${version}`, limit: null },
    { kind: "member", path: `${base}/servers.json`, at: ["mcpServers", "s"], value: { command: `c${version}` } },
    // What only one of the versions has: it comes or goes with the change.
    file(`skills/v${version}/SKILL.md`),
    item(version === 1 ? "post_read_code" : "post_write_code"),
  ];
}

const HEAD = { kind: "hook", name: "all", scope: "project", dialect: "ide" } as const;

function artifact(at: Place, version: number): Artifact {
  return { ...HEAD, base: at.base, resources: resources(at, version) };
}

/** The ways of changing something that are killed. */
const WAYS: Readonly<Record<string, { before: number | null; wanted(at: Place): Wanted }>> = {
  "a first installation": { before: null, wanted: (at) => ({ add: [artifact(at, 1)] }) },
  "an upgrade": { before: 1, wanted: (at) => ({ add: [artifact(at, 2)] }) },
  "a removal": { before: 1, wanted: (at) => ({ remove: [artifact(at, 1)] }) },
};

/** Home and disk that stop forever before the `count`th write, as a killed process does. `stopped` says when. */
function killedAt(count: number, home: Home) {
  let left = count;
  let tell = () => {};
  const stopped = new Promise<"killed">((resolve) => tell = () => resolve("killed"));
  const step = async (): Promise<void> => {
    left -= 1;
    if (left >= 0) return;
    tell();
    await new Promise<never>(() => {});
  };
  const mortal: Home = {
    ...home,
    write: (name, text) => step().then(() => home.write(name, text)),
    remove: (name) => step().then(() => home.remove(name)),
    // The lock of a killed process is gone; here its work waits forever, and would hold it.
    locked: (_, work) => work(),
  };
  const disk: DiskAccess = {
    makeDirectory: (path) => step().then(() => DISK.makeDirectory(path)),
    async write(path, bytes, options) {
      const leftover = path.replace(/([^/]+)$/, `.$1.${crypto.randomUUID()}.tmp`);
      if (left === 0) await Deno.writeFile(leftover, bytes.subarray(0, 3));
      await step();
      await DISK.write(path, bytes, options);
    },
    remove: (path) => step().then(() => DISK.remove(path)),
  };
  return { home: mortal, disk, stopped };
}

/** Runs the change and kills it before write `count`; false when it was done before. */
async function killed(at: Place, wanted: Wanted, { count }: { count: number }): Promise<boolean> {
  const { home, disk, stopped } = killedAt(count, at.home);
  const ended = await Promise.race([applyChanges(home, wanted, { disk }), stopped]);
  return ended === "killed";
}

/** Calls `judge` after a kill before each write of the change in turn; says how many there were. */
async function afterEachKill(way: string, judge: (at: Place, wanted: Wanted, count: number) => Promise<void>) {
  const { before, wanted } = WAYS[way] ?? assert.fail();
  for (let count = 0;; count++) {
    await using at = await place();
    if (before !== null) await applyChanges(at.home, { add: [artifact(at, before)] });
    if (!await killed(at, wanted(at), { count })) return count;
    await judge(at, wanted(at), count);
  }
}

for (const way of Object.keys(WAYS)) {
  Deno.test(`after a kill at any write of ${way}, removing gives back every byte`, async () => {
    const kills = await afterEachKill(way, async (at, _wanted, count) => {
      const plan = await applyChanges(at.home, { remove: [artifact(at, 1)] });
      assert.deepEqual(plan.problems, [], `kill ${count}`);
      assert.deepEqual(
        [...snapshot(at.base)],
        [[`${at.base}/AGENTS.md`, FOREIGN_NOTES], [`${at.base}/hooks.json`, FOREIGN_HOOKS]],
        `kill ${count}`,
      );
      const ledger = await readLedger(at.home);
      assert.deepEqual({ artifacts: ledger.artifacts, files: ledger.files }, { artifacts: [], files: {} });
    });
    assert.ok(kills > 5, `${kills} writes`);
  });

  Deno.test(`after a kill at any write of ${way}, apply leaves what it was before or what it was to be`, async () => {
    const { before, wanted } = WAYS[way] ?? assert.fail();
    const outcomes = new Map<string, number>();
    await using expected = await place();
    if (before !== null) await applyChanges(expected.home, { add: [artifact(expected, before)] });
    const was = [...snapshot(expected.base).values()].join("\0");
    await applyChanges(expected.home, wanted(expected));
    const is = [...snapshot(expected.base).values()].join("\0");
    await afterEachKill(way, async (at, again, count) => {
      const plan = await applyChanges(at.home, { keep: () => true });
      assert.deepEqual(plan.problems, [], `kill ${count}`);
      const found = [...snapshot(at.base).values()].join("\0");
      assert.ok(found === was || found === is, `kill ${count}: ${JSON.stringify([found, is, was])}`);
      outcomes.set(found === is ? "new" : "old", count);
      assert.deepEqual(interruptedPaths(await readLedger(at.home)), [], `kill ${count}`);
      assert.deepEqual((await planChanges(at.home, { keep: () => true })).changes, []);
      await applyChanges(at.home, again);
      assert.equal([...snapshot(at.base).values()].join("\0"), is, `kill ${count}`);
    });
    assert.ok(outcomes.has("new"));
  });

  Deno.test(`after a second kill in what ends ${way}, nothing counts as changed by hand`, async () => {
    await afterEachKill(way, async (at, again, count) => {
      for (let second = 0; await killed(at, { keep: () => true }, { count: second }); second++) {
        const plan = await planChanges(at.home, again);
        assert.deepEqual(plan.problems, [], `kills ${count}, ${second}`);
      }
      await applyChanges(at.home, { remove: [artifact(at, 1)] });
      assert.deepEqual([...snapshot(at.base).values()], [FOREIGN_NOTES, FOREIGN_HOOKS], `kill ${count}`);
    });
  });
}

Deno.test("what an editor writes into a file at the last moment stays, and nothing else is changed", async () => {
  await using at = await place();
  const disk: DiskAccess = {
    ...DISK,
    async write(path, bytes, options) {
      // It saves its own version while ours is on its way to the disk.
      if (path.endsWith("AGENTS.md")) await Deno.writeTextFile(path, "the editor's own\n");
      await DISK.write(path, bytes, options);
    },
  };
  await assert.rejects(
    applyChanges(at.home, { add: [artifact(at, 1)] }, { disk }),
    /AGENTS\.md was changed by something else just now; nothing was changed/,
  );
  assert.deepEqual([...snapshot(at.base).values()], ["the editor's own\n", FOREIGN_HOOKS]);
});

Deno.test("what was written and then changed by an editor is not undone, and the next run continues", async () => {
  await using at = await place();
  const disk: DiskAccess = {
    ...DISK,
    async write(path, bytes, options) {
      if (!path.endsWith("servers.json")) return await DISK.write(path, bytes, options);
      await Deno.writeTextFile(`${at.base}/AGENTS.md`, "the editor's own\n");
      throw new Deno.errors.WriteZero("disk full");
    },
  };
  await assert.rejects(
    applyChanges(at.home, { add: [artifact(at, 1)] }, { disk }),
    /could not be taken back: .*AGENTS\.md/,
  );
  assert.equal(await Deno.readTextFile(`${at.base}/AGENTS.md`), "the editor's own\n");
  const removed = await applyChanges(at.home, { remove: [artifact(at, 1)] });
  assert.deepEqual(removed.problems, []);
  assert.deepEqual([...snapshot(at.base).values()], ["the editor's own\n", FOREIGN_HOOKS]);
});
