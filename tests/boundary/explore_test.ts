/** Searches: what one reads labels the session that asked, and a remote model of searches gets nothing protected. */
import assert from "node:assert/strict";
import { ask, say, type Script, startFakeServer, type Step } from "../helpers/fake_server.ts";
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

Deno.test("what a search of a remote model may not know ends the turn: it learns of no guess whether it is right", async () => {
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

for (const args of [["--continue"], ["--continue", "--fork-session"]]) {
  Deno.test(`nor of the session that another process goes on with: ${args.join(" ")}`, async () => {
    for (const isRight of [true, false]) {
      for (const provider of ["loc", "rem"] as const) {
        await using stage = await openStage();
        await stage.write("guess.txt", isRight ? stage.canary("env") : "a wrong guess");
        stage.exempt("guess.txt");
        const guess = read("guess.txt");
        const search = async (searches: Script, more: readonly string[] = []) => {
          await using remote = startFakeServer({ host: "127.0.0.2", script: searches });
          const providers = { far: { baseUrl: remote.baseUrl, ...block } };
          const settings = { roles: { subagent: "far:fake" } };
          const script = [explore("look"), say("Done.")];
          const { done } = await stage.play(provider, { block, providers, settings, script, args: more });
          assert.equal(done.code, isRight && provider === "rem" && more.length === 0 ? 6 : 0, done.stderr);
          return remote.chats().length;
        };
        assert.equal(await search([guess, say("nothing")]), isRight ? 1 : 2);
        for (let round = 0; round < 2; round++) {
          assert.equal(await search([read("pub.txt"), say("nothing")], args), isRight ? 0 : 2, `${provider}: control`);
        }
      }
    }
  });
}

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

Deno.test("what a remote model of searches says is looked through in a local session, too", async () => {
  await using stage = await openStage();
  for (const [pattern, requests] of [[stage.canary("env"), 1], ["PUB_marker", 2]] as const) {
    const searches = [ask({ name: "Grep", input: { pattern } }), say("seen")];
    const script = [explore("look"), say("Done.")];
    const { leaked, chats } = await withRemoteSearch(stage, { script, searches });
    assert.deepEqual(leaked, []);
    assert.equal(chats.length, requests, pattern);
  }
});
