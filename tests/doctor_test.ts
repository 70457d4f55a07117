import assert from "node:assert/strict";
import { outputOf } from "../src/platform/process_group.ts";
import { LeakScan, makeCanary } from "./boundary/leakscan.ts";
import { startFakeServer, type Step } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import {
  configure,
  type Finished,
  programCommand,
  runProgram,
  startCommand,
  type TemporaryHome,
  temporaryHome,
} from "./helpers/program.ts";

interface Shown {
  id: string;
  state: string;
  message: string;
  hint: string | null;
  // deno-lint-ignore no-explicit-any -- tests look into facts of any shape
  facts: any;
}

async function doctor(
  home: TemporaryHome,
  env: Record<string, string | null> = {},
  run = runInProcess,
): Promise<{ done: Finished; ok: boolean; checks: Shown[]; of(id: string): Shown }> {
  const done = await run(["doctor", "--json"], { home, env });
  assert.ok(!done.timedOut);
  const { ok, checks } = JSON.parse(done.stdout) as { ok: boolean; checks: Shown[] };
  assert.equal(done.code, ok ? 0 : 1);
  const of = (id: string) => checks.find((check) => check.id === id) ?? assert.fail(`no ${id}`);
  return { done, ok, checks, of };
}

const json = (value: unknown): Step => ({ kind: "status", status: 200, body: JSON.stringify(value) });

Deno.test("a fresh home is no failure, every check is there, and nothing is written", async () => {
  await using home = await temporaryHome();
  const { checks, ok, of } = await doctor(home);
  assert.ok(ok);
  assert.deepEqual(checks.map(({ id }) => id), [
    ...["version", "home", "configuration", "key_store", "providers", "boundary", "sandbox", "git", "ripgrep", "shell"],
    ...["terminal", "proxy", "telemetry", "demo"],
  ]);
  for (const check of checks) {
    assert.deepEqual(Object.keys(check), ["id", "state", "message", "hint", "facts"]);
    assert.equal(
      check.hint === null,
      check.state === "ok",
      `${check.id}: advice for what is not ok, and for nothing else`,
    );
  }
  assert.equal(of("providers").state, "warn");
  assert.match(of("providers").hint ?? "", /init-providers/);
  assert.equal(of("demo").state, "ok");
  await assert.rejects(Deno.stat(home.agentcliHome), Deno.errors.NotFound);
});

Deno.test("the block that is shipped and was not set up is no failure", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ models: ["fake"] });
  const studio = { baseUrl: "http://localhost:8888/v1", apiKey: "$STUDIO_F_API_KEY", models: [] };
  await configure(home, { studio_f: studio });
  const alone = await doctor(home);
  assert.ok(alone.ok);
  assert.deepEqual([alone.of("providers").state, alone.of("providers").message], ["warn", "no provider is set up"]);
  assert.match(alone.of("provider").message, /not set up \(STUDIO_F_API_KEY is not set\)/);
  await configure(home, { p: { baseUrl: server.baseUrl }, studio_f: studio });
  const beside = await doctor(home);
  assert.deepEqual([beside.of("providers").state, beside.of("providers").message], ["ok", "1 of 1 answer"]);
});

Deno.test("as text it is one line a check, and below it what to do", async () => {
  await using home = await temporaryHome();
  await configure(home, { p: { baseUrl: "http://127.0.0.1:1/v1" } });
  const done = await runInProcess(["doctor"], { home });
  assert.equal(done.code, 1);
  assert.match(done.stdout, /^\[OK \] version: agentcli \d/);
  assert.match(done.stdout, /^\[FAIL\] providers: 0 of 1 answer\n {2}try: agentcli providers validate$/m);
  assert.match(done.stdout, /^\[FAIL\] provider: p: not reachable .*\n {2}try: /m);
  assert.ok(done.stdout.split("\n").every((line) => line === "" || /^(?:\[(?:OK |WARN|FAIL)\] | {2}try: )/.test(line)));
});

