/** Texts that `agentcli mcp serve` holds: what the client hears of them, and what the user lets go. */
import assert from "node:assert/strict";
import { ProjectRecord } from "../src/boundary/policy/project_record.ts";
import { openHome } from "../src/platform/home.ts";
import { join } from "../src/platform/path.ts";
import { type Canary, LeakScan, makeCanary } from "./boundary/leakscan.ts";
import { ask, type RecordedRequest, say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { callHook } from "./helpers/editor_program.ts";
import { fileTree } from "./helpers/file_tree.ts";
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

const heldFile = (home: TemporaryHome, id: string) => join(home.agentcliHome, `agentcli-held/${id}.md`);

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

  const file = heldFile(home, "r-1");
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
  assert((await Deno.readTextFile(heldFile(home, "r-4"))).includes(canary.value));
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
  // The control: the model is asked, and what it says of a file without a copy is passed on.
  assert.equal((await told("open.md")).text, "It says:\nnothing\nand ends");
  await told("plain.md");
  // Where another such answer could not be paid for there is none at all: that would tell as much.
  assert.equal(await left(), 13);
  for (const name of ["open.md", "plain.md"]) assert.equal((await told(name)).structured.refused, "budget", name);
});

Deno.test("that a file is known to hold protected content is paid for, and revealed nowhere else", async () => {
  await using home = await project(SECRET);
  await home.write("notes.md", "amber 4711 otter\n");
  await using server = await startFakeServer({ script: () => say("fine") });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  const ask = async (
    tool: string,
    ...paths: string[]
  ) => (await served.call(tool, {
    question: "What?",
    task: "Change it",
    paths,
    answer: { type: "yes_no" },
    seconds: 5,
  }));
  const left = async () => (await served.call("private_status")).structured.budget_bits_left;
  // The client writes what the file may hold, and a local session judges that beside its own command's files.
  await home.write("guesses/right.md", "coded\n");
  const record = await ProjectRecord.open(await openHome({ env: () => home.agentcliHome, os: "linux" }), home.project);
  const copy = { path: `${home.project}/guesses/right.md`, source: `${home.project}/notes.md` };
  await record.tighten({ derived: [{ ...copy, inode: 0, born: 0 }] });
  for (const at of [1, 2, 3]) await home.write(`guesses/wrong${at}.md`, `xyzzy 993${at} plugh\n`);
  // The control, of the same length: open.
  assert.equal((await ask("ask_local", "guesses/wrong1.md", "guesses/wrong2.md")).text, "fine");
  assert.equal(await left(), 64);
  assert.equal((await ask("ask_local", "guesses/wrong3.md", "guesses/right.md")).structured.held, "r-1");
  assert.equal(await left(), 47);
  assert.equal((await ask("ask_local", "guesses/right.md", "notes.md")).structured.held, "r-2");
  assert.equal(await left(), 47, "a protected name tells nothing of content");
  for (const name of ["right", "wrong1"]) {
    assert.equal((await ask("do_private", `guesses/${name}.md`)).structured.refused, "open_path", name);
  }
  assert.equal(await left(), 47);
});

