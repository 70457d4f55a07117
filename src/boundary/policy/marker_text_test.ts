import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { escapedPath, parseMarker } from "./marker.ts";
import { compilePatterns, Patterns } from "./patterns.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("a marker is read with byte order mark, CRLF and CR, comments, tabs and any case of keys", () => {
  const marker = parseMarker(
    bytes("\ufeff# secrets\r\nNo-Cloud :\t.env \r\n\r\nlist-only:names\rlocal-endpoints: studio.lan:8000\n"),
  );
  assert.deepEqual(marker, {
    entries: [{ tier: "no-cloud", pattern: ".env", line: 2 }, { tier: "list-only", pattern: "names", line: 4 }],
    localEndpoints: ["studio.lan:8000"],
    warnings: [],
  });
});

Deno.test("an unknown key protects its path and warns", () => {
  const marker = parseMarker(bytes("top-secret: keys/**"));
  assert.deepEqual(marker.entries, [{ tier: "no-cloud", pattern: "keys/**", line: 1 }]);
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
  for (const path of ["", "../x", "a/../../x", "a/../b", "..\\x", "~/.ssh", "~", "C:\\x", "!x", "! x"]) {
    assert.match(parseMarker(bytes(`no-cloud: ${path}`)).damaged ?? "", /^line 1 /, path);
  }
  assert.match(parseMarker(bytes("\n.env\n")).damaged ?? "", /^line 2 /);
});

Deno.test("the whole project and globs may be marked", () => {
  for (const path of [".", "*", "./secrets/", "secrets/**", "~backup", "/x", "\\!x", "\\#x", "a\\,b"]) {
    assert.equal(parseMarker(bytes(`no-cloud: ${path}`)).entries[0]?.pattern, path);
  }
});

Deno.test("spaces at the end of a line are ignored, but for one after a backslash", () => {
  const pathOf = (line: string) => parseMarker(bytes(`no-cloud:${line}\n`)).entries[0]?.pattern;
  assert.deepEqual(["  a  ", " a\\ ", " a\\   ", " a\\\\ ", " a b "].map(pathOf), [
    "a",
    "a\\ ",
    "a\\ ",
    "a\\\\",
    "a b",
  ]);
});

Deno.test("a line that other tools would read otherwise damages the marker instead of protecting nothing", () => {
  const lines = [
    '".env"',
    "'.env'",
    "\u201c.env\u201d",
    ".env # the token",
    ".env\t# the token",
    "# .env",
    ".env, secrets",
    ".env,secrets",
    "{.env,x}",
    "{.env}",
    ".[e]nv",
    ".env\tsecrets",
    "pub.txt\u000bno-cloud: .env",
    "pub.txt\u000cno-cloud: .env",
    "pub.txt\u0085no-cloud: .env",
    "pub.txt\u2028no-cloud: .env",
    "pub.txt\u2029no-cloud: .env",
    "pub.txt\u001b[2K",
    "pub.txt\u007f",
  ];
  for (const line of lines) {
    assert.match(parseMarker(bytes(`# first\nno-cloud: ${line}\n`)).damaged ?? "", /^line 2 /, JSON.stringify(line));
  }
  assert.match(parseMarker(bytes("# a comment\u2028no-cloud: .env\n")).damaged ?? "", /^line 1 /);
});

Deno.test("a name of any signs is written as a line that is read again and covers it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      const name = text.replace(/[\r\n/\\\0]/g, "x").replace(/^[.~]|^[A-Za-z]:/, "n");
      const value = escapedPath(name);
      const marker = parseMarker(bytes(`no-cloud: ${value}`));
      assert.equal(marker.damaged, undefined, JSON.stringify(value));
      const patterns = new Patterns();
      const rule = { tier: "no-cloud", pattern: value, marker: "/m", line: 1 } as const;
      for (const meaning of compilePatterns(marker.entries[0]?.pattern ?? "")) patterns.add(rule, meaning);
      const meant = patterns.start.below(name).rule !== null;
      assert.ok(meant, JSON.stringify(value));
    }),
    { examples: [[" ! "], [" # "], [' "a" ']] },
  );
});
