import assert from "node:assert/strict";
import { inTemporary } from "../../../tests/helpers/protected_tree.ts";
import { toolHome } from "../../../tests/helpers/tool_home.ts";
import * as fc from "../../../tests/property.ts";
import { entriesSync } from "../../platform/files.ts";
import { findProjectRoot, openProject } from "./project.ts";
import { ProtectedSet } from "./protected.ts";

const NAMES = ["a", "b", ".env", ".agentclisecret", ".git"];
const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
/** Acts of the untrusted side in a project: files, links and other names, repositories, directories that are moved. */
const step = fc.record({
  act: fc.constantFrom("open", "file", "rule", "directory", "remove", "rename", "link", "hard", "git", "clone"),
  path,
  other: path,
});

function doStep(root: string, { act, path, other }: { act: string; path: string; other: string }): void {
  const [one, two] = [`${root}/${path}`, `${root}/${other}`];
  try {
    if (act === "open") {
      Deno.mkdirSync(one, { recursive: true });
      Deno.writeTextFileSync(`${one}/.agentclisecret`, "no-cloud: x\nlocal-endpoints: evil.example\n");
    } else if (act === "file") Deno.writeTextFileSync(one, "no-cloud: x\nlocal-endpoints: evil.example\n");
    else if (act === "rule") Deno.writeTextFileSync(one, "no-cloud: y\n");
    else if (act === "directory") Deno.mkdirSync(one, { recursive: true });
    else if (act === "remove") Deno.removeSync(one, { recursive: true });
    else if (act === "rename") Deno.renameSync(one, two);
    else if (act === "link") Deno.symlinkSync(two, one);
    else if (act === "hard") Deno.linkSync(one, two);
    else {
      Deno.mkdirSync(`${one}/.git`, { recursive: true });
      Deno.writeTextFileSync(`${one}/.git/HEAD`, "ref: refs/heads/main\n");
      if (act === "clone") Deno.writeTextFileSync(`${one}/.agentclisecret`, "local-endpoints: evil.example\n");
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error) && !(error instanceof TypeError)) throw error;
  }
}

function directoriesIn(root: string): string[] {
  const found = [root];
  for (const directory of found) {
    for (const { name, isDirectory } of entriesSync(directory) ?? []) {
      if (isDirectory) found.push(`${directory}/${name}`);
    }
  }
  return found;
}

Deno.test("whatever is done to the files of a known project, nothing opens there and what was protected stays so", {
  ignore: Deno.build.os === "windows",
}, async () => {
  let [evil, inner] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 12 }),
      fc.integer({ min: 0, max: 3 }),
      async (steps, sessions) => {
        await using place = await toolHome(null);
        await inTemporary(async (base) => {
          const root = `${base}/project`;
          Deno.mkdirSync(`${root}/.git`, { recursive: true });
          Deno.mkdirSync(`${root}/a/b`, { recursive: true });
          Deno.writeTextFileSync(`${root}/.agentclisecret`, "no-cloud: .env\nlocal-endpoints: own.example\n");
          const at = async (directory: string) => {
            const found = await findProjectRoot(directory, base);
            return await openProject(place.home, found, { create: true });
          };
          assert.deepEqual((await at(root)).localEndpoints, ["own.example"]);
          for (const [index, one] of steps.entries()) {
            doStep(root, one);
            // A session in between must not turn what it finds into trust.
            if (sessions > 0 && index % sessions === 0) {
              for (const directory of directoriesIn(root)) await at(directory);
            }
          }
          for (const directory of directoriesIn(root)) {
            const project = await at(directory);
            const { localEndpoints } = project;
            if (project.notices.some((notice) => notice.includes("evil.example"))) evil++;
            if (project.root !== root) inner++;
            assert.deepEqual(localEndpoints.filter((value) => value !== "own.example"), [], directory);
            if (project.root !== root) assert.deepEqual(localEndpoints, [], directory);
            const set = new ProtectedSet([project.root], { remembered: project.records });
            assert.ok(set.rule(`${directory}/.env`), `${directory}/.env`);
          }
        });
      },
    ),
    { numRuns: 80 },
  );
  // How often a random history brings the marker with the new host there varies a lot: 2 to 40 times seen.
  assert.ok(evil > 0 && inner > 10, `the control is empty: ${evil}, ${inner}`);
});

Deno.test("a project that nobody knows opens what its own marker says, and no more", async () => {
  await using place = await toolHome(null);
  await inTemporary(async (base) => {
    const marked = (name: string, text: string) => {
      Deno.mkdirSync(`${base}/${name}`, { recursive: true });
      Deno.writeTextFileSync(`${base}/${name}/.agentclisecret`, text);
      return `${base}/${name}`;
    };
    const one = marked("one", "local-endpoints: gpu.lan\nno-cloud: x\n");
    const two = marked("two", "no-cloud: y\n");
    const three = marked("three", "no-cloud: z\nlocal-endpoints: gpu.lan\n");
    const open = async (root: string, additional: string[] = []) =>
      await openProject(place.home, root, { additional, create: true });
    assert.deepEqual((await open(one)).localEndpoints, ["gpu.lan"]);
    assert.deepEqual((await open(one, [two])).localEndpoints, [], "another project protects something too");
    assert.deepEqual((await open(one, [three])).localEndpoints, ["gpu.lan"], "which trusts the same host");
    Deno.writeTextFileSync(`${base}/.agentclisecret`, "no-cloud: one/y\n");
    const { localEndpoints, notices } = await open(one);
    assert.deepEqual(localEndpoints, []);
    assert.match(notices.join(), /\.agentclisecret protects paths here too/);
  });
});

Deno.test("a linked worktree trusts what its main tree trusts, and nothing that only its own marker says", async () => {
  await using place = await toolHome(null);
  await inTemporary(async (base) => {
    const [main, tree] = [`${base}/main`, `${base}/tree`];
    const git = `${main}/.git/worktrees/tree`;
    for (const directory of [git, tree]) Deno.mkdirSync(directory, { recursive: true });
    Deno.writeTextFileSync(`${git}/commondir`, "../..\n");
    Deno.writeTextFileSync(`${tree}/.git`, `gitdir: ${git}\n`);
    Deno.writeTextFileSync(`${main}/.agentclisecret`, "no-cloud: x\nlocal-endpoints: gpu.lan\n");
    Deno.writeTextFileSync(
      `${tree}/.agentclisecret`,
      "no-cloud: x\nlocal-endpoints: gpu.lan\nlocal-endpoints: evil.example\n",
    );
    const open = async (root: string) => (await openProject(place.home, root, { create: true })).localEndpoints;
    assert.deepEqual(await open(main), ["gpu.lan"]);
    assert.deepEqual(await open(tree), ["gpu.lan"]);
    assert.deepEqual(await open(tree), ["gpu.lan"]);
  });
});
