/** MCP servers through the whole program: found, called, offered directly, from a cached manifest. */
import assert from "node:assert/strict";
import { ask, type FakeServerOptions, type RecordedRequest, say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { type PlannedServer, type PlannedTool, planServer, type ServerPlan, textArguments } from "./helpers/mcp.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const find = (query: string) => ({ name: "McpFind", input: { query } });
const call = (tool: string, args: unknown) => ({ name: "McpCall", input: { tool, args } });
const toolsOf = ({ json }: RecordedRequest): string[] =>
  json.tools.map((tool: { function: { name: string } }) => tool.function.name);
/** The results of the calls so far. */
const resultsOf = (request: RecordedRequest | undefined): string[] =>
  request?.json.messages.filter(({ role }: { role: string }) => role === "tool").map((
    { content }: { content: string },
  ) => content) ?? [];

/** So many tools that they are not all direct. */
const MANY: PlannedTool[] = [
  ...["read_note", "write_note", "delete_note", "list_labels"].map((name) => ({
    name,
    description: `${name.replace("_", " ")} of the notebook. ${"More words that nobody needs. ".repeat(12)}`,
    inputSchema: textArguments("title", "folder?"),
  })),
  {
    name: "create_issue",
    description: "Open an issue in a repository. Needs write access.",
    inputSchema: {
      type: "object",
      properties: {
        repo: { type: "string" },
        title: { type: "string" },
        priority: { type: "integer", minimum: 1, maximum: 5 },
        labels: { type: "array", items: { type: "string" } },
      },
      required: ["repo", "title"],
    },
  },
  ...Array.from({ length: 12 }, (_, at) => ({
    name: `metric_${at}`,
    description: `Metric number ${at} of the plant, ${"as the meter gives it, ".repeat(6)}every hour.`,
    inputSchema: textArguments("from", "to"),
  })),
];

interface Setup {
  home: TemporaryHome;
  server: PlannedServer;
}

/** Runs a prompt in a home whose configuration names one scripted server, `hub`. */
async function run(
  { home, server }: Setup,
  script: FakeServerOptions["script"],
  { args = ["--permission-mode", "bypassPermissions"], more = {}, window = 32_768, servers }: {
    args?: readonly string[];
    more?: Record<string, unknown>;
    window?: number;
    servers?: Record<string, unknown>;
  } = {},
) {
  await using model = startFakeServer({ script: script ?? [] });
  await configure(
    home,
    { loc: { baseUrl: model.baseUrl, models: [{ id: "fake", context_window: window }] } },
    { default_provider: "loc", mcp_servers: servers ?? { hub: { ...server.entry, ...more } } },
  );
  const done = await runInProcess(["run", "Go on.", ...args], { home });
  return { done, chats: model.chats() };
}

async function setUp(plan: ServerPlan): Promise<Setup & AsyncDisposable> {
  const home = await temporaryHome();
  const server = await planServer(`${home.root}/servers`, "fake", plan);
  return { home, server, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

for (const era of ["modern", "legacy"] as const) {
  Deno.test(`a model finds a tool and calls it, with a server of the ${era} era`, async () => {
    await using setup = await setUp({ era, tools: MANY });
    const { done, chats } = await run(setup, [
      ask(find("open an issue")),
      ask(call("hub.create_issue", { repo: "a/b", title: "T", priority: "3" })),
      say("Done."),
    ]);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(toolsOf(chats[0]!).slice(-2), ["McpFind", "McpCall"]);
    const [found, called] = resultsOf(chats[2]);
    assert.equal(
      found?.split("\n")[0],
      "hub.create_issue(repo: string, title: string, priority?: integer, labels?: string[]) – Open an issue in a repository.",
    );
    assert.equal(called, '{"repo":"a/b","title":"T","priority":3}');
  });
}

/** Few enough to be functions of their own. */
const FEW: PlannedTool[] = [
  {
    name: "add",
    description: "Add two numbers.",
    inputSchema: { type: "object", properties: { a: { type: "number" } } },
  },
  { name: "say", inputSchema: textArguments("text") },
];
const starts = async (server: PlannedServer) => (await server.heard()).filter(({ started }) => started).length;

Deno.test("tools that fit in 600 tokens together are functions of their own, and nothing else is offered", async () => {
  await using setup = await setUp({ era: "modern", tools: FEW });
  const { done, chats } = await run(setup, [ask({ name: "mcp__hub__add", input: { a: "2" } }), say("Done.")]);
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(toolsOf(chats[0]!).filter((name) => /mcp/i.test(name)), ["mcp__hub__add", "mcp__hub__say"]);
  assert.deepEqual(resultsOf(chats[1]), ['{"a":2}']);
});

Deno.test("a session with known tools starts no server before the first call, and offers the same bytes", async () => {
  await using setup = await setUp({ era: "modern", tools: MANY });
  const first = await run(setup, [say("Done.")]);
  assert.match(first.done.stderr, /starting the MCP server hub/);
  assert.equal(await starts(setup.server), 1);
  const second = await run(setup, [say("Done.")]);
  assert.doesNotMatch(second.done.stderr, /starting/);
  assert.equal(await starts(setup.server), 1);
  assert.equal(JSON.stringify(second.chats[0]?.json.tools), JSON.stringify(first.chats[0]?.json.tools));
  const third = await run(setup, [ask(call("hub.list_labels", { title: "a" })), say("Done.")]);
  assert.match(third.done.stderr, /starting the MCP server hub/);
  assert.equal(await starts(setup.server), 2);
  await setup.server.change({ era: "modern", tools: MANY, ttlMs: 0 });
  await run(setup, [ask(call("hub.list_labels", { title: "a" })), say("Done.")]);
  await run(setup, [say("Done.")]);
  assert.equal(await starts(setup.server), 4, "a list that holds no longer is asked for again");
});

Deno.test("the prompt without servers is the same byte for byte, also with one that is turned off", async () => {
  await using setup = await setUp({ era: "modern", tools: MANY });
  const without = await run(setup, [say("Done.")], { servers: {} });
  const off = await run(setup, [say("Done.")], { more: { enabled: false } });
  const hidden = await run(setup, [say("Done.")], { more: { tools: { "*": "off" } } });
  const body = ({ chats }: typeof without) => JSON.stringify(chats[0]?.json);
  assert.equal(body(off), body(without));
  assert.equal(body(hidden), body(without));
});

Deno.test("McpFind and McpCall together take at most 110 tokens, and the list never changes within a session", async () => {
  await using setup = await setUp({ era: "modern", tools: MANY });
  const { chats } = await run(setup, [
    ask(find("notes"), call("hub.read_note", { title: "a" })),
    ask(call("hub.metric_1", { from: "1", to: "2" })),
    say("Done."),
  ]);
  const lists = chats.map(({ json }) => JSON.stringify(json.tools));
  assert.equal(new Set(lists).size, 1);
  const two = chats[0]?.json.tools.slice(-2);
  assert.ok(JSON.stringify(two).length / 4 <= 110, `${JSON.stringify(two).length} bytes`);
});

Deno.test("each tool is offered as its entry says: direct, by search, or not at all", async () => {
  await using setup = await setUp({ era: "modern", tools: MANY });
  const { done, chats } = await run(setup, [
    ask(
      find("delete a note"),
      call("hub.delete_note", { title: "a" }),
      call("hub.create_issue", { repo: "a", title: "b" }),
    ),
    say("Done."),
  ], { more: { tools: { create_issue: "direct", delete_note: "off" } } });
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(toolsOf(chats[0]!).slice(-3), ["mcp__hub__create_issue", "McpFind", "McpCall"]);
  const [found, refused, called] = resultsOf(chats[1]);
  assert.doesNotMatch(found!, /delete_note/);
  assert.match(refused!, /no tool "hub.delete_note"/);
  assert.equal(called, '{"repo":"a","title":"b"}');
});

Deno.test("direct tools beyond a tenth of the window are found by search, with a notice", async () => {
  await using setup = await setUp({ era: "modern", tools: MANY });
  const { done, chats } = await run(setup, [say("Done.")], {
    more: { tools: { create_issue: "direct", read_note: "direct" } },
    window: 1_500,
  });
  assert.match(done.stderr, /hub\.read_note takes \d+ tokens and does not fit among the direct tools \(150 tokens\)/);
  assert.deepEqual(toolsOf(chats[0]!).slice(-3), ["mcp__hub__create_issue", "McpFind", "McpCall"]);
});

Deno.test("a small model's slips are mended, and what cannot be is answered with how the tool is called", async () => {
  await using setup = await setUp({ era: "legacy", tools: MANY });
  const { done, chats } = await run(setup, [
    ask(call("hub.create_issue", '{"repo":"a","title":"b"}')),
    ask(call("create_issue", { repo: "a", title: 5, labels: "x" })),
    ask({ name: "McpCall", input: { tool: "mcp__hub__create_issue", repo: "a", title: "flat" } }),
    ask(call("hub.create_isue", { repo: "a" })),
    ask(call("hub.create_issue", { repo: "a" })),
    ask(call("hub.create_issue", { repo: "a", title: "b", priority: 9 })),
    say("Done."),
  ]);
  assert.equal(done.code, 0, done.stderr);
  const [text, short, flat, near, missing, bound] = resultsOf(chats[6]);
  assert.equal(text, '{"repo":"a","title":"b"}');
  assert.equal(short, '{"repo":"a","title":"5","labels":["x"]}');
  assert.equal(flat, '{"repo":"a","title":"flat"}');
  assert.match(near!, /There is no tool "hub.create_isue". Did you mean hub.create_issue\?/);
  assert.match(missing!, /`title` is missing.*Usage: hub\.create_issue\(repo: string, title: string/);
  assert.match(bound!, /`priority` must be a number of at most 5, not 9.*Usage: /);
});

Deno.test("calls need a permission, which rules give by tool, by server, or for all", async () => {
  await using setup = await setUp({ era: "modern", tools: MANY });
  const script = [ask(call("hub.read_note", { title: "a" })), say("Done.")];
  const outcome = async (...args: string[]) => {
    const { done, chats } = await run(setup, script, { args });
    return [done.code, /"title":"a"/.test(resultsOf(chats[1]).join())];
  };
  const { done } = await run(setup, script, { args: [] });
  assert.match(done.stderr, /allow it: --allowed-tools mcp__hub__read_note, or/, "only what was denied is named");
  assert.deepEqual(await outcome(), [6, false]);
  for (const rule of ["McpCall", "McpCall(hub.read_note:*)", "McpCall(hub.*)", "mcp__hub__read_note", "mcp__hub"]) {
    assert.deepEqual(await outcome("--allowed-tools", rule), [0, true], rule);
  }
  assert.deepEqual(await outcome("--allowed-tools", "McpCall(hub.write_note:*),mcp__hu,mcp__hub__read"), [6, false]);
  for (const rule of ["mcp__hub__read_note", "McpCall(hub.read_note:*)"]) {
    const denied = await outcome("--permission-mode", "bypassPermissions", "--disallowed-tools", rule);
    assert.deepEqual(denied, [6, false], rule);
  }
  assert.deepEqual(await outcome("--permission-mode", "plan"), [6, false]);
});

Deno.test("--mcp-config brings servers for one session, as JSON or a file", async () => {
  await using setup = await setUp({ era: "legacy", tools: FEW });
  const config = { mcpServers: { given: { type: "stdio", ...setup.server.entry } } };
  const file = await setup.home.write("servers.json", JSON.stringify(config));
  for (const value of [JSON.stringify(config), file, "servers.json"]) {
    const { done, chats } = await run(setup, [ask({ name: "mcp__given__say", input: { text: "hi" } }), say("Done.")], {
      servers: {},
      args: ["--mcp-config", value, "--permission-mode", "bypassPermissions"],
    });
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(resultsOf(chats[1]), ['{"text":"hi"}']);
  }
});

Deno.test("a result over 20 KiB is cut, and the rest is in a file that Read opens", async () => {
  await using setup = await setUp({ era: "modern", tools: [{ name: "long", does: "long", inputSchema: {} }] });
  const { done, chats } = await run(setup, (request) => {
    const [result] = resultsOf(request);
    const path = /in (\S.*): Read/.exec(result ?? "")?.[1];
    if (result === undefined) return ask({ name: "mcp__hub__long", input: { size: 30_000 } });
    return resultsOf(request).length === 1 ? ask({ name: "Read", input: { file_path: path ?? "none" } }) : say("Done.");
  }, { window: 100_000 });
  assert.equal(done.code, 0, done.stderr);
  const [cut, read] = resultsOf(chats[2]);
  assert.match(cut!, /^x{20480}\n\[cut: 20,480 bytes of 30,000; the whole result is in \S.*: Read it/);
  assert.match(read!, /x{1000}/);
});

Deno.test("changed tools count from the next session on, at once where the list held no longer", async () => {
  await using setup = await setUp({ era: "modern", tools: FEW, ttlMs: 0 });
  const names = async (script: FakeServerOptions["script"]) => {
    const { done, chats } = await run(setup, script);
    return { lists: chats.map((chat) => toolsOf(chat).filter((name) => name.startsWith("mcp__")).join()), done };
  };
  assert.deepEqual((await names([say("Done.")])).lists, ["mcp__hub__add,mcp__hub__say"]);
  const [add, say_] = FEW;
  await setup.server.change({ era: "modern", tools: [say_!], ttlMs: 60_000 });
  const fresh = await names([say("Done.")]);
  assert.deepEqual(fresh.lists, ["mcp__hub__say"]);
  assert.match(fresh.done.stderr, /hub lists other tools now/);
  await setup.server.change({ era: "modern", tools: [add!, say_!], ttlMs: 60_000 });
  const within = await names([ask({ name: "mcp__hub__say", input: { text: "a" } }), say("Done.")]);
  assert.deepEqual(within.lists, ["mcp__hub__say", "mcp__hub__say"], "not within a session");
  assert.deepEqual((await names([say("Done.")])).lists, ["mcp__hub__add,mcp__hub__say"]);
});
