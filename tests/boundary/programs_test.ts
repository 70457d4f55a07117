/** Programs that the program itself starts, outside of a sandbox: none that a command of a model could have made. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { runInProcess } from "../helpers/in_process.ts";
import { ask, say, want } from "../helpers/fake_steps.ts";
import { REPOSITORY } from "../helpers/program.ts";
import { openStage } from "./harness.ts";

const posix = { ignore: Deno.build.os === "windows" };
const PATH = Deno.env.get("PATH") ?? "";

/** Makes programs in the project that take a protected file when they run outside of a sandbox. */
async function planted(project: string) {
  const bin = `${project}/node_modules/.bin`;
  await Deno.mkdir(bin, { recursive: true });
  const script = `#!/bin/sh\ncat '${project}/.env' > '${project}/taken.txt'\necho planted 1\n`;
  for (const name of ["rg", "git", "bash"]) await Deno.writeTextFile(`${bin}/${name}`, script, { mode: 0o755 });
  const taken = async () => await Deno.readTextFile(`${project}/taken.txt`).catch(() => null);
  return { path: `${bin}:${PATH}`, taken };
}

Deno.test("doctor starts nothing that lies in the project, wherever it is run", posix, async () => {
  await using stage = await openStage();
  const { home, project } = stage;
  const { path, taken } = await planted(project);
  // The home knows the project from now on.
  await stage.play("loc", { script: [say("ok")] });
  const elsewhere = `${dirname(project)}/elsewhere`;
  for (const cwd of [project, `${project}/sub`, elsewhere]) {
    await Deno.mkdir(cwd, { recursive: true });
    const { stdout } = await runInProcess(["doctor"], { home, cwd, env: { PATH: path } });
    assert.match(stdout, /git:/);
    assert.doesNotMatch(stdout, /planted/, cwd);
    assert.equal(await taken(), null, cwd);
  }
});

Deno.test("a link on PATH into the project does not count as a program either", posix, async () => {
  await using stage = await openStage();
  const { home, project } = stage;
  const { taken } = await planted(project);
  const outside = `${dirname(project)}/bin`;
  await Deno.symlink(`${project}/node_modules/.bin`, outside);
  const { stdout } = await runInProcess(["doctor"], { home, env: { PATH: `${outside}:${PATH}` } });
  assert.doesNotMatch(stdout, /planted/);
  assert.equal(await taken(), null);
});

Deno.test("a session elsewhere starts no program of a protected project", posix, async () => {
  await using stage = await openStage();
  const { project } = stage;
  const { path, taken } = await planted(project);
  // The home knows the project from now on.
  await stage.play("loc", { script: [say("ok")] });
  const cwd = `${dirname(project)}/elsewhere`;
  await Deno.mkdir(cwd);
  await Deno.writeTextFile(`${cwd}/a.txt`, "needle\n");
  const script = [ask(want("grep", { pattern: "needle", path: "." })), say("ok")];
  const played = await stage.play("rem", { cwd, env: { PATH: path }, script });
  assert.match(played.results.join(), /needle/);
  assert.equal(await taken(), null);
});

Deno.test("every program on PATH is looked up by the one function that knows the projects", async () => {
  const found: string[] = [];
  for await (const path of sources(`${REPOSITORY}/src`)) {
    if (/\bfindExecutable\(/.test(await Deno.readTextFile(path))) found.push(path.slice(REPOSITORY.length + 1));
  }
  // The keyring's tool is looked for at fixed places alone.
  assert.deepEqual(found.sort(), ["src/boundary/programs.ts", "src/config/keys/keyring.ts", "src/platform/process.ts"]);
});

async function* sources(directory: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) yield* sources(path);
    else if (/(?<!_test)\.ts$/.test(name)) yield path;
  }
}
