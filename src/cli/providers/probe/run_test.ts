import assert from "node:assert/strict";
import { type FakeServerOptions, startFakeServer, type Step } from "../../../../tests/helpers/fake_server.ts";
import { type Abilities, probedModel } from "../../../../tests/helpers/probed_model.ts";
import {
  configure,
  runProgram,
  startProgram,
  type TemporaryHome,
  temporaryHome,
} from "../../../../tests/helpers/program.ts";
import { denoIo } from "../../../platform/deno_io.ts";
import type { Io } from "../../../platform/io.ts";
import { displayWidth } from "../../../terminal/table.ts";
import { run } from "./run.ts";

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command in this process; the streams are no terminals. */
async function probe(
  home: TemporaryHome,
  more: { selector?: string; write?: boolean; json?: boolean; columns?: number } = {},
): Promise<Result> {
  const written = { stdout: "", stderr: "" };
  const env: Record<string, string> = { AGENTCLI_HOME: home.agentcliHome, HOME: home.home };
  const output = (name: "stdout" | "stderr") => ({
    isTerminal: more.columns !== undefined && name === "stdout",
    columns: () => more.columns ?? 80,
    write: (text: string) => Promise.resolve(void (written[name] += text)),
  });
  const io: Io = { ...denoIo(), stdout: output("stdout"), stderr: output("stderr"), env: (name) => env[name] };
  const code = await run({
    options: { write: more.write ?? false, timeout: undefined, maxPrompt: undefined },
    arguments: [more.selector ?? "box"],
    context: {
      io,
      globals: {
        cwd: home.project,
        json: more.json ?? false,
        quiet: false,
        verbose: false,
        noColor: true,
        yes: false,
      },
    },
  });
  return { code, ...written };
}

function serverOf(abilities: Abilities, more: FakeServerOptions = {}) {
  const models = { object: "list", data: [{ id: "fake", owned_by: "vllm", max_model_len: 8192 }] };
  return startFakeServer({ models, script: probedModel(abilities), ...more });
}

const providersYaml = (home: TemporaryHome) => Deno.readTextFile(`${home.agentcliHome}/providers.yaml`);

Deno.test("the table fits 80 columns, shows every check with its runs, and ends in a verdict", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ window: 8192 });
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const { code, stdout, stderr } = await probe(home);
  assert.equal(code, 0, stderr);
  assert.deepEqual(stdout.split("\n").filter((line) => displayWidth(line) > 80), []);
  assert.match(stdout, /^server +vLLM$/m);
  assert.match(stdout, /^window claimed +8,192 +tokens, as \/models says$/m);
  assert.match(stdout, /^window proved +[\d,]+ +tokens; start repeated from 3 of 3 prompts$/m);
  assert.match(stdout, /^first token +[\d.]+ m?s +new prompt of [\d,]+ tokens, median of 3 runs$/m);
  assert.match(stdout, /^parallel calls +yes$/m);
  assert.match(stdout, /^cache in a turn +unclear +the server does not tell/m);
  assert.match(stdout, /^sampling +in sessions +server default \(no published values/m);
  assert.match(stdout, /^fit for agent turns: yes, with native tool calls$/m);
  assert.equal(stderr, "");
});

Deno.test("a narrow terminal gets wrapped figures, none cut", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ window: 8192 });
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const { stdout } = await probe(home, { columns: 60 });
  const [, lines = ""] = stdout.split("\n\n");
  assert.deepEqual(lines.split("\n").filter((line) => displayWidth(line) > 60 || line.includes("…")), []);
  assert.match(lines.replace(/\s+/g, " "), /window proved [\d,]+ tokens; start repeated from 3 of 3 prompts/);
});

Deno.test("what was found is stored field by field, and shown as old and new", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ window: 8192, reasoning: "wanted back" });
  const entry = { id: "fake", alias: "f", context_window: 4096, role: "main" };
  await configure(home, { box: { baseUrl: server.baseUrl, models: [entry] } });
  const { stdout } = await probe(home, { write: true, selector: "box:f" });
  assert.match(stdout, /^context_window: 4,096 tokens → 8,192 tokens$/m);
  assert.match(stdout, /^tool_calls: \(not set\) → native$/m);
  assert.match(stdout, /^reasoning: \(not set\) → keep$/m);
  const { providers } = JSON.parse(await providersYaml(home));
  assert.deepEqual(providers.box.models, [{ ...entry, context_window: 8192, tool_calls: "native", reasoning: "keep" }]);
  assert.match((await probe(home, { write: true })).stdout, /nothing to change in /);
});

Deno.test("a model that is served but not configured is added when its findings are stored", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ window: 8192 });
  await configure(home, { box: { baseUrl: server.baseUrl, models: ["other"] } });
  const { code } = await probe(home, { write: true, selector: "box:fake" });
  assert.equal(code, 0);
  const { providers } = JSON.parse(await providersYaml(home));
  assert.deepEqual(providers.box.models[1], { id: "fake", context_window: 8192, tool_calls: "native" });
});

Deno.test("without --write nothing is written", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({});
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const before = await providersYaml(home);
  await probe(home);
  assert.equal(await providersYaml(home), before);
});

