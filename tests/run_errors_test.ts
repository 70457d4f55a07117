import assert from "node:assert/strict";
import { always, ask, html, refuse, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

Deno.test("without any configuration run says what to run first", async () => {
  await using home = await temporaryHome();
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 3);
  assert.match(done.stderr, /init-providers/);
  assert.equal(done.stdout, "");
});

Deno.test("unknown providers and models are exit 3 with what was meant", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ models: ["coder:7b"] });
  await configure(home, { local_one: { baseUrl: server.baseUrl, models: ["coder:7b"] } });
  const provider = await runInProcess(["run", "hi", "--model", "local_on"], { home });
  assert.equal(provider.code, 3);
  assert.match(provider.stderr, /local_one/);
  const alone = await runInProcess(["run", "hi", "--model", "codr"], { home });
  assert.match(alone.stderr, /no provider or configured model is called codr; configured: local_one/);
  const model = await runInProcess(["run", "hi", "--model", "local_one:codr:7b"], { home });
  assert.equal(model.code, 3);
  assert.match(model.stderr, /coder:7b/);
});

Deno.test("letters of the chat without a terminal name the command of a prompt", async () => {
  await using home = await temporaryHome();
  for (const args of [["-m", "demo", "hi there"], ["-c"], ["hi there", "-m", "demo"], ["--continue"]]) {
    const { code, stderr } = await runInProcess(args, { home });
    assert.equal(code, 2);
    assert.match(stderr, /a command must come before -(?:[mc]|-continue)\n.*agentcli run "<prompt>"/, args.join(" "));
  }
});

Deno.test("an empty prompt is exit 2", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer();
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  for (const [args, stdin] of [[["run", ""], ""], [["run"], "  \n"], [["run", "-"], ""]] as const) {
    assert.equal((await runInProcess(args, { home, stdin })).code, 2);
  }
  assert.equal(server.connectionCount(), 0);
});

Deno.test("a dead server is named with its address, the reason and what to try", { timeout: 60_000 }, async () => {
  await using home = await temporaryHome();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  await configure(home, { loc: { baseUrl: `http://localhost:${port}/v1` } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 4);
  // Once: that a request was repeated at once is not worth a line.
  assert.equal(done.stderr.match(new RegExp(`loc.*http://localhost:${port}/v1.*refused`, "g"))?.length, 1, done.stderr);
  assert.match(done.stderr, /curl/);
});

Deno.test("a refused key is exit 5 and says where the key came from, never the key", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: always401() });
  await configure(home, { loc: { baseUrl: server.baseUrl, apiKey: "$MY_KEY" } });
  const done = await runInProcess(["run", "hi"], { home, env: { MY_KEY: "sk-very-secret-value" } });
  assert.equal(done.code, 5);
  assert.match(done.stderr, /MY_KEY/);
  assert.doesNotMatch(done.stdout + done.stderr, /sk-very-secret/);
  assert.equal(server.chats().length, 1, "a refused key is not tried again");
});

Deno.test("a refused literal key is named by the file it stands in", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: always401() });
  await configure(home, { loc: { baseUrl: server.baseUrl, apiKey: "sk-very-secret-value" } });
  // The second run reads the parsed copy.
  for (let count = 0; count < 2; count++) {
    const done = await runInProcess(["run", "hi"], { home });
    assert.equal(done.code, 5);
    assert.ok(done.stderr.includes(`literal in ${home.agentcliHome}/providers.yaml`), done.stderr);
    assert.doesNotMatch(done.stdout + done.stderr, /sk-very-secret/);
  }
});

Deno.test("a peer that does not speak HTTP is reported as that", async () => {
  await using home = await temporaryHome();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answering = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(1024));
      await connection.write(new TextEncoder().encode("SSH-2.0-OpenSSH_9.6\r\n"));
      connection.close();
    }
  })();
  await configure(home, { loc: { baseUrl: `http://127.0.0.1:${listener.addr.port}/v1` } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 4);
  assert.match(done.stderr, /the server there does not speak HTTP/);
  listener.close();
  await answering;
});

function always401() {
  return [always(refuse(401, "Invalid API Key sk-very-secret-value"))];
}

Deno.test("a key variable that is not set is exit 5 and named", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer();
  await configure(home, { loc: { baseUrl: server.baseUrl, apiKey: "$UNSET_KEY" } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 5);
  assert.match(done.stderr, /UNSET_KEY/);
  assert.equal(server.connectionCount(), 0);
});