Deno.test("a provider that answers and cannot be used is counted in the line of all", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ models: ["fake"] });
  await configure(home, { p: { baseUrl: server.baseUrl }, q: { baseUrl: server.baseUrl, apiKey: "$NO_SUCH_KEY" } });
  const { of } = await doctor(home);
  assert.deepEqual(
    [of("providers").state, of("providers").message],
    ["fail", "2 of 2 answer; 1 of these cannot be used"],
  );
});

Deno.test("a provider that answers is described, with the process that listens there", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ models: ["fake"] });
  await configure(home, { p: { baseUrl: server.baseUrl } });
  const { of, ok } = await doctor(home);
  assert.ok(ok, of("provider").message);
  assert.equal(of("providers").message, "1 of 1 answer");
  const { facts, message } = of("provider");
  const listener = Deno.build.os === "linux" ? { pid: Deno.pid, program: "deno" } : facts.listener;
  assert.deepEqual(facts, {
    name: "p",
    set_up: true,
    base_url: server.baseUrl,
    local: true,
    reachable: true,
    server: null,
    key_source: "local",
    listener,
  });
  if (Deno.build.os === "linux") assert.match(message, new RegExp(`listening: deno \\(pid ${Deno.pid}\\)`));
});

Deno.test("a tunnel behind a loopback address is a warning", { ignore: Deno.build.os !== "linux" }, async () => {
  await using home = await temporaryHome();
  const ssh = `${home.root}/ssh`;
  await Deno.symlink(Deno.execPath(), ssh);
  const code =
    `Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: ({ port }) => console.log("port " + port + ";") },
    () => Response.json({ object: "list", data: [{ id: "fake", object: "model" }] }))`;
  await using tunnel = startCommand([ssh, "eval", code], { home });
  const [, port] = await tunnel.stdout.until(/port (\d+);/);
  await configure(home, { p: { baseUrl: `http://localhost:${port}/v1` } });
  const { of, ok } = await doctor(home);
  assert.ok(ok);
  assert.equal(of("provider").state, "warn");
  assert.match(of("provider").message, /ssh \(pid \d+\) listens there: the model may run on another machine/);
  assert.equal(of("provider").facts.listener.program, "ssh");
});

Deno.test("a window that the server does not give, and a model that runs elsewhere, are warnings", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({
    models: { object: "list", data: [{ id: "m", object: "model", owned_by: "vllm", max_model_len: 8192 }] },
    routes: { "/api/show": json({ remote_host: "https://far.example", remote_model: "m" }) },
  });
  await configure(home, { p: { baseUrl: server.baseUrl, models: [{ id: "m", context_window: 32768 }] } });
  const { of, ok } = await doctor(home);
  assert.ok(ok);
  assert.equal(of("provider").state, "warn");
  assert.match(of("provider").message, /configured with .*the server provides/);
  assert.match(of("provider").message, /runs elsewhere; it counts as remote/);
});

Deno.test("Ollama's switch for cloud models is reported", async () => {
  for (const [status, told] of [[true, /cloud models are off/], [false, /cloud models are on.*OLLAMA_NO_CLOUD=1/]]) {
    await using home = await temporaryHome();
    await using server = startFakeServer({
      models: { object: "list", data: [{ id: "m", object: "model", owned_by: "library" }] },
      routes: { "/api/status": json({ cloud: { disabled: status } }) },
    });
    await configure(home, { p: { baseUrl: server.baseUrl, models: ["m"] } });
    const { of } = await doctor(home);
    assert.equal(of("provider").state, "ok", of("provider").message);
    assert.match(of("provider").message, told as RegExp);
  }
});