Deno.test("JSON is one object with every check, what was learnt and what was stored", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ window: 8192, schema: "ignored" });
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const { stdout, code } = await probe(home, { json: true, write: true });
  const report = JSON.parse(stdout);
  assert.equal(code, 0);
  assert.equal(report.error, null);
  assert.deepEqual([report.provider, report.model, report.local, report.interrupted], ["box", "fake", true, false]);
  assert.deepEqual(Object.keys(report.checks), [
    "reachable",
    "chat",
    "window_claimed",
    "window_proved",
    "prompt_cache",
    "generation",
    "tool_call",
    "parallel_calls",
    "nested_arguments",
    "tool_result",
    "tool_round_cache",
    "text_tool_call",
    "json_schema",
    "edit",
    "stop",
  ]);
  assert.deepEqual(report.checks.json_schema, {
    status: "done",
    found: { support: "ignored", detail: "the reply is no JSON" },
  });
  assert.equal(report.checks.prompt_cache.found.cold_first_token_ms.runs, 3);
  assert.deepEqual(report.learnt, { context_window: 8192, tool_calls: "native" });
  assert.deepEqual(report.verdict, { fit: true, text: "yes, with native tool calls" });
  assert.equal(report.stored.changed, true);
  assert.deepEqual(report.stored.fields[0], { field: "context_window", old: null, new: 8192 });
});

Deno.test("a model that cannot call tools is reported, and is no failure of the command", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ tools: "in words", protocol: false });
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const { code, stdout } = await probe(home);
  assert.equal(code, 0);
  assert.match(stdout, /^fit for agent turns: no: it calls no tools/m);
});

Deno.test("nobody there ends with the code of that, the table, and JSON that carries the error", async () => {
  await using home = await temporaryHome();
  const server = startFakeServer();
  await server.close();
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const { code, stdout, stderr } = await probe(home);
  assert.equal(code, 4);
  assert.match(stdout, /^reachable +failed +/m);
  assert.match(stderr, /^agentcli: cannot reach box/m);
  const asJson = await probe(home, { json: true, write: true });
  assert.equal(asJson.code, 4);
  assert.equal(JSON.parse(asJson.stdout).error.code, "provider_unreachable");
  assert.equal(JSON.parse(asJson.stdout).stored, null);
  assert.equal(asJson.stderr, "");
});

Deno.test("a server that refuses the key ends with the code of that", async () => {
  await using home = await temporaryHome();
  const refusal: Step = { kind: "status", status: 401, body: '{"error":{"message":"Invalid API Key: sk-secret"}}' };
  await using server = serverOf({}, { script: [{ kind: "repeat", step: refusal }] });
  await configure(home, { box: { baseUrl: server.baseUrl, apiKey: "sk-secret-key" } });
  const { code, stdout, stderr } = await probe(home);
  assert.equal(code, 5);
  assert.doesNotMatch(stdout + stderr, /sk-secret/);
});

Deno.test("what a server says is shown as escapes", async () => {
  await using home = await temporaryHome();
  const models = { object: "list", data: [{ id: "x\u001b[2J", owned_by: "vllm", max_model_len: 8192 }] };
  const refusal: Step = { kind: "status", status: 418, body: '{"error":{"message":"a\\u001b]0;t\\u0007b"}}' };
  await using server = serverOf({}, { models, script: [{ kind: "repeat", step: refusal }] });
  await configure(home, { box: { baseUrl: server.baseUrl, models: ["x\u001b[2J"] } });
  const { stdout, stderr, code } = await probe(home);
  const asJson = await probe(home, { json: true });
  assert.equal(code, 1);
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  assert.doesNotMatch(stdout + stderr + asJson.stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

Deno.test("a remote provider is announced as one before it is sent anything", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ window: 8192 }, { host: "127.0.0.2" });
  await configure(home, { box: { baseUrl: server.baseUrl, apiKey: "k" } });
  const { stderr } = await probe(home);
  assert.match(stderr, /^box:fake is remote: box may charge/);
});

Deno.test("the demo is probed without any configuration, and nothing can be stored for it", async () => {
  await using home = await temporaryHome();
  const { code, stdout, stderr } = await probe(home, { selector: "demo" });
  assert.equal(code, 0);
  assert.match(stdout, /^chat +yes/m);
  assert.match(stderr, /not a language model/);
  await assert.rejects(probe(home, { selector: "demo", write: true }), { code: "usage" });
  await assert.rejects(Deno.stat(home.agentcliHome), Deno.errors.NotFound);
});

Deno.test("Ctrl-C prints what was found so far, stores nothing, and ends with 130", async () => {
  await using home = await temporaryHome();
  const hanging = Promise.withResolvers<void>();
  const script = probedModel({}, (body) => {
    if (body.tools === undefined) return null;
    hanging.resolve();
    return { kind: "silence" };
  });
  await using server = serverOf({}, { script });
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const before = await providersYaml(home);
  await using program = startProgram(["providers", "probe", "box", "--write"], { home });
  await hanging.promise;
  program.kill("SIGINT");
  const { code, stdout } = await program.finished;
  assert.equal(code, 130);
  assert.match(stdout, /^chat +yes/m);
  assert.match(stdout, /^tool call +- +not measured: interrupted$/m);
  assert.match(stdout, /^interrupted after /m);
  assert.equal(await providersYaml(home), before);
});

Deno.test("the command line reaches the command with its options", async () => {
  await using home = await temporaryHome();
  await using server = serverOf({ window: 100_000 }, { models: ["fake"] });
  await configure(home, { box: { baseUrl: server.baseUrl } });
  const args = ["providers", "probe", "box:fake", "--max-prompt", "1024", "--timeout", "60", "--json"];
  const { code, stdout, stderr } = await runProgram(args, { home });
  assert.equal(code, 0, stderr);
  const { found } = JSON.parse(stdout).checks.window_proved;
  assert.ok(found.proved > 900 && found.proved < 1100, `${found.proved}`);
  assert.equal((await runProgram(["providers", "probe", "box", "--max-prompt", "5"], { home })).code, 2);
});
