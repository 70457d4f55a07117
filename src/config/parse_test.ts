import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { AgentcliError } from "../errors.ts";
import { fieldsOf, membersOf } from "../platform/record.ts";
import { parseConfiguration, SWITCHES } from "./parse.ts";
import { jsonSchema } from "./schema.ts";

const parse = (text: string) => parseConfiguration(text, "/home/providers.yaml");

/** The message of the error that `text` is refused with; checks that it is the right kind of error. */
function refusal(text: string): string {
  try {
    parse(text);
  } catch (error) {
    assert(error instanceof AgentcliError, String(error));
    assert.equal(error.code, "config_invalid");
    return error.message;
  }
  throw new assert.AssertionError({ message: `not refused: ${text.slice(0, 80)}` });
}

Deno.test("every documented key is read, and what is left out has its default", () => {
  const configuration = parse(`
version: 1
default_provider: a
default_model: coder
roles: { compact: "a:qwen3:1.7b" }
sandbox: { mode: always, read: [/opt], write: [], network: true, env: [GOFLAGS] }
permissions:
  allow: ["Bash(git status)"]
providers:
  a:
    type: openai_compat
    base_url: http://localhost:11434/v1
    api_key: local
    models:
      - id: qwen3-coder:30b
        alias: [coder, c]
        role: main
        context_window: 32768
        max_tokens: 4096
        params: { temperature: 0.2, nothing: null }
        tool_calls: text
        reasoning: drop
        edit: whole
    headers: { X-Team: a }
    timeout: { idle_s: 5 }
    local: true
    ca_file: /etc/ca.pem
  b: { base_url: "https://host/v1" }
`);
  assert.deepEqual(JSON.parse(JSON.stringify(configuration)), {
    path: "/home/providers.yaml",
    exists: true,
    defaultProvider: "a",
    defaultModel: "coder",
    roles: { compact: "a:qwen3:1.7b" },
    permissions: { allow: ["Bash(git status)"], deny: [] },
    sandbox: { mode: "always", read: ["/opt"], write: [], network: true, env: ["GOFLAGS"] },
    providers: [{
      name: "a",
      baseUrl: "http://localhost:11434/v1",
      apiKey: "local",
      models: [{
        id: "qwen3-coder:30b",
        aliases: ["coder", "c"],
        role: "main",
        contextWindow: 32768,
        maxTokens: 4096,
        params: { temperature: 0.2, nothing: null },
        toolCalls: "text",
        reasoning: "drop",
        edit: "whole",
      }],
      headers: { "X-Team": "a" },
      timeout: { connect: 10, firstByte: 600, idle: 5 },
      local: true,
      caFile: "/etc/ca.pem",
      file: "/home/providers.yaml",
    }, {
      name: "b",
      baseUrl: "https://host/v1",
      models: [],
      headers: {},
      timeout: { connect: 10, firstByte: 600, idle: 300 },
      local: false,
      file: "/home/providers.yaml",
    }],
    warnings: [],
  });
});

Deno.test("an empty file, and keys left empty, mean that nothing is set", () => {
  for (const text of ["", "# only a comment\n", "providers:\nroles:\nsandbox:\n", "providers: {}\n"]) {
    assert.deepEqual(parse(text).providers, []);
  }
  assert.deepEqual(
    parse("providers:\n  a:\n    base_url: http://h/v1\n    models:\n    api_key:\n").providers[0]?.models,
    [],
  );
});

