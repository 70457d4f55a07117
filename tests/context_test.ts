import assert from "node:assert/strict";
import { eventSchema, type ProtocolEvent } from "../src/protocol/schema.ts";
import { always, ask, refuse, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

function events(stdout: string): ProtocolEvent[] {
  return stdout.trimEnd().split("\n").map((line) => eventSchema.parse(JSON.parse(line)));
}

function answer(body: unknown): Step {
  return { kind: "status", status: 200, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

/** A server that looks like Ollama with a loaded model of this window. */
const ollama = (window: number) => ({
  models: { object: "list", data: [{ id: "fake", object: "model", owned_by: "library" }] },
  routes: { "/api/ps": answer({ models: [{ name: "fake:latest", context_length: window }] }) },
});

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

Deno.test("the window is asked for once, decides the profile, and is remembered privately", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ ...ollama(4096), script: [always(say("Hi."))] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const first = await runInProcess(["run", "hi", "--json"], { home });
  assert.equal(first.code, 0, first.stderr);
  assert.equal(JSON.parse(first.stdout).modelUsage.fake.contextWindow, 4096);
  const asked = server.requests.length - server.chats().length;
  assert.ok(asked > 0);
  const { tools, messages } = server.chats()[0]?.json;
  // Where the project lies is nothing of ours.
  const bytes = bytesOf(JSON.stringify(tools) + messages[0].content.replaceAll(home.project, "/home/me/project"));
  assert.ok(bytes <= 1600, `${bytes} bytes`);
  const second = await runInProcess(["run", "hi", "--json"], { home });
  assert.equal(JSON.parse(second.stdout).modelUsage.fake.contextWindow, 4096);
  assert.equal(server.requests.length - server.chats().length, asked, "nothing is asked again");
  const status = await Deno.stat(`${home.agentcliHome}/cache/servers.json`);
  if (Deno.build.os !== "windows") assert.equal((status.mode ?? 0) & 0o777, 0o600);
});

Deno.test("a configured window costs no request", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("Hi.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(server.requests.length, 1);
  assert.equal(server.chats()[0]?.json.max_tokens, 8192);
  assert.equal(server.chats()[0]?.json.tools.length, 9);
});

Deno.test(
  "a server that does not answer questions costs a bounded wait, and the turn runs",
  { timeout: 60_000 },
  async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({
      script: [say("Hi.")],
      routes: { "/v1/models": { kind: "silence", beforeHead: true } },
    });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const done = await runInProcess(["run", "hi"], { home });
    assert.equal(done.stdout, "Hi.\n");
  },
);

Deno.test("a server without tools gets the prompt protocol by itself, also in the next run", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  const call = '<tool_call>\n{"name": "Read", "arguments": {"file_path": "a.txt"}}\n</tool_call>';
  await using server = startFakeServer({
    script: ({ json }) => {
      if (json.tools !== undefined) return refuse(400, "registry.ollama.ai/library/fake does not support tools");
      const said = JSON.stringify(json.messages);
      return said.includes("alpha") ? say("It says alpha.") : say(call);
    },
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "read a.txt"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stdout, "It says alpha.\n");
  assert.match(done.stderr, /does not support tool calling/);
  const before = server.chats().length;
  assert.equal(before, 3);
  const again = await runInProcess(["run", "read a.txt"], { home });
  assert.equal(again.stdout, "It says alpha.\n");
  assert.doesNotMatch(again.stderr, /does not support tool calling/);
  assert.ok(server.chats().slice(before).every(({ json }) => json.tools === undefined));
});

Deno.test("tool_calls and edit of a model decide what is offered", async () => {
  await using home = await temporaryHome();
  for (
    const [entry, names, told] of [
      [{ tool_calls: "none" }, undefined, /no tools/],
      [{ tool_calls: "text" }, undefined, /<tool_call>/],
      [
        { edit: "whole" },
        ["Read", "Write", "Glob", "Grep", "Bash", "TodoWrite", "BashOutput", "Explore"],
        /You are agentcli/,
      ],
    ] as const
  ) {
    await using server = startFakeServer({ script: [say("Hi.")] });
    await configure(home, {
      loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768, ...entry }] },
    });
    const done = await runInProcess(["run", "hi"], { home });
    assert.equal(done.code, 0, done.stderr);
    const { tools, messages } = server.chats()[0]?.json;
    assert.deepEqual(tools?.map((tool: { function: { name: string } }) => tool.function.name), names);
    assert.match(messages[0].content, told);
    assert.doesNotMatch(JSON.stringify(tools ?? []), /use Edit/);
  }
});

