import assert from "node:assert/strict";
import { array, assert as check, property, string } from "../../tests/property.ts";
import { escapesPrefix } from "./command_escape.ts";
import { looseWords, parseCommand } from "./command_parse.ts";

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

Deno.test("a command of a megabyte and one of many parts are judged at once", { timeout: 60_000 }, () => {
  assert.equal(parseCommand("ls " + "a ".repeat(500_000)).kind, "complex");
  assert.equal(parseCommand("ls;".repeat(60)).kind, "complex");
  assert.equal(parseCommand(" ".repeat(16_000) + "x").kind, "simple");
  assert.equal(looseWords("a;".repeat(500_000)).length, 500_000);
});

Deno.test("parsing never throws, and quoted words come back as they were", () => {
  check(property(string({ unit: "binary" }), (text) => void parseCommand(text)));
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

Deno.test("arguments that start other programs or write files leave the prefix", () => {
  const escapes: [string, number][] = [
    ["git -c alias.x=!id x", 1],
    ["git diff --output=F", 1],
    ["git log --output=F", 2],
    ["git log --outpu F", 2],
    ["git grep -Oless x", 2],
    ["git fetch ext::sh", 2],
    ["git clone -u x .", 2],
    ["git ls-remote --upload-pack=x .", 2],
    ["/usr/bin/git -c x=y log", 1],
    ["sort -o F a", 1],
    ["sort -uoF a", 1],
    ["sort --output F", 1],
    ["find . -exec id +", 1],
    ["find . -delete", 1],
    ["tar -cf a.tar --checkpoint-action=exec=id x", 1],
    ["tar xf a.tar --to-c id", 1],
    ["tar -I id -xf a", 1],
    ["tar xIf id a", 1],
    ["rg --pre id x", 1],
    ["sed 'w F' a", 1],
    ["sed 's/a/b/e' a", 1],
    ["sed 's/a/b/w F' a", 1],
    ["sed -i s/a/b/ a", 1],
    ["sed -n p a --in-place", 1],
    ["sed -n '1e id' a", 1],
    ["sed -f x a", 1],
    ["awk 'BEGIN{system(\"id\")}'", 1],
    ["awk '{print > \"F\"}' a", 1],
    ["awk -f x", 1],
    ["env id", 1],
    ["xargs id", 1],
    ["sudo id", 1],
    ["bash -c id", 1],
    ["bash -c id", 2],
    ["uniq a F", 1],
    ["printf -v x y", 1],
    ["make test SHELL=x", 2],
    ["go vet -vettool=x", 2],
    ["curl -o F http://localhost", 1],
    ["timeout 5 id", 1],
  ];
  for (const [text, length] of escapes) {
    const parsed = parseCommand(text);
    assert.ok(parsed.kind === "simple", text);
    assert.equal(escapesPrefix(parsed.argv, length), true, text);
  }
});

Deno.test("ordinary arguments stay within the prefix", () => {
  const plain: [string, number][] = [
    ["git log --oneline -n 5", 2],
    ["git log -- src", 2],
    ["git log -p src", 2],
    ["git push -u origin main", 2],
    ["git status --short", 2],
    ["git diff --stat HEAD", 2],
    ["ls -la src", 1],
    ["echo a b", 1],
    ["sort -u a", 1],
    ["find . -name a -type f", 1],
    ["sed -n 5p a", 1],
    ["sed -n '1,20p' a", 1],
    ["sed -E 's/a|b/c/g' a", 1],
    ["awk '{print $1}' a", 1],
    ["uniq -c a", 1],
    ["rg -n foo src", 1],
    ["npm test", 2],
    ["deno test -A src", 2],
    ["bash scripts/x.sh a", 2],
    ["tar tf a.tar", 1],
  ];
  for (const [text, length] of plain) {
    const parsed = parseCommand(text);
    assert.ok(parsed.kind === "simple", text);
    assert.equal(escapesPrefix(parsed.argv, length), false, text);
  }
});
