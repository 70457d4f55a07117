import assert from "node:assert/strict";
import { openHome } from "../src/platform/home.ts";
import { openUndoStore } from "../src/session/undo.ts";
import { STREAM } from "./helpers/client.ts";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const ID = "11111111-2222-4333-8444-555555555555";

async function results(args: readonly string[], home: TemporaryHome) {
  const done = await runInProcess(["run", ...args, "--output-format", "json"], { home });
  if (done.stdout === "") throw new Error(`no result (exit ${done.code}): ${done.stderr}`);
  return { done, result: JSON.parse(done.stdout) };
}

/** What a server keeps of a prompt is found by its bytes. */
function prefixOf(json: { tools: unknown; messages: unknown[] }, count?: number): string {
  return JSON.stringify(json.tools) + JSON.stringify(json.messages.slice(0, count));
}

Deno.test("the transcript names the branch, but not in a project with protected paths", async () => {
  await using home = await temporaryHome();
  await home.write(".git/HEAD", "ref: refs/heads/fix/names\n");
  await using server = startFakeServer({ script: [say("One."), say("Two.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const branches = async (id: string) => {
    const { done } = await results(["hi", "--session-id", id], home);
    assert.equal(done.code, 0, done.stderr);
    const projects = `${home.agentcliHome}/projects`;
    const [slug] = [...Deno.readDirSync(projects)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
    const lines = (await Deno.readTextFile(`${projects}/${slug}/${id}.jsonl`)).trimEnd().split("\n");
    const messages = lines.map((line) => JSON.parse(line)).filter(({ message }) => message !== undefined);
    assert.equal(messages.length, 2);
    return messages.map(({ gitBranch }) => gitBranch);
  };
  assert.deepEqual(await branches(ID), ["fix/names", "fix/names"]);
  await home.write(".agentclisecret", "no-cloud: .env\n");
  assert.deepEqual(await branches(ID.replace(/^1/, "2")), [undefined, undefined]);
});

Deno.test("a session of the demo is resumed without a word about its model, while nothing is configured", async () => {
  await using home = await temporaryHome();
  const first = await results(["hi", "--model", "demo"], home);
  assert.equal(first.done.code, 0, first.done.stderr);
  const next = await results(["and now", "--continue"], home);
  assert.equal(next.done.code, 0, next.done.stderr);
  assert.equal(next.result.session_id, first.result.session_id);
  assert.equal((await runInProcess(["run", "and now"], { home })).code, 3);
});

Deno.test("a session continues at its own provider, also where two have its model or none has it configured", async () => {
  await using home = await temporaryHome();
  await using one = startFakeServer({ script: [] });
  await using two = startFakeServer({
    models: ["same", "beta:8b"],
    script: [say("A."), say("B."), say("C."), say("D.")],
  });
  const same = { models: [{ id: "same" }] };
  await configure(home, { one: { baseUrl: one.baseUrl, ...same }, two: { baseUrl: two.baseUrl, ...same } });
  for (const [at, model] of ["same", "beta:8b"].entries()) {
    const first = await results(["hi", "--model", `two:${model}`], home);
    const next = await results(["and now", "--continue"], home);
    assert.equal(next.done.code, 0, next.done.stderr);
    assert.equal(next.result.session_id, first.result.session_id);
    assert.equal(two.chats()[2 * at + 1]?.json.model, model);
  }
  assert.equal(one.chats().length, 0);
  const listed = JSON.parse((await runInProcess(["sessions", "list", "--json"], { home })).stdout).sessions;
  assert.deepEqual(listed.map(({ provider }: { provider: string }) => provider), ["two", "two"]);
});

Deno.test("a resumed session begins with the bytes that were sent before, tools included", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\u2028\n");
  await using server = startFakeServer({
    script: [ask(want("read", { path: "a.txt" })), say("Read."), say("Again."), say("Third.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const first = await results(["read it", "--session-id", ID], home);
  assert.equal(first.result.session_id, ID);
  // What changes in the project later does not change what was said in this session.
  await home.write("AGENTS.md", "Answer in French.");
  const second = await results(["and now?", "--resume", ID.slice(0, 8)], home);
  assert.equal(second.result.session_id, ID, second.done.stderr);
  const third = await results(["and then?", "--continue"], home);
  assert.equal(third.result.session_id, ID);
  const sent = server.chats().map(({ json }) => json);
  for (let at = 1; at < sent.length; at++) {
    assert.equal(prefixOf(sent[at], sent[at - 1].messages.length), prefixOf(sent[at - 1]), `request ${at}`);
  }
  assert.equal(sent[3].messages.at(-1).content, "and then?");
  assert.equal(sent[3].messages.filter((message: { role: string }) => message.role === "user").length, 3);
});

Deno.test("a fork leaves its session as it is and has its own id", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), say("Two."), say("Three.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await results(["first", "--session-id", ID], home);
  const fork = await results(["second", "--resume", ID, "--fork-session"], home);
  assert.notEqual(fork.result.session_id, ID);
  await results(["third", "--resume", ID], home);
  const [, forked, resumed] = server.chats().map(({ json }) => json.messages.slice(1));
  assert.equal(forked.length, 3);
  assert.deepEqual(resumed.map((message: { content: string }) => message.content), ["first", "One.", "third"]);
});

Deno.test("a session that shall not be stored is not", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await results(["first", "--no-session-persistence"], home);
  const { done, result } = await results(["second", "--continue"], home);
  assert.equal(done.code, 3);
  assert.equal(result.error_code, "unknown_session");
  assert.equal(server.chats().length, 1);
});

Deno.test("options about sessions that contradict each other are refused before anything is asked", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  for (
    const args of [
      ["--session-id", "no-uuid"],
      ["--fork-session"],
      ["--continue", "--resume", ID],
      ["--continue", "--session-id", ID],
    ]
  ) {
    const { done, result } = await results(["x", ...args], home);
    assert.equal(done.code, 2, args.join(" "));
    assert.equal(result.error_code, "usage");
  }
  assert.equal(server.connectionCount(), 0);
});

Deno.test("events of a session that could not be opened name no id but one that a session can have", async () => {
  await using home = await temporaryHome();
  const anywhere = ["--model", "nowhere"];
  const cases: [args: string[], code: number, id: string | null][] = [
    [["--session-id", "../../no-uuid"], 2, null],
    [["--session-id", "../../no-uuid", "--resume", ID], 2, null],
    [["--resume", "../../latest"], 3, null],
    [["--resume", ID.toUpperCase()], 3, ID],
    [["--resume", ID, "--fork-session"], 3, null],
    [["--session-id", ID.toUpperCase()], 3, ID],
  ];
  const prompt = JSON.stringify({ type: "user", message: { role: "user", content: "x" } }) + "\n";
  for (const [args, code, id] of cases) {
    for (const format of [["--output-format", "json"], ["--output-format", "stream-json"], STREAM]) {
      const words = format === STREAM ? [] : ["x"];
      const done = await runInProcess(["run", ...words, ...anywhere, ...args, ...format], { home, stdin: prompt });
      assert.equal(done.code, code, `${args} ${format} ${done.stderr}`);
      const lines = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
      assert.equal(lines.at(-1).type, "result");
      for (const { session_id } of lines) {
        assert.match(session_id, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, `${args} ${format}`);
        assert.equal(session_id === ID, id === ID, `${args} ${format}: ${session_id}`);
      }
    }
  }
});

Deno.test("a home that cannot be used is reported before anything is asked", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Never.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await Deno.writeTextFile(`${home.agentcliHome}/projects`, "no directory");
  const { done, result } = await results(["hi"], home);
  assert.equal(done.code, 3, done.stderr);
  assert.match(result.errors[0], /cannot use the home/);
  assert.equal(server.chats().length, 0);
});

Deno.test({
  name: "a home that cannot be written any more ends the turn before a tool acts",
  // A directory in which nothing can be made, not even by root.
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using home = await temporaryHome();
    const write = want("write", { path: "made.txt", content: "x" });
    await using server = startFakeServer({ script: [say("One."), ask(write), say("Never.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    assert.equal((await results(["hi"], home)).done.code, 0);
    const projects = `${home.agentcliHome}/projects`;
    const [slug] = [...Deno.readDirSync(projects)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
    await Deno.remove(`${projects}/${slug}`, { recursive: true });
    await Deno.symlink("/proc/self", `${projects}/${slug}`);
    const { done, result } = await results(["hi", "--permission-mode", "acceptEdits"], home);
    assert.equal(done.code, 3, done.stderr);
    assert.match(result.errors[0], /cannot use the home/);
    assert.equal(server.chats().length, 2);
    await assert.rejects(home.read("made.txt"), Deno.errors.NotFound);
  },
});

Deno.test("an id that is taken is refused, and the session keeps what it had", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("One."), say("Two.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  await results(["first", "--session-id", ID], home);
  const { done } = await results(["again", "--session-id", ID.toUpperCase()], home);
  assert.equal(done.code, 2);
  const resumed = await results(["second", "--resume", ID], home);
  assert.equal(resumed.result.result, "Two.");
});

Deno.test("a session that read protected content continues locally with placeholders, and never elsewhere", async () => {
  await using home = await temporaryHome();
  const canary = "CNRY_7f3a9c1e5b2d48f60a7e";
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${canary}\n`);
  await using local = startFakeServer({
    script: [say("Hello."), ask(want("read", { path: ".env" })), say(`It says ${canary}.`), say("Ok.")],
  });
  await using remote = startFakeServer({ host: "127.0.0.2", script: [say("Copied.")] });
  await configure(home, {
    loc: { baseUrl: local.baseUrl, models: [{ id: "fake", context_window: 32768 }] },
    rem: { baseUrl: remote.baseUrl, models: [{ id: "fake", context_window: 32768 }] },
  }, { default_provider: "loc" });
  assert.equal((await results(["hi", "--session-id", ID], home)).result.label, "open");
  const first = await results(["read it", "--resume", ID], home);
  assert.equal(first.result.label, "no-cloud");
  const shown = await runInProcess(["sessions", "show", ID], { home });
  assert.match(shown.stdout, /\[redacted: \.env is protected \(\.agentclisecret:1 no-cloud: \.env\) and not stored\]/);
  const refused = await results(["go on", "--resume", ID, "--model", "rem"], home);
  assert.equal(refused.done.code, 6, refused.done.stderr);
  assert.match(refused.result.hint, /--fork-session/);
  assert.equal(remote.chats().length, 0);
  const forked = await results(["go on", "--resume", ID, "--model", "rem", "--fork-session"], home);
  assert.equal(forked.result.result, "Copied.", forked.done.stderr);
  assert.match(forked.done.stderr, /a copy from before protected content was read, with 2 of 6 items/);
  const sent = remote.chats()[0]?.json.messages.slice(1).map(({ content }: { content: string }) => content);
  assert.deepEqual(sent, ["hi", "Hello.", "go on"]);
  const resumed = await results(["go on", "--resume", ID], home);
  assert.equal(resumed.result.result, "Ok.", resumed.done.stderr);
  assert.match(resumed.done.stderr, /placeholders/);
  assert.ok(!local.chats()[3]?.text.includes(canary), "what was redacted is gone");
  assert.match(local.chats()[3]?.text ?? "", /redacted/);
});

Deno.test("what a turn changed is kept and can be undone by a later process, protected content excepted", async () => {
  await using home = await temporaryHome();
  const canary = "CNRY_0c5e7d1f9b3a2846";
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", `KEY=${canary}\n`);
  await home.write("a.txt", "before\n");
  await using server = startFakeServer({
    script: [
      ask(want("read", { path: "a.txt" })),
      ask(want("write", { path: "a.txt", content: "after\n" }), want("write", { path: "new.txt", content: "new\n" })),
      say("Changed."),
      ask(want("read", { path: ".env" })),
      ask(want("edit", { path: ".env", old: "KEY", new: "WORD" })),
      say("Changed too."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  await results(["go", "--session-id", ID, "--permission-mode", "acceptEdits"], home);
  const second = await results(["more", "--resume", ID, "--permission-mode", "acceptEdits"], home);
  assert.equal(second.result.result, "Changed too.", second.done.stderr);
  assert.equal(await home.read("a.txt"), "after\n");
  const previous = await openHome(
    {
      env: (name) => name === "AGENTCLI_HOME" ? home.agentcliHome : undefined,
      os: "linux",
    } as Parameters<typeof openHome>[0],
  ); // what it needs of the outside
  const store = await openUndoStore(previous, { sessionId: ID, onTrouble: (text) => assert.fail(text) });
  const [first = 0, last = 0, ...others] = store.turns();
  assert.ok(first < last && others.length === 0);
  const changes = store.changes(first);
  assert.deepEqual(changes.map((change) => change.path).toSorted(), [
    `${home.project}/a.txt`,
    `${home.project}/new.txt`,
  ]);
  const before = await Promise.all(changes.map((change) => change.before()));
  const [kept] = before.filter((entry) => entry.kind === "file");
  assert.equal(new TextDecoder().decode(kept?.bytes), "before\n");
  assert.equal((await store.changes(last)[0]?.before())?.kind, "not_kept");
  for await (const text of filesBelow(home.agentcliHome)) assert.ok(!text.includes(canary));
});

async function* filesBelow(directory: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory) yield* filesBelow(path);
    else yield new TextDecoder().decode(await Deno.readFile(path));
  }
}