Deno.test("yes and no are true and false for what is one of them, and words elsewhere", () => {
  const { acp, sandbox, providers: [provider], mcpServers: [server] = [] } = parse(`
acp: { show_protected: no }
sandbox: { network: yes }
providers:
  a:
    base_url: http://localhost:1/v1
    local: yes
    headers: { local: yes }
    models: [{ id: "no", images: no, warm_up: yes }]
mcp_servers:
  notes: { command: x, enabled: no, network: yes, env: { network: no }, tools: { no: off } }
`);
  assert.deepEqual([acp?.showProtected, sandbox.network, provider?.local], [false, true, true]);
  const [model] = provider?.models ?? [];
  assert.deepEqual([model?.id, model?.images, model?.warmUp], ["no", false, true]);
  assert.deepEqual(provider?.headers, { local: "yes" });
  assert.deepEqual([server?.enabled, server?.network, server?.env], [false, true, { network: "no" }]);
  assert.match(refusal("acp: { show_protected: nope }\n"), /show_protected: expected boolean/);
});

Deno.test("every key of the schema that is true or false takes yes and no", () => {
  const isBoolean = (value: unknown) =>
    [value, ...membersOf(fieldsOf(value).anyOf)].some((one) => fieldsOf(one).type === "boolean");
  const switchesIn = (schema: unknown): string[] => {
    if (typeof schema !== "object" || schema === null) return [];
    const keys = Object.entries(fieldsOf(fieldsOf(schema).properties));
    return [
      ...keys.flatMap(([key, value]) => isBoolean(value) ? [key] : []),
      ...Object.values(schema).flatMap(switchesIn),
    ];
  };
  assert.deepEqual([...new Set(switchesIn(jsonSchema()))].sort(), [...SWITCHES].sort());
});

Deno.test("text that looks like a number stays text", () => {
  const provider = parse(`
default_model: 007
providers:
  12345678901234567890:
    base_url: http://h/v1
    api_key: 12345678901234567890
    headers: { X-Id: 0x10, X-On: true }
    models: [{ id: 1e3, alias: [12, yes] }]
`);
  assert.equal(provider.defaultModel, "007");
  const [entry] = provider.providers;
  assert.equal(entry?.name, "12345678901234567890");
  assert.equal(entry?.apiKey, "12345678901234567890");
  assert.deepEqual(entry?.headers, { "X-Id": "0x10", "X-On": "true" });
  assert.deepEqual(entry?.models[0], { ...entry?.models[0], id: "1e3", aliases: ["12", "yes"] });
});

Deno.test("an error names file, line, column, key path and what was expected", () => {
  const cases: [string, string][] = [
    ["version: 2\n", "/home/providers.yaml:1:10: version: expected 1"],
    [
      "providers:\n  a:\n    models: []\n",
      "/home/providers.yaml:2:3: providers.a.base_url: expected string, found nothing",
    ],
    ["providers:\n  a:\n", "/home/providers.yaml:2:3: providers.a.base_url: expected string, found nothing"],
    [
      "providers:\n  a:\n    base_url: http://h/v1\n    models:\n      - id: x\n        context_window: many\n",
      "/home/providers.yaml:6:25: providers.a.models[0].context_window: expected number, received string",
    ],
    ["sandbox:\n  mode: off\n", '/home/providers.yaml:2:9: sandbox.mode: expected one of "auto"|"always"|"never"'],
    ["roles: { summary: a }\n", "/home/providers.yaml:1:10: roles.summary: expected one of main, compact, subagent"],
    ["[1, 2]\n", "/home/providers.yaml:1:1: the file: expected object, received array"],
    ["providers:\n  A b:\n    base_url: http://h/v1\n", "/home/providers.yaml:2:3: providers.A b: a provider name"],
    ["a: [\n", "/home/providers.yaml:2:1: the indentation is wrong here, or a bracket above is not closed"],
    ["a: 1\na: 2\n", "/home/providers.yaml:2:1: this key is there twice"],
    ["providers:\n\ta: 1\n", "/home/providers.yaml:2:1: "],
    ["a: 1\n---\nb: 2\n", "/home/providers.yaml:2:1: the file must be one document"],
  ];
  for (const [text, expected] of cases) {
    const message = refusal(text);
    assert(message.startsWith(expected), `${JSON.stringify(text)}\n  gave     ${message}\n  expected ${expected}`);
  }
});

