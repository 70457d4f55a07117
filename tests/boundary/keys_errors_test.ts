/** Threats 102, 105 and 110: a key is in no message, on no command line, and with nobody it was not meant for. */
import assert from "node:assert/strict";
import { refuse, say } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure, type Finished, type TemporaryHome, temporaryHome } from "../helpers/program.ts";
import { assertSealed, LeakScan, makeCanary, openStage } from "./harness.ts";

const KEY = makeCanary("key");

function assertSilentAboutKey(done: Finished, what: string): void {
  assert.deepEqual(new LeakScan([KEY]).text(done.stdout + done.stderr), [], `${what}\n${done.stdout}${done.stderr}`);
}

/** What is run in each case: it has to look at the configuration, print it, or use it. */
const COMMANDS: readonly string[][] = [
  ["run", "hello", "--model", "loc"],
  ["run", "hello", "--model", "loc", "--output-format", "json", "--verbose"],
  ["providers", "list", "--json"],
  ["providers", "validate", "--verbose"],
  ["providers", "validate", "--json"],
  ["config", "list"],
  ["init-providers", "--dry-run", "--timeout", "50"],
];

async function forEveryCommand(
  home: TemporaryHome,
  options: { env?: Record<string, string>; what: string },
): Promise<void> {
  await Promise.all(COMMANDS.map(async (args) => {
    const done = await runInProcess(args, { home, ...options.env === undefined ? {} : { env: options.env } });
    assert.ok(!done.timedOut, args.join(" "));
    assertSilentAboutKey(done, `${options.what}: ${args.join(" ")}`);
  }));
}

const ENDINGS: Record<string, string> = {
  "a line break": "\n",
  "a carriage return": "\r",
  "a line break inside": "\nX-Other: 1",
  "a NUL-like control": "\x01",
  "a letter that is not ASCII": "é",
};

for (const [name, ending] of Object.entries(ENDINGS)) {
  Deno.test(`a key with ${name} is not printed by any command`, async () => {
    await using home = await temporaryHome();
    await configure(home, { loc: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "$GIVEN" } });
    await forEveryCommand(home, { env: { GIVEN: KEY.value + ending }, what: name });
    await configure(home, { loc: { baseUrl: "http://127.0.0.1:9/v1", apiKey: KEY.value + ending } });
    await forEveryCommand(home, { what: `${name}, literal` });
  });
}

const ADDRESSES: readonly string[] = [
  `http://user:${KEY.value}@h h/`,
  `http://user:${KEY.value}@127.0.0.1:9/v1`,
  `http://127.0.0.1:9/v1?key=${KEY.value}`,
  `http://127.0.0.1:99999/${KEY.value}`,
  `ftp://${KEY.value}@127.0.0.1/`,
  `http://[::1/${KEY.value}`,
];

for (const address of ADDRESSES) {
  Deno.test(`a base URL with a password in it is not repeated: ${address.replaceAll(KEY.value, "PASSWORD")}`, async () => {
    await using home = await temporaryHome();
    const added = await runInProcess(["providers", "add", "loc", "--base-url", address], { home });
    assertSilentAboutKey(added, "add");
    await configure(home, { loc: { baseUrl: address } });
    if (!address.endsWith(KEY.value)) await forEveryCommand(home, { what: "in the file" });
  });
}

const FILES: Record<string, string> = {
  "an open quote": `version: 1\nproviders:\n  loc:\n    api_key: "${KEY.value}\n`,
  "a tab": `version: 1\nproviders:\n  loc:\n\tapi_key: ${KEY.value}\n`,
  "a key twice": `version: 1\nproviders:\n  loc:\n    api_key: ${KEY.value}\n    api_key: ${KEY.value}\n`,
  "a wrong type": `version: 1\nproviders:\n  loc:\n    base_url: http://127.0.0.1:9/v1\n    api_key: [${KEY.value}]\n`,
  "an unknown field": `version: 1\nproviders:\n  loc:\n    base_url: http://127.0.0.1:9/v1\n    apikey: ${KEY.value}\n`,
  "no YAML": `{{{ ${KEY.value}`,
};

for (const [name, text] of Object.entries(FILES)) {
  Deno.test(`a providers.yaml with ${name} is refused without quoting the line with the key, and left as it was`, async () => {
    await using home = await temporaryHome();
    await Deno.mkdir(home.agentcliHome, { mode: 0o700 });
    const path = `${home.agentcliHome}/providers.yaml`;
    await Deno.writeTextFile(path, text, { mode: 0o600 });
    await forEveryCommand(home, { what: name });
    const added = await runInProcess(["providers", "add", "x", "--base-url", "http://127.0.0.1:9/v1"], { home });
    if (added.code !== 0) assert.equal(await Deno.readTextFile(path), text);
  });
}

