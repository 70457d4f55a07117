import assert from "node:assert/strict";
import { refuse, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

Deno.test("an explicit engine is added, checked and listed as the seed describes", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ script: [], models: ["served-model"] });
  const url = server.baseUrl;
  const add = await runInProcess(
    [
      "providers",
      "add",
      "engine_e",
      "--type",
      "openai_compat",
      "--base-url",
      url,
      "--api-key",
      "local",
      "--model",
      "served-model",
    ],
    { home },
  );
  assert.deepEqual([add.code, add.stdout], [0, "added engine_e\n"]);
  assert.match(
    add.stderr,
    /^saved in .*providers\.yaml\nit answers, with 1 model: .*\nnext: agentcli chat --model engine_e:served-model\n$/,
  );
  const validate = await runInProcess(["providers", "validate"], { home });
  assert.equal(validate.code, 0);
  assert.equal(
    validate.stdout,
    `[OK ] engine_e\n  ok: API key resolved via local\n  ok: reachable (${url}/models)\n`,
  );
  const list = await runInProcess(["providers", "list"], { home });
  assert.match(list.stdout, /engine_e +http:\/\/127\.0\.0\.1:\d+\/v1  +local +local +served-model/);
});

Deno.test("validate shows each provider in the order of the file and ends with 1 when one is in error", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ script: [], models: ["fake"] });
  const gone = await startFakeServer({ script: [] });
  await gone.close();
  await configure(home, {
    runtime_a: { baseUrl: server.baseUrl },
    studio_x: { baseUrl: gone.baseUrl, apiKey: "$STUDIO_X_KEY" },
    studio_f: { baseUrl: "http://localhost:8888/v1", apiKey: "$STUDIO_F_API_KEY", models: [] },
  });
  const run = await runInProcess(["providers", "validate"], { home });
  assert.equal(run.code, 1);
  assert.equal(
    run.stdout,
    `[OK ] runtime_a
  ok: API key resolved via local
  ok: reachable (${server.baseUrl}/models)
[ERR] studio_x
  error: API key: environment variable STUDIO_X_KEY is not set
  error: not reachable (${gone.baseUrl}/models): connection refused
  try: is the server running? curl ${gone.baseUrl}/models
[-- ] studio_f
  skip: STUDIO_F_API_KEY is not set
`,
  );
  const one = await runInProcess(["providers", "validate", "runtime_a", "--json"], { home });
  const report = JSON.parse(one.stdout);
  assert.deepEqual([one.code, report.ok, report.providers.length, report.providers[0].state], [0, true, 1, "ok"]);
  const unknown = await runInProcess(["providers", "validate", "runtmie_a"], { home });
  assert.equal(unknown.code, 3);
  assert.match(unknown.stderr, /did you mean runtime_a\?/);
});

Deno.test("a server's own name is taken wherever an id is, and stands before the id", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ script: [], models: ["fake", "other"] });
  await configure(home, { runtime_a: { baseUrl: server.baseUrl } });
  const run = (...args: string[]) => runInProcess(args, { home });
  assert.equal((await run("providers", "model", "add", "ollama", "other")).stdout, "added runtime_a:other\n");
  assert.match((await run("providers", "list")).stdout, /SERVER +NAME.*\n *Ollama +runtime_a +http/);
  assert.match((await run("providers", "model", "list", "ollama")).stdout, /^Ollama +runtime_a +other/m);
  assert.match((await run("providers", "validate", "Ollama")).stdout, /^\[OK \] runtime_a\n/);
  const role = await run("providers", "role", "set", "compact", "ollama:other");
  assert.deepEqual([role.code, role.stderr], [0, ""]);
  const byDefault = await run("config", "set", "default_provider", "ollama", "--yes");
  assert.deepEqual([byDefault.code, byDefault.stderr], [0, ""]);
  assert.match((await run("run", "--explain", "--model", "other")).stdout, /runtime_a:other/);
  assert.equal((await run("providers", "model", "remove", "ollama", "other")).stdout, "removed runtime_a:other\n");
  const removed = await run("providers", "remove", "ollama", "--yes");
  assert.match(
    removed.stdout + removed.stderr,
    /removed runtime_a\n[^]*default_provider still refers[^]*roles\.compact/,
  );
  for (
    const [model, hint] of [
      ["ollama:fake", /Ollama \(runtime_a\) is not configured: start it, then run `agentcli init-providers`/],
      ["runtime_a:fake", /Ollama \(runtime_a\) is not configured: start it, then run `agentcli init-providers`/],
      // Discovery does not ask its port.
      ["freetoken:fake", /FreeToken \(engine_e\) is not configured: .* `agentcli providers add engine_e --base-url /],
      [
        "engine_e:fake",
        /providers add engine_e --base-url http:\/\/localhost:1919\/v1 --api-key local --model <model>`/,
      ],
      ["studio_f:fake", /adds it once it runs here or STUDIO_F_API_KEY is set/],
    ] as const
  ) {
    assert.match((await run("run", "hi", "--model", model)).stderr, hint);
  }
});

