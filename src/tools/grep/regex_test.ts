import assert from "node:assert/strict";
import { array, assert as check, constantFrom, letrec, property, string, tuple } from "../../../tests/property.ts";
import { type LineMatcher, lineMatcher, regexCost } from "./line_matcher.ts";
import { linearMatcher } from "./regex_linear.ts";
import { parseRegex } from "./regex_parse.ts";
import { toJavaScript } from "./regex.ts";

function matcher(pattern: string): LineMatcher {
  const made = lineMatcher(pattern);
  assert.ok(!("problem" in made), `${pattern}: ${JSON.stringify(made)}`);
  return made;
}
const WATCH = { late: () => false, skipped: () => {} };
function lines(pattern: string, text: string, watch = WATCH): string[] {
  return [...matcher(pattern).lines(text, watch)].map(([start, end]) => text.slice(start, end));
}
function problem(pattern: string): string {
  const made = lineMatcher(pattern);
  assert.ok("problem" in made, pattern);
  return made.problem;
}

Deno.test("matching lines are found, each once, in order", () => {
  assert.deepEqual(lines("b", "ab\nc\nbb\nb"), ["ab", "bb", "b"]);
  assert.deepEqual(lines("^b", "ab\nbc"), ["bc"]);
  assert.deepEqual(lines("b$", "ab\nbc"), ["ab"]);
  assert.deepEqual(lines("^$", "a\n\nb\n"), [""]);
  assert.deepEqual(lines("", "a\nb\n"), ["a", "b"]);
  assert.deepEqual(lines("x*", "a\n\nb"), ["a", "", "b"]);
  assert.deepEqual(lines("a", ""), []);
});

Deno.test("nothing matches across a line end", () => {
  assert.deepEqual(lines("a\\s+b", "a\nb\na b"), ["a b"]);
  assert.deepEqual(lines("a[^x]*b", "a\nb"), []);
  assert.deepEqual(lines("a(?!.*b)", "a\nb"), ["a"]);
  assert.match(problem("a\\nb"), /line/);
});

Deno.test("the forms of other dialects that models write are understood", () => {
  assert.deepEqual(lines("(?i)hello", "HeLLo\nx"), ["HeLLo"]);
  assert.deepEqual(lines("(?i)[^a]", "A\na\nb"), ["b"]);
  assert.deepEqual(lines("[[:alpha:]]+\\d", "ab1\n1"), ["ab1"]);
  assert.deepEqual(lines("interface {", "interface {\nx"), ["interface {"]);
  assert.deepEqual(lines('a\\-b\\/c\\"', 'a-b/c"\nx'), ['a-b/c"']);
  assert.deepEqual(lines("(?P<n>a)\\k<n>", "aa\na"), ["aa"]);
  assert.deepEqual(lines("\\x41\\u0042\\u{43}", "ABC"), ["ABC"]);
  assert.deepEqual(lines("😀+", "😀\nx"), ["😀"]);
  assert.deepEqual(lines("\\p{Lu}", "a\nÄ"), ["Ä"]);
  assert.deepEqual(lines("(a)(b)\\2", "abb\nab"), ["abb"]);
  assert.deepEqual(lines("(?<=x)y", "xy\ny"), ["xy"]);
});

Deno.test("what cannot be read is told in one sentence", () => {
  for (
    const pattern of [
      "(",
      ")",
      "[a",
      "*a",
      "a**",
      "\\",
      "a{2,1}",
      "(?i:a)",
      "\\q",
      "[z-a]",
      "[[:x:]]",
      "\\1",
      "\\p{Nope}",
    ]
  ) {
    assert.match(problem(pattern), /^The pattern .*\.$/, pattern);
  }
  assert.match(problem("(".repeat(5_000)), /longer than 2,000 characters/);
  assert.match(problem("(".repeat(500)), /more than 50 groups/);
});

Deno.test("patterns that never end elsewhere end here", { timeout: 60_000 }, () => {
  const text = "a".repeat(5_000) + "!\n" + " ".repeat(100_000) + "x\n";
  for (
    const pattern of [
      "(a+)+$",
      "(a|a)*b",
      "(a?){30}b",
      "\\s+$",
      "(.*)(.*)(.*)(.*)(.*)z",
      "(a|aa)+$",
      "(x+x+)+y",
      "a*a*a*a*a*c",
    ]
  ) {
    assert.deepEqual(lines(pattern, text), [], pattern);
  }
  assert.match(problem("(a+)+\\1$"), /too long/);
  assert.match(problem("((a{1,1000}){1,1000}){1,1000}(?=b)"), /too long/);
});

