/** Searches: what one reads labels the session that asked, and a remote model of searches is told nothing protected. */
import assert from "node:assert/strict";
import { ask, say, type Script, startFakeServer, type Step } from "../helpers/fake_server.ts";
import { planServer } from "../helpers/mcp.ts";
import { assertArrived, assertSealed, openStage, type Play, type Stage } from "./harness.ts";
import { LeakScan } from "./leakscan.ts";

const block = { models: [{ id: "fake", context_window: 32_768 }] };
const read = (file_path: string) => ask({ name: "Read", input: { file_path } });
const explore = (task: string) => ask({ name: "Explore", input: { task } });

/** Plays a session of the local model whose searches go to a remote one. */
async function withRemoteSearch(
  stage: Stage,
  { searches, settings = {}, ...play }: Play & { searches: Script },
) {
  await using remote = startFakeServer({ host: "127.0.0.2", script: searches });
  const played = await stage.play("loc", {
    block,
    providers: { far: { baseUrl: remote.baseUrl } },
    settings: { roles: { subagent: "far:fake" }, ...settings },
    ...play,
  });
  const wire = new Blob(remote.received().map((bytes) => new Uint8Array(bytes)));
  const got = await wire.text();
  return { played, got, chats: remote.chats(), leaked: new LeakScan(stage.canaries).text(got) };
}

Deno.test("what a search of a local model reads labels its answer, and goes into no transcript", async () => {
  await using stage = await openStage();
  const secret = stage.canary("env");
  const script = [explore("the token"), read(".env"), say(`.env:1 is ${secret}`), say("I have it.")];
  const played = await stage.play("loc", { block, script, args: ["--output-format", "stream-json"] });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertArrived(played, secret);
  assertSealed(played);
  assert.ok(!played.done.stdout.includes(secret), "clients are not told either");
  const after = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
  assert.equal(after.done.code, 6, after.done.stderr);
  assertSealed(after);
});

Deno.test("control: a search that read nothing protected leaves the session open", async () => {
  await using stage = await openStage();
  const script = [explore("the marker"), read("pub.txt"), say("pub.txt:1 PUB_marker"), say("I have it.")];
  const played = await stage.play("loc", { block, script, args: ["--output-format", "stream-json"] });
  assert.match(played.done.stdout, /pub\.txt:1 PUB_marker/);
  const after = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
  assert.equal(after.done.code, 0, after.done.stderr);
  assert.match(after.sent, /pub\.txt:1 PUB_marker/);
});

Deno.test("a remote model of searches reads nothing protected in a local session", async () => {
  await using stage = await openStage();
  const searches = [read(".env"), ask({ name: "Grep", input: { pattern: "API_TOKEN" } }), say("not there")];
  const { played, chats, leaked } = await withRemoteSearch(stage, {
    script: [explore("the token"), say("No.")],
    searches,
  });
  assert.equal(played.done.code, 0, played.done.stderr);
  assert.equal(chats.length, 3);
  assert.deepEqual(leaked, []);
  assert.match(chats[1]?.text ?? "", /\.agentclisecret:1/);
  assertSealed(played);
});

Deno.test("control: it reads what is open, and without a marker everything", async () => {
  await using stage = await openStage({ marker: null });
  const { chats, got } = await withRemoteSearch(stage, {
    script: [explore("the token"), say("No.")],
    searches: [read(".env"), say("there")],
  });
  assert.equal(chats.length, 2);
  assert.ok(got.includes(stage.canary("env")));
});

Deno.test("a session that holds protected content asks no remote model of searches", async () => {
  await using stage = await openStage();
  const script = [read(".env"), explore(`who uses ${stage.canary("env")}?`), say("I look myself.")];
  const { played, chats, leaked } = await withRemoteSearch(stage, { script, searches: [say("nobody")] });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertArrived(played, stage.canary("env"));
  assert.equal(chats.length, 0);
  assert.deepEqual(leaked, []);
  assert.match(played.results.at(-1) ?? "", /Explore cannot run: .*Call Grep and Read/s);
  assertSealed(played);
});

Deno.test("control: one that holds nothing protected does", async () => {
  await using stage = await openStage();
  const script = [read("pub.txt"), explore("who uses it?"), say("Nobody.")];
  const { played, chats } = await withRemoteSearch(stage, { script, searches: [say("nobody")] });
  assert.equal(chats.length, 1);
  assert.equal(played.results.at(-1), "nobody");
});