Deno.test("an error names the server as people call it", async () => {
  await using home = await temporaryHome();
  await configure(home, { runtime_b: { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "m" }] } });
  const done = await runInProcess(["run", "hi"], { home });
  assert.match(done.stderr, /cannot reach LM Studio \(runtime_b\) at http:\/\/127\.0\.0\.1:1\/v1/);
});

Deno.test("no provider is no error", async () => {
  await using home = await temporaryHome();
  for (const command of ["validate", "list"]) {
    const run = await runInProcess(["providers", command], { home });
    assert.deepEqual([run.code, run.stdout], [0, ""]);
    assert.match(run.stderr, /init-providers/);
  }
});

Deno.test("keys are never printed, whatever the command and the server do", async () => {
  await using home = await temporaryHome();
  const canary = "sk-CANARY-0123456789abcdef";
  await using server = await startFakeServer({
    script: [],
    routes: { "/v1/models": { kind: "status", status: 401, body: `{"error":"Bearer ${canary} is wrong"}` } },
  });
  await configure(home, {
    literal: { baseUrl: server.baseUrl, apiKey: canary, more: { headers: { "X-Key": canary } } },
    variable: { baseUrl: server.baseUrl, apiKey: "$MY_KEY" },
    broken: { baseUrl: server.baseUrl, apiKey: "$BROKEN_KEY" },
  });
  const env = { MY_KEY: canary, BROKEN_KEY: `${canary}\nX: y` };
  const commands = [["list"], ["list", "--json"], ["validate", "--verbose"], ["validate", "--json"], [
    "add",
    "literal",
    "--base-url",
    server.baseUrl,
    "--api-key",
    canary,
  ], [
    "add",
    "new",
    "--base-url",
    server.baseUrl,
    "--api-key",
    canary,
  ]];
  for (const command of commands) {
    const run = await runInProcess(["providers", ...command], { home, env });
    assert.doesNotMatch(run.stdout + run.stderr, /CANARY/, command.join(" "));
  }
  assert(server.requests.some((request) => request.headers.get("authorization") === `Bearer ${canary}`));
});

