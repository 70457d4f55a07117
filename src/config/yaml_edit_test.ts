import assert from "node:assert/strict";
import { openDocument } from "./edit.ts";

const ENTRY = {
  name: "later",
  provider: { type: "openai_compat", base_url: "http://localhost:1/v1", api_key: "$KEY", models: [] },
  note: "once it runs",
} as const;
const LINES = [
  "# later: # once it runs",
  "#   type: openai_compat",
  "#   base_url: http://localhost:1/v1",
  "#   api_key: $KEY",
  "#   models: []",
];
const block = (indent: string, feed = "\n") => LINES.map((line) => indent + line + feed).join("");
const entry = { ...ENTRY, provider: { ...ENTRY.provider, models: [] } };

/** A text, and the same with the comment; null: it stays as it is. */
const PLACES: Readonly<Record<string, [before: string, after: string | null]>> = {
  "a file without providers": ["version: 1\n", `version: 1\nproviders:\n${block("  ")}`],
  "a file without a last line feed": ["version: 1", `version: 1\nproviders:\n${block("  ")}`],
  "an empty key": [
    "providers: # mine\nversion: 1\n",
    `providers: # mine\n${block("  ")}version: 1\n`,
  ],
  "providers in the middle, with comments around": [
    "providers:\n    a:\n        base_url: http://a/v1\n\n    # last of a\n\n# of the version\nversion: 1\n",
    `providers:\n    a:\n        base_url: http://a/v1\n\n    # last of a\n${
      block("    ")
    }\n# of the version\nversion: 1\n`,
  ],
  "lines of Windows": [
    "providers:\r\n  a:\r\n    base_url: http://a/v1\r\n",
    `providers:\r\n  a:\r\n    base_url: http://a/v1\r\n${block("  ", "\r\n")}`,
  ],
  "a comment of that name by somebody": ["providers:\n  ## later:\n  a: { base_url: http://a/v1 }\n", null],
  "the provider itself": ["providers:\n  later: { base_url: http://a/v1 }\n", null],
  "brackets": ["providers: { a: { base_url: http://a/v1 } }\n", null],
  "JSON": ['{\n  "version": 1,\n  "providers": {}\n}\n', null],
  "the end of a document": ["version: 1\n...\n", null],
};

for (const [what, [before, after]] of Object.entries(PLACES)) {
  Deno.test(`a provider as a comment: ${what}`, () => {
    const document = openDocument(before, "providers.yaml");
    assert.equal(document.commentProvider(entry), after !== null);
    assert.equal(document.text, after ?? before);
    assert.equal(document.commentProvider(entry), false);
    if (after === null) return;
    document.uncommentProvider(entry);
    assert.doesNotMatch(document.text, /later/);
    document.commentProvider(entry);
    // What the comment shows is what the file means once the signs are gone.
    const live = openDocument(document.text.replaceAll(/^( *)# ?(later:| {2})/gm, "$1$2"), "providers.yaml");
    assert.deepEqual(live.value().providers?.later, entry.provider);
    document.addProvider("b", { base_url: "http://b/v1" });
    assert.match(document.text, /# later: /);
    assert.deepEqual(document.value().providers?.b, { base_url: "http://b/v1" });
  });
}

Deno.test("a comment that somebody changed stays", () => {
  const before = `providers:\n  a: { base_url: http://a/v1 }\n${block("  ").replace("localhost:1", "box:1")}`;
  const document = openDocument(before, "providers.yaml");
  document.uncommentProvider(entry);
  assert.equal(document.text, before);
});