Deno.test("rules that deny hold for searches too", async () => {
  await using stage = await openStage({ marker: null });
  const script = [explore("the token"), read(".env"), read("pub.txt"), say("there"), say("Yes.")];
  const played = await stage.play("loc", { block, script, args: ["--disallowed-tools", "Read(.env)"] });
  assert.ok(!played.sent.includes(stage.canary("env")));
  assert.match(played.sent, /PUB_marker public text/);
  const open = await stage.play("loc", { block, script });
  assertArrived(open, stage.canary("env"));
});

Deno.test("what a search of a remote model may not be told ends the turn: it learns of no guess whether it is right", async () => {
  await using stage = await openStage({ git: true });
  const token = `API_TOKEN=${stage.canary("env")}`;
  await stage.write("guess/right", token);
  await stage.write("guess/wrong", "API_TOKEN=nothing-of-that");
  await stage.write(`named/${token}`, "");
  const tries: Record<string, [Step[], number, number]> = {
    "a right guess in a search": [[explore("look"), read("guess/right"), say("There."), say("Done.")], 6, 2],
    "a wrong guess in a search": [[explore("look"), read("guess/wrong"), say("There."), say("Done.")], 0, 4],
    "a right guess as a name": [[ask({ name: "Git", input: { action: "add", paths: ["named"] } }), say("Done.")], 6, 1],
  };
  for (const [name, [script, code, requests]] of Object.entries(tries)) {
    const played = await stage.play("rem", { block, script, args: ["--permission-mode", "bypassPermissions"] });
    assert.equal(played.done.code, code, `${name}: ${played.done.stderr}`);
    assert.equal(played.requests.length, requests, name);
  }
});

Deno.test("a remote model of searches that guessed right hears nothing more of the session", async () => {
  const guess = (pattern: string) => ask({ name: "Grep", input: { pattern } });
  for (const isRight of [true, false]) {
    await using stage = await openStage();
    const wrong = [guess("a wrong guess"), guess("and another one")];
    const first = [...wrong, guess(isRight ? stage.canary("env") : "the third wrong one")];
    const script = [explore("look"), read("pub.txt"), explore("look again"), say("Done.")];
    const searches = [...first, ...isRight ? [] : [say("nothing")], ...wrong, say("nothing")];
    const { played, chats } = await withRemoteSearch(stage, { script, searches });
    assert.equal(played.done.code, 0, played.done.stderr);
    assert.equal(chats.length, isRight ? first.length : searches.length, isRight ? "" : "control");
  }
});

Deno.test("a refused summary of a remote model ends searches by remote models, and none by the session's own", async () => {
  const compact = "far:fake";
  const both = { compact, subagent: "far:fake" };
  for (
    const [roles, isRefused, own, far] of [[{ compact }, true, 1, 0], [both, true, 0, 0], [both, false, 0, 2]] as const
  ) {
    await using stage = await openStage();
    await using remote = startFakeServer({ host: "127.0.0.2", script: () => say("They talked.") });
    let searches = 0;
    const script: Script = ({ json: { tools = [], messages } }) => {
      if (tools.length === 0) return say("They talked.");
      const names = tools.map((tool: { function: { name: string } }) => tool.function.name);
      if (!names.includes("Explore")) {
        searches++;
        return say("It is there.");
      }
      const { role, content } = messages.at(-1);
      if (role === "tool") return say("Done.");
      return String(content).includes("look") ? explore("where is it?") : say(`Fine. ${"word ".repeat(3000)}`);
    };
    const keep = `/compact keep ${isRefused ? stage.canary("env") : "it all"}`;
    const played = await stage.play("loc", {
      script,
      block,
      providers: { far: { baseUrl: remote.baseUrl } },
      settings: { roles },
      argv: ["chat", "--model", "loc"],
      stdin: ["hello", "go on", "and on", "and on", keep, "look", "/exit"].map((line) => `${line}\n`).join(""),
    });
    assert.match(played.done.stderr, /summarized the older part/);
    assert.deepEqual([searches, remote.chats().length], [own, far], played.done.stdout + played.done.stderr);
  }
});

