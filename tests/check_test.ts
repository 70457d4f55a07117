/** The command that runs after a turn that changed files. */
import assert from "node:assert/strict";
import { startClient } from "./helpers/client.ts";
import { ask, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, programCommand, startCommand, temporaryHome } from "./helpers/program.ts";

const WRITE = ask(want("write", { path: "b.txt", content: "beta\n" }));
const write = (content: string) => ask(want("write", { path: "b.txt", content }));

interface Project {
  files?: Record<string, string>;
  /** `check:` of providers.yaml. */
  config?: unknown;
  window?: number;
}

/** A project, and runs in it against a server that answers with these steps. */
async function project(steps: readonly Step[], { files = {}, config, window = 32768 }: Project = {}) {
  const home = await temporaryHome();
  for (const [name, content] of Object.entries(files)) await home.write(name, content);
  const server = startFakeServer({ script: steps });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: window }] } });
  if (config !== undefined) {
    const file = `${home.agentcliHome}/providers.yaml`;
    await Deno.writeTextFile(file, JSON.stringify({ ...JSON.parse(await Deno.readTextFile(file)), check: config }));
  }
  return {
    home,
    server,
    run: (...args: string[]) => runInProcess(["run", "Do it", "--allowed-tools", "Write,Edit", ...args], { home }),
    /** What the model was told by the program, in order. */
    told: () =>
      server.chats().map(({ json }) => json.messages.at(-1)).filter(({ role }) => role === "user")
        .map(({ content }) => String(content)).filter((text) => text.startsWith("The check")),
    async [Symbol.asyncDispose]() {
      await server.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a check that passes is reported in a line, and in the result", async () => {
  await using one = await project([WRITE, say("Done.")]);
  const done = await one.run("--check", "grep -q beta b.txt");
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /^\* check grep -q beta b\.txt\n {2}the check passed$/m);
  assert.equal(one.server.chats().length, 2);
  await using other = await project([WRITE, say("Done.")]);
  const json = JSON.parse((await other.run("--check", "grep -q beta b.txt", "--json")).stdout);
  assert.deepEqual(json.check, { command: "grep -q beta b.txt", passed: true, rounds: 0 });
});

Deno.test("output about the check begins on a line of its own where both streams go to one file", async () => {
  await using one = await project([WRITE, say("Done.")]);
  const command = programCommand().map((word) => `'${word}'`).join(" ");
  const script = `${command} run 'Do it' --allowed-tools Write --check true 2>&1 </dev/null`;
  const { stdout } = await startCommand(["sh", "-c", script], { home: one.home }).finished;
  assert.match(stdout, /^\* Write b\.txt\nDone\.\n\* check true\n {2}the check passed\n\d/);
});

Deno.test("a failure goes back to the model, which mends it", async () => {
  await using one = await project([write("wrong\n"), say("Done."), write("beta\n"), say("Mended.")]);
  const done = await one.run("--check", "cat b.txt; grep -q beta b.txt", "--json");
  assert.equal(done.code, 0, done.stderr);
  const result = JSON.parse(done.stdout);
  assert.deepEqual([result.result, result.check.passed, result.check.rounds], ["Mended.", true, 1]);
  const [told = ""] = one.told();
  assert.match(
    told,
    /^The check `cat b\.txt; grep -q beta b\.txt` failed\. The end of its output:\nwrong\n\[exit code 1\]\n/,
  );
});

Deno.test("a check that keeps failing is reported twice, and ends the process with exit 8", async () => {
  const steps = ["1", "2", "3", "4"].flatMap((content) => [write(content), say("Done.")]);
  await using one = await project(steps);
  const done = await one.run("--check", "false", "--output-format", "stream-json");
  assert.equal(done.code, 8, done.stderr);
  const events = done.stdout.trim().split("\n").map((line) => JSON.parse(line));
  const checks = events.filter((event) => event.subtype === "agentcli_check");
  assert.deepEqual(checks.map(({ state, rounds }) => `${state} ${rounds}`), [
    "running 0",
    "failed 1",
    "running 1",
    "failed 2",
    "running 2",
    "failed 2",
  ]);
  const result = events.at(-1);
  assert.deepEqual([result.exit_code, result.error_code, result.result], [8, "check_failed", "Done."]);
  assert.deepEqual(result.check, { command: "false", passed: false, rounds: 2 });
  assert.equal(one.told().length, 2);
  assert.equal(one.server.chats().length, 6);
});

