import assert from "node:assert/strict";
import { startFakeServer } from "../../../tests/helpers/fake_server.ts";
import { type TemporaryHome, temporaryHome } from "../../../tests/helpers/home.ts";
import { denoIo } from "../../platform/deno_io.ts";
import type { Io } from "../../platform/io.ts";
import { run } from "./run.ts";

/** Runs the command in this process against one host; gives stdout. */
async function init(
  home: TemporaryHome,
  more: { host: string[]; dryRun?: boolean; json?: boolean; quiet?: boolean; env?: Record<string, string> },
): Promise<string> {
  let stdout = "";
  const env: Record<string, string> = { AGENTCLI_HOME: home.agentcliHome, ...more.env };
  const output = {
    isTerminal: false,
    columns: () => 80,
    write: (text: string) => Promise.resolve(void (stdout += text)),
  };
  const io: Io = { ...denoIo(), stdout: output, env: (name) => env[name] };
  await run({
    options: { host: more.host, dryRun: more.dryRun ?? false, timeout: 5000 },
    arguments: [],
    context: {
      io,
      globals: {
        cwd: home.project,
        json: more.json ?? false,
        quiet: more.quiet ?? false,
        verbose: false,
        noColor: true,
        yes: false,
      },
    },
  });
  return stdout;
}

const providersYaml = (home: TemporaryHome) => Deno.readTextFile(`${home.agentcliHome}/providers.yaml`);

Deno.test("what is found is written, and a second time nothing changes", async () => {
  await using home = await temporaryHome();
  const models = {
    object: "list",
    data: [{ id: "Qwen/Qwen3-8B", owned_by: "vllm", max_model_len: 32768 }, { id: "123", owned_by: "vllm" }],
  };
  await using server = startFakeServer({ models });
  const host = [`127.0.0.1:${server.port}`];
  const first = await init(home, { host });
  assert.match(first, /^vLLM +.* serving +Qwen\/Qwen3-8B \(32,768 tokens\)/m);
  const text = await providersYaml(home);
  assert.match(
    text,
    new RegExp(
      `  vllm-${server.port}:\n    type: openai_compat\n    base_url: http://127.0.0.1:${server.port}/v1\n    api_key: local\n`,
    ),
  );
  assert.match(text, /- id: Qwen\/Qwen3-8B\n +context_window: 32768\n/);
  assert.match(text, /- id: "123"\n/);
  assert.match(text, /^ {2}# studio_f: # Unsloth Studio: .*\n[^]*# {3}api_key: \$STUDIO_F_API_KEY\n/m);
  assert.match(await init(home, { host }), /nothing to change in /);
  assert.equal(await providersYaml(home), text);
});

Deno.test("what the user wrote stays byte for byte while new models are added and missing ones are reported", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ models: ["kept", "new"] });
  const before = `# mine
version: 1
default_provider:   box   # the one
providers:
  'box':
    base_url: "http://localhost:${server.port}/v1"   # quoted

    api_key: local
    models:
    - {id: kept, alias: [k, kk]}   # flow
    - id: gone   # still wanted
      params: { temperature: 0.20 }
  studio_f: { base_url: http://localhost:8888/v1, api_key: $STUDIO_F_API_KEY }
`;
  await Deno.mkdir(home.agentcliHome, { mode: 0o700 });
  await Deno.writeTextFile(`${home.agentcliHome}/providers.yaml`, before);
  const told = await init(home, { host: [`127.0.0.1:${server.port}`] });
  assert.match(told, /box: added new/);
  assert.match(told, /box: 'gone' is configured but no longer served; it was kept/);
  const after = await providersYaml(home);
  const kept = new Set(after.split("\n"));
  assert.deepEqual(before.split("\n").filter((line) => !kept.has(line)), []);
  assert.deepEqual(after.split("\n").filter((line) => !before.split("\n").includes(line)), ["    - id: new"]);
});

Deno.test("a dry run prints the change as a diff and writes nothing at all", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ models: ["m"] });
  const told = await init(home, { host: [`127.0.0.1:${server.port}`], dryRun: true });
  assert.match(told, /^--- \/dev\/null$[^]*^\+ +- id: m$/m);
  assert.match(told, /was not written/);
  await assert.rejects(Deno.stat(home.agentcliHome), Deno.errors.NotFound);
});

Deno.test("the comment of the studio becomes its block once it is asked for, and its own line alone", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ models: ["m"] });
  const host = [`127.0.0.1:${server.port}`];
  await init(home, { host });
  const before = await providersYaml(home);
  const told = await init(home, { host, env: { STUDIO_F_API_KEY: "k" } });
  assert.match(told, /added Unsloth Studio \(studio_f\), http:\/\/localhost:8888\/v1: no models yet/);
  const after = await providersYaml(home);
  // The signs are gone, and nothing else changed.
  assert.equal(
    after,
    before.replaceAll(
      /^( *)# (.*)$/gm,
      (line, indent, rest) => line.includes("yaml-language-server") ? line : indent + rest.replace(/ # Unsloth.*$/, ""),
    ),
  );
  assert.match(await init(home, { host }), /nothing to change in /);
  assert.equal(await providersYaml(home), after);
});

Deno.test("a comment of the studio that somebody wrote stays", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ models: ["m"] });
  const before =
    `providers:\n  mine: { base_url: "http://localhost:${server.port}/v1", models: [{ id: m }] }\n  # studio_f: later\n`;
  await Deno.mkdir(home.agentcliHome, { mode: 0o700 });
  await Deno.writeTextFile(`${home.agentcliHome}/providers.yaml`, before);
  assert.match(await init(home, { host: [`127.0.0.1:${server.port}`] }), /nothing to change in /);
  assert.equal(await providersYaml(home), before);
});

Deno.test("finding nothing writes the studio's comment, is no failure, and says what to do next", async () => {
  await using home = await temporaryHome();
  const server = startFakeServer();
  await server.close();
  const told = await init(home, { host: [`127.0.0.1:${server.port}`] });
  assert.match(told, /nothing there/);
  assert.match(told, /agentcli run --model demo/);
  assert.match(await providersYaml(home), /^providers:\n {2}# studio_f:/m);
});

Deno.test("a broken file is reported before any server is asked, and stays as it is", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer();
  await Deno.mkdir(home.agentcliHome, { mode: 0o700 });
  await Deno.writeTextFile(`${home.agentcliHome}/providers.yaml`, "providers: [\n");
  await assert.rejects(init(home, { host: [`127.0.0.1:${server.port}`] }), { code: "config_invalid" });
  assert.equal(server.connectionCount(), 0);
  assert.equal(await providersYaml(home), "providers: [\n");
});

Deno.test("hostile ids are written as data and shown as escapes", async () => {
  await using home = await temporaryHome();
  const ids = [
    "a\u001b]52;c;x\u0007",
    "b: [c] #d",
    "__proto__",
    "- x",
    "'q\"",
    "true",
    "12345678901234567890",
    "x\u009b2J",
  ];
  await using server = startFakeServer({ models: ids });
  const host = [`127.0.0.1:${server.port}`];
  const told = await init(home, { host }) + await init(home, { host, json: true });
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  assert.doesNotMatch(told, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  const report = JSON.parse(await init(home, { host, json: true }));
  assert.deepEqual(report.servers[0].models.map((model: { id: string }) => model.id), ids);
  assert.deepEqual([report.changed, report.added_models, report.gone_models], [false, [], []]);
});

Deno.test("quiet leaves out the next steps", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ models: ["m"] });
  const host = [`127.0.0.1:${server.port}`];
  assert.doesNotMatch(await init(home, { host, quiet: true }), /agentcli run/);
});
