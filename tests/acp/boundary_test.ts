/**
 * What a client may receive, and what may leave by way of it. Each rule has its control: the same where nothing is
 * protected.
 */
import assert from "node:assert/strict";
import { AcpClient, type AcpOptions, choose, type Message } from "../helpers/acp_client.ts";
import { ask, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { pngFile } from "../helpers/images.ts";
import { configure, temporaryHome } from "../helpers/program.ts";

const SECRET = "kX9-long-secret-value-4711-qwertz";
const MODEL = [{ id: "fake", context_window: 32768 }];

/** A project whose `.env` is for local models alone, and a model here or on another host. */
async function stage(
  script: readonly Step[],
  { isLocal = true, settings = {}, ...options }:
    & { isLocal?: boolean; settings?: Record<string, unknown> }
    & Partial<AcpOptions> = {},
) {
  const home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\nno-cloud: shot.png\n");
  await home.write(".env", `KEY=${SECRET}\n`);
  await home.write("open.txt", "nothing to hide\n");
  const server = startFakeServer({ script, host: isLocal ? "127.0.0.1" : "127.0.0.2" });
  const elsewhere = { baseUrl: "https://models.example.invalid/v1", models: ["big"] };
  const models = [{ ...MODEL[0], images: true }];
  await configure(home, { loc: { baseUrl: server.baseUrl, models }, far: elsewhere }, {
    default_provider: "loc",
    default_model: "fake",
    ...settings,
  });
  const client = new AcpClient({ home, ...options });
  return {
    home,
    server,
    client,
    sent: () => server.chats().map(({ text }) => text).join("\n"),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server.close();
      await home.dispose();
    },
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;
const uri = ({ home }: Stage, name: string) => `file://${home.project}/${name}`;
const resource = (set: Stage, name: string, text: string) => ({
  type: "resource",
  resource: { uri: uri(set, name), text },
});

Deno.test("what an editor holds of a protected path is protected, whatever its text", async () => {
  for (const isLocal of [true, false]) {
    await using set = await stage([say("Fine.")], { isLocal });
    const session = await set.client.session();
    const stop = await set.client.prompt(session, [{ type: "text", text: "Look" }, resource(set, ".env", "X=1\n")]);
    if (isLocal) {
      assert.equal(stop.stopReason, "end_turn");
      assert.match(set.sent(), /File \.env/);
    } else {
      assert.equal(stop.stopReason, "refusal");
      assert.match(set.client.words, /\.agentclisecret:1 no-cloud: \.env/);
      assert.equal(set.server.chats().length, 0);
    }
  }
  await using control = await stage([say("Fine.")], { isLocal: false });
  await control.client.prompt(await control.client.session(), [resource(control, "open.txt", "X=1\n")]);
  assert.match(control.sent(), /X=1/);
});

Deno.test("every way to a protected file is refused for a remote model, and a link to an open one is attached", async () => {
  await using set = await stage([say("Fine.")], { isLocal: false });
  const { home, client } = set;
  await Deno.symlink(`${home.project}/.env`, `${home.project}/link.txt`);
  await Deno.symlink(`${home.project}/.env`, `${home.root}/outside.txt`);
  await home.write("shot.png", pngFile({ width: 4, height: 4 }));
  const session = await client.session();
  const image = pngFile({ width: 8, height: 8 }).toBase64();
  for (
    const block of [
      { type: "resource_link", uri: uri(set, ".env"), name: ".env" },
      { type: "resource_link", uri: `${home.project}/.env`, name: ".env" },
      { type: "resource_link", uri: uri(set, "src/../%2Eenv"), name: ".env" },
      { type: "resource_link", uri: uri(set, ".env#L1:2"), name: ".env" },
      { type: "resource_link", uri: uri(set, "link.txt"), name: "link.txt" },
      { type: "resource_link", uri: uri(set, "shot.png"), name: "shot.png" },
      resource(set, "link.txt", "harmless"),
      { type: "resource", resource: { uri: uri(set, "shot.png"), blob: image, mimeType: "image/png" } },
      { type: "resource", resource: { uri: uri(set, ".env").replace("file://", "vscode-remote://wsl"), text: "X=1" } },
      { type: "resource", resource: { uri: `git:${home.project}/%2eenv?ref=HEAD`, text: "X=1" } },
      ...[
        `git:${home.project}/.env.git?${encodeURIComponent(JSON.stringify({ path: `${home.project}/.env` }))}`,
        `zed:///agent/selection?path=${encodeURIComponent(`${home.project}/.env`)}#L1:2`,
        `view-source:file://${home.project}/.env`,
        "untitled:.env",
        ".env",
        "%2Eenv",
        "buffer://.env",
        "zed:///agent/file?path=.env",
        "jetbrains://idea/navigate/reference?project=p&path=.env",
        `diff:(${home.project}/.env)`,
        `file://${home.project}/%252Eenv`,
        `file://${home.root}/outside.txt`,
        `untitled:${"a/".repeat(5000)}.env`,
      ].map((uri) => ({ type: "resource", resource: { uri, text: "X=1" } })),
      { type: "image", data: image, mimeType: "image/png", uri: uri(set, "shot.png") },
      resource(set, "open.txt", `copied: ${SECRET}`),
      { type: "resource", resource: { uri: "untitled:1", text: `copied: ${SECRET}` } },
      { type: "text", text: `copied: ${SECRET}` },
    ]
  ) {
    const { stopReason } = await client.prompt(session, [{ type: "text", text: "Look" }, block]);
    assert.equal(stopReason, "refusal", JSON.stringify(block).slice(0, 200));
  }
  assert.equal(set.server.chats().length, 0);
  const open = [
    { type: "resource_link", uri: uri(set, "open.txt"), name: "open.txt" },
    { type: "image", data: image, mimeType: "image/png", uri: uri(set, "new.png") },
    { type: "resource", resource: { uri: `git:${home.project}/open.txt?ref=HEAD`, text: "as it was" } },
    { type: "resource", resource: { uri: "https://example.invalid/page?of=/open.txt&for=a", text: "a page" } },
    { type: "resource", resource: { uri: "untitled:Untitled-1", text: "a draft" } },
    { type: "resource", resource: { uri: `view-source:file://${home.root}/open/.env`, text: "of no project" } },
    { type: "resource", resource: { uri: `zed:///agent/file?path=${home.project}/open.txt`, text: "as it was" } },
  ];
  assert.equal((await client.prompt(session, open)).stopReason, "end_turn");
  assert.match(set.sent(), /nothing to hide/);
});

Deno.test("a rule that denies reading a file holds for what an editor sends of it", async () => {
  await using set = await stage([say("Fine.")], { args: ["--disallowed-tools", "Read(open.txt)"] });
  const session = await set.client.session();
  for (
    const block of [
      resource(set, "open.txt", "typed"),
      { type: "resource_link", uri: uri(set, "open.txt"), name: "open.txt" },
    ]
  ) {
    assert.equal((await set.client.prompt(session, [block])).stopReason, "refusal");
    assert.match(set.client.words, /Read\(open\.txt\)/);
  }
  assert.equal((await set.client.prompt(session, [resource(set, "other.txt", "typed")])).stopReason, "end_turn");
});

Deno.test("nor one that only a link of that project protects, wherever in it the link is", async () => {
  for (const line of ["current", "*.env", "elsewhere"]) {
    await using set = await stage([say("Fine.")], { isLocal: false });
    const other = `${set.home.root}/other`;
    for (const place of ["data", "sub"]) await Deno.mkdir(`${other}/${place}`, { recursive: true });
    await Deno.writeTextFile(`${other}/.agentclisecret`, `no-cloud: ${line}\n`);
    await Deno.writeTextFile(`${other}/data/plan.md`, "text\n");
    await Deno.symlink("../data/plan.md", `${other}/sub/${line === "*.env" ? "prod.env" : "current"}`);
    const session = await set.client.session();
    const block = { type: "resource", resource: { uri: `file://${other}/data/plan.md`, text: "words of it" } };
    const { stopReason } = await set.client.prompt(session, [block]);
    assert.equal(stopReason, line === "elsewhere" ? "end_turn" : "refusal", `${line} (the last is the control)`);
  }
});

Deno.test("a file that another project protects, or the home of agentcli, is not attached for a remote model", async () => {
  await using set = await stage([say("Fine."), say("Fine."), say("Fine.")], { isLocal: false });
  const { home, client } = set;
  const other = `${home.root}/other`;
  await Deno.mkdir(other);
  await Deno.writeTextFile(`${other}/.agentclisecret`, "no-cloud: plan.md\n");
  await Deno.mkdir(`${other}/.git`);
  for (const name of ["plan.md", "free.md", ".git/COMMIT_EDITMSG"]) {
    await Deno.writeTextFile(`${other}/${name}`, "text\n");
  }
  // A session there makes the project known.
  await client.request("initialize", { protocolVersion: 1 });
  const there = await client.session({ cwd: other });
  await client.request("session/close", { sessionId: there });
  const session = await client.session();
  const named = (uri: string) => [{ type: "resource", resource: { uri, text: "words of it" } }];
  const outside = (path: string) => named(`file://${path}`);
  for (const uri of ["../other/plan.md", "untitled:../other/plan.md", "mem:doc?file=..%2Fother%2Fplan.md"]) {
    assert.equal((await client.prompt(session, named(uri))).stopReason, "refusal", uri);
  }
  assert.equal((await client.prompt(session, outside(`${other}/plan.md`))).stopReason, "refusal");
  const message = outside(`${other}/.git/COMMIT_EDITMSG`);
  assert.equal((await client.prompt(session, message)).stopReason, "refusal", "git keeps what is protected");
  assert.equal((await client.prompt(session, outside(`${home.agentcliHome}/providers.yaml`))).stopReason, "refusal");
  assert.equal(set.server.chats().length, 0);
  assert.equal((await client.prompt(session, outside(`${other}/free.md`))).stopReason, "end_turn");
  assert.equal((await client.prompt(session, named("../other/free.md"))).stopReason, "end_turn");
  const open = `${home.root}/open/.git/COMMIT_EDITMSG`;
  assert.equal(
    (await client.prompt(session, outside(open))).stopReason,
    "end_turn",
    "control: nothing is protected there",
  );
});

for (const isHere of [true, false]) {
  const where = isHere ? "no model of this machine, either" : "no host that only a marker here trusts";
  Deno.test(`a file that another project protects goes to ${where}`, async () => {
    await using lan = startFakeServer({ script: () => say("Fine."), host: "127.0.0.2" });
    await using set = await stage([say("Fine."), say("Fine."), say("Fine.")]);
    const { home, client, server } = set;
    await configure(home, {
      loc: { baseUrl: server.baseUrl, models: MODEL },
      lan: { baseUrl: lan.baseUrl, models: MODEL },
    }, { default_provider: isHere ? "loc" : "lan" });
    await home.write(".agentclisecret", "no-cloud: .env\nlocal-endpoints: 127.0.0.2\n");
    const other = `${home.root}/other`;
    await Deno.mkdir(other);
    await Deno.writeTextFile(`${other}/.agentclisecret`, "no-cloud: plan.md\nlist-only: vault.md\n");
    await Deno.writeTextFile(`${other}/plan.md`, "the plan");
    await Deno.link(`${other}/plan.md`, `${other}/second-name.md`);
    const theirs = (name: string) => ({ type: "resource", resource: { uri: `file://${other}/${name}`, text: SECRET } });
    const sessionId = await client.session();
    assert.equal((await client.prompt(sessionId, [resource(set, ".env", "our words")])).stopReason, "end_turn");
    assert.match((isHere ? server : lan).chats().at(-1)?.text ?? "", /our words/, "control: its own goes there");
    for (const name of ["vault.md", "plan.md", "second-name.md"]) {
      assert.equal((await client.prompt(sessionId, [theirs(name)])).stopReason, "refusal");
      assert.match(client.words, /another project protects it/);
    }
    assert.equal((await client.prompt(sessionId, "and now?")).stopReason, "end_turn", "control: it continues there");
    assert.ok(![...lan.chats(), ...server.chats()].some(({ text }) => text.includes(SECRET)));
  });
}

Deno.test("a client gets the answer about protected content, and placeholders for calls and results", async () => {
  for (const shows of [true, false]) {
    await using set = await stage([
      ask(want("read", { path: ".env" })),
      { ...ask(want("grep", { pattern: SECRET.slice(0, 8) })), reasoning: `It was ${SECRET}` } as Step,
      say(`The key is ${SECRET}.`),
    ], { settings: shows ? {} : { acp: { show_protected: false } } });
    const session = await set.client.session();
    await set.client.prompt(session, "What is the key?");
    const [read, grep] = set.client.calls().values();
    assert.equal(read.status, "completed");
    assert.match(read.content[0].content.text, /no-cloud/);
    assert.doesNotMatch(JSON.stringify(grep), new RegExp(SECRET.slice(0, 8)));
    assert.deepEqual(Object.keys(grep.rawInput), ["redacted"]);
    assert.equal(grep.locations, undefined);
    assert.equal(set.client.words.includes(SECRET), shows);
    assert.equal(set.client.everything.includes(SECRET), shows);
  }
  await using control = await stage([ask(want("read", { path: "open.txt" })), say("It is open.")]);
  await control.client.prompt(await control.client.session(), "What is in it?");
  assert.match(JSON.stringify(control.client.calls().get("call0001s")), /nothing to hide/);
});

Deno.test("a plan made in a session with protected content is not sent", async () => {
  const plan = (content: string) => ask({ name: "TodoWrite", input: { todos: [{ content, status: "pending" }] } });
  await using set = await stage([
    plan("Look around"),
    ask(want("read", { path: ".env" })),
    plan(`Change ${SECRET}`),
    say("Done."),
  ]);
  await set.client.prompt(await set.client.session(), "Plan it");
  const plans = set.client.updates("plan").map(({ entries }) => entries.map(({ content }: Message) => content));
  assert.deepEqual(plans, [["Look around"]]);
});

Deno.test("a question about a protected file shows what the call says, and nothing that is in the file", async () => {
  const asked: Message[] = [];
  const answer = (params: Message) => {
    asked.push(params);
    return choose("deny")(params);
  };
  const answers = { "session/request_permission": answer };
  const writing = (path: string) => [
    ask(want("read", { path })),
    ask(want("write", { path, content: "NEW=1\n" })),
    say("No."),
  ];
  await using set = await stage([...writing(".env"), ...writing("open.txt")], { answers });
  for (let count = 0; count < 2; count++) await set.client.prompt(await set.client.session(), "write");
  assert.doesNotMatch(set.client.everything, new RegExp(SECRET));
  assert.deepEqual(asked.map(({ toolCall }) => toolCall.content[0].type), ["content", "diff"]);
});

Deno.test("models elsewhere are left out of the settings once protected content was read", async () => {
  await using set = await stage([ask(want("read", { path: ".env" })), say("Read."), say("Still here.")]);
  const { client } = set;
  const sessionId = await client.session();
  const values = (options: Message[]) =>
    options.find(({ id }) => id === "model").options.map(({ value }: Message) => value);
  const begun = client.messages.find(({ result }) => result?.sessionId === sessionId).result.configOptions;
  assert.deepEqual(values(begun), ["loc:fake", "far:big"]);
  await client.prompt(sessionId, "read it");
  assert.deepEqual(values(client.updates("config_option_update").at(-1).configOptions), ["loc:fake"]);
  const set_ = { sessionId, configId: "model", value: "far:big" };
  const refused = await client.failure("session/set_config_option", set_);
  assert.equal(refused.code, -32602);
  assert.match(refused.message, /this session has read \.env \(.*no-cloud: \.env.*\), and far:big is remote/);
  const { configOptions } = await client.request("session/set_config_option", { ...set_, value: "loc:fake" });
  assert.deepEqual(values(configOptions), ["loc:fake"]);
  const fresh = await client.request("session/new", { cwd: set.home.project, mcpServers: [] });
  assert.deepEqual(values(fresh.configOptions), ["loc:fake", "far:big"]);
});

Deno.test("what is replayed has placeholders, and a notice says so", async () => {
  await using set = await stage([
    ask(want("read", { path: ".env" })),
    say(`The key is ${SECRET}.`),
    say("Open."),
  ], { capabilities: { session: { notices: {} } } });
  const { client, home } = set;
  const secret = await client.session();
  await client.prompt(secret, "read it");
  const open = await client.session();
  await client.prompt(open, "hi");
  const load = async (sessionId: string) => {
    await client.request("session/close", { sessionId });
    const before = client.messages.length;
    await client.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    return JSON.stringify(client.messages.slice(before));
  };
  const told = await load(secret);
  assert.doesNotMatch(told, new RegExp(SECRET));
  assert.match(told, /"sessionUpdate":"notice"[^}]*placeholders/);
  assert.doesNotMatch(await load(open), /placeholders/);
});

Deno.test("lists of sessions show the words of a prompt, and nothing of a file that came before them", async () => {
  for (const words of [["what is this?"], []]) {
    await using set = await stage([say("Fine.")]);
    const { client } = set;
    const file = resource(set, "open.txt", "KEY=none\n");
    const said = words.map((text) => ({ type: "text", text }));
    await client.prompt(await client.session(), [file, ...said]);
    const listed = JSON.stringify(await client.request("session/list", { cwd: set.home.project }));
    assert.match(listed, /"sessionId"/);
    assert.equal(listed.includes("what is this?"), words.length > 0);
    assert.doesNotMatch(listed, /KEY=/);
    assert.match(set.sent(), /File open\.txt:\\nKEY=/);
  }
});

Deno.test("a rule that a client gives for always is not stored where it may hold protected content", async () => {
  const ways = [["open.txt", SECRET], [".env", "words in no form that a scan knows"], ["open.txt", "words"]] as const;
  for (const [path, quoted] of ways) {
    const script = [
      ask(want("read", { path })),
      ask(want("shell", { command: `grep -c "${quoted}" open.txt` })),
      say("Done."),
    ];
    const answers = { "session/request_permission": choose("project") };
    await using set = await stage(script, { answers, capabilities: { session: { notices: {} } } });
    await set.client.prompt(await set.client.session(), "look");
    const isKept = quoted === "words";
    const stored = await Deno.readTextFile(`${set.home.agentcliHome}/permissions.json`).catch(() => "");
    assert.equal(stored.includes("grep -c"), isKept);
    const told = set.client.everything.includes("the rule was not written: it may hold protected content");
    assert.equal(told, !isKept);
    assert.match(set.client.words, /Done\./);
  }
});

Deno.test("the description of a protected workflow is not sent to a client", async () => {
  await using set = await stage([say("Fine.")]);
  const workflow = (name: string) =>
    set.home.write(`.windsurf/workflows/${name}.md`, `---\ndescription: ${name} ${SECRET}\n---\nGo.\n`);
  await Promise.all(["hidden", "shown"].map(workflow));
  await set.home.write(".agentclisecret", "no-cloud: hidden.md\n");
  await set.client.prompt(await set.client.session(), "hi");
  const [told = ""] = set.client.updates("available_commands_update").map(({ availableCommands }) =>
    JSON.stringify(availableCommands)
  );
  assert.match(told, new RegExp(`"hidden".*"shown ${SECRET}`));
  assert.doesNotMatch(told, /hidden kX9/);
});

Deno.test("neither terminals nor files of the client are used unless it offers them, and terminals never", async () => {
  for (const capabilities of [{}, { terminal: true }]) {
    await using set = await stage([
      ask(want("shell", { command: "echo hello" })),
      ask(want("read", { path: "open.txt" })),
      ask(want("write", { path: "b.txt", content: "b" })),
      say("Done."),
    ], { capabilities, args: ["--permission-mode", "bypassPermissions"] });
    await set.client.prompt(await set.client.session(), "do it");
    const asked = set.client.messages.filter(({ method, id }) => method !== undefined && id !== undefined);
    assert.deepEqual(asked, []);
    assert.equal(await set.home.read("b.txt"), "b");
  }
});