Deno.test("it does not run again where the model changed nothing more, and the failure stands", async () => {
  await using one = await project([WRITE, say("Done."), say("That failure is an old one.")]);
  const done = await one.run("--check", "false");
  assert.equal(done.code, 8);
  assert.equal(one.server.chats().length, 3);
  assert.equal(done.stderr.match(/^\* check/gm)?.length, 1);
  assert.match(done.stderr, /exit 8: the check does not pass; to see its output, run: false/);
});

Deno.test("a turn that changed nothing is not checked; a command that changed a known file is a change", async () => {
  await using one = await project([say("Hello.")]);
  assert.equal((await one.run("--check", "touch ran; false")).code, 0);
  await assert.rejects(one.home.read("ran"));
  await using other = await project([
    ask(want("read", { path: "a.txt" })),
    ask(want("shell", { command: "echo more >> a.txt" })),
    say("Done."),
  ], { files: { "a.txt": "alpha\n" } });
  const done = await other.run("--check", "touch ran", "--allowed-tools", "Bash");
  assert.equal(done.code, 0, done.stderr);
  assert.equal(await other.home.read("ran"), "");
});

Deno.test("a check that hangs is ended, one that floods is cut, one that asks finds no input", async () => {
  await using hangs = await project([WRITE, say("Done."), say("It hangs.")], {
    config: { command: "sleep 60", timeout_s: 1 },
  });
  const hung = await hangs.run();
  assert.equal(hung.code, 8, hung.stderr);
  assert.match(hangs.told()[0] ?? "", /\[ended after 1 s: time limit/);
  await using floods = await project([WRITE, say("Done."), say("Too much.")], { window: 16384 });
  await floods.run("--check", "seq 1 200000; echo the end; exit 3");
  const [flood = ""] = floods.told();
  assert.match(flood, /200000\nthe end\n\[exit code 3\]\n/);
  assert.ok(flood.split("\n").length <= 65, `${flood.split("\n").length}`);
  assert.ok(flood.length < 16384 / 8 * 5, `${flood.length}`);
  await using long = await project([WRITE, say("Done."), say("Too much.")], { window: 16384 });
  await long.run("--check", "head -c 300000 /dev/zero | tr '\\0' x; exit 3");
  assert.ok((long.told()[0] ?? "").length < 16384 / 8 * 5, `${long.told()[0]?.length}`);
  await using asks = await project([WRITE, say("Done."), say("never")]);
  const asked = await asks.run("--check", "if read line; then exit 1; fi");
  assert.equal(asked.code, 0, asked.stderr);
});

Deno.test("the check of the configuration runs; --check overrides it, and none turns it off", async () => {
  const config = "touch configured";
  await using one = await project([WRITE, say("Done.")], { config });
  assert.equal((await one.run()).code, 0);
  assert.equal(await one.home.read("configured"), "");
  await using two = await project([WRITE, say("Done.")], { config });
  assert.equal((await two.run("--check", "none")).code, 0);
  await assert.rejects(two.home.read("configured"));
});

const AGENTS = "---\ncheck: touch of-project\n---\n\nBe brief.\n";

Deno.test("what AGENTS.md names runs only where a rule or a mode allows the command", async () => {
  await using one = await project([WRITE, say("Done.")], { files: { "AGENTS.md": AGENTS } });
  const done = await one.run();
  assert.equal(done.code, 0);
  assert.match(done.stderr, /AGENTS\.md names a check that you have not approved, so it was not run: touch of-project/);
  await assert.rejects(one.home.read("of-project"));
  for (const args of [["--allowed-tools", "Bash(touch of-project)"], ["--permission-mode", "bypassPermissions"]]) {
    await using allowed = await project([WRITE, say("Done.")], { files: { "AGENTS.md": AGENTS } });
    const ran = await allowed.run(...args);
    assert.equal(await allowed.home.read("of-project"), "", ran.stderr);
  }
  await using denied = await project([WRITE, say("Done.")], { files: { "AGENTS.md": AGENTS } });
  await denied.run("--permission-mode", "bypassPermissions", "--disallowed-tools", "Bash(touch *)");
  await assert.rejects(denied.home.read("of-project"));
});

Deno.test("the check of a project is approved once, as this very command", async () => {
  const steps = ["1", "2", "3"].flatMap((path) => [ask(want("write", { path, content: "x\n" })), say("Done.")]);
  await using one = await project(steps, { files: { "AGENTS.md": AGENTS } });
  await using client = startClient(["--permission-prompt-tool", "stdio", "--allowed-tools", "Write"], {
    home: one.home,
  });
  await client.say("Do it");
  const question = await client.answer("can_use_tool", { behavior: "allow" });
  assert.deepEqual([question.tool_name, question.input], ["Bash", { command: "touch of-project" }]);
  assert.equal((await client.result()).check.passed, true);
  await client.end();
  await Deno.remove(`${one.home.project}/of-project`);
  const later = await one.run();
  assert.equal(await one.home.read("of-project"), "", later.stderr);
  assert.doesNotMatch(await Deno.readTextFile(`${one.home.agentcliHome}/approved-checks.json`), /touch/);
  await one.home.write("AGENTS.md", AGENTS.replace("touch of-project", "touch other"));
  await one.run();
  await assert.rejects(one.home.read("other"));
});

for (
  const answer of [
    { behavior: "deny", message: "no" },
    { behavior: "allow", updatedInput: { command: "touch another" } },
  ]
) {
  Deno.test(`an answer that is not this very command runs nothing, and is not asked for again: ${answer.behavior}`, async () => {
    const steps = ["1", "2"].flatMap((path) => [ask(want("write", { path, content: "x\n" })), say("Done.")]);
    await using one = await project(steps, { files: { "AGENTS.md": AGENTS } });
    await using client = startClient(["--permission-prompt-tool", "stdio", "--allowed-tools", "Write"], {
      home: one.home,
    });
    await client.say("Do it");
    await client.answer("can_use_tool", answer);
    assert.equal((await client.result()).check, undefined);
    await client.say("Do it again");
    assert.equal((await client.result()).subtype, "success");
    const done = await client.end();
    assert.match(done.stderr, /was not run: touch of-project \(to run it, pass it with --check/);
    for (const name of ["of-project", "another"]) await assert.rejects(one.home.read(name));
  });
}

Deno.test("a model that rewrites the check of AGENTS.md gets nothing run by it", async () => {
  const evil = AGENTS.replace("touch of-project", "touch evil");
  const steps = [
    ask(want("read", { path: "AGENTS.md" })),
    ask(want("write", { path: "AGENTS.md", content: evil })),
    say("Done."),
  ];
  await using one = await project(steps, { files: { "AGENTS.md": AGENTS } });
  const done = await one.run("--allowed-tools", "Bash(touch of-project)");
  assert.equal(done.code, 0, done.stderr);
  assert.match(await one.home.read("AGENTS.md"), /touch evil/);
  await assert.rejects(one.home.read("evil"));
});

Deno.test("front matter that is broken, or no command, is none", async () => {
  for (const matter of ["check: [", "check: 3", "check: ''", 'check: "a\\nb"', "other: x"]) {
    await using one = await project([WRITE, say("Done.")], { files: { "AGENTS.md": `---\n${matter}\n---\n` } });
    const done = await one.run("--permission-mode", "bypassPermissions");
    assert.equal(done.code, 0, matter);
    assert.doesNotMatch(done.stderr, /check/, matter);
  }
});

Deno.test("the limit of responses ends a turn whose check fails without another request", async () => {
  await using one = await project([WRITE, say("Done."), say("never")]);
  const done = await one.run("--check", "false", "--max-turns", "2");
  assert.equal(done.code, 8, done.stderr);
  assert.equal(one.server.chats().length, 2);
});

Deno.test("a useless check in the configuration is reported with its place", async () => {
  for (const config of [[], "", { command: "x", timeout_s: 0 }]) {
    await using one = await project([say("never")], { config });
    const done = await one.run();
    assert.equal(done.code, 3, JSON.stringify(config));
    assert.match(done.stderr, /providers\.yaml:\d+:\d+: check/, JSON.stringify(config));
  }
});
