/** Texts that `agentcli mcp serve` holds: what the client hears of them, and what the user lets go. */
import assert from "node:assert/strict";
import { join } from "../src/platform/path.ts";
import { type Canary, LeakScan, makeCanary } from "./boundary/leakscan.ts";
import { ask, type RecordedRequest, say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, runProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { serve } from "./helpers/served.ts";

/** In words, which the local model sees as they are. */
const SECRET: Canary = { name: "notes", value: "amber otters cross the northern pier at four" };
const TEXT = { question: "What is in the notes?", paths: ["notes.md"], answer: { type: "text" } };

async function project(canary: Canary): Promise<TemporaryHome> {
  const home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: notes.md\n");
  await home.write("notes.md", `first\n${canary.value}\nlast\n`);
  await home.write("open.md", "an open line\n");
  return home;
}

/** Says all that it was shown, as a model that gives everything away does. */
const telltale = ({ text }: RecordedRequest) =>
  say(`It says:\n${/amber otters[\w ]+/.exec(text)?.[0] ?? "nothing"}\nand ends`);

function leaks(canary: Canary, ...texts: string[]): string[] {
  return texts.flatMap((text) => new LeakScan([canary]).text(text));
}

const command = (home: TemporaryHome, args: readonly string[], answers: readonly string[] = []) =>
  runInProcess(["mcp", ...args], { home, terminal: true, answers });

Deno.test("a text is held until the user lets exactly what they saw go, once", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  await using server = await startFakeServer({ script: telltale });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  const held = await served.call("ask_private", { ...TEXT, seconds: 5 });
  assert.equal(held.structured.held, "r-1");
  assert(held.waited >= 5_000 && held.waited < 6_000, `${held.waited}`);
  assert.deepEqual((await served.call("answer_of", { id: "r-1" })).structured, { status: "waiting" });
  const { structured: status } = await served.call("private_status");
  assert.deepEqual([status.waiting, status.budget_bits_left], [["r-1"], 64]);

  const file = join(home.project, ".agentcli/private/r-1.md");
  const text = await Deno.readTextFile(file);
  assert(text.includes(canary.value));
  const { mode } = await Deno.stat(file);
  if (Deno.build.os !== "windows") assert.equal((mode ?? 0) & 0o777, 0o600);

  // Whoever may not see can run commands, and answer for a person in a pipe.
  const piped = await runProgram(["mcp", "pending"], { home });
  assert(piped.stdout.includes("r-1") && piped.stdout.includes("What is in the notes?"));
  for (const args of [["release", "r-1"], ["release", "r-1", "--yes"]]) {
    const refused = await runProgram(["mcp", ...args], { home, stdin: "y\n" });
    assert.equal(refused.code, 6);
    assert.deepEqual(leaks(canary, refused.stdout, refused.stderr), []);
  }
  assert.deepEqual(leaks(canary, piped.stdout, piped.stderr), []);
  assert.equal((await command(home, ["release", "r-1", "--yes"], ["n"])).code, 6);
  assert.deepEqual((await served.call("answer_of", { id: "r-1" })).structured, { status: "waiting" });
  assert.deepEqual(leaks(canary, served.seen.stdout, served.seen.stderr), []);

  // The control: at a terminal the text is shown, its quote is marked, and a yes lets it go.
  const looked = await command(home, ["pending"]);
  assert.match(looked.stdout, new RegExp(`^! +2 +${canary.value}$`, "m"));
  assert.match(looked.stdout, /^ {3}1 {2}It says:$|^ +1 {2}It says:$/m);
  const released = await command(home, ["release", "r-1"], ["y"]);
  assert.equal(released.code, 0, released.stderr);
  assert.deepEqual((await served.call("answer_of", { id: "r-1" })).structured, { released: text });
  assert.equal((await served.call("private_status")).structured.waiting.length, 0);
  await assert.rejects(Deno.stat(file));
  assert.equal((await command(home, ["release", "r-1"], ["y"])).code, 2);

  const log = await Deno.readTextFile(join(home.agentcliHome, "released.jsonl"));
  const { time: _, ...entry } = JSON.parse(log);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
  const bytes = new TextEncoder().encode(text).length;
  assert.deepEqual(entry, { what: "released", id: "r-1", project: home.project, asked_by: "", bytes, sha256: digest });
});

Deno.test("of a text some lines can be released, and another one kept", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  await using server = await startFakeServer({ script: telltale });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  for (const id of ["r-1", "r-2"]) {
    assert.equal((await served.call("ask_private", { ...TEXT, seconds: 5 })).structured.held, id);
  }
  for (const lines of ["0-1", "2-1", "1-9", "x", ""]) {
    assert.equal((await command(home, ["release", "r-1", "--lines", lines], ["y"])).code, 2, lines);
  }
  const part = await command(home, ["release", "r-1", "--lines", "3-3"], ["y"]);
  assert.equal(part.code, 0, part.stderr);
  assert.deepEqual(leaks(canary, part.stdout), []);
  assert.deepEqual((await served.call("answer_of", { id: "r-1" })).structured, { released: "and ends" });
  const late = await command(home, ["release", "r-1"], ["y"]);
  assert.equal(late.code, 2);
  assert.match(late.stdout + late.stderr, /r-1 was released already/);
  assert.equal((await command(home, ["keep", "r-2"])).code, 0);
  assert.deepEqual((await served.call("answer_of", { id: "r-2" })).structured, { status: "kept" });
  assert.equal((await command(home, ["release", "r-2"], ["y"])).code, 2);
  for (const id of ["r-3", "", "../r-1", "__proto__"]) {
    assert.equal((await served.call("answer_of", { id })).structured.refused, "unknown_id", id);
  }
  assert.deepEqual(leaks(canary, served.seen.stdout, served.seen.stderr), []);
});