Deno.test("an existing name is refused; replacing it never inherits the key", async () => {
  await using home = await temporaryHome();
  await configure(home, { a: { baseUrl: "http://localhost:1/v1", apiKey: "sk-CANARY" } });
  const refused = await runInProcess(["providers", "add", "a", "--base-url", "http://localhost:2/v1"], { home });
  assert.equal(refused.code, 3);
  assert.match(refused.stderr, /--replace/);
  const url = "https://host.invalid/v1";
  const replaced = await runInProcess(["providers", "add", "a", "--base-url", url, "--replace"], { home });
  assert.equal(replaced.stdout, "replaced a\n");
  // One that is not of this machine is asked when a person says so.
  assert.match(replaced.stderr, /next: agentcli providers validate a, then agentcli chat --model 'a:<model>'\n$/);
  const text = await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`);
  assert.doesNotMatch(text, /CANARY/);
  assert.match(text, /host\.invalid/);
});

Deno.test("a literal key is warned about; a variable and the placeholder are not", async () => {
  await using home = await temporaryHome();
  const add = (name: string, key: string) =>
    runInProcess(["providers", "add", name, "--base-url", "http://localhost:1/v1", "--api-key", key], { home });
  assert.match((await add("literal", "sk-1")).stderr, /warning: .*\$NAME.*set-key/);
  const variable = await add("variable", "$KEY");
  assert.match(
    variable.stderr,
    /^saved in .*\nit was not asked yet: .*KEY is not set\nnext: agentcli providers validate/,
  );
  const placeholder = await add("placeholder", "local");
  assert.match(
    placeholder.stderr,
    /^saved in .*\nit does not answer yet: .*\nnext: start the server, then agentcli prov/,
  );
  await using server = startFakeServer({ routes: { "/v1/models": refuse(401, "Invalid API Key") } });
  const locked = ["providers", "add", "locked", "--base-url", server.baseUrl, "--api-key", "$KEY"];
  const { stderr } = await runInProcess(locked, { home, env: { KEY: "wrong" } });
  assert.match(stderr, /^it wants another key: .*HTTP 401.*\nnext: store the right key with set-key, then agentcli/m);
});

Deno.test("bad names and addresses are refused without repeating what may be secret", async () => {
  await using home = await temporaryHome();
  for (const name of ["A", "a:b", "-a", "a b", "", "x".repeat(65), "demo"]) {
    const run = await runInProcess(["providers", "add", "--base-url", "http://h/v1", "--", name], { home });
    assert.equal(run.code, 2, name);
  }
  for (const url of ["http://u:CANARY@h/v1", "ftp://h", "h:1/v1", "http://h/v1?key=CANARY"]) {
    const run = await runInProcess(["providers", "add", "a", "--base-url", url], { home });
    assert.equal(run.code, 2);
    assert.doesNotMatch(run.stderr, /CANARY/);
  }
  const hint = await runInProcess(["providers", "add", "a", "--base-url", "http://localhost:1"], { home });
  assert.equal(hint.code, 0);
  assert.match(hint.stderr, /hint: .*\/v1/);
});

Deno.test("models are added, updated, listed and removed", async () => {
  await using home = await temporaryHome();
  await configure(home, { a: { baseUrl: "http://localhost:1/v1", models: ["x"] } });
  const model = (...args: string[]) => runInProcess(["providers", "model", ...args], { home });
  const add = await model("add", "a", "qwen3:8b", "--role", "main", "--context-window", "32768", "--alias", "q");
  assert.equal(add.stdout, "added a:qwen3:8b\n");
  const update = await model("add", "a", "qwen3:8b", "--context-window", "65536");
  assert.equal(update.stdout, "updated a:qwen3:8b\n");
  const list = await model("list", "a");
  assert.match(list.stdout, /^a +qwen3:8b +q +main +65,536 tokens$/m);
  const moved = await model("add", "a", "x", "--role", "main");
  assert.match(moved.stderr, /a:qwen3:8b no longer has the role main/);
  assert.equal((await model("add", "a", "x", "--role", "boss")).code, 3);
  assert.equal((await model("add", "a", "x", "--context-window", "many")).code, 2);
  assert.equal((await model("add", "b", "x")).code, 3);
  const clash = await model("add", "a", "x", "--alias", "q");
  assert.equal(clash.code, 3);
  assert.match(clash.stderr, /alias q of qwen3:8b already stands for x/);
  assert.equal((await model("remove", "a", "q")).stdout, "removed a:qwen3:8b\n");
  const missing = await model("remove", "a", "q");
  assert.equal(missing.code, 3);
});

Deno.test("roles are set, listed and taken away; what is not configured is only warned about", async () => {
  await using home = await temporaryHome();
  await configure(home, { a: { baseUrl: "http://localhost:1/v1", models: ["x:1"] } });
  const role = (...args: string[]) => runInProcess(["providers", "role", ...args], { home });
  const set = await role("set", "compact", "a:x:1");
  assert.deepEqual([set.stdout, set.stderr], ["compact: (not set) → a:x:1\n", ""]);
  assert.match((await role("set", "subagent", "b:y")).stderr, /warning: the provider b is not configured/);
  assert.match((await role("list")).stdout, /^compact +a:x:1 +roles$/m);
  assert.equal((await role("unset", "compact")).stdout, "compact: a:x:1 → (not set)\n");
  assert.equal((await role("set", "boss", "a")).code, 3);
  assert.equal((await role("set", "main", "a:")).code, 2);
});

Deno.test("removing a provider needs a yes, and says which settings still name it", async () => {
  await using home = await temporaryHome();
  await configure(home, { a: { baseUrl: "http://localhost:1/v1" } }, {
    default_provider: "a",
    roles: { main: "a:fake" },
  });
  const asked = await runInProcess(["providers", "remove", "a"], { home });
  assert.equal(asked.code, 2);
  const removed = await runInProcess(["providers", "remove", "a", "--yes"], { home });
  assert.equal(removed.stdout, "removed a\n");
  assert.match(removed.stderr, /default_provider still refers to a/);
  assert.match(removed.stderr, /roles\.main still refers to a/);
  assert.equal((await runInProcess(["providers", "remove", "a", "--yes"], { home })).code, 3);
});

Deno.test("local or remote is what the boundary of the project says", async () => {
  await using home = await temporaryHome();
  await configure(home, { near: { baseUrl: "http://localhost:1/v1" }, far: { baseUrl: "http://127.0.0.2:1/v1" } });
  const places = async () => {
    const run = await runInProcess(["providers", "list", "--json"], { home });
    return JSON.parse(run.stdout).providers.map((provider: { local: boolean }) => provider.local);
  };
  assert.deepEqual(await places(), [true, false]);
  await home.write(".agentclisecret", "local-endpoints: 127.0.0.2\n");
  assert.deepEqual(await places(), [true, true]);
});

Deno.test("what a file holds reaches the terminal without control characters", async () => {
  await using home = await temporaryHome();
  await configure(home, { a: { baseUrl: "http://localhost:1/v1", models: ["x\x1b]0;title\x07\u202e"] } });
  for (const command of [["list"], ["list", "--json"], ["model", "list"]]) {
    const run = await runInProcess(["providers", ...command], { home });
    // deno-lint-ignore no-control-regex -- this is what is looked for
    assert.doesNotMatch(run.stdout + run.stderr, /[\x00-\x09\x0b-\x1f\u202e]/);
  }
});

Deno.test("an address that includes the path asked there is reported when it is added", async () => {
  await using home = await temporaryHome();
  for (const [at, path] of ["/v1/chat/completions", "/v1/models", "/v1", ""].entries()) {
    const args = ["providers", "add", `p${at}`, "--base-url", `http://localhost:1${path}`, "--api-key", "local"];
    const added = await runInProcess(args, { home });
    assert.equal(added.code, 0, added.stderr);
    const told = [/ends before \/chat\/completions,/, /ends before \/models,/, /^saved in/, /has no \/v1/][at] ??
      /never/;
    assert.match(added.stderr, told);
  }
});