Deno.test("the clock is looked at within a text, and within a line", () => {
  let looks = 0;
  const late = () => ++looks > 3;
  assert.deepEqual(lines("(x+x+)+y", "x".repeat(1_000_000), { ...WATCH, late }), []);
  assert.equal(looks, 4);
  looks = 0;
  assert.deepEqual(lines("a.*b", "a\n".repeat(1_000_000), { ...WATCH, late }), []);
  assert.equal(looks, 4);
});

Deno.test("a line too long for look-around is left out and told", () => {
  let skipped = 0;
  const text = `${"ab".repeat(100_000)}\nxx ab\n`;
  assert.deepEqual(lines("(?=.*b).*a.*$", text, { ...WATCH, skipped: () => skipped++ }), ["xx ab"]);
  assert.equal(skipped, 1);
});

Deno.test("a match is found on either side of where a long text is cut", () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `line ${index} x`).join("\n");
  assert.equal(lines("line \\d+ x$", text).length, 20_000);
  assert.equal(lines("(\\d+ ?)+x$", text).length, 20_000);
});

Deno.test("ordinary patterns are left to the runtime's engine, others are not", () => {
  const degree = (pattern: string) => {
    const regex = parseRegex(pattern);
    assert.ok(!("problem" in regex));
    return regexCost(regex).degree;
  };
  assert.equal(degree("abc|def"), 1);
  assert.equal(degree("function\\s+\\w+\\s*\\("), 2);
  assert.equal(degree("foo.*bar"), 2);
  assert.equal(degree("a.*b.*c"), 3);
  assert.equal(degree("\\s+$"), 2);
  const nested = parseRegex("(a+)+$");
  assert.ok(!("problem" in nested));
  assert.equal(regexCost(nested).factor, Infinity);
});

const { pattern: patterns } = letrec((tie) => ({
  atom: constantFrom("a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\s", "\\d", "^", "$", "\\b", " "),
  repeated: tuple(
    constantFrom("a", "b", "[ab]", ".", "\\w", "(a|b)", "(?:ab)", "(a*)", "(b?)"),
    constantFrom("*", "+", "?", "{2}", "{1,3}", "*?"),
  ).map(
    ([body, count]) => body + count,
  ),
  piece: tie("either"),
  either: constantFrom("atom", "repeated").chain((name) => tie(name) as ReturnType<typeof string>),
  pattern: array(
    array(tie("either") as ReturnType<typeof string>, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
    {
      minLength: 1,
      maxLength: 3,
    },
  ).map((options) => options.join("|")),
}));

Deno.test("both engines agree with the runtime's regular expressions on every line", () => {
  const line = string({ unit: constantFrom("a", "b", "c", " ", "1"), maxLength: 10 });
  check(
    property(patterns, array(line, { maxLength: 5 }), (pattern, textLines) => {
      const text = textLines.join("\n");
      const wanted = (text === "" ? [] : text.endsWith("\n") ? textLines.slice(0, -1) : textLines)
        .filter((one) => new RegExp(pattern, "u").test(one));
      assert.deepEqual(lines(pattern, text), wanted);
      const regex = parseRegex(pattern);
      assert.ok(!("problem" in regex));
      const linear = linearMatcher(regex);
      for (const one of textLines) {
        assert.equal(linear?.test(one), new RegExp(pattern, "u").test(one), `${pattern} on ${one}`);
      }
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("no pattern makes reading throw, and what is read is a regular expression or is refused", () => {
  check(
    property(string({ unit: constantFrom(..."ab()[]{}*+?|\\^$.-,1:=!<>pkuxwb&"), maxLength: 20 }), (pattern) => {
      const made = lineMatcher(pattern);
      if (!("problem" in made)) { for (const _ of made.lines("ab\n1 a\n", WATCH)) break; }
      const regex = parseRegex(pattern);
      if (!("problem" in regex)) toJavaScript(regex);
    }),
    { numRuns: 3_000 },
  );
});