Deno.test("LM Link, by which a model of LM Studio runs on another device, is a warning", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    models: { object: "list", data: [{ id: "m", object: "model", owned_by: "organization_owner" }] },
  });
  await configure(home, { p: { baseUrl: server.baseUrl, models: ["m"] } });
  const bin = `${home.root}/bin`;
  await Deno.mkdir(bin);
  const link = async (status: unknown) => {
    const said = `test "$*" = "link status --json" && printf %s '${JSON.stringify(status)}'`;
    await Deno.writeTextFile(`${bin}/lms`, `#!/bin/sh\n${said}\n`, { mode: 0o755 });
    return (await doctor(home, { PATH: `${bin}:/usr/bin:/bin` })).of("provider");
  };
  const peer = { deviceName: "rack", status: "connected" };
  const loaded = await link({ status: "online", issues: [], peers: [{ ...peer, loadedModels: ["m", "n"] }] });
  assert.equal(loaded.state, "warn");
  assert.match(loaded.message, /LM Link: m, n run on rack/);
  assert.match(loaded.hint ?? "", /lms link disable/);
  const idle = await link({ status: "online", issues: [], peers: [{ ...peer, loadedModels: [] }] });
  assert.equal(idle.state, "warn");
  assert.match(idle.message, /LM Link: models may run on rack/);
  for (const off of [{ status: "offline", issues: ["deviceDisabled"], peers: [] }, "no object"]) {
    assert.equal((await link(off)).state, "ok");
  }
});

Deno.test("a file that cannot be used fails, the rest is still checked, and no key is printed", async () => {
  await using home = await temporaryHome();
  const key = makeCanary("key");
  await configure(home, {});
  await Deno.writeTextFile(`${home.agentcliHome}/providers.yaml`, `providers:\n  p:\n    api_key: "${key.value}\n`);
  const { of, ok, done } = await doctor(home);
  assert.ok(!ok);
  assert.equal(of("configuration").state, "fail");
  assert.equal(of("demo").state, "ok");
  assert.deepEqual(new LeakScan([key]).text(done.stdout + done.stderr), []);
});

Deno.test("what settings name and nobody configured is a warning, a literal key is mentioned and not shown", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ models: ["fake"] });
  const key = makeCanary("key");
  await configure(home, { p: { baseUrl: server.baseUrl, apiKey: key.value } }, { default_provider: "gone" });
  const { of, done } = await doctor(home, {
    HTTPS_PROXY: `http://user:${key.value}@127.0.0.2:9`,
    HTTP_PROXY: "http://[",
  });
  assert.match(of("configuration").message, /default_provider: the provider gone is not configured/);
  assert.match(of("key_store").message, /as plain text in providers\.yaml: p/);
  assert.equal(of("proxy").state, "warn");
  assert.match(of("proxy").message, /^HTTP_PROXY cannot/);
  const second = await doctor(home, { HTTPS_PROXY: `http://user:${key.value}@127.0.0.2:9` });
  assert.match(second.of("proxy").message, /through 127\.0\.0\.2:9, local ones directly/);
  assert.deepEqual(new LeakScan([key]).text(done.stdout + second.done.stdout + second.done.stderr), []);
});

Deno.test("a keyring that cannot be asked fails where a key is in it, and is left alone where none is", async () => {
  await using home = await temporaryHome();
  const env = { DBUS_SESSION_BUS_ADDRESS: null, XDG_RUNTIME_DIR: null };
  await configure(home, { p: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "keyring" } });
  const { of } = await doctor(home, env);
  assert.equal(of("key_store").state, "fail");
  assert.match(of("key_store").hint ?? "", /--store file|libsecret/);
  await configure(home, { p: { baseUrl: "http://127.0.0.1:1/v1" } });
  assert.equal((await doctor(home, env)).of("key_store").state, "ok");
});

Deno.test("a server that never answers costs seconds, not minutes", { timeout: 60_000 }, async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ routes: { "/v1/models": { kind: "silence", beforeHead: true } } });
  await configure(home, { p: { baseUrl: server.baseUrl } });
  const { of } = await doctor(home);
  assert.equal(of("provider").state, "fail");
});

Deno.test("markers are counted, a damaged one fails, and variables that copy text are reported", async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\n");
  const { of } = await doctor(home, { SSLKEYLOGFILE: `${home.tmp}/keys` });
  assert.match(of("boundary").message, /1 marker/);
  assert.equal(of("boundary").facts.markers.length, 1);
  assert.equal(of("telemetry").state, "warn");
  assert.equal(of("telemetry").hint, "unset SSLKEYLOGFILE");
  await home.write(".agentclisecret", new Uint8Array([0xff, 0xfe, 0x00]));
  const damaged = await doctor(home);
  assert.equal(damaged.of("boundary").state, "fail");
});

