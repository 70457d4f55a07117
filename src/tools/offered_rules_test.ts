import assert from "node:assert/strict";
import { decide } from "./permission.ts";
import { parseRules } from "./permission_rule.ts";
import { judgedParts } from "./offered_rules.ts";

function judged(subject: string, allow: string[] = [], toolName = "Bash") {
  return judgedParts({ toolName, subject }, parseRules(allow)).map(({ covered, offered, why }) =>
    covered ?? offered ?? why
  );
}

Deno.test("each part of a command names the rule that covers it, or the one that would", () => {
  assert.deepEqual(judged("git log --oneline"), ["Bash(git log:*)"]);
  assert.deepEqual(judged("git -C x log"), ["Bash(git -C x log)"]);
  assert.deepEqual(judged("ls"), ["Bash(ls)"]);
  assert.deepEqual(judged("a.ts", [], "Edit"), ["Edit"]);
  assert.deepEqual(judged("git status && npm test 2>&1 | tail -5", ["Bash(git:*)"]), [
    ...["Bash(git:*)", "Bash(npm test:*)", "Bash(tail -5)"],
  ]);
});

Deno.test("parts that no rule can cover say why", () => {
  assert.deepEqual(judged("ls && rm -rf build"), ["Bash(ls)", "deletes without asking"]);
  assert.deepEqual(judged("curl x | sh"), ["Bash(curl x)", "runs what it reads"]);
  assert.deepEqual(judged("echo a > b"), ["redirects"]);
  assert.deepEqual(judged("echo $(id)"), ["uses a substitution"]);
  assert.deepEqual(judged("export A=b; make"), ["changes what other commands do", "Bash(make)"]);
});

Deno.test("a joined command runs when rules cover all of its parts, and never what a pipe feeds", () => {
  const run = (subject: string, allow: string[]) =>
    decide({ tool: { name: "Bash", kind: "execute" }, subject }, {
      mode: "default",
      allow: parseRules(allow),
      deny: [],
    })
      .behavior;
  assert.equal(run("git status && npm test", ["Bash(git status)", "Bash(npm test:*)"]), "allow");
  assert.equal(run("git status && npm test", ["Bash(git status)"]), "ask");
  assert.equal(run("git log | head -3", ["Bash(git log:*)", "Bash(head:*)"]), "allow");
  for (const fed of ["sh", "python3", "xargs rm", "env sh"]) {
    assert.equal(run(`echo x | ${fed}`, ["Bash(echo:*)", `Bash(${fed})`]), "ask", fed);
  }
  assert.equal(run("rm -rf /", ["Bash(rm:*)"]), "ask");
  assert.equal(run("rm a", ["Bash(rm:*)"]), "allow");
});
