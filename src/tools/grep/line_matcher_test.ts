import assert from "node:assert/strict";
import { array, assert as check, asyncProperty, constantFrom, letrec, string, tuple } from "../../../tests/property.ts";
import { type LineMatcher, lineMatcher } from "./line_matcher.ts";

async function matcher(pattern: string): Promise<LineMatcher> {
  const made = await lineMatcher(pattern);
  assert.ok(!("problem" in made), `${pattern}: ${JSON.stringify(made)}`);
  return made;
}
const WATCH = { late: () => false, skipped: () => {} };
async function lines(pattern: string, text: string, watch = WATCH): Promise<string[]> {
  return [...(await matcher(pattern)).lines(text, watch)].map(([start, end]) => text.slice(start, end));
}
async function problem(pattern: string): Promise<string> {
  const made = await lineMatcher(pattern);
  assert.ok("problem" in made, pattern);
  return made.problem;
}

Deno.test("matching lines are found, each once, in order", async () => {
  assert.deepEqual(await lines("b", "ab\nc\nbb\nb"), ["ab", "bb", "b"]);
  assert.deepEqual(await lines("^b", "ab\nbc"), ["bc"]);
  assert.deepEqual(await lines("b$", "ab\nbc"), ["ab"]);
  assert.deepEqual(await lines("^$", "a\n\nb\n"), [""]);
  assert.deepEqual(await lines("", "a\nb\n"), ["a", "b"]);
  assert.deepEqual(await lines("", "\nb"), ["", "b"]);
  assert.deepEqual(await lines("x*", "a\n\nb"), ["a", "", "b"]);
  assert.deepEqual(await lines("a", ""), []);
});

Deno.test("nothing matches across a line end", async () => {
  assert.deepEqual(await lines("a\\s+b", "a\nb\na b"), ["a b"]);
  assert.deepEqual(await lines("a[^x]*b", "a\nb"), []);
  assert.match(await problem("a\\nb"), /line/);
  assert.match(await problem("a\nb"), /line/);
  assert.deepEqual(await lines("a\\\\nb", "a\\nb\nab"), ["a\\nb"]);
});

Deno.test("the forms that models write are understood", async () => {
  assert.deepEqual(await lines("(?i)hello", "HeLLo\nx"), ["HeLLo"]);
  assert.deepEqual(await lines("(?i)[^a]", "A\na\nb"), ["b"]);
  assert.deepEqual(await lines("[[:alpha:]]+\\d", "ab1\n1"), ["ab1"]);
  assert.deepEqual(await lines("interface {", "interface {\nx"), ["interface {"]);
  assert.deepEqual(await lines('a\\-b\\/c\\"', 'a-b/c"\nx'), ['a-b/c"']);
  assert.deepEqual(await lines("foo\\(x\\)", "foo(x)\nfoox"), ["foo(x)"]);
  assert.deepEqual(await lines("\\x41\\x{42}", "AB"), ["AB"]);
  assert.deepEqual(await lines("😀+", "😀\nx"), ["😀"]);
  assert.deepEqual(await lines("\\p{Lu}", "a\nÄ"), ["Ä"]);
  assert.deepEqual(await lines("(?<=x)y", "xy\ny"), ["xy"]);
});

Deno.test("what cannot be read is reported in one sentence", async () => {
  const wrong = [
    "(",
    ")",
    "[a",
    "*a",
    "a**",
    "\\",
    "a{2,1}",
    "\\q",
    "[z-a]",
    "[[:x:]]",
    "\\1",
    "\\p{Nope}",
    "a(?=b)",
    "(?>a)",
  ];
  for (const pattern of wrong) {
    assert.match(await problem(pattern), /^The pattern cannot be read: .*\. Write .*\.$/, pattern);
  }
  assert.match(await problem("(".repeat(5_000)), /longer than 2,000 characters/);
  assert.match(await problem("(".repeat(1_500)), /cannot be read/);
});

Deno.test("patterns that never end elsewhere end here", { timeout: 60_000 }, async () => {
  const text = "a".repeat(5_000) + "!\n" + " ".repeat(100_000) + "x\n";
  const slow = [
    "(a+)+$",
    "(a|a)*b",
    "(a?){30}b",
    "\\s+$",
    "(.*)(.*)(.*)(.*)(.*)z",
    "(a|aa)+$",
    "(x+x+)+y",
    "a*a*a*a*a*c",
  ];
  for (const pattern of slow) assert.deepEqual(await lines(pattern, text), [], pattern);
});

Deno.test("the clock is checked within a text, and a line of more than a million characters is left out and reported", async () => {
  let looks = 0;
  const late = () => ++looks > 3;
  assert.deepEqual(await lines("a.*b", "a\n".repeat(1_000_000), { ...WATCH, late }), []);
  assert.equal(looks, 4);
  let skipped = 0;
  const text = `${"ab".repeat(600_000)}\nxx ab\n`;
  assert.deepEqual(await lines("a.?b", text, { ...WATCH, skipped: () => skipped++ }), ["xx ab"]);
  assert.equal(skipped, 1);
});

Deno.test("ripgrep gets only what means the same there", async () => {
  for (const pattern of ["abc", "\\bfoo\\(", "(?:a|b)+c{2,}$", "[a-z_\\d]+ =", "^(GET|POST) /\\w+", "a\\.b"]) {
    assert.equal((await matcher(pattern)).rust, pattern);
  }
  const others = [
    "a.b",
    "[^a]",
    "\\W",
    "é",
    "(?i)a",
    "\\<a",
    "a{,3}",
    "x {",
    "[a&&b]",
    "[+--]",
    "\\pL",
    "\\x41",
    "(?<=x)y",
  ];
  for (const pattern of others) assert.equal((await matcher(pattern)).rust, null, pattern);
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

Deno.test("the engine agrees with the runtime's regular expressions on every line", async () => {
  const line = string({ unit: constantFrom("a", "b", "c", " ", "1"), maxLength: 10 });
  await check(
    asyncProperty(patterns, array(line, { maxLength: 5 }), async (pattern, textLines) => {
      const text = textLines.join("\n");
      const wanted = (text === "" ? [] : text.endsWith("\n") ? textLines.slice(0, -1) : textLines)
        .filter((one) => new RegExp(pattern, "u").test(one));
      assert.deepEqual(await lines(pattern, text), wanted);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("no pattern makes reading throw", async () => {
  await check(
    asyncProperty(
      string({ unit: constantFrom(..."ab()[]{}*+?|\\^$.-,1:=!<>pkuxwb&"), maxLength: 20 }),
      async (pattern) => {
        const made = await lineMatcher(pattern);
        if (!("problem" in made)) { for (const _ of made.lines("ab\n1 a\n", WATCH)) break; }
      },
    ),
    { numRuns: 3_000 },
  );
});