Deno.test("what a server says of the key is not repeated", async () => {
  await using stage = await openStage({ marker: null });
  const key = stage.canary("key");
  for (const provider of ["loc", "rem"] as const) {
    const played = await stage.play(provider, {
      block: { apiKey: "$GIVEN" },
      env: { GIVEN: key },
      process: false,
      args: ["--verbose"],
      script: [refuse(401, `Incorrect API key provided: ${key}. Authorization: Bearer ${key}`)],
    });
    assert.equal(played.done.code, 5, played.done.stderr);
    // The server does get the key: that is what the control of this case is.
    assert.ok(played.sent.includes(key));
    assert.deepEqual(played.leaks.output, []);
    assert.deepEqual(played.leaks.disk, []);
    assert.deepEqual(played.leaks.processes, []);
  }
});

Deno.test("a key or a prompt that a server writes down in another form is not shown", async () => {
  await using stage = await openStage({ marker: null });
  const [key, words] = [stage.canary("key"), stage.canary("env")];
  const hexOf = (text: string) => [...text].map((letter) => letter.charCodeAt(0).toString(16)).join("");
  const forms: Record<string, (text: string) => string> = {
    "an escape inside": (text) => `${text.slice(0, 9)}\x1b[31m${text.slice(9)}`,
    "a bare escape inside": (text) => `${text.slice(0, 9)}\x1b${text.slice(9)}`,
    "control characters inside": (text) => [...text].join("\x01"),
    "zero-width spaces inside": (text) => [...text].join("\u200b"),
    reversed: (text) => [...text].reverse().join(""),
    hex: hexOf,
    base64: btoa,
    "base64 at another place": (text) => btoa(`x${text}`),
  };
  for (const [name, formOf] of Object.entries(forms)) {
    for (const text of [key, words]) {
      for (const body of [formOf(text), JSON.stringify({ error: { message: `invalid: ${formOf(text)}` } })]) {
        const played = await stage.play("loc", {
          prompt: `explain ${words}`,
          block: { apiKey: "$GIVEN" },
          env: { GIVEN: key },
          process: false,
          args: ["--verbose"],
          script: [refuse(400, body)],
        });
        assert.notEqual(played.done.code, 0);
        assert.match(played.done.stderr, /refused the request/);
        assert.deepEqual(played.leaks.output, [], `${name}: ${played.done.stderr}`);
        for (const half of [text.slice(0, 9), text.slice(9, 20), formOf(text).slice(-12)]) {
          assert.ok(!played.done.stderr.includes(half), `${name}: ${played.done.stderr}`);
        }
      }
    }
  }
  const plain = await stage.play("loc", { script: [refuse(400, "the field top_k is unknown")] });
  assert.match(plain.done.stderr, /top_k is unknown/, "control: words of the server's own are shown");
});

Deno.test("a redirect gets neither the key nor the request, at whatever status", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    await using stage = await openStage({ marker: null });
    const key = stage.canary("key");
    const played = await stage.play("rem", {
      block: { apiKey: "$GIVEN", more: { headers: { "x-api-key": key } } },
      env: { GIVEN: key },
      process: false,
      script: [{
        kind: "status",
        status,
        body: "",
        headers: { location: `http://${stage.sink.address}/v1/chat/completions` },
      }],
    });
    assert.notEqual(played.done.code, 0);
    assert.equal(played.sinkConnections, 0, `status ${status}`);
    assert.deepEqual(played.leaks.output, []);
  }
});

Deno.test("the placeholder local is never looked up as a variable or sent elsewhere as a key", async () => {
  await using stage = await openStage({ marker: null });
  const played = await stage.play("loc", {
    script: [say("Done.")],
    env: { local: stage.canary("key"), LOCAL: stage.canary("key") },
  });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertSealed(played);
  assert.deepEqual(played.leaks.wire, []);
  assert.equal(played.requests.at(-1)?.headers.get("authorization"), "Bearer local");
});

Deno.test("a provider that is replaced does not keep the key of the one before", async () => {
  await using home = await temporaryHome();
  const add = (...args: string[]) => runInProcess(["providers", "add", "p", ...args], { home });
  const first = await add("--base-url", "http://127.0.0.1:9/v1", "--api-key", KEY.value);
  assert.equal(first.code, 0, first.stderr);
  assertSilentAboutKey(first, "add");
  assert.match(first.stderr, /shell's history/);
  assert.ok(
    (await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`)).includes(KEY.value),
    "control: it was stored",
  );
  const again = await add("--base-url", "http://127.0.0.2:9/v1");
  assert.equal(again.code, 3, "an existing name needs --replace");
  const replaced = await add("--base-url", "http://127.0.0.2:9/v1", "--replace");
  assert.equal(replaced.code, 0, replaced.stderr);
  assert.ok(!(await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`)).includes(KEY.value));
});
