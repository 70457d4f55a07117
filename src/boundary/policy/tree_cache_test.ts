import assert from "node:assert/strict";
import { doStep, inTemporary, type TreeStep, write } from "../../../tests/helpers/protected_tree.ts";
import * as fc from "../../../tests/property.ts";
import { lstatInPlace } from "../../platform/files_in_place.ts";
import { ProtectedSet } from "./protected.ts";
import { readTreeCache, type TreeCache, treeCacheText } from "./tree_cache.ts";

const LONG_AFTER_MS = 3_600_000;

/** What a walk of `root` gives, read back from its text, as if the tree had been at rest for long. */
function remembered(root: string): TreeCache {
  const seen = new ProtectedSet([root]).memory(Date.now() + LONG_AFTER_MS);
  assert.ok(seen);
  const memory = readTreeCache(treeCacheText(seen));
  assert.ok(memory);
  waitForNewTimes(root);
  return memory;
}

/** Until a change would get another time than all before: the disk's clock goes in steps of milliseconds. */
function waitForNewTimes(root: string): void {
  const probe = `${root}.probe`;
  const time = () => {
    Deno.writeTextFileSync(probe, "x");
    return Deno.statSync(probe).mtime?.getTime() ?? 0;
  };
  for (const start = time(); time() <= start + 1;);
  Deno.removeSync(probe);
}

/** All that a set says of a tree: what it hides, and the rule of every path and every file. */
async function told(set: ProtectedSet, paths: readonly string[]) {
  const { files, directories } = await set.hidden();
  const rules = paths.map((path) => {
    const status = lstatInPlace(path);
    const rule = status?.kind === "file" ? set.ruleOfFile(status, path) : set.rule(path);
    return rule === null ? `${path} open` : `${path} ${rule.tier} ${rule.pattern} ${rule.damaged ?? ""}`;
  });
  const damaged = set.damaged?.damaged;
  // Then everything is covered. Whether a walk meets a marker in a covered directory depends on the order of names.
  if (damaged !== undefined) return { rules, damaged };
  return { files: [...files].sort(), directories: [...directories].sort(), rules };
}

function everything(root: string): string[] {
  const found: string[] = [];
  const waiting = [root];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const { name, isDirectory } of Deno.readDirSync(at)) {
      found.push(`${at}/${name}`);
      if (isDirectory) waiting.push(`${at}/${name}`);
    }
  }
  return found.sort();
}

async function sameAsFresh(root: string, memory: TreeCache, what: string): Promise<void> {
  const recalled = new ProtectedSet([root]);
  recalled.recall(memory);
  const fresh = new ProtectedSet([root]);
  fresh.start();
  const paths = everything(root);
  assert.deepEqual(await told(recalled, paths), await told(fresh, paths), what);
}

function tree(root: string): void {
  write(`${root}/.agentclisecret`, "no-cloud: .env\nno-cloud: secrets\nno-cloud: **/*.pem\n");
  for (const path of [".env", "secrets/a/key", "a/b/c/x", "a/b/y", "d/e/f", "d/one.pem", "store/real"]) {
    write(`${root}/${path}`, path);
  }
  Deno.symlinkSync("../store/real", `${root}/d/link.pem`);
}

