/**
 * `do_private` of `agentcli mcp serve`: which files a local model changes for somebody who may not see them, and what
 * they hear.
 */
import assert from "node:assert/strict";
import { join } from "../src/platform/path.ts";
import { LeakScan, makeCanary } from "./boundary/leakscan.ts";
import {
  ask,
  type FakeServer,
  type PlannedCall,
  type RecordedRequest,
  say,
  startFakeServer,
} from "./helpers/fake_server.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { allowChanges } from "./helpers/private_budget.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { serve } from "./helpers/served.ts";

const canary = makeCanary("task");
const PROSE = "amber otters cross the northern pier at four";
const ENV = `# ours\nDB_PASSWORD=${canary.value}\nPORT=5432\n`;

async function project(): Promise<TemporaryHome> {
  const home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\nno-cloud: conf/\n");
  await home.write(".env", ENV);
  await home.write("conf/notes.md", `${PROSE}\n`);
  await home.write("open.md", "an open line\n");
  await Deno.symlink("open.md", join(home.project, "conf/out.md"));
  return home;
}

/** Makes these calls, one a response, and says how it ended. */
function script(calls: readonly PlannedCall[], ending = "done") {
  return ({ json, index }: RecordedRequest) => {
    if (json.response_format !== undefined) return say(JSON.stringify({ answer: ending }));
    const call = calls[index];
    return call === undefined ? say(`It is ${ending}: ${canary.value}`) : ask(call);
  };
}

const write = (path: string, content: string) => ({ name: "Write", input: { file_path: path, content } });
const edit = (path: string, before: string, after: string) => ({
  name: "Edit",
  input: { file_path: path, old_string: before, new_string: after },
});

async function perform(
  home: TemporaryHome,
  calls: readonly PlannedCall[],
  { ending, ...given }: { ending?: string; [more: string]: unknown },
) {
  await using server = await startFakeServer({ script: script(calls, ending) });
  await configure(
    home,
    { loc: { baseUrl: server.baseUrl } },
    given.check ? { check: { command: "test -e passes" } } : {},
  );
  await using served = serve(home);
  const told = await served.call("do_private", { task: "Change it", seconds: 30, ...given });
  assert.deepEqual(new LeakScan([canary]).text(served.seen.stdout + served.seen.stderr), []);
  assert(!served.seen.stdout.includes("otters"));
  return { told: told.structured, waited: told.waited, results: resultsOf(server) };
}

/** What the model was told of its calls. */
function resultsOf(server: FakeServer): string {
  const messages: { role: string; content: string }[] = server.chats().findLast(({ json }) => !json.response_format)
    ?.json
    .messages ?? [];
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content).join("\n");
}

Deno.test("a protected file is changed by its structure, and its values stay", async () => {
  await using home = await project();
  const calls = [edit(".env", "PORT=5432", "PORT=5433\nSTRIPE_KEY=")];
  const { told, waited } = await perform(home, calls, { paths: [".env"] });
  assert.deepEqual(told, { status: "done", changed: 1, check: "none", bits: 2.585 });
  assert(waited >= 30_000 && waited < 31_000, `${waited}`);
  assert.equal(await home.read(".env"), ENV.replace("PORT=5432", "PORT=5433\nSTRIPE_KEY="));
});

Deno.test("only the named files are changed or made, and of those the protected ones", async () => {
  await using home = await project();
  const others = [
    write("open.md", "x"),
    write("conf/other.md", "x"),
    write("conf/out.md", "x"),
    write(`named-${PROSE.replaceAll(" ", "-")}`, ""),
    write(".agentclisecret", ""),
    write(join(home.agentcliHome, "agentcli-held/r-1.md"), "x"),
    edit("conf/notes.md", PROSE, "x"),
    { name: "Bash", input: { command: "touch other" } },
  ];
  const { told, results } = await perform(home, others, { paths: [".env", "conf/new.md"], ending: "failed" });
  assert.deepEqual([told.status, told.changed], ["failed", 0], results);
  const names = [...Deno.readDirSync(home.project)].map(({ name }) => name).sort();
  assert.deepEqual(names, [".agentclisecret", ".env", "conf", "open.md"]);
  assert.equal(await home.read("open.md"), "an open line\n");
  assert.equal(await home.read("conf/notes.md"), `${PROSE}\n`);
  // The control: named, and protected before it is there.
  const made = await perform(home, [write("conf/new.md", PROSE)], { paths: [".env", "conf/new.md"] });
  assert.deepEqual(made.told, { status: "done", changed: 1, check: "none", bits: 3.585 }, made.results);
  assert.equal(await home.read("conf/new.md"), PROSE);
  for (const place of [home.agentcliHome, home.tmp]) {
    for (const [path, text] of fileTree(place)) assert(!text.includes("otters"), path);
  }
});