Deno.test("the built-in demo is listed like another, but excluded where something is changed or checked", async () => {
  await using home = await temporaryHome();
  const listed = await runInProcess(["providers", "model", "list", "demo", "--json"], { home });
  assert.deepEqual(JSON.parse(listed.stdout).models.map(({ id }: { id: string }) => id), ["demo"]);
  const checked = await runInProcess(["providers", "validate", "demo"], { home });
  assert.equal(checked.code, 3);
  assert.match(checked.stderr, /demo is built in and cannot be changed or checked\n.*--model demo/);
});

Deno.test({
  name: "a wait for a silent server is shown on a terminal, on a dumb one as a line",
  ignore: !HAS_TMUX,
  async fn() {
    await using home = await temporaryHome();
    const silent = { kind: "silence", beforeHead: true } as const;
    await using server = startFakeServer({ script: [silent], routes: { "/v1/models": silent } });
    await configure(home, { slow: { baseUrl: server.baseUrl, models: [{ id: "fake" }] } });
    await using checking = await openTerminal(["providers", "validate", "slow"], { home });
    await checking.shows(/asking slow, \d+ s/);
    await checking.press("C-c");
    await using running = await openTerminal(["run", "hi", "--model", "slow"], { home, env: { TERM: "dumb" } });
    await running.shows(/connecting \.\.\.\n[^]*reading the prompt \.\.\./);
    await running.press("C-c");
    await running.shows(/EXIT/);
    const { port } = server;
    for (
      const [words, waits] of [
        [["doctor"], /checking providers \.\.\./],
        [["init-providers", "--host", `127.0.0.1:${port}`], /looking for model servers \.\.\./],
        [["providers", "add", "other", "--base-url", server.baseUrl], /asking other \.\.\./],
      ] as const
    ) {
      await using asking = await openTerminal(words, { home, env: { TERM: "dumb" } });
      await asking.shows(waits);
    }
  },
});