Deno.test("an error never holds what stands in the line", () => {
  const secret = "sk-CANARY-0123456789";
  const texts = [
    `api_key: "${secret}\n`,
    `providers:\n  a:\n    base_url: http://u:${secret}@h h/v1\n`,
    `providers:\n  a:\n    base_url: http://u:${secret}@h/v1\n`,
    `providers:\n  a:\n    base_url: http://h/v1?key=${secret}\n`,
    `providers:\n  a:\n    base_url: http://h/v1\n    api_key: [${secret}]\n`,
    `providers:\n  a:\n    base_url: http://h/v1\n    api_key: "\\q${secret}"\n`,
    `providers:\n  a:\n    base_url: http://h/v1\n    headers: { X-Key: ["${secret}"] }\n`,
    `providers:\n  a:\n    base_url: http://h/v1\n    headers: { X-Key: "${secret}\\n" }\n`,
    `providers:\n  a:\n    api_key: !${secret} x\n  b: *${secret}\n`,
    `providers:\n  a:\n    api_key: *${secret}\n`,
    `providers: ${secret}\n`,
    `sandbox: { mode: ${secret} }\n`,
    `version: ${secret}\n`,
    `providers:\n  a:\n    api_key: ${secret}: ${secret}: x\n`,
    `default_provider: ${secret}:${secret}\n`,
    `roles: { main: ":${secret}" }\n`,
  ];
  for (const text of texts) assert.doesNotMatch(refusal(text), /CANARY/, text);
});

Deno.test("unknown keys are kept and warned about, with a suggestion", () => {
  const { warnings } = parse("defalut_model: x\nproviders:\n  a:\n    base_url: http://h/v1\n    base_ulr: y\n");
  assert.equal(warnings.length, 2);
  assert.match(warnings.join("\n"), /providers.yaml:1:1: defalut_model: unknown key.*did you mean default_model\?/);
  assert.match(warnings.join("\n"), /:5:5: providers\.a\.base_ulr: unknown key.*did you mean base_url\?/);
});

Deno.test("an unknown key at any depth gets a suggestion from the keys of the same place", () => {
  const provider = (keys: string) => `providers: { a: { base_url: "http://h/v1", ${keys} } }\n`;
  const cases: [string, string][] = [
    ["acp: { show_protectd: true }\n", "show_protected"],
    ["sandbox: { netwrk: true }\n", "network"],
    ["check: { command: c, timeout: 5 }\n", "timeout_s"],
    ["permissions: { alow: [] }\n", "allow"],
    ["mcp_servers: { m: { command: c, arg: [] } }\n", "args"],
    [provider("timeout: { idle: 5 }"), "idle_s"],
    [provider("models: [{ id: m, context_windw: 5 }]"), "context_window"],
  ];
  for (const [text, wanted] of cases) {
    assert.match(parse(text).warnings[0] ?? "", new RegExp(`mean ${wanted}\\?$`), text);
  }
});

Deno.test("an alias that stands for two models is refused and both are named", () => {
  const text = (models: string) => `providers:\n  a:\n    base_url: http://h/v1\n    models: ${models}\n`;
  assert.match(
    refusal(text("[{id: x, alias: fast}, {id: y, alias: [quick, fast]}]")),
    /fast of y already stands for x/,
  );
  assert.match(refusal(text("[{id: x}, {id: y, alias: x}]")), /x of y already stands for x/);
  assert.doesNotThrow(() => parse(text("[{id: x, alias: x}, {id: y, alias: [z]}]")));
});

Deno.test("a base URL must be http or https without user, query and fragment", () => {
  const of = (url: string) => `providers:\n  a:\n    base_url: ${JSON.stringify(url)}\n`;
  for (
    const bad of [
      "ftp://h/v1",
      "localhost:11434/v1",
      "/v1",
      "http://",
      "http://u@h/v1",
      "http://h/v1?a=b",
      "http://h/v1?",
      "http://h/v1#f",
      "http://h h/v1",
    ]
  ) {
    refusal(of(bad));
  }
  for (const good of ["http://localhost:1/v1", "HTTPS://Host/api/v1/", "http://[::1]:8080/v1"]) parse(of(good));
});

