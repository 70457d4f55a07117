import assert from "node:assert/strict";
import { findMarkers } from "../policy/marker.ts";
import { openTogether, together } from "./batch_reader.ts";
import type { LabelledBytes, Refusal, ResolvedPath, Workspace } from "./workspace.ts";
import { openWorkspace } from "./disk.ts";

const unix = { ignore: Deno.build.os === "windows" };
const linux = { ignore: Deno.build.os !== "linux" };
const NAMES = Array.from({ length: 8 }, (_, at) => `f${at}.txt`);
/** To what was made just now, this is long after. */
const LATER = 3_600_000;

/** A root with a directory `d` of small files, and beside the root a directory of others with the same names. */
async function inTree(work: (tree: { root: string; outside: string }) => Promise<void> | void): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [root, outside] = [`${base}/root`, `${base}/outside`];
  try {
    await Deno.mkdir(`${root}/d`, { recursive: true });
    await Deno.mkdir(outside);
    for (const name of NAMES) {
      await Deno.writeTextFile(`${root}/d/${name}`, `open ${name}`);
      await Deno.writeTextFile(`${outside}/${name}`, "OUTSIDE");
    }
    await work({ root, outside });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

async function workspaceAt(root: string, { local = false, later = LATER } = {}): Promise<Workspace> {
  return await openWorkspace({
    root,
    additional: [],
    cwd: root,
    home: `${root}/../no-home`,
    markers: await findMarkers(root),
    provider: { local, name: "p" },
    now: () => Date.now() + later,
  });
}

function pathsIn(root: string, names: readonly string[]): ResolvedPath[] {
  return names.map((name) => ({ path: `${root}/${name}`, real: `${root}/${name}`, display: name }));
}

const IN_D = NAMES.map((name) => `d/${name}`);

function shown(read: LabelledBytes | Refusal): string {
  return "refused" in read
    ? `${read.refused}: ${read.message}`
    : `${read.label} ${new TextDecoder().decode(read.bytes)}`;
}

function openHandles(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

Deno.test("files are opened together in directories at rest, and alone where one may be changing", () =>
  inTree(({ root }) => {
    const paths = IN_D.map((name) => `${root}/${name}`);
    const taken = (now: number, some = paths) => {
      const files = openTogether(some, { root, now });
      const found = some.map((_, at) => files.take(at));
      for (const file of found) file?.handle.close();
      return found.map((file) => file?.real ?? null);
    };
    const nothing = paths.map(() => null);
    assert.deepEqual(taken(Date.now() + LATER), paths);
    assert.deepEqual(taken(Date.now()), nothing);
    Deno.symlinkSync("d", `${root}/link`);
    assert.deepEqual(taken(Date.now() + LATER, paths.map((path) => path.replace("/d/", "/link/"))), nothing);
    assert.deepEqual(taken(Date.now() + LATER, paths.slice(0, 2)), [null, null], "few cost less alone");
    assert.deepEqual(taken(Date.now() + LATER, [`${root}/d/gone`, `${root}/d`, ...paths]), [null, null, ...paths]);
  }));

Deno.test("only files of one directory make a run, and no run is long", () => {
  const runs = (paths: string[]) => [...together(paths.map((path) => ({ path })))].map((run) => run.length);
  assert.deepEqual(runs(["/a/x", "/a/y", "/a/b/z", "/a/w", "/ab"]), [2, 1, 1, 1]);
  assert.deepEqual(runs([]), []);
  assert.deepEqual(runs(Array.from({ length: 70 }, (_, at) => `/a/${at}`)), [32, 32, 6]);
});

Deno.test("what is read together is what each file gives alone", unix, () =>
  inTree(async ({ root, outside }) => {
    await Deno.writeTextFile(`${root}/.agentclisecret`, "no-cloud: d/f3.txt\nlist-only: d/f4.txt\n");
    await Deno.link(`${root}/d/f3.txt`, `${root}/d/hard.txt`);
    await Deno.symlink("f3.txt", `${root}/d/soft.txt`);
    await Deno.symlink(`${outside}/f1.txt`, `${root}/d/leaves.txt`);
    await Deno.mkdir(`${root}/d/sub`);
    await Deno.writeTextFile(`${root}/d/empty.txt`, "");
    await Deno.writeTextFile(`${root}/d/long.txt`, "x".repeat(100));
    const more = ["hard.txt", "soft.txt", "leaves.txt", "sub", "gone", "empty.txt", "long.txt"];
    const paths = pathsIn(root, [...IN_D, ...more.map((name) => `d/${name}`)]);
    for (const local of [true, false]) {
      const workspace = await workspaceAt(root, { local });
      const all = [...workspace.readAll(paths, { limit: 20 })];
      const alone = await Promise.all(paths.map((path) => workspace.read(path, { limit: 20 })));
      assert.deepEqual(all, alone);
      assert.equal(all.filter((read) => shown(read).startsWith("open open")).length, 6, "the control");
      const secrets = all.filter((read) => shown(read) === "no-cloud open f3.txt");
      assert.equal(secrets.length, local ? 3 : 0);
    }
  }));

/** Runs `work`; `swap` is called at each opening of a file, before it and after it. */
function whileOpening<T>(swap: (when: "before" | "after") => void, work: () => T): T {
  const { openSync } = Deno;
  Deno.openSync = (...args) => {
    swap("before");
    try {
      return openSync(...args);
    } finally {
      swap("after");
    }
  };
  try {
    return work();
  } finally {
    Deno.openSync = openSync;
  }
}

Deno.test(
  "a directory that is swapped for a link while its files are opened brings nothing from elsewhere",
  unix,
  () =>
    inTree(async ({ root, outside }) => {
      const workspace = await workspaceAt(root);
      const swaps = {
        in() {
          Deno.renameSync(`${root}/d`, `${root}/away`);
          Deno.symlinkSync(outside, `${root}/d`);
        },
        out() {
          Deno.removeSync(`${root}/d`);
          Deno.renameSync(`${root}/away`, `${root}/d`);
        },
      };
      // Its times are those of a tree that nobody has changed for long.
      const age = () => [root, `${root}/d`].forEach((path) => Deno.utimeSync(path, 1_000_000, 1_000_000));
      const paths = pathsIn(root, IN_D);
      const ways: Record<string, (times: number) => "in" | "out" | null> = {
        "all the time": (times) => times === 1 ? "in" : null,
        "and back at once": (times) => times === 1 ? "in" : times === 2 ? "out" : null,
        "and back after the last": (times) => times === 1 ? "in" : times === 16 ? "out" : null,
        "at the last": (times) => times === 15 ? "in" : times === 16 ? "out" : null,
      };
      for (const [way, swapAt] of Object.entries(ways)) {
        age();
        let times = 0;
        let swapped = false;
        const swap = () => {
          const what = swapAt(++times);
          if (what !== null) swaps[what]();
          if (what !== null) swapped = what === "in";
        };
        const all = whileOpening(swap, () => [...workspace.readAll(paths)].map(shown));
        if (swapped) swaps.out();
        assert.ok(times >= 16, "the control: they are opened together");
        assert.equal(all.some((text) => text.includes("OUTSIDE")), false, way);
      }
    }),
);

Deno.test(
  "a directory above the root that is a link by now leads to nothing",
  unix,
  () =>
    inTree(async ({ root, outside }) => {
      const own = `${root}/d/own`;
      for (const [place, text] of [[own, "open"], [`${outside}/own`, "OUTSIDE"]] as const) {
        await Deno.mkdir(`${place}/d`, { recursive: true });
        for (const name of NAMES) await Deno.writeTextFile(`${place}/d/${name}`, text);
      }
      const workspace = await workspaceAt(own);
      const reads = () => [...workspace.readAll(pathsIn(own, IN_D))].map(shown);
      assert.deepEqual(reads(), NAMES.map(() => "open open"), "the control");
      await Deno.rename(`${root}/d`, `${root}/away`);
      await Deno.symlink(outside, `${root}/d`);
      assert.deepEqual(reads(), IN_D.map((name) => `outside: ${name} leads out of the project`));
    }),
);

Deno.test(
  "a file that is replaced while the others are opened is not what is read",
  unix,
  () =>
    inTree(async ({ root, outside }) => {
      const workspace = await workspaceAt(root);
      // As if the directory had not changed: then the file itself tells.
      const age = () => [root, `${root}/d`].forEach((path) => Deno.utimeSync(path, 1_000_000, 1_000_000));
      age();
      let times = 0;
      const swap = () => {
        times++;
        if (times === 1) Deno.renameSync(`${root}/d/f0.txt`, `${root}/d/kept`);
        if (times === 1) Deno.linkSync(`${outside}/f0.txt`, `${root}/d/f0.txt`);
        if (times === 2) Deno.removeSync(`${root}/d/f0.txt`);
        if (times === 2) Deno.renameSync(`${root}/d/kept`, `${root}/d/f0.txt`);
        age();
      };
      const [first = ""] = whileOpening(swap, () => [...workspace.readAll(pathsIn(root, IN_D))].map(shown));
      assert.equal(first, "open open f0.txt");
    }),
);

Deno.test("a marker that appears after the files were opened holds for those that were not read yet", () =>
  inTree(async ({ root }) => {
    const workspace = await workspaceAt(root);
    const seen: string[] = [];
    for (const read of workspace.readAll(pathsIn(root, IN_D))) {
      seen.push("refused" in read ? read.refused : "read");
      if (seen.length > 1) continue;
      Deno.writeTextFileSync(`${root}/.agentclisecret`, "no-cloud: d\n");
      await workspace.refresh();
    }
    assert.deepEqual(seen, ["read", ...NAMES.slice(1).map(() => "protected")]);
  }));

Deno.test("who stops reading leaves no file open", linux, () =>
  inTree(async ({ root }) => {
    const workspace = await workspaceAt(root);
    const before = openHandles();
    let during = 0;
    for (const _ of workspace.readAll(pathsIn(root, IN_D))) {
      during = openHandles();
      break;
    }
    assert.equal(during, before + NAMES.length - 1, "the control");
    assert.equal(openHandles(), before);
  }));