Deno.test("open files are changed where the user allowed it, once, and with nothing protected in them", async () => {
  await using home = await project();
  const task = { paths: ["open.md", "conf/notes.md"] };
  assert.equal((await perform(home, [], task)).told.refused, "open_path");

  await allowChanges(home);
  const leaky = await perform(
    home,
    [edit("open.md", "an open line", PROSE), write("conf/more.md", "x")],
    { ...task, ending: "needs_user" },
  );
  assert.deepEqual([leaky.told.status, leaky.told.changed], ["needs_user", 0], leaky.results);
  assert.equal(await home.read("open.md"), "an open line\n");
  assert.equal((await perform(home, [], task)).told.refused, "open_path");

  await allowChanges(home);
  const clean = await perform(home, [edit("open.md", "an open line", "another line")], task);
  assert.deepEqual([clean.told.status, clean.told.changed], ["done", 1], clean.results + JSON.stringify(clean.told));
  assert.equal(await home.read("open.md"), "another line\n");
});

Deno.test("the check of the project is run where open files may change, and passes or fails", async () => {
  await using home = await project();
  const task = { paths: ["open.md"], check: true };
  const outcomes: string[] = [];
  for (const [at, name] of ["open.md", "passes"].entries()) {
    await home.write(name, `line ${at}\n`);
    await home.write("open.md", "an open line\n");
    await allowChanges(home);
    const { told } = await perform(home, [edit("open.md", "an open line", `another line ${at}`)], task);
    outcomes.push(told.check);
    assert.equal(told.bits, 4.17);
  }
  // Where nothing hides the protected files, no command runs.
  assert([["fail", "pass"], ["none", "none"]].some((expected) => expected.join() === outcomes.join()), outcomes.join());
});

Deno.test("which of the files a task made is paid for: later questions tell it", async () => {
  await using home = await project();
  const paths = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => `conf/${name}`);
  const chosen = paths.filter((_, at) => at % 3 === 0);
  const { told, results } = await perform(home, chosen.map((path) => write(path, "x\0")), { paths });
  assert.equal(told.changed, chosen.length, results);
  await using server = await startFakeServer({ script: () => say("ok") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  for (const path of paths) {
    const asked = await served.call("ask_local", { question: "What is in it?", paths: [path] });
    // The answer says only that it is there, not whether it can be read.
    assert.equal(asked.structured.refused, chosen.includes(path) ? undefined : "path", path);
  }
  // Three statuses, and a bit for each file.
  assert.equal(told.bits, 9.585);
});

Deno.test("a file that a task changes under two names counts once", async () => {
  for (const names of [["conf/new.md", "other/new.md"], ["conf/new.md", "conf/more.md"]]) {
    await using home = await project();
    await Deno.symlink("conf", join(home.project, "other"));
    const read = { name: "Read", input: { file_path: names[1] } };
    const calls = [write(names[0]!, "one\n"), read, write(names[1]!, "two\n")];
    const { told } = await perform(home, calls, { paths: ["conf/new.md", "conf/more.md"] });
    assert.equal(told.changed, names[1] === "other/new.md" ? 1 : 2, JSON.stringify(told));
  }
});

Deno.test("a task is paid for before the model hears of it", async () => {
  await using home = await project();
  const server = await startFakeServer({ script: () => ({ kind: "status", status: 500, body: canary.value }) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  const told = await served.call("do_private", { task: "Change it", paths: [".env"], seconds: 20 });
  assert.deepEqual(told.structured, { status: "failed", changed: 0, check: "none", bits: 2.585 });
  assert.equal((await served.call("private_status")).structured.budget_bits_left, 64 - 2.585);
  await server.close();
  for (
    const given of [{}, { task: "x" }, { task: "x", paths: [] }, { task: "x", paths: [".env"], check: "npm test" }]
  ) {
    assert.equal((await served.call("do_private", given)).structured.refused, "arguments");
  }
});
