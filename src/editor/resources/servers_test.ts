import assert from "node:assert/strict";
import { argumentsWithKey, hideKeys, hideKeysOf, holdsKey, isLiteralKey } from "./servers.ts";

for (
  const [name, value, inHeader] of [
    ["DATABASE_URL", "postgres://u:hunter2@h/db", false],
    ["API_KEY", "${env:X}realkey1234", false],
    ["API_KEY", "realkey ${env:X}", true],
    ["Authorization", "Bearer ${env:TOKEN}abc123", true],
    ["Authorization", "Bearer abc ${env:TOKEN}", true],
    ["Proxy-Authorization", "Basic dTpw", true],
    ["X-Foo", "Bearer abcdef123", true],
    ["FOO", "Bearer abcdef123", false],
    ["ENDPOINT", "https://h.example/x?a=1&api_key=abcdef", false],
  ] as const
) {
  Deno.test(`${name}=${value} is a literal key`, () => {
    assert.equal(isLiteralKey(name, value, { inHeader }), true);
  });
}

for (
  const [name, value, inHeader] of [
    ["DATABASE_URL", "postgres://u:${env:PASSWORD}@h/db", false],
    ["DATABASE_URL", "postgres://h:5432/db", false],
    ["API_KEY", "${env:X}", false],
    ["Authorization", "Bearer ${env:TOKEN}", true],
    ["Authorization", "Basic ${env:USER}:${env:PASSWORD}", true],
    ["Cookie", "session=${env:SESSION}; other=${env:OTHER}", true],
    ["X-Foo", "bearer of news", true],
    ["ENDPOINT", "https://h.example/x?a=1&api_key=${env:KEY}&b=2", false],
    ["LOG", "info", false],
  ] as const
) {
  Deno.test(`${name}=${value} is none`, () => {
    assert.equal(isLiteralKey(name, value, { inHeader }), false);
  });
}

for (
  const words of [
    ["--token=abc123"],
    ["--api-key=abc123"],
    ["--password", "hunter2"],
    ["-e", "API_KEY=abc123"],
    ["--header", "Authorization: Bearer abc123"],
    ["--header=X-Api-Key: abc123"],
    ["--url", "https://h.example/?access_token=abc123&x=1"],
    ["postgres://u:abc123@h/db"],
  ]
) {
  Deno.test(`the words ${words.join(" ")} hold a key, and are shown without it`, () => {
    assert.equal(argumentsWithKey(words).length, 1);
    const shown = JSON.stringify(hideKeysOf({ command: "c", args: words }));
    assert.doesNotMatch(shown, /abc123|hunter2/);
    assert.match(shown, /\(a key\)/);
    const file = JSON.stringify({ mcpServers: { s: { command: "c", args: words } } }, null, 2);
    assert.doesNotMatch(hideKeys(file), /abc123|hunter2/);
  });
}

for (
  const words of [
    ["--token=${env:TOKEN}"],
    ["--token", "$TOKEN"],
    ["--token", "--verbose"],
    ["-e", "API_KEY"],
    ["--key", "./certs/server.key"],
    ["--token-file=/run/token"],
    ["--header", "Authorization: Bearer ${TOKEN}"],
    ["--header", "Authorization:${AUTH_HEADER}"],
    ["-y", "some-server", "--port", "8080"],
    ["http://h:8080/@scope/x?page=1"],
  ]
) {
  Deno.test(`the words ${words.join(" ")} hold no key, and are shown as they are`, () => {
    assert.deepEqual(argumentsWithKey(words), []);
    assert.deepEqual(hideKeysOf({ command: "c", args: words }), { command: "c", args: words });
  });
}

Deno.test("the address of a server holds a key where a password or a parameter is one", () => {
  for (const address of ["https://u:p@h.example/", "https://h.example/mcp?api_key=abc", "https://h.example/?key=abc"]) {
    assert.equal(holdsKey(address), true, address);
    assert.doesNotMatch(JSON.stringify(hideKeysOf({ serverUrl: address })), /abc|u:p/);
  }
  assert.equal(holdsKey("https://h.example/mcp?page=2&key=${env:KEY}"), false);
});

Deno.test("an option that is named like a key is hidden in a text of any form, a command line of a hook too", () => {
  assert.doesNotMatch(hideKeys('{"hooks": {"e": [{"command": "x --token=abc123 -v"}]}}'), /abc123/);
  assert.equal(
    hideKeys("run it with --token=$TOKEN or --token=<yours>"),
    "run it with --token=$TOKEN or --token=<yours>",
  );
});
