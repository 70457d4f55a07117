/** Keys that are stored: with a real keyring where there is one, and in the file. Threats 104, 105, 107, 110. */
import assert from "node:assert/strict";
import { type Canary, LeakScan, makeCanary, TreeScan } from "./boundary/leakscan.ts";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { missingKeyringPrograms, startBus } from "./helpers/keyring.ts";
import { plainDirectory } from "./helpers/plain_directory.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, programCommand, startCommand, temporaryHome } from "./helpers/program.ts";
import type { TemporaryHome } from "./helpers/home.ts";

const NO_BUS = { DBUS_SESSION_BUS_ADDRESS: null, XDG_RUNTIME_DIR: null };
const missing = missingKeyringPrograms();
const keyring = {
  ignore: Deno.build.os !== "linux" || missing.length > 0,
  skipped: missing.length === 0 ? "" : ` (skipped: no ${missing.join(", ")})`,
};

function silent(text: string, key: Canary): void {
  assert.deepEqual(new LeakScan([key]).text(text), []);
}

async function notBelow(directory: string, key: Canary): Promise<void> {
  const scan = new TreeScan(new LeakScan([key]), { roots: [directory], skip: () => false });
  await scan.look();
  assert.deepEqual([...scan.found], []);
}

async function entryOf(home: TemporaryHome): Promise<string> {
  return await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`);
}

Deno.test("a key in the file is sent to its address, is shown nowhere, and goes with unset-key", async () => {
  await using home = await temporaryHome();
  await using server = await startFakeServer({ script: [say("Done.")] });
  const key = makeCanary("key");
  await configure(home, { p: { baseUrl: server.baseUrl, apiKey: "$OLD" } });
  const set = await runInProcess(["providers", "set-key", "p", "--store", "file"], { home, stdin: `  ${key.value}\n` });
  assert.equal(set.code, 0, set.stderr);
  assert.match(set.stdout, /^stored the key of p in credentials\.json, for http:\/\/127\.0\.0\.1:\d+\n$/);
  assert.match(set.stderr, /only from a casual look/);
  assert.match(await entryOf(home), /"api_key": "?file"?/);
  for (const name of ["credentials.json", "credentials.key", "providers.yaml"]) {
    const { mode } = await Deno.stat(`${home.agentcliHome}/${name}`);
    assert.equal((mode ?? 0) & 0o777, 0o600, name);
  }
  const turn = await runInProcess(["run", "hi", "--model", "p"], { home });
  assert.equal(turn.code, 0, turn.stderr);
  assert.equal(server.chats().at(-1)?.headers.get("authorization"), `Bearer ${key.value}`);
  const list = await runInProcess(["providers", "list", "--json"], { home });
  assert.deepEqual(JSON.parse(list.stdout).providers[0].key, { source: "file", problem: null });
  const validated = await runInProcess(["providers", "validate"], { home });
  assert.match(validated.stdout, /ok: API key resolved via file/);
  for (const done of [set, turn, list, validated]) silent(done.stdout + done.stderr, key);
  await notBelow(home.root, key);
  const unset = await runInProcess(["providers", "unset-key", "p"], { home });
  assert.equal(unset.code, 0, unset.stderr);
  assert.ok(!(await entryOf(home)).includes("api_key"));
  assert.ok(!(await Deno.readTextFile(`${home.agentcliHome}/credentials.json`)).includes("origin"));
});

Deno.test("a stored key does not follow its provider to another address", async () => {
  for (const change of ["edited", "replaced"] as const) {
    await using home = await temporaryHome();
    await using first = await startFakeServer({ script: [say("Done.")] });
    await using second = await startFakeServer({ script: [say("Done.")] });
    await configure(home, { p: { baseUrl: first.baseUrl } });
    const set = await runInProcess(["providers", "set-key", "p", "--store", "file"], { home, stdin: "sk-CANARY" });
    assert.equal(set.code, 0, set.stderr);
    if (change === "edited") {
      const path = `${home.agentcliHome}/providers.yaml`;
      await Deno.writeTextFile(path, (await entryOf(home)).replace(first.baseUrl, second.baseUrl));
    } else {
      const args = ["--base-url", second.baseUrl, "--api-key", "file", "--model", "fake", "--replace"];
      assert.equal((await runInProcess(["providers", "add", "p", ...args], { home })).code, 0);
    }
    const turn = await runInProcess(["run", "hi", "--model", "p"], { home });
    assert.equal(turn.code, 5, turn.stderr);
    assert.match(turn.stderr, change === "edited" ? /another address/ : /holds no key/);
    assert.match(turn.stderr, /set-key p --store file/);
    assert.deepEqual(second.requests.filter((request) => request.headers.get("authorization") !== null), []);
  }
});

Deno.test("keys that are set at the same time are all kept", async () => {
  await using home = await temporaryHome();
  const names = ["a", "b", "c", "d", "e", "f"];
  const block = { baseUrl: "http://127.0.0.1:9/v1" };
  await configure(home, Object.fromEntries(names.map((name) => [name, block])));
  const all = await Promise.all(names.map((name) => {
    return runInProcess(["providers", "set-key", name, "--store", "file"], { home, stdin: `key-of-${name}` });
  }));
  for (const done of all) assert.equal(done.code, 0, done.stderr);
  const { entries } = JSON.parse(await Deno.readTextFile(`${home.agentcliHome}/credentials.json`));
  assert.deepEqual(Object.keys(entries).sort(), names);
  const list = await runInProcess(["providers", "list", "--json"], { home });
  for (const { key } of JSON.parse(list.stdout).providers) assert.equal(key.source, "file");
  const status = await runInProcess(["doctor", "--json"], { home });
  const store = JSON.parse(status.stdout).checks.find((check: { id: string }) => check.id === "key_store");
  assert.equal(store.state, "ok", store.message);
});

Deno.test("what cannot be a key is refused and not repeated, and nothing is stored", async () => {
  await using home = await temporaryHome();
  await configure(home, { p: { baseUrl: "http://127.0.0.1:9/v1" } });
  const before = await entryOf(home);
  for (const stdin of ["", " \n", "sk-CANARY\nsecond", "sk-CANARY\u00e9", "sk-CANARY\x01"]) {
    const done = await runInProcess(["providers", "set-key", "p", "--store", "file"], { home, stdin });
    assert.equal(done.code, 2, done.stderr);
    assert.ok(!(done.stdout + done.stderr).includes("CANARY"));
  }
  const argument = await runInProcess(["providers", "set-key", "p", "sk-CANARY"], { home });
  assert.equal(argument.code, 2);
  assert.equal(await entryOf(home), before);
  await assert.rejects(Deno.stat(`${home.agentcliHome}/credentials.json`), Deno.errors.NotFound);
});

Deno.test("without a bus a key is refused with the way out, and is in no file", async () => {
  await using home = await temporaryHome();
  await configure(home, { p: { baseUrl: "http://127.0.0.1:9/v1" } });
  const before = await entryOf(home);
  const done = await runInProcess(["providers", "set-key", "p"], { home, stdin: "sk-CANARY", env: NO_BUS });
  assert.equal(done.code, 3, done.stderr);
  assert.match(done.stderr, /--store file/);
  assert.equal(await entryOf(home), before);
  const key = { ...makeCanary("key"), value: "sk-CANARY" };
  await notBelow(home.root, key);
  const json = await runInProcess(["providers", "set-key", "p", "--json"], { home, stdin: "sk-CANARY", env: NO_BUS });
  assert.equal(JSON.parse(json.stdout).error.code, "key_store_unusable");
});

Deno.test(
  "a bus that never answers costs less than five seconds",
  { timeout: 60_000, ignore: keyring.ignore },
  async () => {
    await using home = await temporaryHome();
    await configure(home, { p: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "keyring" } });
    const place = await plainDirectory("bus");
    const listener = Deno.listen({ transport: "unix", path: `${place}/bus` });
    const open: Deno.Conn[] = [];
    const accepting = (async () => {
      for await (const connection of listener) open.push(connection);
    })();
    try {
      const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${place}/bus` };
      for (const args of [["providers", "set-key", "p"], ["run", "hi", "--model", "p"]]) {
        const done = await runInProcess(args, { home, stdin: "sk-CANARY", env });
        assert.equal(done.code, args[0] === "run" ? 5 : 3, done.stderr);
        assert.match(done.stderr, /does not (answer|respond)/);
      }
      assert.ok(open.length > 0);
    } finally {
      listener.close();
      await accepting;
      for (const connection of open) connection.close();
      await Deno.remove(place, { recursive: true });
    }
  },
);

