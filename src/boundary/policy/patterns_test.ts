import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { foldedName, foldedText } from "../../platform/case_folded.ts";
import { compilePatterns, Patterns, ruleBelow } from "./patterns.ts";
import type { ProtectionRule } from "./protection_rule.ts";

const rule: ProtectionRule = { tier: "no-cloud", pattern: "", marker: "/m", line: 1 };

/** Whether a line covers a path below the marker, or a directory that it lies in. */
function isCovered(pattern: string, path: string): boolean {
  const patterns = new Patterns();
  for (const meaning of compilePatterns(pattern)) patterns.add(rule, meaning);
  let scope = patterns.start;
  if (scope.rule !== null) return true;
  for (const name of path.split("/")) {
    scope = scope.below(name);
    if (scope.rule !== null) return true;
    if (!scope.leadsOn) return false;
  }
  return false;
}

/** The rules of gitignore(5) as a regular expression: another way than the one that is tested. */
function isIgnored(pattern: string, path: string): boolean {
  const text = pattern.replace(/^\//, "").replace(/\/$/, "");
  const anchored = pattern.replace(/\/$/, "").includes("/");
  if (text === "" || text.includes("//")) return false;
  const names = text.split("/").map((name, index, all) => {
    if (name === "**") return index === all.length - 1 ? "(?:[^/]+)(?:/[^/]+)*" : "(?:[^/]+/)*";
    const body = name.replace(/\\?[^]/gu, (sign) => {
      if (sign === "*") return "[^/]*";
      if (sign === "?") return "[^/]";
      return `\\u{${(sign.length > 1 && sign.startsWith("\\") ? sign.slice(1) : sign).codePointAt(0)?.toString(16)}}`;
    });
    return index === all.length - 1 ? body : `${body}/`;
  });
  const regex = new RegExp(`^${anchored ? "" : "(?:[^/]+/)*"}${names.join("")}(?:/.*)?$`, "u");
  return regex.test(path);
}

/** Whether the matcher before this one covered it: from the marker's directory alone, name by name, as on Windows. */
function wasCovered(pattern: string, path: string): boolean {
  const names: string[] = [];
  for (const name of pattern.split(/[/\\]/)) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return covers(names, path.split("/"));
}

function covers(parts: readonly string[], names: readonly string[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return true;
  const [name, ...below] = names;
  if (part === "**") return covers(rest, names) || (name !== undefined && covers(parts, below));
  if (name === undefined) return false;
  return meansName(part, name) && covers(rest, below);
}

function meansName(part: string, name: string): boolean {
  const compared = foldedName(name) || foldedText(name);
  if (!/[*?]/.test(part)) return (foldedName(part) || foldedText(part)) === compared;
  const regex = (text: string) => {
    const signs = text.split(/([*?])/).map((piece, index) => {
      if (index % 2 === 1) return piece === "*" ? ".*" : ".";
      return foldedText(piece).replace(/[^]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
    });
    return new RegExp(`^${signs.join("")}$`, "us");
  };
  return regex(part).test(foldedText(name)) || regex(part.replace(/[. ]+$/, "")).test(compared);
}

const sign = (signs: string) => fc.constantFrom(...signs);
const path = (signs: string) =>
  fc.array(fc.string({ unit: sign(signs), minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })
    .map((names) => names.filter((name) => name !== "." && name !== "..").join("/")).filter((text) => text !== "");
const pattern = (signs: string) => fc.string({ unit: sign(signs), minLength: 1, maxLength: 9 });
/** Not what a marker takes: it would be damaged. */
const isTaken = (text: string) => !/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(text) && text.trim() === text;

Deno.test("a line covers what .gitignore would ignore, and what it covered before, and nothing else", () => {
  let covered = 0;
  fc.assert(
    fc.property(pattern("ab*?/"), path("ab"), (line, at) => {
      const expected = isIgnored(line, at) || wasCovered(line.replace(/^\//, ""), at);
      if (expected) covered++;
      assert.equal(isCovered(line, at), expected, `${line} and ${at}`);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(covered > 2_000, "the control is empty");
});

Deno.test("a line with backslashes covers at least what .gitignore would ignore, and what it covered before", () => {
  let covered = 0;
  fc.assert(
    fc.property(pattern("ab*?/\\. "), path("ab*\\. "), (line, at) => {
      fc.pre(isTaken(line) && !line.endsWith("\\"));
      // The model parts a line into names before it takes signs behind a backslash as they are; git does not.
      const [ignored, before] = [!line.includes("\\/") && isIgnored(line, at), wasCovered(line, at)];
      if (!ignored && !before) return;
      covered++;
      assert.ok(isCovered(line, at), `${line} and ${at}`);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(covered > 500, "the control is empty");
});

Deno.test("a line of any letters covers at least what it covered before", () => {
  const unit = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
    sign("aA*?/\\\u212a\uff0a\u00df."),
  );
  const text = fc.string({ unit, minLength: 1, maxLength: 6 }).map((one) => one.replace(/\p{Cc}/gu, "a"));
  let covered = 0;
  fc.assert(
    fc.property(text, text, fc.boolean(), (line, other, same) => {
      fc.pre(isTaken(line));
      const at = (same ? line.replace(/[*?]/g, "x") : other).split("/").filter((name) => !/^\.{0,2}$/.test(name)).join(
        "/",
      );
      if (at === "" || !wasCovered(line, at)) return;
      covered++;
      assert.ok(isCovered(line, at), `${JSON.stringify(line)} and ${JSON.stringify(at)}`);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(covered > 2_000, "the control is empty");
});

Deno.test("what programs leave beside a protected file is protected with it, and its examples are not", () => {
  const patterns = new Patterns();
  for (const line of [".env", "key.pem"]) for (const meaning of compilePatterns(line)) patterns.add(rule, meaning);
  const isLeft = (name: string) => ruleBelow({ covered: null, scopes: [patterns.start] }, name) !== null;
  const companions = [".env~", ".env.bak", ".env.old", ".env.save", ".env.swp", "..env.swp", "#.env#"];
  for (const name of companions) assert.ok(isLeft(name), name);
  for (
    const name of [
      ".env.example",
      ".env.local",
      ".env.gz",
      ".env copy",
      "env~",
      "key.pem.md",
      "monkey.pem",
      ".environment",
    ]
  ) {
    assert.ok(!isLeft(name), name);
  }
});

Deno.test("a pattern that ends in dots or spaces matches a name with a colon", () => {
  for (const [line, name] of [["*etc.", "mail: x, etc."], ["?: a.", "b: a."], ["*note ..", "x:y note .."]] as const) {
    assert.ok(isCovered(line, name), line);
    assert.ok(!isCovered(line, `${name}x`), "control");
  }
});

Deno.test("a wildcard matches a letter in any of its forms", () => {
  const names: readonly (readonly [pattern: string, name: string])[] = [
    ["cafe*", "cafe\u0301.txt"],
    ["caf?.txt", "cafe\u0301.txt"],
    ["stra?e.key", "stra\u00dfe.key"],
    ["key?.pem", "key\ufb01.pem"],
    ["a?b", "a\u00bdb"],
    ["a?b", "a\u200db"],
  ];
  for (const [pattern, name] of names) assert.ok(isCovered(pattern, name), `${pattern} ${name}`);
  assert.ok(!isCovered("stra?e.key", "stra\u00dfee.key"), "control: one letter too many");
});
