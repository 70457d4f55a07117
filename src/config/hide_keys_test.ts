import assert from "node:assert/strict";
import { hideKeys } from "./hide_keys.ts";

const HIDES: [string, string][] = [
  ["    api_key: sk-123456", "    api_key: (hidden)"],
  ['      "api_key": "sk-123456",', '      "api_key": (hidden),'],
  ["    apikey: sk-123456", "    apikey: (hidden)"],
  ["  a: { api_key: sk-123456, models: [] }", "  a: { api_key: (hidden), models: [] }"],
  ["      x-api-key: 'sk-123456'", "      x-api-key: (hidden)"],
  ["      Authorization: Bearer sk-123456", "      Authorization: (hidden)"],
  ["    base_url: https://user:sk-123456@host/v1", "    base_url: https://(hidden)@host/v1"],
  ["    api_key: |-\n      sk-123456\n    models: []", "    api_key: |-\n      (hidden)\n    models: []"],
];

for (const [text, shown] of HIDES) {
  Deno.test(`a key is not shown: ${JSON.stringify(text)}`, () => assert.equal(hideKeys(text), shown));
}

for (
  const text of [
    "api_key: local",
    "api_key: $NAME",
    'api_key: "${NAME}"',
    "api_key: none",
    "base_url: http://h:1/v1",
    "id: qwen3:8b",
  ]
) {
  Deno.test(`what is no key stays: ${text}`, () => assert.equal(hideKeys(text), text));
}
