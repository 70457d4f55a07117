/** Hooks that an earlier version of the program wrote. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { canonical } from "../src/editor/resources/json_tree.ts";
import { done, editor } from "./helpers/editor_program.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const SCRIPT = ".ide/hooks/no-cloud-guard.sh";
const HOOKS = ".ide/hooks.json";
const EARLIER = "# an earlier version\n";

/** A guard with parameters of its own, and the ledger and its script as an earlier version would have left them. */
async function earlierGuard(home: TemporaryHome): Promise<string> {
  await home.write(".agentclisecret", "no-cloud: secrets\n");
  const given = ["--set", "agentcli=/opt/it's/agentcli", "--set", "limit_seconds=7"];
  await done(home, "add", "hook", "no-cloud-guard", "--event", "pre_read_code", ...given, "--yes");
  const now = await home.read(SCRIPT);
  const earlier = now.replace("\n", `\n${EARLIER}`);
  await home.write(SCRIPT, earlier);
  const ledger = JSON.parse(await Deno.readTextFile(`${home.agentcliHome}/editor/ledger.json`));
  const hash = createHash("sha256").update(earlier).digest("hex");
  const [piece] = ledger.artifacts[0].pieces;
  assert.equal(piece.piece.path, `${home.project}/${SCRIPT}`);
  piece.piece.content = btoa(earlier);
  piece.written = hash;
  ledger.files[piece.piece.path].written = hash;
  await Deno.writeTextFile(`${home.agentcliHome}/editor/ledger.json`, JSON.stringify(ledger));
  return now;
}

for (const command of ["apply", "init"]) {
  Deno.test(`${command} upgrades a guard of an earlier version, with the parameters and events that it has`, async () => {
    await using home = await temporaryHome();
    const now = await earlierGuard(home);
    const lines = await home.read(HOOKS);
    assert.match((await done(home, "check")).stderr, /an earlier version wrote hook:no-cloud-guard: .* apply/);
    assert.match((await done(home, "plan")).stdout, /-# an earlier version/);
    await done(home, command, "--yes");
    assert.equal(await home.read(SCRIPT), now);
    assert.equal(await home.read(HOOKS), lines);
    assert.doesNotMatch((await done(home, "check")).stderr, /earlier/);
    assert.match((await done(home, command, "--yes")).stderr, /nothing to change/);
  });
}

Deno.test("what a person changed of a guard of an earlier version stays, and is reported", async () => {
  await using home = await temporaryHome();
  await earlierGuard(home);
  const changed = `${await home.read(SCRIPT)}# mine\n`;
  await home.write(SCRIPT, changed);
  const { code, stderr } = await editor(home, "apply", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /no-cloud-guard\.sh: it was changed by hand/);
  assert.equal(await home.read(SCRIPT), changed);
});

Deno.test("apply upgrades the line of a hook that an earlier version started by a path of the new worktree", async () => {
  await using home = await temporaryHome();
  await done(home, "add", "hook", "setup-worktree", "--set", "copy=local", "--yes");
  const now = await home.read(HOOKS);
  // As it was written: the line of the editor's hooks, and the same in the ledger.
  const hooks = JSON.parse(now);
  const [entry] = hooks.hooks.post_setup_worktree;
  entry.command = "bash '.ide/hooks/setup-worktree.sh' post_setup_worktree";
  entry.powershell = entry.powershell.replace(/\(\[IO\.Path\]::Combine\([^,]*, ('[^']*')\)\)/, "$1");
  assert.doesNotMatch(JSON.stringify(entry), /ROOT_WORKSPACE_PATH/);
  const earlier = JSON.stringify(hooks, null, 2) + "\n";
  await home.write(HOOKS, earlier);
  const path = `${home.agentcliHome}/editor/ledger.json`;
  const ledger = JSON.parse(await Deno.readTextFile(path));
  const item = ledger.artifacts[0].pieces.find(({ piece }: { piece: { kind: string } }) => piece.kind === "item");
  item.piece.value = entry;
  item.written = createHash("sha256").update(canonical(entry)).digest("hex");
  ledger.files[`${home.project}/${HOOKS}`].written = createHash("sha256").update(earlier).digest("hex");
  await Deno.writeTextFile(path, JSON.stringify(ledger));
  assert.match((await done(home, "check")).stderr, /an earlier version wrote hook:setup-worktree/);
  await done(home, "apply", "--yes");
  assert.deepEqual(JSON.parse(await home.read(HOOKS)), JSON.parse(now));
  await done(home, "remove", "--all", "--yes");
  await assert.rejects(Deno.stat(`${home.project}/.ide`), Deno.errors.NotFound);
});
