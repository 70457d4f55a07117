import assert from "node:assert/strict";
import type { Discovered } from "../../provider/backends/discovery.ts";
import { jsonText } from "../../terminal/clean.ts";
import { planMerge } from "./plan.ts";
import { changeLines, discoveryTable, jsonReport, nextSteps, type Outcome } from "./report.ts";

const EVIL = "a\u001b]52;c;x\u0007\u009b2J\u202eb\r\nfake";

function met(more: Partial<Discovered> = {}): Discovered {
  return {
    runtime: "runtime_a",
    host: "localhost",
    port: 11434,
    baseUrl: "http://localhost:11434/v1",
    local: true,
    state: "serving",
    detail: "",
    server: { server: "ollama", label: "Ollama", gateway: false },
    models: [{ id: "qwen3:8b", contextWindow: 32768 }, { id: "small", contextWindow: null }],
    ...more,
  };
}

function outcome(found: Discovered[], more: Partial<Outcome> = {}): Outcome {
  const plan = planMerge([], found);
  return {
    path: "/home/u/.agentcli/providers.yaml",
    dryRun: false,
    changed: true,
    found,
    plan,
    diff: "",
    chosen: null,
    ...more,
  };
}

Deno.test("the table shows label, address, state, server and models with their windows", () => {
  const text = discoveryTable([
    met(),
    met({ runtime: "runtime_b", port: 1234, state: "nothing there", server: null, models: [] }),
    met({ runtime: null, port: 9000, state: "needs key", detail: "HTTP 401", server: null, models: [] }),
  ], { width: Infinity });
  assert.deepEqual(text.split("\n"), [
    "SERVER     LABEL      ADDRESS          STATE                 MODELS",
    "Ollama     runtime_a  localhost:11434  serving               qwen3:8b (32,768 tokens)",
    "                                                             small",
    "LM Studio  runtime_b  localhost:1234   nothing there",
    "-          -          localhost:9000   needs key (HTTP 401)",
    "",
  ]);
});

Deno.test("a long list of models is cut in the table, with a note", () => {
  const many = Array.from({ length: 40 }, (_, at) => ({ id: `m${at}`, contextWindow: null }));
  assert.match(discoveryTable([met({ models: many })], { width: Infinity }), /and 28 more\n$/);
});

Deno.test("what servers say reaches neither terminal nor JSON as control characters", () => {
  const found = [met({ models: [{ id: EVIL, contextWindow: null }], state: "serving" })];
  const configured = {
    name: "runtime_a",
    baseUrl: "http://localhost:11434/v1",
    models: [{ id: `${EVIL}2`, aliases: [] }],
  };
  const told = outcome(found, { plan: planMerge([configured], found) });
  const text = discoveryTable(found, { width: Infinity }) + changeLines(told).join("\n") + nextSteps(told).join("\n");
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  assert.doesNotMatch(text + jsonText(jsonReport(told)), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.match(text, /\\x1b/);
});

Deno.test("what was added and kept is reported", () => {
  assert.deepEqual(changeLines(outcome([met()])), [
    "added Ollama (runtime_a), http://localhost:11434/v1: 2 models",
    "added Unsloth Studio (studio_f), http://localhost:8888/v1, as a comment: it is not running here",
    "wrote /home/u/.agentcli/providers.yaml",
  ]);
  assert.match(
    changeLines(outcome([met()], { dryRun: true })).join("\n"),
    /would add Ollama \(runtime_a\).*was not written$/s,
  );
});

Deno.test("the next step after finding a model is a command that works", () => {
  assert.deepEqual(nextSteps(outcome([met()])), [
    "check it, then try it:",
    "  agentcli providers validate",
    '  agentcli run "hello" --model runtime_a:qwen3:8b',
  ]);
  assert.equal(nextSteps(outcome([met()], { chosen: "runtime_a:small" })).at(-1), '  agentcli run "hello"');
});

Deno.test("each state that needs the user has its next step", () => {
  const steps = (more: Partial<Discovered>) => nextSteps(outcome([met({ models: [], ...more })])).join("\n");
  assert.match(
    steps({ state: "no response" }),
    /no response in time from localhost:\d+; .*\n {2}agentcli init-providers --timeout/,
  );
  assert.match(steps({ state: "nothing there" }), /no model server was found[\s\S]*--model demo/);
  assert.match(steps({ state: "needs key" }), /--api-key '\$RUNTIME_A_API_KEY'/);
  const unsloth = { server: "unsloth", label: "Unsloth Studio", gateway: false };
  assert.match(
    steps({
      runtime: "studio_f",
      port: 8888,
      baseUrl: "http://localhost:8888/v1",
      state: "needs key",
      server: unsloth,
    }),
    /studio_f needs a key .*; set STUDIO_F_API_KEY; .*\n {2}agentcli providers validate studio_f/,
  );
  assert.match(steps({ state: "loading" }), /not ready yet/);
  assert.match(steps({ state: "serving" }), /no models yet/);
  assert.match(steps({ server: { server: "litellm", label: "LiteLLM", gateway: true } }), /may leave this machine/);
});

Deno.test("JSON names every address with its state and what was added", () => {
  const report = JSON.parse(jsonText(jsonReport(outcome([met()], { dryRun: true, diff: "@@" }))));
  assert.equal(report.dry_run, true);
  assert.equal(report.diff, "@@");
  assert.deepEqual(report.servers[0].models, [
    { id: "qwen3:8b", context_window: 32768 },
    { id: "small", context_window: null },
  ]);
  assert.deepEqual(report.added_providers.map((block: { name: string }) => block.name), ["runtime_a"]);
  assert.deepEqual(report.commented_providers, ["studio_f"]);
});
