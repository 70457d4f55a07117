import assert from "node:assert/strict";
import { parseMarker } from "./marker_text.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("a marker is read with byte order mark, CRLF and CR, comments, tabs and any case of keys", () => {
  const marker = parseMarker(
    bytes("\ufeff# secrets\r\nNo-Cloud :\t.env \r\n\r\nlist-only:names\rlocal-endpoints: studio.lan:8000\n"),
  );
  assert.deepEqual(marker, {
    entries: [{ tier: "no-cloud", path: ".env", line: 2 }, { tier: "list-only", path: "names", line: 4 }],
    localEndpoints: ["studio.lan:8000"],
    warnings: [],
  });
});

Deno.test("an unknown key protects its path and warns", () => {
  const marker = parseMarker(bytes("top-secret: keys/**"));
  assert.deepEqual(marker.entries, [{ tier: "no-cloud", path: "keys/**", line: 1 }]);
  assert.match(marker.warnings.join(), /line 1: unknown key/);
});

Deno.test("a local-endpoints value that is no host warns and has no effect", () => {
  const marker = parseMarker(bytes("local-endpoints: *.lan\nlocal-endpoints: http://x\nlocal-endpoints:\n"));
  assert.deepEqual(marker.localEndpoints, []);
  assert.equal(marker.warnings.length, 3);
  assert.equal(marker.damaged, undefined);
});

Deno.test("a marker in UTF-16, with NUL bytes or invalid UTF-8 is damaged", () => {
  for (const damaged of [[0xff, 0xfe, 0x6e, 0x00], [0x6e, 0x00], [0xc3, 0x28]]) {
    assert.match(parseMarker(new Uint8Array(damaged)).damaged ?? "", /UTF-8/);
  }
});

Deno.test("an empty path, a path that leaves and a line without a key damage the marker", () => {
  for (const path of ["", "../x", "a/../../x", "/etc/hosts", "~/.ssh", "~", "C:\\x", "\\x"]) {
    assert.match(parseMarker(bytes(`no-cloud: ${path}`)).damaged ?? "", /^line 1 /, path);
  }
  assert.match(parseMarker(bytes("\n.env\n")).damaged ?? "", /^line 2 /);
});

Deno.test("the whole project and globs may be marked", () => {
  for (const path of [".", "*", "./secrets/", "secrets/**", "a/../b", "~backup"]) {
    assert.equal(parseMarker(bytes(`no-cloud: ${path}`)).entries[0]?.path, path);
  }
});