Deno.test("a prompt cut by the server is reported, with the command that fixes it", async () => {
  await using home = await temporaryHome();
  await home.write("long.txt", "Some words of a long text.\n".repeat(1500));
  for (const format of ["text", "stream-json"]) {
    await using server = startFakeServer({
      ...ollama(4096),
      script: [say("Hi.", { usage: { prompt: 4000, completion: 2 } })],
    });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
    const done = await runInProcess(["run", "hi", "--file", "long.txt", "--output-format", format], { home });
    assert.equal(done.code, 0, done.stderr);
    if (format === "text") {
      assert.match(done.stderr, /dropped a part of the prompt: it read 4000 of[^]*OLLAMA_CONTEXT_LENGTH=65536/);
    } else {
      const told = events(done.stdout).find((event) =>
        event.type === "system" && event.subtype === "agentcli_truncated"
      );
      assert.ok(told?.type === "system" && told.subtype === "agentcli_truncated");
      assert.equal(told.prompt_tokens, 4000);
      assert.ok(told.estimated_tokens > 8000);
    }
  }
});

Deno.test("an overflow is answered with a summary by the model of role compact and one retry, and teaches", async () => {
  await using home = await temporaryHome();
  const rounds = 6;
  for (let i = 0; i < rounds; i++) await home.write(`f${i}.txt`, `file ${i}\n`.repeat(300));
  let refused = 0;
  await using server = startFakeServer({
    script: ({ json, index, text }) => {
      if (text.length > 12_000 && refused === 0) {
        refused++;
        const error = { code: 400, message: "too long", type: "exceed_context_size_error", n_ctx: 4096 };
        return { kind: "status", status: 400, body: JSON.stringify({ error }) };
      }
      assert.ok(json.messages.length > 0);
      return refused > 0 ? say("Done.") : ask(want("read", { path: `f${index}.txt` }));
    },
  });
  await using side = startFakeServer({ script: [always(say("The files were read one by one."))] });
  await configure(home, {
    loc: { baseUrl: server.baseUrl, models: ["fake"] },
    small: { baseUrl: side.baseUrl, models: [{ id: "tiny", context_window: 8192 }] },
  }, { roles: { compact: "small:tiny" }, default_provider: "loc" });
  const done = await runInProcess(["run", "go", "--output-format", "stream-json"], { home });
  assert.equal(done.code, 0, done.stderr + done.stdout);
  assert.equal(side.chats().length, 1);
  assert.ok(bytesOf(side.chats()[0]?.text ?? "") < 2 * 8192);
  const kinds = events(done.stdout).flatMap((event) => event.type === "system" ? [event.subtype] : []);
  assert.ok(kinds.includes("compact_boundary") && kinds.includes("agentcli_cache_invalidated"), kinds.join());
  const last = server.chats().at(-1)?.json.messages;
  assert.match(last[1].content, /^Summary of the session so far:\nThe files were read one by one\.\n\ngo$/);
  const cache = JSON.parse(await Deno.readTextFile(`${home.agentcliHome}/cache/servers.json`));
  assert.equal(cache.models[`${server.baseUrl} fake`].window, 4096);
});

Deno.test("rules of the project that always hold are instructions, as many as there is room for", async () => {
  await using home = await temporaryHome();
  const rule = (trigger: string, text: string) => `---\ntrigger: ${trigger}\n---\n${text}\n`;
  await home.write(".ide/rules/b.md", rule("always_on", "Answer in French."));
  await home.write(".ide/rules/a.md", rule("always_on", "Use tabs.").replaceAll("\n", "\r\n"));
  for (const other of ["model_decision", "glob", "manual"]) {
    await home.write(`.ide/rules/${other}.md`, rule(other, "Answer in Latin.\ntrigger: always_on"));
  }
  await home.write(".ide/rules/none.md", "trigger: always_on\nAnswer in Latin.");
  await using server = startFakeServer({ script: [say("Oui."), say("Oui.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 4096 }] } });
  await runInProcess(["run", "hi"], { home });
  const system = () => server.chats().at(-1)?.json.messages[0].content;
  assert.match(
    system(),
    /Instructions from \.ide\/rules\/a\.md:\nUse tabs\.\n\nInstructions from \.ide\/rules\/b\.md:\nAnswer in French\.$/,
  );
  await home.write(".ide/rules/a.md", rule("always_on", "x".repeat(1800)));
  await home.write(".ide/rules/c.md", rule("always_on", "y".repeat(1800)));
  await runInProcess(["run", "hi"], { home });
  assert.match(
    system(),
    /x\n\nInstructions from \.ide\/rules\/b\.md:[^]*\n\nMore instructions, [^\n]*: \.ide\/rules\/c\.md$/,
  );
});
