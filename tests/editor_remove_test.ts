/** What `editor remove` leaves, and what it says of what it does not know. */
import assert from "node:assert/strict";
import { done, editor, installProgram, runLine } from "./helpers/editor_program.ts";
import { temporaryHome } from "./helpers/program.ts";

Deno.test("scripts that a line changed by hand still runs stay, with a notice", async () => {
  await using home = await temporaryHome();
  const program = await installProgram(home);
  await home.write("src/a.ts", "let a = 1;\n");
  await done(home, "add", "hook", "no-cloud-guard", "--set", `agentcli=${program}`, "--yes");
  const file = JSON.parse(await home.read(".ide/hooks.json"));
  file.hooks.pre_read_code[0].show_output = false;
  await home.write(".ide/hooks.json", JSON.stringify(file, null, 2));
  for (let run = 0; run < 2; run++) {
    const removed = await editor(home, "remove", "--all", "--yes");
    assert.equal(removed.code, 1);
    assert.match(removed.stderr, /no-cloud-guard\.sh: a line of .*hooks\.json .* still runs it, so it stays/);
    assert.deepEqual(Object.keys(JSON.parse(await home.read(".ide/hooks.json")).hooks), ["pre_read_code"]);
    const input = JSON.stringify({ agent_action_name: "pre_read_code", tool_info: { file_path: "src/a.ts" } });
    const ran = await runLine(home, file.hooks.pre_read_code[0].command, { input });
    assert.equal(ran.code, 0, ran.stderr);
  }
  await done(home, "remove", "--all", "--force", "--yes");
  await assert.rejects(home.read(".ide/hooks/no-cloud-guard.sh"));
});

Deno.test("a script that a line of others runs, unlike any of ours, stays too", async () => {
  await using home = await temporaryHome();
  await done(home, "add", "hook", "session-note", "--yes");
  const theirs = { hooks: { post_cascade_response: [{ command: "nice bash .ide/hooks/session-note.sh x" }] } };
  await home.write(".ide/hooks.json", JSON.stringify(theirs));
  assert.equal((await editor(home, "remove", "--all", "--yes")).code, 1);
  assert.match(await home.read(".ide/hooks/session-note.sh"), /bash/);
  await assert.rejects(home.read(".ide/hooks/session-note.ps1"));
  await home.write(".ide/hooks.json", "{}");
  await done(home, "remove", "--all", "--yes");
  await assert.rejects(home.read(".ide/hooks/session-note.sh"));
});

Deno.test("what is installed for all users elsewhere is shown with the command that reaches it, and its directory goes too", async () => {
  await using home = await temporaryHome();
  await home.write("in.md", "Be brief.\n");
  const directory = `${home.root}/system/deep`;
  const there = ["--system-dir", directory];
  await done(home, "add", "rule", "all", "--scope", "system", "--file", "in.md", "--yes", ...there);
  const said = new RegExp(`1 artifact is installed for all users in ${directory}: agentcli editor (.*) --system-dir`);
  assert.equal(said.exec((await done(home, "check")).stderr)?.[1], "check");
  assert.match(JSON.parse((await done(home, "check", "--json")).stdout).notes.join("\n"), said);
  assert.equal(said.exec((await done(home, "remove", "--all", "--yes")).stderr)?.[1], "remove --all");
  assert.doesNotMatch((await done(home, "remove", "--all", "--scope", "project", "--yes")).stderr, said);
  assert.doesNotMatch((await done(home, "remove", "--all", "--yes", ...there)).stderr, said);
  await assert.rejects(Deno.stat(`${home.root}/system`), Deno.errors.NotFound);
});

Deno.test("a project of which nothing is known is reported as such, also where it was moved", async () => {
  await using home = await temporaryHome();
  assert.match((await done(home, "remove", "--all", "--yes")).stderr, /nothing is known to be installed in /);
  const [before, after] = [`${home.root}/before`, `${home.root}/after`];
  await Deno.mkdir(before);
  await done(home, "init", "--yes", "--cwd", before);
  assert.doesNotMatch((await done(home, "check", "--cwd", before)).stderr, /nothing is known/);
  await Deno.rename(before, after);
  for (const words of [["check"], ["remove", "--all", "--yes"]]) {
    const { stderr } = await done(home, ...words, "--cwd", after);
    assert.match(stderr, /nothing is known to be installed in .*after; agentcli editor import/);
  }
});
