import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { AgentcliError } from "../errors.ts";
import { openDocument, type ProvidersDocument } from "./edit.ts";
import { parseYaml, plainValue } from "./yaml.ts";

const FILE = `# head
version: 1   # one

# providers below
providers:
  # first
  a:
    base_url:   "http://localhost:1/v1"   # the url
    api_key: 'local'
    models: [] # none yet
    x_note: kept

  b: { base_url: 'http://x/v1' }
  # tail of providers

# end
`;

function changed(text: string, change: (document: ProvidersDocument) => void): string {
  const document = openDocument(text, "providers.yaml");
  change(document);
  return document.text;
}

/** The lines only one side has, in order, with `-` and `+`. */
function difference(before: string, after: string): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

Deno.test("a model joins an empty list, and the comment stays on its line", () => {
  const after = changed(
    FILE,
    (document) => document.addModel("a", { id: "qwen3:8b", context_window: 100, role: "main" }),
  );
  assert.deepEqual(difference(FILE, after), [
    "-    models: [] # none yet",
    "+    models: # none yet",
    "+      - id: qwen3:8b",
    "+        role: main",
    "+        context_window: 100",
  ]);
});

Deno.test("a model joins a list in the list's own style", () => {
  const block = "providers:\n  a:\n    base_url: http://h/v1\n    models:\n    - id: x   # best\n    # last\n\n# end\n";
  assert.equal(
    changed(block, (document) => document.addModel("a", { id: "y" })),
    block.replace("    # last\n", "    # last\n    - id: y\n"),
  );
  const flow = "providers:\n  a: { base_url: http://h/v1, models: [ {id: x}, ] }\n";
  assert.equal(
    changed(flow, (document) => document.addModel("a", { id: "y:z", alias: ["b"] })),
    flow.replace("{id: x}", '{id: x}, { id: "y:z", alias: [b] }'),
  );
  const json = '{"providers":{"a":{"base_url":"http://h/v1","models":[{"id":"x"}]}}}\n';
  const added = changed(json, (document) => document.addModel("a", { id: "y" }));
  assert.equal(JSON.parse(added).providers.a.models[1].id, "y");
});

Deno.test("a model that is there is updated where it stands", () => {
  const text =
    "providers:\n  a:\n    base_url: http://h/v1\n    models:\n      - id: x # best\n        context_window: 5 # measured\n      - id: y\n";
  const after = changed(text, (document) => {
    assert.equal(document.addModel("a", { id: "x", context_window: 10, alias: "fast" }), "updated");
    assert.equal(document.addModel("a", { id: "x", context_window: 10 }), "unchanged");
  });
  assert.deepEqual(difference(text, after), [
    "-        context_window: 5 # measured",
    "+        alias: fast",
    "+        context_window: 10 # measured",
  ]);
});

Deno.test("removing a model or a provider takes its lines and no others", () => {
  const text =
    "providers:\n  # about a\n  a:\n    base_url: http://h/v1 # u\n    models:\n      - id: x\n        # inside x\n      - id: y\n  # about b\n  b:\n    base_url: http://h/v1\n# end\n";
  assert.equal(
    changed(text, (document) => assert.equal(document.removeModel("a", "x"), "x")),
    text.replace("      - id: x\n        # inside x\n", ""),
  );
  assert.equal(
    changed(text, (document) => assert.equal(document.removeProvider("b"), true)),
    text.replace("  b:\n    base_url: http://h/v1\n", ""),
  );
  const empty = changed(text, (document) => {
    document.removeModel("a", "x");
    document.removeModel("a", "y");
    document.removeProvider("a");
    document.removeProvider("b");
    assert.equal(document.removeProvider("b"), false);
  });
  assert.equal(empty, "providers: {}\n  # about a\n  # about b\n# end\n");
});

Deno.test("a new setting takes its usual place, and the old text around it stays", () => {
  const after = changed(FILE, (document) => {
    document.setSetting("default_model", "007");
    document.setSetting("roles.compact", "a:x");
    document.setSetting("default_provider", "a");
  });
  assert.equal(
    after,
    FILE.replace("# one\n", '# one\ndefault_provider: a\ndefault_model: "007"\nroles:\n  compact: a:x\n'),
  );
  assert.equal(
    changed(after, (document) => {
      document.unsetSetting("default_model");
      document.unsetSetting("default_provider");
      assert.equal(document.unsetSetting("roles.compact"), true);
      assert.equal(document.unsetSetting("roles.main"), false);
    }),
    FILE,
  );
});

Deno.test("a changed value keeps its quotes and its comment", () => {
  const after = changed(FILE, (document) => {
    document.setProviderField("a", { key: "base_url", value: "http://new/v1" });
    document.setProviderField("a", { key: "api_key", value: "it's" });
  });
  assert.equal(after, FILE.replace('"http://localhost:1/v1"', '"http://new/v1"').replace("'local'", "'it''s'"));
});