Deno.test(`a real keyring keeps the key, gives it back, and loses it with the provider${keyring.skipped}`, {
  timeout: 60_000,
  ignore: keyring.ignore,
}, async () => {
  await using home = await temporaryHome();
  await using bus = await startBus(home);
  await bus.startKeyring();
  const { env } = bus;
  await using server = await startFakeServer({ script: [say("Done."), say("Done.")] });
  const key = makeCanary("key");
  await configure(home, { p: { baseUrl: server.baseUrl } });
  for (const value of ["older", key.value]) {
    const set = await runInProcess(["providers", "set-key", "p"], { home, env, stdin: value });
    assert.equal(set.code, 0, set.stderr);
    silent(set.stdout + set.stderr, key);
  }
  assert.match(await entryOf(home), /"api_key": "?keyring"?/);
  const turn = await runInProcess(["run", "hi", "--model", "p"], { home, env });
  assert.equal(turn.code, 0, turn.stderr);
  assert.equal(server.chats().at(-1)?.headers.get("authorization"), `Bearer ${key.value}`);
  assert.match(await bus.search(), /provider = p/);
  await notBelow(home.agentcliHome, key);
  await bus.lock();
  const locked = await runInProcess(["run", "hi", "--model", "p"], { home, env });
  assert.equal(locked.code, 5, locked.stderr);
  const refused = await runInProcess(["providers", "set-key", "p"], { home, env, stdin: "sk-CANARY" });
  assert.equal(refused.code, 3, refused.stderr);
  assert.ok(!refused.stderr.includes("CANARY"));
});

