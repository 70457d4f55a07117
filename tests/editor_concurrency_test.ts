import assert from "node:assert/strict";
import { done, editor } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { startProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

const HOOKS = '// theirs\n{ "hooks": { "pre_read_code": [ {"command": "theirs"} ] } }\n';
const SERVERS = "../home/.vendor/ide/mcp_config.json";

async function foreignProject(home: TemporaryHome): Promise<void> {
  await home.write(".ide/hooks.json", HOOKS);
  await home.write("AGENTS.md", "# Theirs\n");
  await home.write(SERVERS, '{"mcpServers": {"theirs": {"command": "x"}}}');
  await home.write("in.md", "text\n");
}

function hook(name: string, event = "pre_read_code"): string[] {
  return ["hook", name, "--event", event, "--command", `c-${name}`, "--powershell", "exit 0"];
}

Deno.test("processes that add to the same files at once lose nothing of each other or of others", async () => {
  await using home = await temporaryHome();
  await foreignProject(home);
  const before = fileTree(home.root);
  const names = ["one", "two", "three", "four", "five"];
  await Promise.all(names.map((name, at) => {
    const kinds = [hook(name), ["mcp", name, "--command", "c"], ["rule", name, "--scope", "user", "--file", "in.md"]];
    return done(home, "add", ...kinds[at % kinds.length] ?? [], "--yes");
  }));
  await Promise.all(names.map((name) => done(home, "add", ...hook(`${name}-hook`), "--yes")));
  const written = await home.read(".ide/hooks.json");
  for (const name of names) assert.ok(written.includes(`"c-${name}-hook"`), name);
  assert.ok(written.startsWith("// theirs\n") && written.includes('{"command": "theirs"}'));
  await done(home, "check");
  await Promise.all([...names, "again"].map(() => editor(home, "remove", "--all", "--yes")));
  assert.deepEqual(fileTree(home.root), before);
});

Deno.test("two projects with one home are changed at once, and each is given back by itself", async () => {
  await using home = await temporaryHome();
  await foreignProject(home);
  const other = `${home.root}/other`;
  await Deno.mkdir(other);
  await Deno.writeTextFile(`${other}/AGENTS.md`, "# Other\n");
  const before = fileTree(home.root);
  const inOther = (...words: string[]) => runInProcess(["editor", ...words], { home, cwd: other });
  await Promise.all([
    done(home, "init", "--yes"),
    inOther("init", "--yes"),
    done(home, "add", ...hook("mine"), "--yes"),
    inOther("add", ...hook("mine"), "--yes"),
    inOther("add", "mcp", "ours", "--command", "c", "--yes"),
  ]);
  assert.equal((await inOther("check")).code, 0);
  await done(home, "check");
  await done(home, "remove", "--all", "--scope", "project", "--yes");
  assert.equal((await inOther("check")).code, 0);
  assert.ok((await inOther("list")).stdout.includes("no-cloud-guard"));
  assert.equal((await inOther("remove", "--all", "--yes")).code, 0);
  assert.deepEqual(fileTree(home.root), before);
});

Deno.test({
  name: "a plan that was shown is not done when an editor has changed the file before the answer",
  ignore: !HAS_TMUX,
  async fn() {
    await using home = await temporaryHome();
    await foreignProject(home);
    await using terminal = await openTerminal(["editor", "add", ...hook("mine")], { home, columns: 100, rows: 40 });
    await terminal.shows(/Write 1 file\?/);
    const saved = HOOKS.replace("theirs", "theirs, saved meanwhile");
    await home.write(".ide/hooks.json", saved);
    await terminal.type("y");
    await terminal.press("Enter");
    await terminal.shows(/the files have changed since the plan was shown; nothing was written/);
    await terminal.shows(/EXIT ?2/);
    assert.equal(await home.read(".ide/hooks.json"), saved);
  },
});

Deno.test({
  name: "a no to the question writes nothing",
  ignore: !HAS_TMUX,
  async fn() {
    await using home = await temporaryHome();
    await foreignProject(home);
    const before = fileTree(home.root);
    await using terminal = await openTerminal(["editor", "init"], { home, columns: 100, rows: 40 });
    await terminal.shows(/Write 6 files\?/);
    await terminal.type("n");
    await terminal.press("Enter");
    await terminal.shows(/nothing was written[^]*EXIT ?2/);
    assert.deepEqual(fileTree(home.root), before);
  },
});

/** Runs the program and kills it when the files have changed `events` times; false when it ended before. */
async function killedAfter(home: TemporaryHome, words: readonly string[], { events }: { events: number }) {
  const watcher = Deno.watchFs([home.project, `${home.agentcliHome}/editor`]);
  const program = startProgram(["editor", ...words], { home });
  const ended = program.finished.then(() => watcher.close());
  let seen = 0;
  for await (const { kind } of watcher) {
    if (kind === "access") continue;
    seen += 1;
    if (seen === events) program.kill("SIGKILL");
  }
  await ended;
  return (await program.finished).signal === "SIGKILL";
}

/** How many changes of files are waited for before the kill; `crash_test.ts` ends the work at each write. */
const KILLS = [1, 3, 8, 16, 25, 40];

for (const way of ["init", "remove"]) {
  Deno.test(`after kill -9 in the middle of ${way}, the next removal gives back every byte`, async () => {
    await using home = await temporaryHome();
    await foreignProject(home);
    const before = fileTree(home.root);
    let kills = 0;
    for (const events of KILLS) {
      await Deno.mkdir(`${home.agentcliHome}/editor`, { recursive: true });
      if (way === "remove") await done(home, "init", "--yes");
      const words = way === "init" ? ["init", "--yes"] : ["remove", "--all", "--yes"];
      if (await killedAfter(home, words, { events })) kills += 1;
      const checked = await editor(home, "check");
      assert.doesNotMatch(checked.stdout, /changed by hand/, `${events} events`);
      await done(home, events % 2 === 0 ? "apply" : "plan", "--yes");
      await done(home, "remove", "--all", "--yes");
      assert.deepEqual(fileTree(home.root), before, `${events} events`);
    }
    assert.ok(kills > 1, `${kills} of ${KILLS.length} runs were killed before their end`);
  });
}
