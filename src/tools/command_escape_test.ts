import assert from "node:assert/strict";
import { parseCommand } from "../shell/command.ts";
import { escapesPrefix } from "./command_escape.ts";

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