/** A change of the tree, and a path that it must make protected. */
const CHANGES: readonly [string, (root: string) => void, string][] = [
  ["a marker that appears far below", (at) => write(`${at}/a/b/c/.agentclisecret`, "no-cloud: x\n"), "a/b/c/x"],
  ["a file that a pattern means", (at) => write(`${at}/d/e/two.pem`), "d/e/two.pem"],
  ["a directory that a pattern means", (at) => write(`${at}/a/b/three.pem/z`), "a/b/three.pem/z"],
  ["a marker with more lines", (at) => write(`${at}/.agentclisecret`, "no-cloud: a\nno-cloud: .env\n"), "a/b/y"],
  ["a marker with another line of the same length", (at) => write(`${at}/.agentclisecret`, "no-cloud: d/e\n"), "d/e/f"],
  ["a covered link that leads elsewhere", (at) => {
    Deno.removeSync(`${at}/d/link.pem`);
    Deno.symlinkSync("../a/b/y", `${at}/d/link.pem`);
  }, "a/b/y"],
  ["a link behind a covered link that leads elsewhere", (at) => {
    Deno.removeSync(`${at}/store`, { recursive: true });
    Deno.symlinkSync("../a/b/c", `${at}/store`);
    Deno.renameSync(`${at}/a/b/c/x`, `${at}/a/b/c/real`);
    Deno.renameSync(`${at}/store`, `${at}/d/store`);
    Deno.symlinkSync("d/store", `${at}/store`);
  }, "a/b/c/real"],
  ["a directory in the place of another", (at) => {
    write(`${at}/other/.agentclisecret`, "no-cloud: f\n");
    write(`${at}/other/f`);
    Deno.removeSync(`${at}/d/e`, { recursive: true });
    Deno.renameSync(`${at}/other`, `${at}/d/e`);
  }, "d/e/f"],
  ["a hard link of a protected file", (at) => Deno.linkSync(`${at}/.env`, `${at}/a/b/copy`), "a/b/copy"],
  ["a hard link in place of an open file", (at) => {
    Deno.removeSync(`${at}/a/b/y`);
    Deno.linkSync(`${at}/secrets/a/key`, `${at}/a/b/y`);
  }, "a/b/y"],
  ["a damaged marker below", (at) => write(`${at}/d/.agentclisecret`, "no-cloud:\n"), "a/b/y"],
];

for (const [what, change, path] of CHANGES) {
  Deno.test(`a remembered tree shows ${what}`, async () => {
    await inTemporary(async (root) => {
      tree(root);
      const memory = remembered(root);
      await sameAsFresh(root, memory, "before");
      const before = new ProtectedSet([root]);
      before.recall(memory);
      // `damaged` covers everything: the path below is open before and protected after.
      if (lstatInPlace(`${root}/${path}`) !== null) assert.equal(before.rule(`${root}/${path}`), null);
      change(root);
      const after = new ProtectedSet([root]);
      after.recall(memory);
      await after.hidden();
      const status = lstatInPlace(`${root}/${path}`);
      assert.ok(status && after.ruleOfFile(status, `${root}/${path}`));
      await sameAsFresh(root, memory, "after");
    });
  });
}

Deno.test("a line that is taken away no longer protects, though it is remembered", async () => {
  await inTemporary(async (root) => {
    tree(root);
    const memory = remembered(root);
    write(`${root}/.agentclisecret`, "no-cloud: .env\n");
    const set = new ProtectedSet([root]);
    set.recall(memory);
    assert.equal(set.rule(`${root}/secrets/a/key`), null);
    await sameAsFresh(root, memory, "after");
  });
});

Deno.test("a remembered tree shows that a worktree below belongs to another repository now", async () => {
  await inTemporary(async (root) => {
    tree(`${root}/project`);
    for (const name of ["one", "two"]) {
      write(`${root}/${name}/.git/worktrees/w/commondir`, "../..\n");
      write(`${root}/${name}/.agentclisecret`, `no-cloud: ${name}.txt\n`);
    }
    const project = `${root}/project`;
    write(`${project}/w/.git`, `gitdir: ${root}/one/.git/worktrees/w\n`);
    write(`${project}/w/two.txt`);
    const memory = remembered(project);
    write(`${project}/w/.git`, `gitdir: ${root}/two/.git/worktrees/w\n`);
    const set = new ProtectedSet([project]);
    set.recall(memory);
    assert.ok((await set.hidden()).files.includes(`${project}/w/two.txt`));
    await sameAsFresh(project, memory, "after");
  });
});

