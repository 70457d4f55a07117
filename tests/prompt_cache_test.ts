import assert from "node:assert/strict";
import { startCacheServer } from "./helpers/cache_server.ts";
import { say } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, startProgram, temporaryHome } from "./helpers/program.ts";

const LONG = "A line of a file that a model reads again and again.\n".repeat(120);
/** Reads nine pages, reasoning before each call, and then answers. */
const reading = (index: number) =>
  index < 9
    ? {
      kind: "message" as const,
      reasoning: `Now I want to see page ${index} of the file.`,
      calls: [{ name: "Read", input: { file_path: `page${index}.txt` } }],
    }
    : say("All pages were read.", { reasoning: "Nothing is left." });

/** A project with nine pages. */
async function pages() {
  const home = await temporaryHome();
  for (let page = 0; page < 9; page++) await home.write(`page${page}.txt`, `${page}\n${LONG}`);
  return home;
}

Deno.test("what the server says of its cache is in the closing line, the result and the events", async () => {
  await using home = await pages();
  await using server = startCacheServer({ script: reading });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "read all"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /^[\d.]+k in \([\d.]+k cached\), \d+ out, 10 responses, /m);
  assert.doesNotMatch(done.stderr, /reprocessed/);
  const machine = await runInProcess(["run", "read all", "--json"], { home });
  const result = JSON.parse(machine.stdout);
  const sum = (field: "prompt" | "cached") => server.counted.slice(10).reduce((all, one) => all + one[field], 0);
  assert.equal(result.usage.cache_read_input_tokens, sum("cached"));
  assert.equal(result.usage.input_tokens, sum("prompt") - sum("cached"));
  assert.deepEqual([result.reread_tokens, result.reread_ms], [0, 0]);
});

Deno.test("a cache that somebody else emptied is reported once, with the time it cost and the server's flag", async () => {
  await using home = await pages();
  await using server = startCacheServer({
    script: (index) => ({ ...reading(index), reasoning: "" }),
    evictedBefore: 4,
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "read all", "--json"], { home });
  const [, , , before, emptied] = server.counted;
  const result = JSON.parse(done.stdout);
  assert.equal(result.reread_tokens, before?.prompt);
  assert.equal(result.reread_ms, (before?.prompt ?? 0) * 10);
  assert.equal(emptied?.cached, 0);
});

Deno.test("a loss is reported in the output of a run, with its cause as far as it can be known", async () => {
  for (
    const [name, options, told] of [
      ["evicted", { evictedBefore: 4 }, /: another client used its slot.*; start llama-server with --cache-ram/],
      ["reasoning", { hybrid: true }, /: reasoning is not sent back.*; set reasoning: keep/],
    ] as const
  ) {
    await using home = await pages();
    const script = (index: number) => name === "reasoning" ? reading(index) : { ...reading(index), reasoning: "" };
    await using server = startCacheServer({ script, ...options });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", reasoning: "drop" }] } });
    const done = await runInProcess(["run", "read all"], { home });
    assert.equal(done.code, 0, done.stderr);
    const lines = done.stderr.split("\n").filter((line) => line.includes("tokens that were in its cache before"));
    assert.equal(lines.length, 1, done.stderr);
    assert.match(lines[0] ?? "", told);
    assert.match(lines[0] ?? "", /in \d+\.\d s: /);
  }
});

Deno.test("reasoning stays in the history where the template shows it, and each prompt finds the one before in the cache", async () => {
  await using home = await pages();
  await using server = startCacheServer({ script: reading, hybrid: true, preservesReasoning: true });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "read all", "--json"], { home });
  assert.equal(done.code, 0, done.stderr);
  const { counted } = server;
  assert.equal(counted.length, 10);
  for (const [at, { cached }] of counted.entries()) {
    const before = counted[at - 1];
    if (before === undefined) continue;
    assert.ok(cached >= before.prompt + before.reply - 2, `request ${at}: ${cached} of ${before.prompt}`);
  }
  assert.equal(JSON.parse(done.stdout).reread_tokens, 0);
  for (const { json } of server.chats()) assert.equal(json.chat_template_kwargs.preserve_reasoning, true);
});

Deno.test("what a server reports with its first reply counts for the rest of the session and for the next", async () => {
  await using home = await pages();
  await using server = startCacheServer({ script: (index) => reading(index % 10), preservesReasoning: true });
  // A configured window asks nothing before the first request.
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 65_536 }] } });
  const done = await runInProcess(["run", "read all"], { home });
  assert.equal(done.code, 0, done.stderr);
  const [first, ...others] = server.chats().map(({ json }) => json);
  assert.equal(first?.chat_template_kwargs, undefined);
  for (const json of others) {
    assert.equal(json.chat_template_kwargs.preserve_reasoning, true);
    const replies = json.messages.filter(({ role }: { role: string }) => role === "assistant");
    for (const reply of replies) assert.match(reply.reasoning_content, /^Now I want/);
  }
});

Deno.test("a summary is written beside the slot of the session where the server has several", async () => {
  for (const slots of [1, 4]) {
    await using home = await pages();
    await using server = startCacheServer({
      script: (index, { json }) =>
        // Words of the model are not shortened: only a summary makes room.
        json.tools === undefined ? say("Pages were read.") : { text: LONG, ...reading(index) },
      props: { default_generation_settings: { n_ctx: 8192 }, total_slots: slots },
    });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const done = await runInProcess(["run", "read all"], { home });
    assert.equal(done.code, 0, done.stderr);
    const summaries = server.chats().filter(({ json }) => json.tools === undefined);
    assert.ok(summaries.length > 0, done.stderr);
    for (const { json } of summaries) assert.equal(json.id_slot, slots === 1 ? undefined : 0);
    for (const { json } of server.chats()) if (json.tools !== undefined) assert.equal("id_slot" in json, false);
  }
});

Deno.test("a chat lets the server read a resumed session ahead where that is wanted, and not otherwise", async () => {
  for (const warm_up of [true, undefined]) {
    await using home = await pages();
    await using server = startCacheServer({ script: (index) => index < 10 ? reading(index) : say("Well.") });
    const entry = { id: "fake", ...(warm_up === undefined ? {} : { warm_up }) };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [entry] } });
    assert.equal((await runInProcess(["run", "read all"], { home })).code, 0);
    await using chat = startProgram(["chat", "--continue"], { home });
    // The chat is open and nobody has typed yet.
    if (warm_up === true) await server.arrived(10);
    await chat.write("and now?\n");
    await chat.closeInput();
    const done = await chat.finished;
    assert.equal(done.code, 0, done.stderr);
    const [ahead, asked] = warm_up === true ? server.chats().slice(10) : [undefined, server.chats()[10]];
    assert.equal(server.chats().length, warm_up === true ? 12 : 11);
    assert.equal(asked?.json.messages.at(-1).content, "and now?");
    if (ahead === undefined) continue;
    assert.equal(ahead.json.max_tokens, 1);
    assert.deepEqual(ahead.json.messages.slice(0, -1), asked?.json.messages.slice(0, -1));
  }
});