Deno.test("a broken providers.yaml is exit 3 with line and key, without its text, and stays as it is", async () => {
  await using home = await temporaryHome();
  const text = "version: 1\nproviders:\n  loc:\n    base_url: 5\n    api_key: sk-hidden-thing\n";
  await Deno.mkdir(home.agentcliHome, { recursive: true });
  const path = `${home.agentcliHome}/providers.yaml`;
  for (const broken of [text, "providers: {a: [sk-hidden-thing\nversion"]) {
    await Deno.writeTextFile(path, broken);
    const done = await runInProcess(["run", "hi"], { home });
    assert.equal(done.code, 3);
    assert.match(done.stderr, /providers\.yaml:\d+/);
    assert.doesNotMatch(done.stderr, /sk-hidden/);
    assert.equal(await Deno.readTextFile(path), broken);
  }
});

Deno.test("garbage, half a stream, HTML and nothing are failures that say so, never an empty success", async () => {
  await using home = await temporaryHome();
  const steps = {
    garbage: { kind: "raw", bytes: "\x00\x01garbage without http" },
    half: { kind: "cut", events: 3, message: { kind: "message", text: "one two three four" } },
    html: html(),
    nothing: { kind: "raw", bytes: "" },
    empty: { kind: "empty" },
    wrong: { kind: "status", status: 200, body: "{}", headers: { "content-type": "application/json" } },
  } as const;
  for (const [name, step] of Object.entries(steps)) {
    await using server = startFakeServer({ script: [always(step)] });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const done = await runInProcess(["run", "hi"], { home });
    assert.notEqual(done.code, 0, name);
    assert.ok([1, 4].includes(done.code), `${name}: exit ${done.code}\n${done.stderr}`);
    assert.match(done.stderr, /agentcli: .+\n {2}.+/, name);
    assert.ok(server.chats().length <= 5, `${name}: ${server.chats().length} requests`);
    if (name === "half") {
      assert.match(done.stdout, /^one two/);
      assert.match(done.stderr, /incomplete/);
    }
  }
});