Deno.test("a text of a server that remembers is held like a copy", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  let memory = "nothing";
  await using server = await startFakeServer({
    script: ({ text, json }) => {
      memory = /amber otters[\w ]+/.exec(text)?.[0] ?? memory;
      if (json.response_format !== undefined) return say('{"answer":"yes"}');
      return say(json.tools === undefined ? `I recall ${memory}.` : "found");
    },
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  const asked = { question: "What did you read?", paths: ["open.md"], seconds: 5 };
  assert.equal((await served.call("ask_local", asked)).text, "I recall nothing.", "the control");
  await served.call("ask_private", { ...TEXT, answer: { type: "yes_no" }, seconds: 5 });
  const before = (await served.call("private_status")).structured.budget_bits_left;
  assert.equal((await served.call("ask_local", asked)).structured.held, "r-1");
  assert.equal((await served.call("private_status")).structured.budget_bits_left, before - 17);
  assert.deepEqual(leaks(canary, served.seen.stdout, served.seen.stderr), []);
});

Deno.test("what is no file is refused without a request, and for nothing", async () => {
  await using home = await project(SECRET);
  await home.write("src/a.ts", "x\n");
  await using server = await startFakeServer({ script: () => say('{"answer":"yes"}') });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  // A question that was paid for, after which a model that is missed costs bits.
  await served.call("ask_private", { ...TEXT, answer: { type: "yes_no" }, seconds: 5 });
  const [before, requests] = [(await served.call("private_status")).text, server.chats().length];
  const told = await served.call("ask_local", { question: "What is in there?", paths: ["src"], seconds: 5 });
  assert.equal(told.structured.refused, "path");
  assert.deepEqual([(await served.call("private_status")).text, server.chats().length], [before, requests]);
  assert.equal((await served.call("ask_local", { question: "What is it?", paths: ["src/a.ts"] })).isError, false);
});

Deno.test("a failing model is reported to the user, not to the client", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  const script = () => ({ kind: "status" as const, status: 400, body: `{"error":{"message":"${canary.value}"}}` });
  await using server = await startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  assert.equal((await served.call("ask_private", { ...TEXT, seconds: 5 })).structured.held, "r-1");
  assert.match(await Deno.readTextFile(heldFile(home, "r-1")), /^\(no answer/);
  const local = await served.call("ask_local", { question: "What?", paths: ["open.md"], seconds: 5 });
  assert.equal(local.structured.refused, "no_answer");
  assert.deepEqual(leaks(canary, served.seen.stdout, served.seen.stderr), []);
});

Deno.test("held texts are in the home alone, whatever the project brings", async () => {
  const canary = SECRET;
  for (const brings of ["nothing", "its own ignore file", "a tracked text", "a link"]) {
    await using home = await project(canary);
    if (brings === "its own ignore file") await home.write(".agentcli/private/.gitignore", "!*\n");
    if (brings === "a tracked text") await home.write(".agentcli/private/r-1.md", "x\n");
    await Deno.mkdir(join(home.root, "elsewhere"));
    if (brings === "a link") await Deno.symlink("../elsewhere", join(home.project, ".agentcli"));
    const before = [...fileTree(home.project).keys()].sort();
    await using server = await startFakeServer({ script: telltale });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using served = serve(home);
    assert.equal((await served.call("ask_private", { ...TEXT, seconds: 5 })).structured.held, "r-1", brings);
    assert.deepEqual([...fileTree(home.project).keys()].sort(), before, brings);
    assert.deepEqual([...Deno.readDirSync(join(home.root, "elsewhere"))], []);
    assert((await Deno.readTextFile(heldFile(home, "r-1"))).includes(canary.value), "the control");
    assert.match((await command(home, ["pending"])).stdout, /amber otters/);
  }
});

Deno.test("no tool reads a held text, nor does an assistant that the guard looks after", async () => {
  const canary = makeCanary("held");
  await using home = await temporaryHome();
  const text = join(home.agentcliHome, "agentcli-held/r-1.md");
  await Deno.mkdir(join(home.agentcliHome, "agentcli-held"), { recursive: true });
  await Deno.writeTextFile(text, canary.value);
  await home.write("open.md", "an open line");
  const read = (path: string) => ask({ name: "Read", input: { file_path: path } });
  const script = ({ index }: RecordedRequest) => index === 0 ? read(text) : index === 1 ? read("open.md") : say("done");
  for (const host of ["127.0.0.2", "127.0.0.1"] as const) {
    await using server = await startFakeServer({ host, script });
    await configure(home, { one: { baseUrl: server.baseUrl } });
    const done = await runInProcess(["run", "Read it"], { home });
    assert.equal(done.code, 0, done.stderr);
    const sent = server.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert(!sent.includes(canary.value), sent);
    assert(sent.includes("an open line"));
  }
  await home.write(".agentclisecret", "no-cloud: notes.md\n");
  const guarded = async (path: string) => {
    const given = { hook_event_name: "PreToolUse", tool_name: "Read", tool_input: { file_path: path } };
    const input = JSON.stringify({ cwd: home.project, ...given });
    const hook = { scaffold: "no-cloud-guard", event: "PreToolUse", assistant: "claude" };
    return (await callHook(home, hook, { input })).code;
  };
  assert.deepEqual([await guarded(text), await guarded(join(home.project, "open.md"))], [2, 0]);
});

Deno.test("what was released for a project moves with it and is not shown to another one at its path", async () => {
  const canary = SECRET;
  await using home = await project(canary);
  await using server = await startFakeServer({ script: telltale });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  await served.call("ask_private", { ...TEXT, seconds: 5 });
  assert.equal((await command(home, ["release", "r-1"], ["y"])).code, 0);
  const told = JSON.stringify((await served.call("answer_of", { id: "r-1" })).structured);
  assert.notDeepEqual(leaks(canary, told), [], "control: the project's own client gets it");
  await Deno.rename(home.project, `${home.project}-old`);
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await using other = serve(home);
  assert.deepEqual((await other.call("answer_of", { id: "r-1" })).structured.refused, "unknown_id");
  await Deno.rename(home.project, `${home.project}-other`);
  await Deno.rename(`${home.project}-old`, `${home.root}/new`);
  await Deno.symlink(`${home.root}/new`, home.project);
  await using moved = serve(home);
  assert.equal(JSON.stringify((await moved.call("answer_of", { id: "r-1" })).structured), told);
});

Deno.test("what a model server says of its window after it saw protected content decides over no later answer", async () => {
  await using home = await project(SECRET);
  await home.write("open.md", "an open line of words\n".repeat(4_000));
  const n_ctx = 4_815;
  const error = { code: 400, type: "exceed_context_size_error", n_ctx, n_prompt_tokens: n_ctx + 1_000 };
  const message = `the request exceeds the available context size (${n_ctx} tokens)`;
  const refusal = { kind: "status" as const, status: 400, body: JSON.stringify({ error: { ...error, message } }) };
  const script = ({ text }: RecordedRequest) =>
    text.includes(SECRET.value) ? refusal : say(`I was shown ${text.length} characters.`);
  await using server = await startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await using served = serve(home);
  const asked = { question: "How much do you see?", paths: ["open.md"], seconds: 5 };
  const { text } = await served.call("ask_local", asked);
  assert.match(text, /I was shown \d+ characters/);
  await served.call("ask_private", { ...TEXT, seconds: 5 });
  assert.ok(server.chats().some((chat) => chat.text.includes(SECRET.value)), "control: it was shown the notes");
  assert.equal((await served.call("ask_local", asked)).text, text);
  const cache = await Deno.readTextFile(join(home.agentcliHome, "cache/servers.json")).catch(() => "");
  assert.ok(!cache.includes(String(n_ctx)), cache);
});