Deno.test("a remembered tree shows, after a refresh, that a link behind a covered link leads elsewhere", async () => {
  await inTemporary((root) => {
    tree(root);
    Deno.renameSync(`${root}/store`, `${root}/first`);
    Deno.symlinkSync("first", `${root}/store`);
    write(`${root}/second/real`);
    const set = new ProtectedSet([root]);
    set.recall(remembered(root));
    set.identify();
    assert.equal(set.rule(`${root}/second/real`), null);
    Deno.removeSync(`${root}/store`);
    Deno.symlinkSync("second", `${root}/store`);
    set.refresh();
    assert.ok(set.rule(`${root}/second/real`));
  });
});

Deno.test("another directory with the same times is listed again", async () => {
  await inTemporary((root) => {
    tree(root);
    const memory = remembered(root);
    const directories = new Map([...memory.directories].map(([path, listed]) => {
      return [path, path.endsWith("/e") ? { ...listed, inode: listed.inode + 1 } : listed] as const;
    }));
    const set = new ProtectedSet([root]);
    set.recall({ ...memory, directories });
    const listed = [...set.memory(Date.now() + LONG_AFTER_MS)?.directories ?? []];
    assert.deepEqual(listed.filter(([, { settled }]) => !settled).map(([path]) => path), [`${root}/d/e`]);
  });
});

Deno.test("a directory that changed shortly before it was listed is not remembered", async () => {
  await inTemporary((root) => {
    tree(root);
    const directories = (now: number) => [...new ProtectedSet([root]).memory(now)?.directories.keys() ?? []];
    assert.deepEqual(directories(Date.now()), []);
    assert.ok(directories(Date.now() + LONG_AFTER_MS).includes(`${root}/a/b`));
  });
});

Deno.test("what is remembered spares the listing, and is taken over into the next memory", async () => {
  await inTemporary((root) => {
    tree(root);
    const set = new ProtectedSet([root]);
    set.recall(remembered(root));
    const again = set.memory(Date.now());
    assert.ok(again && again.directories.size > 5);
    assert.ok([...again.directories.values()].every(({ settled }) => settled));
  });
});

Deno.test("nothing of a protected file's content is remembered, and nothing while a marker is damaged", async () => {
  await inTemporary((root) => {
    tree(root);
    write(`${root}/.env`, "CANARY-7fd1c0");
    const seen = new ProtectedSet([root]).memory(Date.now() + LONG_AFTER_MS);
    assert.ok(seen && !treeCacheText(seen).includes("CANARY"));
    write(`${root}/.agentclisecret`, "no-cloud:\n");
    assert.equal(new ProtectedSet([root]).memory(Date.now()), null);
  });
});

Deno.test("a memory that is not whole, or leads out of a directory, is none", async () => {
  await inTemporary((root) => {
    tree(root);
    const text = treeCacheText(remembered(root));
    assert.ok(readTreeCache(text));
    for (
      const bad of [
        "",
        "null",
        "[]",
        text.slice(0, -9),
        text.replace('"names":["', '"names":["../'),
        text.replace('"names":["', '"names":["/'),
        text.replace('"facts":[[', '"facts":[["x",'),
        text.replace('"facts":[[', '"facts":[[1,'),
      ]
    ) {
      assert.equal(readTreeCache(bad), null, bad.slice(0, 60));
    }
  });
});

Deno.test("random changes: a remembered tree says what a fresh look says", async () => {
  const name = fc.constantFrom("a", "b", "x.pem", ".env", ".agentclisecret", "link");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const step = fc.record({ act: fc.constantFrom("write", "remove", "rename", "link", "hard"), path, other: path });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 4 }), async (first, then) => {
      await inTemporary(async (root) => {
        write(`${root}/.agentclisecret`, "no-cloud: .env\nno-cloud: **/*.pem\n");
        const apply = (step: TreeStep) => doStep(root, step);
        first.forEach(apply);
        const seen = new ProtectedSet([root]).memory(Date.now() + LONG_AFTER_MS);
        if (seen === null) return;
        waitForNewTimes(root);
        then.forEach(apply);
        await sameAsFresh(root, seen, "random");
      });
    }),
    { numRuns: 150 },
  );
});