Deno.test("line ends of Windows and a missing final line end are respected", () => {
  const crlf = FILE.replaceAll("\n", "\r\n");
  const after = changed(crlf, (document) => {
    document.addModel("a", { id: "x" });
    document.addProvider("c", { base_url: "http://c/v1" });
  });
  assert.doesNotMatch(after, /[^\r]\n/);
  const open = "providers:\n  a: { base_url: http://h/v1 }";
  assert.equal(
    changed(open, (document) => document.setSetting("default_provider", "a")),
    open + "\ndefault_provider: a\n",
  );
});

Deno.test("an existing provider is refused unless it is replaced as a whole", () => {
  assert.throws(
    () => changed(FILE, (document) => document.addProvider("b", { base_url: "http://n/v1" })),
    (error) => error instanceof AgentcliError && error.code === "config_invalid" && /--replace/.test(error.hint ?? ""),
  );
  const after = changed(FILE, (document) => document.addProvider("b", { base_url: "http://n/v1" }, { replace: true }));
  assert.deepEqual(difference(FILE, after), [
    "-  b: { base_url: 'http://x/v1' }",
    "+  b:",
    "+    base_url: http://n/v1",
  ]);
});

Deno.test("an unknown provider is named with the nearest one", () => {
  assert.throws(
    () => changed(FILE, (document) => document.addModel("aa", { id: "x" })),
    (error) => error instanceof AgentcliError && error.code === "unknown_provider",
  );
});

Deno.test("a place behind an alias is refused rather than changed for others too", () => {
  const text = "providers:\n  a: &a { base_url: http://h/v1, models: [{ id: x }] }\n  b: *a\n";
  assert.throws(
    () => changed(text, (document) => document.addModel("b", { id: "y" })),
    (error) => error instanceof AgentcliError && error.code === "config_invalid" && /anchors/.test(error.hint ?? ""),
  );
});

Deno.test("a provider is added to a file that holds next to nothing", () => {
  for (
    const text of [
      "# only a comment",
      "---\n",
      "providers: ~\n",
      "providers: # c\n",
      "providers: null # c\n",
      "%YAML 1.2\n---\n",
    ]
  ) {
    const after = changed(text, (document) => document.addProvider("a", { base_url: "http://h/v1" }));
    assert.deepEqual(plainValue(parseYaml(after)), { providers: { a: { base_url: "http://h/v1" } } }, text);
    for (const comment of text.match(/#.*/g) ?? []) assert(after.includes(comment));
  }
});

Deno.test("odd layouts are still edited, and their comments stay", () => {
  const text = "? providers\n: # here\n  ? a\n  : base_url: http://h/v1 # there\n    models: []\n";
  const after = changed(text, (document) => document.addModel("a", { id: "x" }));
  assert.match(after, /# here/);
  assert.match(after, /# there/);
  assert.deepEqual(plainValue(parseYaml(after)), {
    providers: { a: { base_url: "http://h/v1", models: [{ id: "x" }] } },
  });
});

const word = fc.oneof(
  fc.constantFrom(
    "true",
    "null",
    "1e3",
    "007",
    "- x",
    "# c",
    "a: b",
    "{",
    "x\ny",
    " lead",
    "'",
    '"',
    "*a",
    "&a",
    "__proto__",
    "模型",
  ),
  fc.string({ minLength: 1 }).filter((text) => !text.includes("\ufffd") && text.isWellFormed()),
);
const styles = [
  FILE,
  FILE.replaceAll("\n", "\r\n"),
  "providers:\n  a:\n    base_url: http://h/v1\n    models:\n    - id: x # c\n      alias: y\n",
  "providers: { a: { base_url: http://h/v1, models: [{ id: x }] } } # c\n",
  '{\n  "providers": {\n    "a": {\n      "base_url": "http://h/v1",\n      "models": [\n        { "id": "x" }\n      ]\n    }\n  }\n}\n',
  "providers:\n  a:\n    base_url: |-\n      http://h/v1\n    models:\n      - id: x\n        alias:\n          - y\n# end",
];

Deno.test("whatever is added and removed again, the other content and every comment line stay", () => {
  fc.assert(fc.property(fc.constantFrom(...styles), word, word, (text, id, key) => {
    const document = openDocument(text, "p");
    const before = JSON.stringify(document.value());
    const known = new Set(document.value().providers?.a?.models?.map((model) => model.id));
    fc.pre(!known.has(id) && id !== "y");
    document.addModel("a", { id, alias: [key, "second"], params: { [key]: id } });
    const added = document.value().providers?.a?.models?.at(-1);
    assert.deepEqual([added?.id, added?.alias], [id, [key, "second"]]);
    document.setProviderField("a", { key: "api_key", value: key });
    assert.equal(document.value().providers?.a?.api_key, key);
    const comments = text.match(/#.*$/gm) ?? [];
    for (const comment of comments) assert(document.text.includes(comment.trimEnd()), comment);
    assert.equal(document.removeModel("a", id), id);
    const restored = { ...document.value() };
    const original = JSON.parse(before);
    if (restored.providers?.a) delete restored.providers.a.api_key;
    delete original.providers.a.api_key;
    assert.deepEqual(JSON.parse(JSON.stringify(restored)), original);
  }));
});