Deno.test("what a running program of the session has left is judged before a search of a remote model", async () => {
  const args = ["--permission-mode", "bypassPermissions"];
  const pieces = ask({ name: "Grep", input: { pattern: "TOKEN", path: "copy.txt", output_mode: "content" } });
  const ways = {
    "a background command": (from: string) => [
      ask({ name: "Bash", input: { command: `cp '${from}' copy.txt; echo ready; sleep 20`, background: true } }),
      ask({ name: "BashOutput", input: { id: "bg1" } }),
    ],
    "an MCP server": (from: string, to: string) => [ask({ name: "mcp__hub__copy_file", input: { from, to } })],
    "control, a command": (from: string) => [ask({ name: "Bash", input: { command: `cp '${from}' copy.txt` } })],
    "control, nothing protected": () => [ask({ name: "Bash", input: { command: "echo TOKEN=none > copy.txt" } })],
  };
  for (const [way, steps] of Object.entries(ways)) {
    await using stage = await openStage({ bare: true, marker: null });
    const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
    await stage.plant(`${b}/.env`, "env", (canary) => `API_TOKEN=${canary}\n`);
    await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
    await stage.write(`${a}/open.txt`, "an open line\n");
    stage.exempt(`${a}/copy.txt`);
    await stage.play("loc", { cwd: b, script: [say("Hello.")] });
    const schema = { type: "object", properties: { from: { type: "string" }, to: { type: "string" } } };
    const tool = { name: "copy_file", does: "copy", inputSchema: schema };
    const server = await planServer(`${stage.home.root}/servers`, "hub", { era: "legacy", tools: [tool] });
    const script = [...steps(`${b}/.env`, `${a}/copy.txt`), explore("the configuration"), say("Done.")];
    const searches = [read("copy.txt"), pieces, say("seen")];
    const settings = { mcp_servers: { hub: server.entry } };
    const found = await withRemoteSearch(stage, { script, searches, cwd: a, args, settings });
    assert.deepEqual(found.leaked, [], way);
    assert.equal(found.chats.length, 3, `${way}: ${found.played.done.stderr}`);
    if (way === "control, nothing protected") assert.match(found.got, /TOKEN=none/);
    else assert.match(found.chats[1]?.text ?? "", /copy\.txt is protected/, way);
  }
});

/** Makes a project with an open file, beside one that the home knows, with a protected file; returns its path. */
async function openBesideKnown(stage: Stage): Promise<string> {
  const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
  await stage.plant(`${b}/.env`, "env", (canary) => `API_TOKEN=${canary}\n`);
  await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
  await stage.play("loc", { cwd: b, script: [say("Hello.")] });
  await stage.write(`${a}/open.txt`, "an open line\n");
  return a;
}

Deno.test("what passes between a local session and a remote model of searches is compared with all projects", async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const a = await openBesideKnown(stage);
  for (const [pattern, requests] of [[stage.canary("env"), 1], ["open line", 2]] as const) {
    const searches = [ask({ name: "Grep", input: { pattern } }), say("seen")];
    const { leaked, chats } = await withRemoteSearch(stage, {
      script: [explore("look"), say("Done.")],
      searches,
      cwd: a,
    });
    assert.deepEqual(leaked, []);
    assert.equal(chats.length, requests, pattern);
  }
});

Deno.test("a search of a remote model learns nothing of what a program leaves while it runs", async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const a = await openBesideKnown(stage);
  for (const text of ["nothing that is protected by anybody", stage.canary("env")]) {
    // Parts that no scan of what leaves finds.
    const parts = text.match(/.{1,6}/g) ?? [];
    const piece = parts.at(-2) ?? "";
    const steps = [
      read("open.txt"),
      ask({ name: "Read", input: { file_path: "copy.txt", offset: parts.length - 1, limit: 1 } }),
    ];
    let at = 0;
    const searches: Script = () => {
      if (at === 1) Deno.writeTextFileSync(`${a}/copy.txt`, `${parts.join("\n")}\n`);
      return steps[at++] ?? say("seen");
    };
    stage.exempt(`${a}/copy.txt`);
    const { got, chats } = await withRemoteSearch(stage, { script: [explore("look"), say("Done.")], searches, cwd: a });
    const isProtected = text === stage.canary("env");
    assert.equal(got.includes(piece), !isProtected, isProtected ? "" : "control");
    assert.equal(chats.length, isProtected ? 2 : 3);
    await Deno.remove(`${a}/copy.txt`);
  }
});