Deno.test(`removing a provider removes its key from a real keyring${keyring.skipped}`, {
  ignore: keyring.ignore,
}, async () => {
  await using home = await temporaryHome();
  await using bus = await startBus(home);
  const { env } = bus;
  await configure(home, { p: { baseUrl: "http://127.0.0.1:9/v1" } });
  const early = await runInProcess(["providers", "set-key", "p"], { home, env, stdin: "sk-CANARY" });
  assert.equal(early.code, 3, early.stderr);
  assert.match(early.stderr, /no keyring service runs/);
  await bus.startKeyring();
  assert.equal((await runInProcess(["providers", "set-key", "p"], { home, env, stdin: "sk-CANARY" })).code, 0);
  assert.match(await bus.search(), /provider = p/);
  const removed = await runInProcess(["providers", "remove", "p", "--yes"], { home, env });
  assert.equal(removed.code, 0, removed.stderr);
  assert.equal(await bus.search(), "");
});

Deno.test("a key that is typed at the prompt is not shown", { ignore: !isThere("/usr/bin/script") }, async () => {
  await using home = await temporaryHome();
  await configure(home, { p: { baseUrl: "http://127.0.0.1:9/v1" } });
  const command = [...programCommand(), "providers", "set-key", "p", "--store", "file"];
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  await using program = startCommand(["/usr/bin/script", "-qec", quoted, "/dev/null"], {
    home,
    env: { TERM: "xterm" },
  });
  await program.stdout.until(/Key for p: /);
  await program.write("sk-CANARX\x7fY\r");
  const done = await program.finished;
  assert.equal(done.code, 0, done.stdout);
  assert.match(done.stdout, /stored the key of p/);
  assert.ok(!done.stdout.includes("CANAR") && !done.stdout.includes("sk-"), done.stdout);
});

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
