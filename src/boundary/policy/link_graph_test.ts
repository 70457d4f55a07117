import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { quietly, realOrNull } from "../../platform/real_path.ts";
import { findMarkers } from "./path_rules.ts";
import { inTemporary, write } from "../../../tests/helpers/protected_tree.ts";
import { ProtectedSet } from "./protected.ts";
import type { ResolvedPath } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/disk.ts";

const SECRET = "SECRET-CONTENT";
const DIRECTORIES = [".", "a", "a/b", "keep", "keep/deep"];
const TARGETS = ["keep/deep/k.txt", "keep", "keep/deep", ".env", "a", "a/b", ".", "..", "gone", "a/l0", "l1", "a/b/l2"];
const LINKS = ["l0", "l1", "a/l0", "a/l1", "a/b/l2", "keep/l3"];

/** A link at a place, to a target seen from the root; absolute or relative; hard links only to files. */
const link = fc.record({
  at: fc.constantFrom(...LINKS),
  to: fc.constantFrom(...TARGETS),
  form: fc.constantFrom("relative", "absolute", "hard"),
});
/** A way to write a path: names joined with detours that mean nothing. */
const spelling = fc.record({
  names: fc.array(fc.constantFrom("a", "b", "keep", "deep", "k.txt", ".env", "l0", "l1", "l2", "l3", "..", "."), {
    minLength: 1,
    maxLength: 6,
  }),
  separator: fc.constantFrom("/", "//", "/./"),
  absolute: fc.boolean(),
});

function makeLink(root: string, { at, to, form }: { at: string; to: string; form: string }): void {
  const up = "../".repeat(at.split("/").length - 1);
  try {
    if (form === "hard") Deno.linkSync(`${root}/${to}`, `${root}/${at}`);
    else Deno.symlinkSync(form === "absolute" ? `${root}/${to}` : `${up}${to}`, `${root}/${at}`);
  } catch {
    // The place is taken, or the target is no file.
  }
}

Deno.test("no graph of links and no spelling brings protected bytes to a remote model, or without a label", {
  ignore: Deno.build.os === "windows",
}, async () => {
  let brought = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(link, { maxLength: 6 }),
      fc.array(spelling, { minLength: 5, maxLength: 30 }),
      async (links, spellings) => {
        const root = await Deno.realPath(await Deno.makeTempDir());
        try {
          for (const directory of DIRECTORIES) Deno.mkdirSync(`${root}/${directory}`, { recursive: true });
          Deno.writeTextFileSync(`${root}/keep/deep/k.txt`, SECRET);
          Deno.writeTextFileSync(`${root}/.env`, SECRET);
          Deno.writeTextFileSync(`${root}/a/open.txt`, "open");
          for (const one of links) makeLink(root, one);
          Deno.writeTextFileSync(`${root}/.agentclisecret`, "no-cloud: keep\nno-cloud: .env\n");
          const open = async (local: boolean) =>
            await openWorkspace({
              root,
              additional: [],
              cwd: root,
              home: `${root}/../no-home`,
              localEndpoints: findMarkers(root).standingEndpoints,
              provider: { local, name: "p" },
            });
          const local = await open(true);
          // A remote session does not start while a link leads a line back over its own marker.
          const isUnusable = local.protection.damaged !== null;
          const remote = await open(false).catch((error) => assert.ok(isUnusable, error));
          if (remote === undefined) return;
          const paths = spellings.map(({ names, separator, absolute }) =>
            (absolute ? `${root}/` : "") + names.join(separator)
          );
          const found: ResolvedPath[] = [];
          for (const path of [...paths, ...LINKS, ".env", "keep/deep/k.txt"]) {
            const there = await remote.resolve(path);
            if ("refused" in there) continue;
            found.push(there);
            const far = await remote.read(there);
            assert.ok("refused" in far || new TextDecoder().decode(far.bytes) !== SECRET, path);
            const near = await local.read(there);
            if ("refused" in near || new TextDecoder().decode(near.bytes) !== SECRET) continue;
            brought++;
            assert.equal(near.label, "no-cloud", path);
            assert.ok("refused" in far && far.refused === "protected", path);
          }
          const sorted = found.sort((one, other) => one.path < other.path ? -1 : 1);
          for (const workspace of [local, remote]) {
            const alone = await Promise.all(sorted.map((there) => workspace.read(there)));
            assert.deepEqual(sorted.map((there) => workspace.peek(there)), alone);
          }
        } finally {
          await Deno.remove(root, { recursive: true });
        }
      },
    ),
    { numRuns: 150 },
  );
  assert.ok(brought > 300, "the control is empty");
});