Deno.test("add, validate, doctor and run give the same advice about a key that is missing", async () => {
  await using home = await temporaryHome();
  await using far = startFakeServer({ host: "127.0.0.2" });
  const advice =
    "store the key with `agentcli providers set-key far`, or write `api_key: none` if the server needs no key";
  const said = async (...words: string[]) => {
    const { stdout, stderr } = await runInProcess(words, { home });
    return (stdout + stderr).split("\n").filter((line) => line.includes("api_key: none"));
  };
  const added = await said("providers", "add", "far", "--base-url", far.baseUrl, "--model", "fake");
  assert.deepEqual(added, [`far has no key: ${advice}`]);
  assert.deepEqual(await said("providers", "validate"), [`  try: ${advice}`]);
  assert.deepEqual(await said("doctor"), [`  try: ${advice}`]);
  assert.deepEqual(await said("run", "hi"), [`  ${advice}`]);
});

Deno.test("a list of providers has no column without content, and says where there is no model", async () => {
  await using home = await temporaryHome();
  const list = async () => (await runInProcess(["providers", "list"], { home })).stdout;
  await configure(home, { mine: { baseUrl: "http://localhost:1/v1", models: [] } });
  assert.equal(
    await list(),
    "NAME  BASE URL               PLACE  KEY    MODELS\nmine  http://localhost:1/v1  local  local  none\n",
  );
  const models = await runInProcess(
    ["providers", "add", "two", "--base-url", "http://localhost:2/v1", "--model", "m"],
    { home },
  );
  assert.equal(models.code, 0, models.stderr);
  assert.match(await list(), /^NAME [^]*^mine .* none\ntwo .* m\n$/m);
  await configure(home, { runtime_a: { baseUrl: "http://localhost:1/v1" } }, { default_provider: "runtime_a" });
  assert.match(await list(), /^ +SERVER +NAME [^]*^\* +Ollama +runtime_a /m);
});

Deno.test("a probe without a model measures the one that a run uses, and names it where it is remote", async () => {
  await using home = await temporaryHome();
  await using far = startFakeServer({ host: "127.0.0.2", script: [], models: ["big"] });
  await using near = startFakeServer({ script: [], models: ["small"] });
  await configure(home, {
    far: { baseUrl: far.baseUrl, models: ["big"] },
    near: { baseUrl: near.baseUrl, models: [] },
  });
  const probe = (env = {}) => runInProcess(["providers", "probe", "--timeout", "1"], { home, env });
  const only = await probe();
  assert.match(only.stderr, /^far:big is remote: far may charge/);
  assert.match(only.stdout, /^far:big$/m);
  const named = await probe({ AGENTCLI_MODEL: "near:small" });
  assert.doesNotMatch(named.stderr, /remote/);
  assert.match(named.stdout, /^near:small$/m);
  await configure(home, { a: { baseUrl: near.baseUrl, models: ["x"] }, b: { baseUrl: near.baseUrl, models: ["y"] } });
  const open = await probe();
  assert.deepEqual([open.code, /available: a:x, b:y/.test(open.stderr)], [3, true], open.stderr);
});
