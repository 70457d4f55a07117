import assert from "node:assert/strict";
import { array, assert as check, codePoint, property, string } from "../../tests/property.ts";
import { looseWords, parseCommand } from "./command.ts";

function argv(text: string): readonly string[] | string {
  const parsed = parseCommand(text);
  return parsed.kind === "simple" ? parsed.argv : parsed.reason;
}

Deno.test("plain words and quotes are read as a shell reads them", () => {
  assert.deepEqual(argv("git log"), ["git", "log"]);
  assert.deepEqual(argv("  git\tlog -n 5\n"), ["git", "log", "-n", "5"]);
  assert.deepEqual(argv(`echo 'a b' "c d" e'f'"g"`), ["echo", "a b", "c d", "efg"]);
  assert.deepEqual(argv(String.raw`echo "a\"b\\c\d" x\ y`), ["echo", 'a"b\\c\\d', "x y"]);
  assert.deepEqual(argv(`git commit -m 'two\nlines; $(x)'`), ["git", "commit", "-m", "two\nlines; $(x)"]);
  assert.deepEqual(argv("printf ''"), ["printf", ""]);
  assert.deepEqual(argv("git show HEAD^ --format=%h"), ["git", "show", "HEAD^", "--format=%h"]);
});

Deno.test("everything that is more than one plain command is complex", () => {
  const complex = [
    "",
    "  ",
    "''",
    "ls; id",
    "ls && id",
    "ls | id",
    "ls\nid",
    "ls\rid",
    "ls & id",
    "ls $(id)",
    "ls `id`",
    "ls <(id)",
    'ls "$(id)"',
    'ls "`id`"',
    "ls ${x:-$(id)}",
    "ls > f",
    "ls < f",
    "(ls)",
    "{ ls; }",
    "! ls",
    "X=1 ls",
    "X+=1 ls",
    "if ls",
    "time ls",
    "ls *",
    "ls a?",
    "ls [a]",
    "ls {a,b}",
    "ls ~",
    "ls # x",
    "ls 'open",
    'ls "open',
    "ls \\",
    "ls \\ ",
    "ls a\\\nb",
    "ls $'a'",
    "ls \u00a0x",
    "ls a\0b",
    "ls 'a\x1bb'",
    "[[ -f x ]]",
  ];
  for (const text of complex) assert.equal(parseCommand(text).kind, "complex", JSON.stringify(text));
});

Deno.test("a command of a megabyte and one of many parts are checked at once", { timeout: 60_000 }, () => {
  assert.equal(parseCommand("ls " + "a ".repeat(500_000)).kind, "complex");
  assert.equal(parseCommand("ls;".repeat(60)).kind, "complex");
  assert.equal(parseCommand(" ".repeat(16_000) + "x").kind, "simple");
  assert.equal(looseWords("a;".repeat(500_000)).length, 500_000);
});

Deno.test("parsing never throws, and quoted words come back as they were", () => {
  check(property(string({ unit: codePoint }), (text) => void parseCommand(text)));
  const printable = string({ unit: "grapheme-ascii", maxLength: 12 });
  check(
    property(array(printable, { minLength: 1, maxLength: 6 }), (words) => {
      const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
      const parsed = parseCommand(quoted);
      if (parsed.kind === "simple") assert.deepEqual(parsed.argv, words);
    }),
  );
});

Deno.test("a simple verdict is what bash makes of the text", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const texts = [
    `printf '%s\\0' a`,
    `printf %s "a\\$b\\q"`,
    `printf %s a\\ b 'c"d'`,
    `printf %s x=y a,b ^ %1 @ :`,
    `printf %s a!b`,
  ];
  for (const text of texts) {
    const parsed = parseCommand(text);
    assert.ok(parsed.kind === "simple", text);
    const shell = await new Deno.Command("/bin/bash", { args: ["-c", text.replace(/^printf /, "printf '<%s>' ")] })
      .output();
    const wanted = parsed.argv.slice(1).map((word) => `<${word}>`).join("");
    assert.equal(new TextDecoder().decode(shell.stdout), wanted);
  }
});