Deno.test("the file that was opened counts as used, not the one that the path led to before", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    Deno.writeTextFileSync(`${root}/.env`, SECRET);
    Deno.symlinkSync(".env", `${root}/turning`);
    const options = {
      root,
      additional: [],
      cwd: root,
      home: `${root}/../no-home`,
      localEndpoints: findMarkers(root).standingEndpoints,
    };
    const workspace = await openWorkspace({ ...options, provider: { local: true, name: "p" } });
    const there = await workspace.resolve("turning");
    assert.ok("real" in there);
    Deno.removeSync(`${root}/turning`);
    Deno.writeTextFileSync(`${root}/turning`, "plain");
    assert.ok("bytes" in await workspace.read(there));
    assert.deepEqual(workspace.takeUsed(), ["turning"]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** Yields the entries below a directory, also behind links, down to a depth. */
function* entriesBehind(directory: string, depth: number): Generator<string> {
  for (const { name, isDirectory, isSymlink } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    yield path;
    const leadsOn = isDirectory || isSymlink && quietly(() => Deno.statSync(path))?.isDirectory;
    if (leadsOn && depth > 1) yield* entriesBehind(path, depth - 1);
  }
}

Deno.test("what a line covers behind links is covered where it really is", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const name = fc.constantFrom("a", "b", "keep", "deep", "k.txt", "l0", "l1", "l3", "*", "**", "l*");
  const line = fc.array(name, { minLength: 2, maxLength: 4 }).map((names) => `no-cloud: ${names.join("/")}\n`);
  let covered = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(link, { minLength: 1, maxLength: 6 }),
      fc.array(line, { minLength: 1, maxLength: 3 }),
      async (links, lines) => {
        const root = await Deno.realPath(await Deno.makeTempDir());
        try {
          for (const directory of DIRECTORIES) Deno.mkdirSync(`${root}/${directory}`, { recursive: true });
          for (const file of ["keep/deep/k.txt", "a/k.txt", "a/b/k.txt"]) Deno.writeTextFileSync(`${root}/${file}`, "");
          for (const one of links) if (one.form !== "hard" && one.to !== "..") makeLink(root, one);
          Deno.writeTextFileSync(`${root}/.agentclisecret`, lines.join(""));
          const set = new ProtectedSet([root]);
          set.refresh();
          await set.hidden();
          if (set.damaged !== null) return;
          for (const path of entriesBehind(root, 5)) {
            const real = realOrNull(path);
            if (real === null || real === path || set.named(path) === null) continue;
            covered++;
            assert.ok(set.named(real), `${path} is ${real}`);
          }
        } finally {
          await Deno.remove(root, { recursive: true });
        }
      },
    ),
    { numRuns: 600 },
  );
  assert.ok(covered > 50, `${covered}: lines cover what is behind links`);
});

const LED: [line: string, target: string, isWhole: boolean][] = [
  ["k", ".", true],
  ["k", "..", true],
  ["k/*", "/", true],
  ["k/**", ".", true],
  ["*.link", ".", true],
  ["k/*.pem", ".", false],
  ["k", "src", false],
  ["k", "/usr", true],
  ["k/*/x", "/dev", true],
  ["k", "/dev/null", false],
];

for (const [line, target, isWhole] of LED) {
  const what = isWhole ? "covers its own marker or the system" : "covers a part of the project";
  Deno.test(`a line ${line} that ${what} through a link to ${target} leaves it ${isWhole ? "un" : ""}usable`, {
    ignore: Deno.build.os === "windows",
  }, () =>
    inTemporary(async (root) => {
      const link = `${root}/${line === "*.link" ? "a.link" : "k"}`;
      write(`${root}/src/a.ts`, "");
      write(`${root}/.agentclisecret`, `no-cloud: ${line}`);
      Deno.symlinkSync(target, link);
      const set = new ProtectedSet([root]);
      for (const _ of [1, 2]) {
        set.refresh();
        const { directories } = await set.hidden();
        assert.equal(set.damaged?.damaged?.includes(link) ?? false, isWhole);
        assert.equal(directories.includes(root), isWhole);
        assert.equal(set.rule(`${root}/other`) !== null, isWhole);
      }
      Deno.removeSync(link);
      set.refresh();
      await set.settle();
      assert.equal(set.damaged, null);
      assert.equal(set.rule(`${root}/other`), null);
    }));
}

Deno.test(
  "of what the home remembers of links into the system, only files count, and only of links that a line names",
  {
    ignore: Deno.build.os === "windows",
  },
  () =>
    inTemporary((root) => {
      const program = Deno.realPathSync("/usr/bin/env");
      for (
        const [source, path, counts] of [["keys/x", program, false], ["x", program, true], [
          "x",
          "/usr",
          false,
        ]] as const
      ) {
        const lines = [{ tier: "no-cloud", pattern: source.split("/")[0] ?? "", line: 1 } as const];
        const derived = [{ path, source: `${root}/${source}`, isTarget: true as const, inode: 0, born: 0 }];
        const remembered = [{ markers: [{ path: `${root}/.agentclisecret`, lines }], derived }];
        assert.equal(new ProtectedSet([root], { remembered }).rule(path) !== null, counts, `${source} to ${path}`);
      }
    }),
);