Deno.test("wrong calls are reported to the model and the turn continues", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await Deno.writeTextFile(`${home.root}/outside.txt`, "outside\n");
  const calls = [
    { name: "Raed", input: { file_path: "a.txt" } },
    { name: "Read", input: '{"file_path": ' },
    { name: "Read", input: { wrong: 1 } },
    { name: "Read", input: { file_path: "../outside.txt" } },
    { name: "Read", input: { file_path: "missing.txt" } },
  ];
  await using server = startFakeServer({ script: [ask(...calls), say("Sorry.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.equal(done.code, 0, done.stderr);
  const results: string[] = server.chats()[1]?.json.messages.slice(3).map((message: { content: string }) =>
    message.content
  );
  assert.equal(results.length, calls.length);
  assert.match(results[0] ?? "", /no tool "Raed".*Did you mean Read/);
  assert.match(results[1] ?? "", /JSON/);
  assert.match(results[2] ?? "", /file_path/);
  assert.match(results[3] ?? "", /outside|project/);
  assert.match(results[4] ?? "", /missing\.txt/);
  assert.ok(!results.some((text) => text.includes("outside\n")));
});

Deno.test("what nobody can allow is denied, the turn continues, and the end is exit 6", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask(want("write", { path: "new.txt", content: "x" })), say("I could not write.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "write"], { home });
  assert.equal(done.code, 6);
  assert.equal(done.stdout, "I could not write.\n");
  await assert.rejects(home.read("new.txt"));
});

Deno.test("a permission mode, a rule on the line and a rule in the configuration allow", async () => {
  for (
    const [args, settings] of [
      [["--permission-mode", "acceptEdits"], {}],
      [["--allowed-tools", "Write(new*)"], {}],
      [[], { permissions: { allow: ["Write"] } }],
    ] as const
  ) {
    await using home = await temporaryHome();
    await using server = startFakeServer({
      script: [ask(want("write", { path: "new.txt", content: "x\n" })), say("Written.")],
    });
    await configure(home, { loc: { baseUrl: server.baseUrl } }, settings);
    const done = await runInProcess(["run", "write", ...args], { home });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(await home.read("new.txt"), "x\n");
  }
});

Deno.test("in plan mode nothing but reading runs, whatever is allowed", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await using server = startFakeServer({
    script: [
      ask(
        want("read", { path: "a.txt" }),
        want("write", { path: "new.txt", content: "x" }),
        want("shell", { command: "touch b" }),
      ),
      say("Planned."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "x", "--permission-mode", "plan", "--allowed-tools", "Write,Bash"], { home });
  const results = server.chats()[1]?.json.messages.slice(3);
  assert.match(results[0].content, /alpha/);
  assert.match(results[1].content, /plan/);
  assert.match(results[2].content, /plan/);
  assert.equal(done.code, 6);
  assert.match(done.stderr, /exit 6: .*\n {2}in plan mode tools only read: take another --permission-mode$/m);
});

Deno.test("what was missing is named with a mode that gives it", async () => {
  await using home = await temporaryHome();
  const change = want("write", { path: "new.txt", content: "x" });
  const shell = want("shell", { command: "exit 3" });
  await using server = startFakeServer({
    script: [ask(change), say("No."), ask(change, shell), say("No."), ask(shell), say("Ran."), say("Never.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const hint = async () => JSON.parse((await runInProcess(["run", "x", "--json"], { home })).stdout).hint;
  assert.equal(await hint(), "allow it: --allowed-tools Write, or --permission-mode acceptEdits");
  assert.equal(await hint(), "allow it: --allowed-tools Write,Bash, or --permission-mode bypassPermissions");
  const failed = await runInProcess(["run", "x", "--allowed-tools", "Bash"], { home });
  assert.match(failed.stderr, /^ {2}Bash failed: exit code 3$/m);
  const asked = await runInProcess(["run", "x", "--permission-prompt-tool", "stdio"], { home });
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /--permission-prompt-tool needs --input-format stream-json/);
});

Deno.test("a protected file is refused to a remote provider with its rule, and a local one may read it", async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await home.write(".env", "CNRY_value_0123456789\n");
  const script = [ask(want("read", { path: ".env" })), say("Read.")];
  await using remote = startFakeServer({ host: "127.0.0.2", script });
  await using local = startFakeServer({ script });
  await configure(home, { rem: { baseUrl: remote.baseUrl }, loc: { baseUrl: local.baseUrl } });
  const refused = await runInProcess(["run", "x", "--model", "rem"], { home });
  assert.equal(refused.code, 0, refused.stderr);
  assert.match(remote.chats()[1]?.text ?? "", /\.agentclisecret:1 no-cloud: \.env/);
  assert.doesNotMatch(remote.chats()[1]?.text ?? "", /local-endpoint/, "how to loosen a rule is not for the model");
  assert.doesNotMatch(remote.chats()[1]?.text ?? "", /CNRY_value/);
  const read = await runInProcess(["run", "x", "--model", "loc", "--output-format", "json"], { home });
  assert.equal(read.code, 0, read.stderr);
  assert.match(local.chats()[1]?.text ?? "", /CNRY_value/);
  assert.equal(JSON.parse(read.stdout).label, "no-cloud");
});

Deno.test("what cannot be attached or piped in is reported to a person, with what to do", async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\nlist-only: key\n");
  await home.write(".env", "CNRY_value_0123456789\n");
  await home.write("key", "CNRY_other_0123456789\n");
  await home.write("big.txt", "a long line\n".repeat(100_000));
  await home.write("nul.txt", "one\0two\n");
  await using remote = startFakeServer({ host: "127.0.0.2", script: [] });
  await configure(home, { rem: { baseUrl: remote.baseUrl } });
  for (
    const [file, code, told] of [
      [".env", 6, /cannot attach \.env: .*"rem" is not local\n.*use a local model, or, when/],
      ["key", 6, /cannot attach key: .*its content is for no model\n.*leave the file out/],
      ["big.txt", 2, /larger than 1 MiB\n.*reads it in parts/],
      ["nul.txt", 2, /not UTF-8 text\n.*attach its text/],
      ["nope.txt", 2, /does not exist\n.*working directory/],
    ] as const
  ) {
    const done = await runInProcess(["run", "x", "--file", file], { home });
    assert.equal(done.code, code, done.stderr);
    assert.match(done.stderr, told);
    assert.doesNotMatch(done.stderr, /tell the user|go on without/i);
  }
  const piped = await runInProcess(["run", "x"], { home, stdin: "one\0two" });
  assert.equal(piped.code, 2, piped.stderr);
  assert.match(piped.stderr, /contains NUL bytes\n.*pipe text in/);
  assert.equal(remote.chats().length, 0);
});

Deno.test("a model that loads is reported once, a missing one with how to fetch it", async () => {
  await using home = await temporaryHome();
  const loading = refuse(503, "Loading model", { "retry-after-ms": "1" });
  await using server = startFakeServer({
    script: [loading, loading, loading, say("Ready."), refuse(404, 'model "fake" not found, try pulling it first')],
    models: ["big", "small"],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const waited = await runInProcess(["run", "x"], { home });
  assert.equal(waited.stdout, "Ready.\n");
  assert.deepEqual(waited.stderr.match(/^.*loading.*$/gm), [
    "  loc is still loading the model (HTTP 503); retrying until it is ready",
  ]);
  const missing = await runInProcess(["run", "x"], { home });
  assert.match(missing.stderr, /^ {2}fetch it first: ollama pull fake; or use one that it serves: big, small$/m);
});

Deno.test("a model that the server does not have is reported with those that it has, nearest first", async () => {
  await using home = await temporaryHome();
  const missing = refuse(404, "The model `codr:7b` does not exist.");
  await using server = startFakeServer({ script: [always(missing)], models: ["big", "coder:7b", "evil\u001b[2J"] });
  const models = [{ id: "codr:7b", context_window: 32768 }];
  await configure(home, { loc: { baseUrl: server.baseUrl, models } });
  const done = await runInProcess(["run", "x"], { home });
  assert.equal(done.code, 3, done.stderr);
  assert.match(
    done.stderr,
    /^agentcli: loc has no model codr:7b.*\n {2}did you mean coder:7b\? it serves: big, coder:7b, evil/m,
  );
  assert.ok(!done.stderr.includes("\u001b"));
  const json = JSON.parse((await runInProcess(["run", "x", "--output-format", "json"], { home })).stdout);
  assert.match(json.hint, /^did you mean coder:7b\? it serves: big, /);
  await using mute = startFakeServer({ script: [always(missing)], models: null });
  await configure(home, { loc: { baseUrl: mute.baseUrl, models } });
  assert.match((await runInProcess(["run", "x"], { home })).stderr, /^ {2}see what it serves: curl /m);
});

Deno.test("a llama-server that answers with another model than asked is reported, once", async () => {
  await using home = await temporaryHome();
  const answer = (model: string, text: string): Step => {
    const chunk = (delta: unknown, finish: string | null) =>
      `data: ${JSON.stringify({ model, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const call = { index: 0, id: "c", function: { name: "Glob", arguments: '{"pattern":"*"}' } };
    const delta = text === "" ? { tool_calls: [call] } : { content: text };
    const body = `${chunk(delta, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
    return { kind: "status", status: 200, body, headers: { "content-type": "text/event-stream", server: "llama.cpp" } };
  };
  const told = async (asked: string, answered: string) => {
    await using server = startFakeServer({ script: [answer(answered, ""), answer(answered, "Hi.")] });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: asked, context_window: 32768 }] } });
    const done = await runInProcess(["run", "x"], { home });
    assert.equal(done.stdout, "Hi.\n", done.stderr);
    return done.stderr.match(/^.*answers with.*$/gm) ?? [];
  };
  assert.deepEqual(await told("qwen3:8b", "tiny-agent.gguf"), [
    "  loc answers with tiny-agent.gguf, not with qwen3:8b: a llama-server with one model takes any name; " +
    "use the server's name for it in providers.yaml",
  ]);
  assert.deepEqual(await told("tiny-agent", "/models/Tiny-Agent.gguf"), []);
  assert.deepEqual(await told("qwen3:8b", "qwen3:8b"), []);
});

Deno.test("MCP servers that are not started are reported as that, to a person and in the first event", async () => {
  await using home = await temporaryHome();
  const servers = [
    "--mcp-config",
    '{"mcpServers":{"files":{"command":"no-such-program"}}}',
    "--mcp-config",
    "more.json",
  ];
  const plain = await runInProcess(["run", "hi", "--model", "demo", ...servers], { home });
  assert.equal(plain.code, 0, plain.stderr);
  assert.match(
    plain.stderr,
    /^agentcli: the MCP server files is left out: it could not be started: there is no program/m,
  );
  assert.match(plain.stderr, /^agentcli: --mcp-config more\.json is ignored: it is neither JSON nor/m);
  const events = await runInProcess(["run", "hi", "--model", "demo", ...servers, "--output-format", "stream-json"], {
    home,
  });
  const failed = [{ name: "files", status: "failed" }];
  assert.deepEqual(JSON.parse(events.stdout.split("\n")[0] ?? "").mcp_servers, failed);
  const without = await runInProcess(["run", "hi", "--model", "demo"], { home });
  assert.doesNotMatch(without.stderr, /MCP/);
});