Deno.test("`__proto__` is an ordinary key", () => {
  const text = `providers:\n  a:\n    base_url: http://h/v1\n    headers: { __proto__: polluted }\n` +
    `    models: [{ id: x, params: { __proto__: { polluted: true } } }]\n`;
  const [provider] = parse(text).providers;
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.deepEqual(Object.keys(provider?.headers ?? {}), ["__proto__"]);
  assert.equal(JSON.stringify(provider?.models[0]?.params), '{"__proto__":{"polluted":true}}');
  assert.match(refusal("providers:\n  __proto__:\n    base_url: http://h/v1\n"), /a provider name/);
});

Deno.test("deep nesting, repeated aliases and circles are refused", () => {
  const depth = 100_000;
  for (const text of ["[".repeat(depth), "{a: ".repeat(depth), "- ".repeat(depth) + "x", "? ".repeat(depth)]) {
    assert.match(
      refusal(`engines: ${text.startsWith("[") || text.startsWith("{") ? text : `\n ${text}`}`),
      /nesting is too deep/,
    );
  }
  let bomb = "engines:\n  a0: &a0 [x, x]\n";
  for (let level = 1; level < 40; level++) bomb += `  a${level}: &a${level} [*a${level - 1}, *a${level - 1}]\n`;
  assert.match(refusal(bomb), /repeated too often/);
  assert.match(refusal("engines: &e { again: *e }\n"), /circle/);
});

Deno.test("fifty thousand keys are read", () => {
  let text = "other:\n";
  for (let index = 0; index < 50_000; index++) text += `  k${index}: 1\n`;
  assert.equal(parse(text).providers.length, 0);
});

Deno.test("command templates of engines are read, and what cannot be one is refused", () => {
  const { engines } = parse(
    'engines:\n  mine:\n    command: [mine, --port, "{port}"]\n    ready: /up\n    port: 7001\n    env: { A: "{model}" }\n',
  );
  assert.deepEqual(engines, {
    mine: { command: ["mine", "--port", "{port}"], ready: "/up", port: 7001, env: { A: "{model}" } },
  });
  assert.equal(parse("version: 1\n").engines, undefined);
  assert.match(refusal("engines: { mine: { command: mine } }\n"), /engines\.mine\.command/);
  assert.match(refusal("engines: { mine: { command: [] } }\n"), /a list of words/);
  assert.match(refusal("engines: { mine: { command: [m], ready: http://other/ } }\n"), /a path that starts with/);
  assert.match(refusal("engines: { mine: { command: [m], port: 70000 } }\n"), /engines\.mine\.port/);
  assert.match(refusal("engines: { A B: { command: [m] } }\n"), /name of an engine/);
  assert.match(parse("engines: { mine: { command: [m], redy: /up } }\n").warnings[0] ?? "", /did you mean.*ready/);
});

Deno.test("text that is not UTF-8 is refused", () => {
  assert.match(refusal("# caf\ufffd\n"), /1:6: the file is not UTF-8/);
});

Deno.test("whatever the text, it is read or refused as config_invalid", () => {
  const piece = fc.constantFrom(
    "a",
    ":",
    " ",
    "\n",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&x",
    "*x",
    "'",
    '"',
    "|",
    "!",
    "#",
    "?",
    "providers:\n  p:\n    ",
  );
  fc.assert(fc.property(fc.oneof(fc.string(), fc.array(piece).map((parts) => parts.join(""))), (text) => {
    try {
      parse(text);
    } catch (error) {
      assert(error instanceof AgentcliError && error.code === "config_invalid", String(error));
    }
  }));
});
