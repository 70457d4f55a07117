/** An artifact is written as a whole or not at all, and what is not as it should be is reported with the fix. */
import assert from "node:assert/strict";
import { done, editor } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { temporaryHome } from "./helpers/program.ts";

Deno.test("of a guard whose hooks file cannot be used nothing is written, with one notice", async () => {
  for (const content of ['{"hooks": {', '{"hooks": 1}']) {
    await using home = await temporaryHome();
    await home.write(".ide/hooks.json", content);
    const before = fileTree(home.project);
    for (const force of [[], ["--force"]]) {
      const { code, stdout, stderr } = await editor(home, "add", "hook", "no-cloud-guard", "--yes", ...force);
      assert.equal(code, 1);
      assert.equal(stdout, "");
      assert.equal(stderr.match(/not applied/g)?.length, 1, stderr);
      assert.match(stderr, /repair these files/);
      assert.deepEqual(fileTree(home.project), before);
    }
    const init = await editor(home, "init", "--yes");
    assert.equal(init.code, 1);
    assert.match(init.stderr, /3 files created/);
    assert.doesNotMatch(init.stderr, /shows that the guard blocks/);
    assert.doesNotMatch([...fileTree(home.project).keys()].join(), /no-cloud-guard/);
    const doctor = await editor(home, "doctor");
    assert.match(doctor.stdout, /hooks\.json: it .*\n {2}fix: repair \.ide\/hooks\.json/);
    // Control: once the file is right, the whole of it is written.
    await home.write(".ide/hooks.json", "{}");
    assert.match((await done(home, "init", "--yes")).stderr, /2 files created, 1 changed\n.*shows that the guard/s);
  }
});

Deno.test("a guard that is installed where nothing is protected says so, once something is it does not", async () => {
  for (const words of [["init"], ["add", "hook", "no-cloud-guard"]]) {
    await using home = await temporaryHome();
    assert.match(
      (await done(home, ...words, "--yes")).stderr,
      /nothing is protected in this project yet: agentcli secrets add/,
    );
    await home.write(".agentclisecret", "no-cloud: .env\n");
    assert.doesNotMatch((await done(home, ...words, "--yes")).stderr, /nothing is protected/);
  }
});

Deno.test("of a new hook whose script is somebody else's nothing is written, until it is forced", async () => {
  await using home = await temporaryHome();
  await home.write(".ide/hooks/no-cloud-guard.sh", "exit 0\n");
  const before = fileTree(home.project);
  const refused = await editor(home, "add", "hook", "no-cloud-guard", "--yes");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /something else is there/);
  assert.deepEqual(fileTree(home.project), before);
  await done(home, "add", "hook", "no-cloud-guard", "--yes", "--force");
  assert.match(await home.read(".ide/hooks.json"), /no-cloud-guard\.sh/);
});

Deno.test("check says of each difference what puts it right, and names a file from the project on", async () => {
  await using home = await temporaryHome();
  await done(home, "add", "hook", "no-cloud-guard", "--yes");
  const told = async () => (await editor(home, "check")).stdout;
  await Deno.remove(`${home.project}/.ide/hooks/no-cloud-guard.sh`);
  assert.match(await told(), /^\.ide\/hooks\/no-cloud-guard\.sh: it is missing: agentcli editor apply restores it\n$/);
  await home.write(".ide/hooks/no-cloud-guard.sh", "exit 0\n");
  assert.match(await told(), /^\.ide\/hooks\/\S+ it was changed by hand .*: agentcli editor apply --force .*\n$/);
  await done(home, "apply", "--force", "--yes");
  await home.write(".ide/hooks.json", "{ broken");
  assert.match(await told(), /^\.ide\/hooks\.json: line 1: .*: repair it, or move it away\n$/);
  await Deno.remove(home.agentcliHome, { recursive: true });
  assert.match(await told(), /^\.ide\/hooks\.json: it cannot be read: line 1: .*: repair it, or move it away\n$/);
});