Deno.test("nothing goes that the user was not shown", async () => {
  await using home = await project(SECRET);
  const unseen =
    "The\u200b port\u200c\u00ad\u034f\u3164 is\ufe01\u{e0101}\u{e0041} 5\u2800 \t \r\nsecond\u2003\u00a0word\rthird \n\n";
  await using server = await startFakeServer({ script: () => say(unseen) });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  assert.equal((await served.call("ask_private", { ...TEXT, seconds: 5 })).structured.held, "r-1");
  const shown = await command(home, ["release", "r-1"], ["y"]);
  const lines = shown.stdout.split("\n").filter((line) => /^[ !] +\d/.test(line)).map((line) => line.slice(7));
  const { released } = (await served.call("answer_of", { id: "r-1" })).structured;
  assert.equal(released, "The port is 5\nsecond  word\nthird");
  assert.deepEqual(released.split("\n"), lines.map((line) => line.replace(/Give exactly.*$/, "")));
});

Deno.test("ask_local gives a text of open files, and holds one as soon as a path is protected", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  await Deno.symlink("notes.md", join(home.project, "link.md"));
  await Deno.link(join(home.project, "notes.md"), join(home.project, "hard.md"));
  await home.write("other/notes.md", "no text\0");
  await using server = await startFakeServer({ script: telltale });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  const open = await served.call("ask_local", { question: "What is in it?", paths: ["open.md"] });
  assert.equal(open.text, "It says:\nnothing\nand ends");
  const [request] = server.chats();
  // It has no tools: there is nothing that a search of protected files could tell.
  assert.equal(request?.json.tools, undefined);
  assert(request?.text.includes("an open line"));
  assert.deepEqual(leaks(canary, request?.text ?? ""), []);
  for (const paths of [["notes.md"], ["open.md", "link.md"], ["hard.md"], ["./x/../notes.md"], ["other/notes.md"]]) {
    const told = await served.call("ask_local", { question: "What is in it?", paths, seconds: 5 });
    assert.match(told.structured.held ?? JSON.stringify(told.structured), /^r-\d+$/, paths.join());
  }
  assert.deepEqual(leaks(canary, served.seen.stdout, served.seen.stderr), []);
  // The control: they were read.
  assert((await Deno.readTextFile(join(home.project, ".agentcli/private/r-4.md"))).includes(canary.value));
});

Deno.test("ask_local holds the text of an open file with a copy of a protected one, and that it did is paid for", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  const copies: [string, string][] = [["plain.md", canary.value], ["coded.md", btoa(`of ${canary.value}`)]];
  for (const [name, text] of copies) await home.write(name, `${text}\n`);
  await using server = await startFakeServer({ script: telltale });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  const told = (path: string) => served.call("ask_local", { question: "What is in it?", paths: [path], seconds: 5 });
  const left = async () => (await served.call("private_status")).structured.budget_bits_left;
  for (const [at, [name]] of copies.entries()) {
    assert.equal((await told(name)).structured.held, `r-${at + 1}`, name);
    assert.equal(await left(), 64 - 17 * (at + 1));
  }
  assert.deepEqual(leaks(canary, served.seen.stdout, served.seen.stderr), []);
  // The control: the model is asked, and what it says of a file without a copy is told.
  assert.equal((await told("open.md")).text, "It says:\nnothing\nand ends");
  await told("plain.md");
  // Where another such answer could not be paid for there is none at all: that would tell as much.
  assert.equal(await left(), 13);
  for (const name of ["open.md", "plain.md"]) assert.equal((await told(name)).structured.refused, "budget", name);
});

Deno.test("a failing model is told to the user, not to the client", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  const script = () => ({ kind: "status" as const, status: 400, body: `{"error":{"message":"${canary.value}"}}` });
  await using server = await startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  assert.equal((await served.call("ask_private", { ...TEXT, seconds: 5 })).structured.held, "r-1");
  assert.match(await Deno.readTextFile(join(home.project, ".agentcli/private/r-1.md")), /^\(no answer/);
  const local = await served.call("ask_local", { question: "What?", paths: ["open.md"], seconds: 5 });
  assert.equal(local.structured.refused, "no_answer");
  assert.deepEqual(leaks(canary, served.seen.stdout, served.seen.stderr), []);
});

Deno.test("held texts are protected without a marker, and written nowhere else", async () => {
  const canary = makeCanary("held");
  await using home = await temporaryHome();
  await home.write(".agentcli/private/r-1.md", canary.value);
  await home.write(".agentcli/open.md", "an open line");
  const read = (path: string) => ask({ name: "Read", input: { file_path: path } });
  const script = ({ index }: RecordedRequest) =>
    index === 0 ? read(".agentcli/private/r-1.md") : index === 1 ? read(".agentcli/open.md") : say("done");
  for (const host of ["127.0.0.2", "127.0.0.1"] as const) {
    await using server = await startFakeServer({ host, script });
    await configure(home, { one: { baseUrl: server.baseUrl } });
    const done = await runInProcess(["run", "Read it"], { home });
    assert.equal(done.code, 0, done.stderr);
    const sent = server.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert.equal(sent.includes(canary.value), host === "127.0.0.1", sent);
    assert(sent.includes("an open line"));
  }

  // A directory that leads elsewhere is none.
  await using other = await project(canary);
  await Deno.mkdir(join(other.root, "elsewhere"));
  await Deno.symlink(join(other.root, "elsewhere"), join(other.project, ".agentcli"));
  await using server = await startFakeServer({ script: telltale });
  await configure(other, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(other);
  assert.equal((await served.call("ask_private", { ...TEXT, seconds: 5 })).structured.refused, "unavailable");
  assert.equal(server.chats().length, 0);
});