Deno.test("what a server and a file supply steers no terminal", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ models: ["\u001b]0;x\u0007"] });
  await configure(home, { p: { baseUrl: server.baseUrl, models: ["\u001b[2J\u009b"] } });
  const done = await runInProcess(["doctor"], { home });
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  assert.doesNotMatch(done.stdout + done.stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

Deno.test("what Deno does not permit is reported in its place with the flag to give, and the rest is checked", {
  ignore: programCommand().length < 2,
}, async () => {
  await using home = await temporaryHome();
  await home.write(".agentclisecret", "no-cloud: .env\n");
  await configure(home, { p: { baseUrl: "http://127.0.0.1:1/v1" } });
  const permissions = ["--no-prompt", "--allow-read", "--allow-env"];
  const { stdout, stderr, code } = await runInProcess(["doctor", "--json"], { home, permissions });
  assert.equal(code, 1, stderr);
  const { checks } = JSON.parse(stdout) as { checks: Shown[] };
  const ids = checks.map(({ id }) => id);
  for (
    const id of ["version", "home", "configuration", "provider", "boundary", "sandbox", "terminal", "telemetry", "demo"]
  ) {
    assert.ok(ids.includes(id), `${id} is missing: ${ids.join(" ")}`);
  }
  for (const { id, message, hint } of checks.filter(({ message }) => /Deno does not permit/.test(message))) {
    assert.match(hint ?? "", /--allow-/, `${id}: ${message}`);
  }
  for (const id of ["sandbox", "demo"]) {
    assert.match(checks.find((check) => check.id === id)?.message ?? "", /^Deno does not permit this: /, id);
  }
});

Deno.test("a home that Deno does not let us write is not said to belong to somebody else", {
  ignore: programCommand().length < 2,
}, async () => {
  await using home = await temporaryHome();
  await Deno.mkdir(home.agentcliHome, { mode: 0o755 });
  await Deno.chmod(home.agentcliHome, 0o755);
  const permissions = ["--no-prompt", "--allow-read", "--allow-env"];
  const done = await runInProcess(["providers", "list"], { home, permissions });
  assert.equal(done.code, 3);
  assert.match(done.stderr, /Deno does not permit using the home .*\n {2}start it with .*--allow-write=/);
});

Deno.test({
  name: "a home that cannot be made, and none for temporary files, are lines of their own, and the rest is looked at",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await using home = await temporaryHome();
    await home.write("a file", "");
    const place = `${home.project}/a file/home`;
    // Where temporary files go is decided by the environment of the process.
    const env = { AGENTCLI_HOME: place, TMPDIR: `${home.root}/nowhere` };
    const { of, ok, done } = await doctor(home, env, runProgram);
    assert.ok(!ok);
    assert.equal(done.stderr, "");
    assert.equal(of("home").state, "fail");
    assert.match(of("home").message, /(cannot be created|is not writable): a part of the path is not a directory/);
    assert.equal(of("demo").state, "fail");
    assert.match(of("demo").message, /no temporary directory can be made/);
    assert.match(of("demo").hint ?? "", /TMPDIR/);
    assert.equal(of("proxy").state, "ok");
  },
});

Deno.test({
  name: "a home on a read-only file system is a failure, made or not",
  ignore: (await outputOf(new Deno.Command("bwrap", { args: ["--dev-bind", "/", "/", "true"] })))?.success !== true,
  fn: async () => {
    await using home = await temporaryHome();
    for (const [at, said] of [["", /cannot be created/], [home.agentcliHome, /is not writable/]] as const) {
      if (at !== "") await Deno.mkdir(at, { mode: 0o700 });
      const sandbox = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", home.home, home.home];
      await using program = startCommand([...sandbox, ...programCommand(), "doctor"], { home });
      const { stdout, code } = await program.finished;
      assert.equal(code, 1);
      assert.match(stdout, /^\[FAIL\] home: .*: the file system is read-only\n {2}try: .*AGENTCLI_HOME$/m);
      assert.match(stdout, said);
    }
  },
});
