/** Explore: a search in a window of its own, through the whole program. */
import assert from "node:assert/strict";
import { ask, type FakeServerOptions, type RecordedRequest, say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, startProgram, temporaryHome } from "./helpers/program.ts";
import { builtinTools, toolSchemas } from "../src/tools/registry.ts";

const explore = (task: string) => ({ name: "Explore", input: { task } });
const read = (file_path: string) => ({ name: "Read", input: { file_path } });
/** Whether a request is of a search: its first message is another one. */
const isSearch = ({ json }: RecordedRequest) => json.messages[0].content.startsWith("You search a project");
const toolsOf = ({ json }: RecordedRequest) =>
  json.tools.map((tool: { function: { name: string } }) => tool.function.name);

/** Runs a prompt with a model of this window. */
async function run(script: FakeServerOptions["script"], { args = [], window = 32_768, settings = {} }: {
  args?: readonly string[];
  window?: number | null;
  settings?: Record<string, unknown>;
} = {}) {
  const home = await temporaryHome();
  await home.write("pump.py", "rate = 7\n");
  const server = startFakeServer({ script: script ?? [] });
  await configure(
    home,
    {
      loc: {
        baseUrl: server.baseUrl,
        models: [{ id: "fake", ...window === null ? {} : { context_window: window } }, "other"],
      },
    },
    {
      default_provider: "loc",
      default_model: "fake",
      ...settings,
    },
  );
  const done = await runInProcess(["run", "What is the rate?", ...args], { home });
  const chats = server.chats();
  return {
    done,
    chats,
    async [Symbol.asyncDispose]() {
      await server.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

const SEARCH = [ask(explore("Where is the rate?")), ask(read("pump.py")), say("pump.py:1 rate = 7"), say("It is 7.")];

Deno.test("a search has a window of its own, and its answer alone comes back", async () => {
  await using done = await run(SEARCH);
  assert.equal(done.done.code, 0, done.done.stderr);
  assert.equal(done.done.stdout, "It is 7.\n");
  const [first, search, , last] = done.chats;
  assert.deepEqual(done.chats.map(isSearch), [false, true, true, false]);
  assert.deepEqual(toolsOf(search!), ["Read", "Glob", "Grep"]);
  assert.equal(search?.json.messages.at(-1).content, "Where is the rate?");
  assert.equal(last?.json.messages.at(-1).content, "pump.py:1 rate = 7");
  assert.ok(!last?.text.includes("1\\trate = 7"), "what was read stays there");
  const prefix = JSON.stringify(first?.json.messages).slice(0, -1);
  assert.ok(JSON.stringify(last?.json.messages).startsWith(prefix), "the session's own prefix is as it was");
  assert.match(done.done.stderr, /^\* Explore Where is the rate\?\n {2}\* Read pump\.py$/m);
  assert.match(done.done.stderr, /2 responses/);
});

Deno.test("clients see its calls under the call of Explore, with ids of their own", async () => {
  await using done = await run(SEARCH, { args: ["--output-format", "stream-json", "--include-partial-messages"] });
  const events = done.done.stdout.trim().split("\n").map((line) => JSON.parse(line));
  const blocks = events.filter(({ type }) => type === "assistant").flatMap(({ message, parent_tool_use_id }) =>
    message.content.map((block: Record<string, unknown>) => ({ ...block, parent: parent_tool_use_id }))
  );
  const [outer, inner] = blocks.filter(({ type }) => type === "tool_use");
  assert.deepEqual([outer.name, outer.parent, inner.name, inner.parent], ["Explore", null, "Read", outer.id]);
  assert.notEqual(outer.id, inner.id);
  const results = events.filter(({ type }) => type === "user");
  assert.deepEqual(results.map(({ parent_tool_use_id: parent, message }) => [parent, message.content[0].tool_use_id]), [
    [outer.id, inner.id],
    [null, outer.id],
  ]);
  assert.equal(events.filter(({ subtype }) => subtype === "init").length, 1);
  const streamed = events.filter(({ type }) => type === "stream_event").map(({ event }) => event.delta?.text ?? "");
  assert.ok(!streamed.join("").includes("pump.py:1"), "its words are no part of the answer");
});

Deno.test("two searches of one response run one after the other", async () => {
  const answers = new Map([["a", 0], ["b", 0]]);
  await using done = await run((request) => {
    if (!isSearch(request)) return request.index === 0 ? ask(explore("a"), explore("b")) : say("Done.");
    const task = request.json.messages[1].content;
    const count = answers.get(task) ?? 0;
    answers.set(task, count + 1);
    return count === 0 ? ask(read("pump.py")) : say(`found ${task}`);
  });
  const tasks = done.chats.filter(isSearch).map(({ json }) => json.messages[1].content);
  assert.deepEqual(tasks, ["a", "a", "b", "b"]);
  const ids = done.chats.at(-1)?.json.messages.filter(({ role }: { role: string }) => role === "tool");
  assert.deepEqual(ids.map(({ content }: { content: string }) => content), ["found a", "found b"]);
});

Deno.test("it is offered from a window of 16,000 tokens on, where it is known, for at most 60 tokens", async () => {
  const offered = async (window: number | null, args: readonly string[] = []) => {
    await using done = await run([say("Hi.")], { window, args });
    return toolsOf(done.chats[0]!).includes("Explore");
  };
  assert.equal(await offered(16_384), true);
  assert.equal(await offered(12_000), false);
  assert.equal(await offered(8192), false);
  assert.equal(await offered(null), false);
  assert.equal(await offered(12_000, ["--tools", "Read,Explore"]), true);
  assert.equal(await offered(32_768, ["--disallowed-tools", "Explore"]), false);
  const bytes = (options: { explore: boolean }) => JSON.stringify(toolSchemas(builtinTools(options))).length;
  const cost = bytes({ explore: true }) - bytes({ explore: false });
  assert.ok(cost <= 60 * 4, `${cost} bytes`);
});

Deno.test("a long answer is cut, and a search that finds no end says so", async () => {
  const rows = Array.from({ length: 400 }, (_, at) => `src/part${at}.ts:${at}`).join("\n");
  await using long = await run([ask(explore("all parts")), say(rows), say("Done.")]);
  const answer: string = long.chats.at(-1)?.json.messages.at(-1).content;
  assert.ok(answer.length <= 1500, `${answer.length}`);
  assert.match(answer, /^src\/part0\.ts:0\n[^]*\n\[cut; ask for less at once\]$/);
  let at = 0;
  await using endless = await run((request) => {
    if (isSearch(request)) return ask({ name: "Grep", input: { pattern: `rate${at++}` } });
    return request.index === 0 ? ask(explore("forever")) : say("Done.");
  });
  assert.equal(endless.chats.filter(isSearch).length, 15);
  assert.match(endless.chats.at(-1)?.json.messages.at(-1).content, /the search was ended: .*15 responses/);
  assert.equal(endless.done.code, 0);
});

Deno.test("the model of role subagent does it where one is set", async () => {
  await using done = await run(SEARCH, { settings: { roles: { subagent: "loc:other" } } });
  assert.equal(done.done.stdout, "It is 7.\n", done.done.stderr);
  assert.deepEqual(done.chats.map(({ json }) => json.model), ["fake", "other", "other", "fake"]);
});

Deno.test("Ctrl-C ends a search and the turn", { ignore: Deno.build.os === "windows" }, async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [ask(explore("wait")), { kind: "silence" }] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32_768 }] } });
  await using program = startProgram(["run", "go"], { home });
  await program.closeInput();
  const search = await server.arrived(1);
  program.kill("SIGINT");
  const done = await program.finished;
  await search.gone;
  assert.equal(done.code, 130, done.stderr);
  assert.equal(server.chats().length, 2);
});
