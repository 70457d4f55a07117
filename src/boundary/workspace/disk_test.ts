import assert from "node:assert/strict";
import { findMarkers } from "../policy/path_rules.ts";
import type { LabeledBytes, Refusal, ResolvedPath, Workspace } from "./workspace.ts";
import { openWorkspace } from "./disk.ts";

interface Place {
  directory: string;
  root: string;
  open(more?: { local?: boolean; cwd?: string; additional?: string[] }): Promise<Workspace>;
}

/** A project with `pub.txt`, beside a directory `outside` and the tool's home. */
async function inProject(work: (place: Place) => Promise<void>): Promise<void> {
  const directory = await Deno.realPath(await Deno.makeTempDir());
  const root = `${directory}/project`;
  try {
    for (const name of ["project/sub", "outside", "home/.agentcli"]) {
      await Deno.mkdir(`${directory}/${name}`, { recursive: true });
    }
    await Deno.writeTextFile(`${root}/pub.txt`, "public\n");
    await Deno.writeTextFile(`${directory}/outside/far.txt`, "far\n");
    await work({
      directory,
      root,
      open: async (more = {}) =>
        await openWorkspace({
          root,
          additional: more.additional ?? [],
          cwd: more.cwd ?? root,
          home: `${directory}/home/.agentcli`,
          user: { userHome: `${directory}/home` },
          localEndpoints: findMarkers(root).standingEndpoints,
          provider: { local: more.local ?? true, name: "prov" },
        }),
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function resolved(workspace: Workspace, path: string): Promise<ResolvedPath> {
  const found = await workspace.resolve(path);
  if ("refused" in found) throw new Error(found.message);
  return found;
}

async function read(workspace: Workspace, path: string): Promise<LabeledBytes | Refusal> {
  const found = await workspace.resolve(path);
  return "refused" in found ? found : await workspace.read(found);
}

async function write(workspace: Workspace, path: string): Promise<Refusal | "written"> {
  const found = await workspace.resolve(path);
  if ("refused" in found) return found;
  const done = await workspace.write(found, new TextEncoder().encode("new\n"));
  return "refused" in done ? done : "written";
}

/** The kind of a refusal. Whatever is refused, a model is told what to do instead; tools do that for what is absent. */
function refusedAs(value: unknown): string | undefined {
  const { refused, message = "" } = value as Partial<Refusal>;
  const byReader = refused === "absent" || refused === "not_a_file" || refused === "unreadable";
  if (refused !== undefined && !byReader) {
    assert.match(message, /[;:] (?:give|go on|call|write|leave|tell|choose|only|look|it)\b/);
  }
  return refused;
}

Deno.test("without a marker everything is open", () =>
  inProject(async ({ open }) => {
    const workspace = await open({ local: false });
    const found = await read(workspace, "pub.txt");
    assert.equal((found as LabeledBytes).label, "open");
    assert.equal(workspace.ambientLabel, "open");
  }));

Deno.test("a provider that is not local reads what no marker covers, and gets the rule for the rest", async (test) => {
  const places = {
    "project/.agentclisecret": "no-cloud: sub/x\n",
    ".agentclisecret": "no-cloud: project/sub/x\n",
    "project/sub/.agentclisecret": "# mine\nno-cloud: x\n",
  };
  for (const [name, marker] of Object.entries(places)) {
    await test.step(name, () =>
      inProject(async ({ directory, root, open }) => {
        await Deno.writeTextFile(`${directory}/${name}`, marker);
        await Deno.writeTextFile(`${root}/sub/x`, "secret\n");
        const remote = await open({ local: false });
        assert.equal((await read(remote, "pub.txt") as LabeledBytes).label, "open");
        const refusal = await read(remote, "sub/x") as Refusal;
        assert.equal(refusal.refused, "protected");
        assert.match(
          refusal.message,
          /^sub\/x is protected \(.*\.agentclisecret:\d no-cloud: .*x\), .*"prov" is not local; go on without it$/,
        );
        assert.match(refusal.forUser?.hint ?? "", /local model.*secrets add --local-endpoint/);
        const local = await open();
        const found = await read(local, "sub/x") as LabeledBytes;
        assert.deepEqual([found.label, found.rule?.tier], ["no-cloud", "no-cloud"]);
        assert.equal((await read(local, "pub.txt") as LabeledBytes).label, "open");
        assert.equal(local.ambientLabel, "open");
      }));
  }
});

Deno.test("a marker in an added directory covers what lies there", () =>
  inProject(async ({ directory, open }) => {
    await Deno.writeTextFile(`${directory}/outside/.agentclisecret`, "no-cloud: far.txt\n");
    const workspace = await open({ local: false, additional: [`${directory}/outside`] });
    assert.equal(refusedAs(await read(workspace, `${directory}/outside/far.txt`)), "protected");
  }));

Deno.test("a marker that cannot be read is reported with what to do about it", () =>
  inProject(async ({ root, open }) => {
    await Deno.remove(`${root}/.agentclisecret`).catch(() => {});
    await Deno.mkdir(`${root}/.agentclisecret`);
    await assert.rejects(open({ local: false }), (error: Error & { hint?: string }) => {
      assert.match(error.message, /\.agentclisecret cannot be used: it cannot be read/);
      assert.match(error.hint ?? "", /repair .*\.agentclisecret; if you did not write it/);
      return true;
    });
  }));

Deno.test("a damaged marker anywhere keeps other providers out, and makes everything no-cloud for local ones", async (test) => {
  for (
    const name of [
      "project/.agentclisecret",
      ".agentclisecret",
      "project/sub/.agentclisecret",
      "outside/.agentclisecret",
    ]
  ) {
    await test.step(name, () =>
      inProject(async ({ directory, root, open }) => {
        await Deno.writeTextFile(`${directory}/${name}`, "no-cloud:\n");
        await Deno.writeTextFile(`${root}/sub/x`, "x\n");
        const more = { additional: [`${directory}/outside`] };
        await assert.rejects(open({ ...more, local: false }), (error: Error & { code?: string; hint?: string }) => {
          assert.equal(error.code, "policy_refused");
          assert.match(error.message, /\.agentclisecret cannot be used: line 1 names no path/);
          assert.match(error.hint ?? "", /repair.*\.agentclisecret.*local model/);
          return true;
        });
        const workspace = await open(more);
        if (name.includes("sub")) await read(workspace, "sub/x");
        assert.equal((await read(workspace, "pub.txt") as LabeledBytes).label, "no-cloud");
        assert.equal(workspace.ambientLabel, "no-cloud");
      }));
  }
});

Deno.test("what is list-only is named, and read by no model", () =>
  inProject(async ({ root, open }) => {
    await Deno.writeTextFile(`${root}/.agentclisecret`, "list-only: sub\nno-cloud: .\n");
    await Deno.writeTextFile(`${root}/sub/x`, "secret\n");
    const workspace = await open();
    const refusal = await read(workspace, "sub/x") as Refusal;
    assert.match(refusal.message, /\.agentclisecret:1 list-only: sub.*no model/);
    const entries = await workspace.list(await resolved(workspace, "sub"));
    assert.deepEqual(entries, [{ name: "x", kind: "file" }]);
    assert.equal(workspace.ruleAt(await resolved(workspace, "sub/x"))?.tier, "list-only");
    assert.equal((await read(workspace, "pub.txt") as LabeledBytes).label, "no-cloud");
  }));

Deno.test("a marker that appears, grows or goes away can only tighten, from the next refresh on", () =>
  inProject(async ({ root, open }) => {
    const workspace = await open({ local: false });
    const before = await resolved(workspace, "pub.txt");
    assert.equal(refusedAs(await workspace.read(before)), undefined);
    await Deno.writeTextFile(`${root}/.agentclisecret`, "no-cloud: pub.txt\n");
    await workspace.refresh();
    assert.equal(refusedAs(await workspace.read(before)), "protected");
    await Deno.writeTextFile(`${root}/.agentclisecret`, "# nothing\nno-cloud: sub\n");
    await workspace.refresh();
    assert.equal(refusedAs(await workspace.read(before)), "protected");
    assert.equal(refusedAs(await write(workspace, "sub/new")), "protected");
    await Deno.remove(`${root}/.agentclisecret`);
    await workspace.refresh();
    assert.equal(refusedAs(await workspace.read(before)), "protected");
    await Deno.writeTextFile(`${root}/.agentclisecret`, "no-cloud:\n");
    await assert.rejects(workspace.refresh(), { code: "policy_refused" });
  }));

Deno.test("a host that the marker no longer opts in stops being local, and one that it opts in later stays remote", () =>
  inProject(async ({ root, directory }) => {
    const marker = `${root}/.agentclisecret`;
    await Deno.writeTextFile(marker, "no-cloud: pub.txt\nlocal-endpoints: 127.0.0.2\n");
    const open = async (local: boolean) =>
      await openWorkspace({
        root,
        additional: [],
        cwd: root,
        home: `${directory}/home/.agentcli`,
        localEndpoints: findMarkers(root).standingEndpoints,
        provider: { local, name: "lan", baseUrl: "http://127.0.0.2:9/v1" },
      });
    const workspace = await open(true);
    await workspace.refresh();
    assert.equal(workspace.local, true);
    await Deno.writeTextFile(marker, "no-cloud: pub.txt\n");
    await workspace.refresh();
    assert.equal(workspace.local, false);
    assert.equal(refusedAs(await read(workspace, "pub.txt")), "protected");
    await Deno.writeTextFile(marker, "no-cloud: pub.txt\nlocal-endpoints: 127.0.0.2\n");
    await workspace.refresh();
    assert.equal(workspace.local, false);
    const remote = await open(false);
    await remote.refresh();
    assert.equal(remote.local, false);
  }));

Deno.test("paths that are no place in the project are refused with what to do instead", () =>
  inProject(async ({ directory, root, open }) => {
    const workspace = await open();
    const cases: [string, string, RegExp][] = [
      ["", "absent", /empty/],
      ["a\0b", "absent", /NUL/],
      [`file://${root}/pub.txt`, "outside", /plain path/],
      ["~/x", "outside", /relative/],
      ["../outside/far.txt", "outside", /outside of the project; give a path below/],
      [`${directory}/outside/far.txt`, "outside", /outside/],
      [`${root}2/x`, "outside", /outside/],
      ["pub.txt/", "not_a_directory", /leave the slash out/],
      ["/dev/stdin", "outside", /outside/],
    ];
    for (const [path, refused, message] of cases) {
      const found = await workspace.resolve(path);
      assert.equal(refusedAs(found), refused, path);
      assert.match((found as Refusal).message, message, path);
    }
  }));

Deno.test("dot forms, absolute paths and a directory with a slash are understood", () =>
  inProject(async ({ root, open }) => {
    const workspace = await open();
    for (const path of ["./pub.txt", "sub/../pub.txt", ".//pub.txt", `${root}/pub.txt`, `${root}/sub/../pub.txt`]) {
      assert.deepEqual(await workspace.resolve(path), {
        path: `${root}/pub.txt`,
        real: `${root}/pub.txt`,
        display: "pub.txt",
      });
    }
    assert.equal((await resolved(workspace, "sub/")).display, "sub");
    assert.equal((await resolved(workspace, ".")).display, ".");
    assert.equal((await resolved(workspace, "new/deep.txt")).real, `${root}/new/deep.txt`);
  }));

Deno.test("relative paths start at the cwd; what exists only at the root is taken from there", () =>
  inProject(async ({ root, open }) => {
    const workspace = await open({ cwd: `${root}/sub` });
    assert.equal((await resolved(workspace, "pub.txt")).path, `${root}/pub.txt`);
    assert.equal((await resolved(workspace, "new.txt")).path, `${root}/sub/new.txt`);
    await Deno.writeTextFile(`${root}/sub/pub.txt`, "");
    assert.equal((await resolved(workspace, "pub.txt")).path, `${root}/sub/pub.txt`);
  }));

Deno.test("an added directory may be used and is shown by its absolute path", () =>
  inProject(async ({ directory, open }) => {
    const workspace = await open({ additional: [`${directory}/outside`] });
    const found = await resolved(workspace, `${directory}/outside/far.txt`);
    assert.equal(found.display, `${directory}/outside/far.txt`);
    assert.equal(new TextDecoder().decode((await workspace.read(found) as LabeledBytes).bytes), "far\n");
  }));

Deno.test("links inside the project are read, links that leave, dangle or turn in circles are refused", () =>
  inProject(async ({ directory, root, open }) => {
    await Deno.symlink("pub.txt", `${root}/inside`);
    await Deno.symlink(".", `${root}/self`);
    await Deno.symlink(`${directory}/outside/far.txt`, `${root}/leaving`);
    await Deno.symlink(`${directory}/outside`, `${root}/gate`);
    await Deno.symlink("nowhere", `${root}/dangling`);
    await Deno.symlink("circle2", `${root}/circle1`);
    await Deno.symlink("circle1", `${root}/circle2`);
    const workspace = await open();
    for (const path of ["inside", "self/self/pub.txt"]) {
      assert.equal(refusedAs(await read(workspace, path)), undefined, path);
    }
    for (const path of ["leaving", "gate/far.txt", "gate/new.txt"]) {
      assert.equal(refusedAs(await read(workspace, path)), "outside", path);
    }
    assert.equal(refusedAs(await read(workspace, "dangling")), "absent");
    assert.equal(refusedAs(await read(workspace, "circle1")), "unreadable");
  }));

Deno.test("a path that was resolved and then became a link that leaves is not read", () =>
  inProject(async ({ directory, root, open }) => {
    const workspace = await open();
    const before = await resolved(workspace, "pub.txt");
    await Deno.remove(`${root}/pub.txt`);
    await Deno.symlink(`${directory}/outside/far.txt`, `${root}/pub.txt`);
    assert.equal(refusedAs(await workspace.read(before)), "outside");
    assert.equal(refusedAs(await workspace.write(before, new Uint8Array())), "write_protected");
    assert.equal(await Deno.readTextFile(`${directory}/outside/far.txt`), "far\n");
  }));

Deno.test("pipes and directories are not opened", {
  ignore: Deno.build.os === "windows",
}, () =>
  inProject(async ({ root, open }) => {
    assert.ok((await new Deno.Command("mkfifo", { args: [`${root}/pipe`] }).output()).success);
    const workspace = await open();
    assert.equal(refusedAs(await read(workspace, "pipe")), "not_a_file");
    assert.equal(refusedAs(await read(workspace, "sub")), "not_a_file");
    assert.equal(refusedAs(await write(workspace, "pipe")), "not_a_file");
  }));

Deno.test("a huge sparse file costs no more than the range", () =>
  inProject(async ({ root, open }) => {
    using file = await Deno.open(`${root}/huge`, { write: true, create: true });
    await file.truncate(10 * 1024 ** 3);
    const workspace = await open();
    const path = await resolved(workspace, "huge");
    const found = await workspace.read(path, { offset: 10 * 1024 ** 3 - 5, limit: 3 }) as LabeledBytes;
    assert.deepEqual([found.bytes.length, found.more], [3, true]);
    const end = await workspace.read(path, { offset: 10 * 1024 ** 3 - 2, limit: 3 }) as LabeledBytes;
    assert.deepEqual([end.bytes.length, end.more], [2, false]);
    const beyond = await workspace.read(path, { offset: 11 * 1024 ** 3, limit: 3 }) as LabeledBytes;
    assert.deepEqual([beyond.bytes.length, beyond.more], [0, false]);
  }));

Deno.test("a listing is sorted by name", () =>
  inProject(async ({ root, open }) => {
    for (const name of ["b", "a", "B"]) await Deno.writeTextFile(`${root}/sub/${name}`, "");
    const workspace = await open();
    const entries = await workspace.list(await resolved(workspace, "sub"));
    assert.deepEqual(entries, ["B", "a", "b"].map((name) => ({ name, kind: "file" })));
    assert.equal(refusedAs(await workspace.list(await resolved(workspace, "pub.txt"))), "not_a_directory");
    assert.equal(refusedAs(await workspace.list(await resolved(workspace, "gone"))), "absent");
  }));

Deno.test("writing makes parents, keeps the mode and leaves no temporary file", {
  ignore: Deno.build.os === "windows",
}, () =>
  inProject(async ({ root, open }) => {
    await Deno.chmod(`${root}/pub.txt`, 0o755);
    const workspace = await open();
    assert.equal(await write(workspace, "pub.txt"), "written");
    assert.equal(((await Deno.stat(`${root}/pub.txt`)).mode ?? 0) & 0o777, 0o755);
    assert.equal(await write(workspace, "new/deep/file.txt"), "written");
    assert.equal(((await Deno.stat(`${root}/new/deep/file.txt`)).mode ?? 0) & 0o777, 0o644);
    assert.equal(await Deno.readTextFile(`${root}/new/deep/file.txt`), "new\n");
    assert.deepEqual([...Deno.readDirSync(`${root}/new/deep`)].map((entry) => entry.name), ["file.txt"]);
  }));

Deno.test("writes go neither through links nor to protected places, and change nothing there", () =>
  inProject(async ({ directory, root, open }) => {
    await Deno.mkdir(`${root}/.git/hooks`, { recursive: true });
    await Deno.symlink("pub.txt", `${root}/inside`);
    await Deno.symlink(`${directory}/home/new`, `${root}/dangling`);
    await Deno.symlink(".git", `${root}/alias`);
    await Deno.symlink("sub", `${root}/through`);
    await Deno.writeTextFile(`${root}/fixed.txt`, "fixed");
    await Deno.chmod(`${root}/fixed.txt`, 0o444);
    const workspace = await open();
    const cases: [string, string][] = [
      ["inside", "write_protected"],
      ["dangling", "absent"],
      ["alias/hooks/pre-commit", "write_protected"],
      [".git/hooks/pre-commit", "write_protected"],
      [".agentclisecret", "write_protected"],
      ["sub/.AGENTCLISECRET", "write_protected"],
      ["fixed.txt", "write_protected"],
      ["pub.txt/below", "write_protected"],
      ["sub", "not_a_file"],
      ["../x", "outside"],
    ];
    for (const [path, refused] of cases) assert.equal(refusedAs(await write(workspace, path)), refused, path);
    assert.equal(await Deno.readTextFile(`${root}/pub.txt`), "public\n");
    assert.deepEqual([...Deno.readDirSync(`${directory}/home`)].map((entry) => entry.name), [".agentcli"]);
    assert.equal(await write(workspace, "through/new.txt"), "written");
  }));

Deno.test("the tool's own home is neither read, listed nor written, even when it lies in the project", () =>
  inProject(async ({ directory }) => {
    const root = `${directory}/home`;
    await Deno.writeTextFile(`${root}/.agentcli/providers.yaml`, "key\n");
    const workspace = await openWorkspace({
      root,
      additional: [],
      cwd: root,
      home: `${root}/.agentcli`,
      user: { userHome: root },
      localEndpoints: findMarkers(root).standingEndpoints,
      provider: { local: true, name: "prov" },
    });
    assert.equal(refusedAs(await read(workspace, ".agentcli/providers.yaml")), "protected");
    assert.equal(refusedAs(await write(workspace, ".agentcli/providers.yaml")), "protected");
    assert.equal(refusedAs(await workspace.list(await resolved(workspace, ".agentcli"))), "protected");
    assert.equal(refusedAs(await write(workspace, ".bashrc")), "write_protected");
    assert.equal(await write(workspace, "notes.txt"), "written");
  }));
