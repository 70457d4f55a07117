/** The structure view of `agentcli mcp serve`: no tool of the local model shows a value that the user did not allow. */
import assert from "node:assert/strict";
import { join } from "../src/platform/path.ts";
import { makeCanary } from "./boundary/leakscan.ts";
import { ask, type RecordedRequest, say, startFakeServer } from "./helpers/fake_server.ts";
import { configure, runProgram, temporaryHome } from "./helpers/program.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { serve } from "./helpers/served.ts";
import { fileTree } from "./helpers/file_tree.ts";
import { allowValues } from "./helpers/private_budget.ts";

const canary = makeCanary("value").value;
const QUESTION = { question: "Which database is it?", answer: { type: "choice", options: ["postgres", "sqlite"] } };

async function project() {
  const home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\nno-cloud: conf/\nno-cloud: blob\n");
  await home.write(".env", `DB_URL=postgres\nDB_PASSWORD=${canary}\nSTRIPE_KEY=\n`);
  await home.write("conf/app.json", JSON.stringify({ db: { password: canary, port: 5432 } }));
  await home.write("conf/app.yaml", `db:\n  password: ${canary}\n`);
  await home.write("blob", new Uint8Array([0, 1, 2, ...new TextEncoder().encode(canary)]));
  await home.write("open.md", "DB_PASSWORD is in .env\n");
  await Deno.symlink(".env", join(home.project, "link"));
  await Deno.link(join(home.project, ".env"), join(home.project, "hard"));
  return home;
}

const READS = [
  ...[".env", "link", "hard", "conf/app.json", "conf/app.yaml", "blob"].flatMap((path) => [
    { name: "Read", input: { file_path: path } },
    { name: "Read", input: { file_path: path, offset: 2, limit: 1 } },
    { name: "Grep", input: { pattern: "CNRY", path } },
    { name: "Grep", input: { pattern: "PASSWORD|password", path, output_mode: "content", "-C": 3 } },
  ]),
  { name: "Grep", input: { pattern: canary.slice(0, 14), output_mode: "content" } },
  { name: "Grep", input: { pattern: ".", output_mode: "content" } },
  { name: "Glob", input: { pattern: "**/*" } },
  { name: "Bash", input: { command: "cat .env" } },
  { name: "Explore", input: { task: "read .env" } },
  { name: "Git", input: { args: ["show"] } },
];

/** Has the local model read everything in every way; returns all that it was shown. */
async function shownTo(home: Awaited<ReturnType<typeof project>>): Promise<string> {
  const script = ({ json, index }: RecordedRequest) => {
    if (json.response_format !== undefined) return say('{"answer":"postgres"}');
    return index * 4 < READS.length ? ask(...READS.slice(index * 4, index * 4 + 4)) : say("postgres");
  };
  await using server = await startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 64_000 }] } });
  await using served = serve(home);
  const paths = [".env", "conf/app.json", "conf", "link"];
  const told = await served.call("ask_private", { ...QUESTION, paths, again: true, seconds: 60 });
  assert.equal(told.structured.answer, "postgres", JSON.stringify(told.structured));
  assert(server.chats().length > READS.length / 4);
  return server.chats().map(({ text }) => text).join("\n");
}

Deno.test("every way to read a protected file shows its structure, until the user allows values for one question", async () => {
  await using home = await project();
  const shown = await shownTo(home);
  assert(!shown.includes(canary.slice(4, 16)), shown.slice(shown.indexOf(canary.slice(4, 16)) - 500).slice(0, 600));
  assert(shown.includes("DB_PASSWORD=<43 characters, no spaces>"));
  assert(shown.includes("STRIPE_KEY=<empty>"));
  assert(shown.includes("DB_PASSWORD is in .env"));

  // The control, and only once.
  await allowValues(home);
  assert((await shownTo(home)).includes(canary));
  // Nothing of it was kept.
  for (const place of [home.agentcliHome, home.tmp]) {
    for (const [path, text] of fileTree(place)) assert(!text.includes(canary.slice(4, 16)), path);
  }
  assert(!(await shownTo(home)).includes(canary));
});

Deno.test("what is allowed is decided at a terminal, and --yes is no answer", async () => {
  await using home = await project();
  for (const args of [["--bits", "9"], ["--values"], ["--bits", "9", "--values", "--yes"]]) {
    const piped = await runProgram(["mcp", "allow", ...args], { home, stdin: "y\ny\n" });
    assert.equal(piped.code, 6, piped.stderr);
    const refused = await runInProcess(["mcp", "allow", ...args], { home, stdin: "n\n", terminal: true });
    assert.equal(refused.code, 6, refused.stderr);
  }
  assert.equal((await runInProcess(["mcp", "allow"], { home, terminal: true })).code, 2);
  await assert.rejects(Deno.stat(join(home.agentcliHome, "private/budget.json")));

  const said = await runInProcess(["mcp", "allow", "--bits", "9"], { home, terminal: true, answers: ["y"] });
  assert.equal(said.code, 0, said.stderr);
  await configure(home, {});
  await using served = serve(home);
  assert.equal((await served.call("private_status")).structured.budget_bits_left, 73);
  const [entry] = (await Deno.readTextFile(join(home.agentcliHome, "released.jsonl"))).trim().split("\n");
  assert.deepEqual({ ...JSON.parse(entry ?? ""), time: "" }, { time: "", what: "bits added", bits: 9 });
});
