/** Servers whose chat template cannot show all that a request may hold: found out, once, and kept to. */
import assert from "node:assert/strict";
import { ask, refuse, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

// deno-lint-ignore no-explicit-any -- bodies of requests, as they came
type Body = any;

/** What llama-server puts before the words of a template. */
const JINJA =
  "\n------------\nWhile executing CallExpression at line 71, column 32 in source:\n...\nError: Jinja Exception: ";
const SINGLE_CALLS = refuse(500, `${JINJA}This model only supports single tool-calls at once!`);
const NO_PARSER = refuse(400, "Unable to generate parser for this template. Automatic parser generation failed: ");

function callCounts(body: Body): number[] {
  return body.messages.map((message: Body) => message.tool_calls?.length ?? 0);
}

function hasParallelCalls(body: Body): boolean {
  return callCounts(body).some((count) => count > 1);
}

/** Reads both files at once, whichever way tools are offered, then says what the second was. */
function readsBoth(body: Body): Step {
  const said = JSON.stringify(body.messages);
  if (said.includes("alpha") && said.includes("beta")) return say("alpha and beta");
  if (body.tools !== undefined) return ask(want("read", { path: "a.txt" }), want("read", { path: "b.txt" }));
  const call = (path: string) =>
    `<tool_call>\n${JSON.stringify({ name: "Read", arguments: { file_path: path } })}\n</tool_call>`;
  return say(`${call("a.txt")}\n${call("b.txt")}`);
}

/** A home with both files and the server as `loc`, its window known. */
async function homeWith(baseUrl: string, model: Record<string, unknown> = {}): Promise<TemporaryHome> {
  const home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await home.write("b.txt", "beta\n");
  await configure(home, { loc: { baseUrl, models: [{ id: "fake", context_window: 32768, ...model }] } });
  return home;
}

/** Each request begins with the messages of the one before. */
function assertStablePrefix(bodies: readonly Body[]): void {
  bodies.forEach((body, at) => {
    const before = bodies[at - 1];
    if (before === undefined) return;
    assert.deepEqual(body.messages.slice(0, before.messages.length), before.messages, `request ${at}`);
    assert.deepEqual(body.tools, before.tools);
  });
}

Deno.test("a template that refuses parallel calls in the history gets one call a message, in the next runs at once", async () => {
  await using server = startFakeServer({
    script: ({ json }) => hasParallelCalls(json) ? SINGLE_CALLS : readsBoth(json),
  });
  await using home = await homeWith(server.baseUrl);
  const done = await runInProcess(["run", "read a.txt and b.txt"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stdout, "alpha and beta\n");
  assert.match(done.stderr, /one tool call per message from here on/);
  assert.deepEqual(server.chats().map(({ json }) => callCounts(json)), [[0, 0], [0, 0, 2, 0, 0], [0, 0, 1, 0, 1, 0]]);
  const before = server.chats().length;
  for (const more of [[], ["--continue"]]) {
    const next = await runInProcess(["run", "once more", ...more], { home });
    assert.equal(next.code, 0, next.stderr);
    assert.doesNotMatch(next.stderr, /sent again/);
  }
  const bodies = server.chats().slice(before).map(({ json }) => json);
  assert.ok(bodies.every((body) => !hasParallelCalls(body)));
  assertStablePrefix(bodies.slice(1));
});

Deno.test("a stored session with parallel calls continues with a server whose template refuses them", async () => {
  let refuses = false;
  await using server = startFakeServer({
    script: ({ json }) => refuses && hasParallelCalls(json) ? SINGLE_CALLS : readsBoth(json),
  });
  // Calls as such are configured: how many of them a message holds is found out all the same.
  await using home = await homeWith(server.baseUrl, { tool_calls: "native" });
  assert.equal((await runInProcess(["run", "read a.txt and b.txt"], { home })).code, 0);
  refuses = true;
  const before = server.chats().length;
  for (const prompt of ["and now?", "and then?"]) {
    const done = await runInProcess(["run", "--continue", prompt], { home });
    assert.equal(done.code, 0, done.stderr);
  }
  assert.deepEqual(server.chats().slice(before).map(({ json }) => hasParallelCalls(json)), [true, false, false]);
});

Deno.test("a template that fails on the tools gets them as text; what fails in every shape is reported and not kept", async () => {
  let isBroken = true;
  await using server = startFakeServer({
    script: ({ json }) => json.tools !== undefined || isBroken ? NO_PARSER : readsBoth(json),
  });
  await using home = await homeWith(server.baseUrl);
  const broken = await runInProcess(["run", "read a.txt and b.txt", "--json"], { home });
  assert.notEqual(broken.code, 0);
  const { error_code: code, errors, hint } = JSON.parse(broken.stdout);
  assert.equal(code, "provider_error");
  assert.match(errors.join(), /loc has a chat template that cannot render this conversation \(HTTP 400\)/);
  assert.match(hint, /--chat-template-file/);
  isBroken = false;
  const before = server.chats().length;
  for (const _ of [1, 2]) {
    const done = await runInProcess(["run", "read a.txt and b.txt"], { home });
    assert.equal(done.stdout, "alpha and beta\n", done.stderr);
  }
  const chats = server.chats().slice(before).map(({ json }) => json);
  assert.deepEqual(chats.map((body) => body.tools !== undefined), [true, false, false, false, false]);
  for (const body of chats.slice(1)) {
    assert.ok(
      body.messages.every(({ role }: Body, at: number) => role === ["system", "user", "assistant"][at && 2 - at % 2]),
    );
  }
});

Deno.test("a template that knows no system message gets its words with the first prompt, also for a summary", async () => {
  const refusal = refuse(400, "Conversation roles must alternate user/assistant/user/assistant/...");
  await using server = startFakeServer({
    script: ({ json }) => {
      const roles: string[] = json.messages.map(({ role }: Body) => role);
      const alternates = roles.every((role, at) => role === ["user", "assistant"][at % 2]);
      if (!alternates || json.tools !== undefined) return refusal;
      return /You keep the notes/.test(json.messages[0].content) ? say("Notes: alpha and beta.") : readsBoth(json);
    },
  });
  await using home = await homeWith(server.baseUrl, { context_window: 8192 });
  for (const name of ["alpha", "beta"]) await home.write(`${name[0]}.txt`, `${name}\n`.repeat(800));
  const done = await runInProcess(["chat"], { home, stdin: "read a.txt and b.txt\nwell\n/compact\nand now?\n" });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /alpha and beta/);
  assert.ok(
    server.chats().some(({ json }) => /You keep the notes[^]*Write the summary/.test(json.messages[0].content)),
  );
  const before = server.chats().length;
  const next = await runInProcess(["run", "read a.txt and b.txt"], { home });
  assert.equal(next.stdout, "alpha and beta\n", next.stderr);
  const bodies = server.chats().slice(before).map(({ json }) => json);
  assert.equal(bodies.length, 2);
  assertStablePrefix(bodies);
});

Deno.test("words of a template inside another failure change nothing for the next run", async () => {
  let failed = false;
  await using server = startFakeServer({
    script: ({ json, index }) => {
      if (index === 1) return SINGLE_CALLS;
      if (index === 2) failed = true;
      return index === 2 ? refuse(401, "Invalid API Key") : readsBoth(json);
    },
  });
  await using home = await homeWith(server.baseUrl);
  const done = await runInProcess(["run", "read a.txt and b.txt"], { home });
  assert.equal(done.code, 5, done.stderr);
  assert.ok(failed);
  const next = await runInProcess(["run", "read a.txt and b.txt"], { home });
  assert.equal(next.stdout, "alpha and beta\n", next.stderr);
  assert.ok(hasParallelCalls(server.chats().at(-1)?.json));
});

/** What llama-server tells of a template in `/props`. */
function capabilities(can: { tools: boolean; parallel: boolean }): Step {
  const caps = {
    supports_tools: can.tools,
    supports_tool_calls: can.tools,
    supports_parallel_tool_calls: can.parallel,
    supports_system_role: can.tools,
  };
  return { kind: "status", status: 200, body: JSON.stringify({ chat_template_caps: caps, modalities: {} }) };
}

/** How a llama-server with such a template is set up. */
function llama(can: { tools: boolean; parallel: boolean }) {
  return { name: "llama.cpp", routes: { "/props": capabilities(can) } };
}

Deno.test("tools that a template would drop without a word are described in the prompt instead", async () => {
  await using server = startFakeServer({
    ...llama({ tools: false, parallel: false }),
    // The template drops the tools: what the model would say without them is not waited for.
    script: ({ json }) => json.tools === undefined ? readsBoth(json) : { kind: "silence" },
  });
  await using home = await homeWith(server.baseUrl);
  const first = await runInProcess(["run", "read a.txt and b.txt"], { home });
  assert.equal(first.stdout, "alpha and beta\n", first.stderr);
  assert.match(first.stderr, /does not support tool calling with fake: tools are described in the prompt instead/);
  const second = await runInProcess(["run", "read a.txt and b.txt"], { home });
  assert.equal(second.stdout, "alpha and beta\n", second.stderr);
  const bodies = server.chats().map(({ json }) => json);
  assert.deepEqual(bodies.map((body) => body.tools !== undefined), [true, false, false, false, false]);
  assertStablePrefix(bodies.slice(1, 3));
  assert.equal(server.requests.length, bodies.length + 2, "asked once a session, behind the first request");
  assert.equal(server.requests[0]?.index, 0);
  await server.requests[0]?.gone;
});

Deno.test("another template on the same server is found out by the next session", async () => {
  const can = { tools: false, parallel: false };
  await using server = startFakeServer({
    name: "llama.cpp",
    script: ({ json }) => json.tools === undefined || can.tools ? readsBoth(json) : { kind: "silence" },
    routes: {
      get "/props"() {
        return capabilities(can);
      },
    },
  });
  await using home = await homeWith(server.baseUrl);
  const runs = async () => {
    const before = server.chats().length;
    const done = await runInProcess(["run", "read a.txt and b.txt"], { home });
    assert.equal(done.stdout, "alpha and beta\n", done.stderr);
    return server.chats().slice(before).map(({ json }) => json.tools !== undefined);
  };
  assert.deepEqual(await runs(), [true, false, false]);
  [can.tools, can.parallel] = [true, true];
  assert.deepEqual(await runs(), [false, false], "what was learnt holds for a session");
  assert.deepEqual(await runs(), [true, true]);
  [can.tools, can.parallel] = [false, false];
  assert.deepEqual(await runs(), [true, false, false]);
});

Deno.test("what a template refused stays known, whatever the server says of it", async () => {
  await using server = startFakeServer({
    ...llama({ tools: true, parallel: true }),
    script: ({ json }) => json.tools === undefined ? readsBoth(json) : NO_PARSER,
  });
  await using home = await homeWith(server.baseUrl);
  for (const requests of [3, 2, 2]) {
    const before = server.chats().length;
    const done = await runInProcess(["run", "read a.txt and b.txt"], { home });
    assert.equal(done.stdout, "alpha and beta\n", done.stderr);
    assert.equal(server.chats().length - before, requests);
  }
});

Deno.test("what a template drops of parallel calls is not sent together, also in a resumed session", async () => {
  let name = "";
  await using server = startFakeServer({
    ...llama({ tools: true, parallel: false }),
    script: ({ json }) => readsBoth(json),
    get name() {
      return name;
    },
  });
  await using home = await homeWith(server.baseUrl);
  assert.equal((await runInProcess(["run", "read a.txt and b.txt"], { home })).code, 0);
  name = "llama.cpp";
  const counted = async (...args: string[]) => {
    const before = server.chats().length;
    const done = await runInProcess(["run", "read a.txt and b.txt", ...args], { home });
    assert.equal(done.stdout, "alpha and beta\n", done.stderr);
    return server.chats().slice(before).map(({ json }) => Math.max(...callCounts(json)));
  };
  assert.deepEqual(await counted("--continue"), [2, 1]);
  assert.deepEqual(await counted("--continue"), [1]);
  assert.deepEqual(await counted(), [0, 1]);
});

Deno.test("a template is asked about once a session, and what is configured stands", async () => {
  const able = { tools: true, parallel: true };
  const unable = { tools: false, parallel: true };
  for (
    const [model, can, asked] of [[{}, able, 1], [{ tool_calls: "native" }, unable, 1], [
      { tool_calls: "text" },
      able,
      0,
    ]] as const
  ) {
    await using server = startFakeServer({ ...llama(can), script: ({ json }) => readsBoth(json) });
    await using home = await homeWith(server.baseUrl, model);
    const done = await runInProcess(["run", "read a.txt and b.txt"], { home });
    assert.equal(done.stdout, "alpha and beta\n", done.stderr);
    assert.equal(server.requests.length, 2 + asked);
    assert.deepEqual(server.chats().map(({ json }) => json.tools !== undefined), [asked === 1, asked === 1]);
  }
});
