import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import type { PermissionMode } from "../config/types.ts";
import { decide, readDenials } from "./permission.ts";
import { parseRules } from "./permission_rule.ts";

const BASH = { name: "Bash", kind: "execute" } as const;
const WRITE = { name: "Write", kind: "write" } as const;
const EDIT = { name: "Edit", kind: "write" } as const;
const READ = { name: "Read", kind: "read" } as const;
const TODO = { name: "TodoWrite", kind: "note" } as const;

interface Policy {
  mode?: PermissionMode;
  allow?: string[];
  deny?: string[];
}

function policy({ mode = "default", allow = [], deny = [] }: Policy) {
  return { mode, allow: parseRules(allow), deny: parseRules(deny) };
}
function command(subject: string, rules: Policy): string {
  return decide({ tool: BASH, subject }, policy(rules)).behavior;
}
function write(path: string, rules: Policy, tool: typeof WRITE | typeof EDIT = WRITE): string {
  return decide({ tool, subject: path, paths: [path] }, policy(rules)).behavior;
}

Deno.test("reading is allowed, writing and running ask, in the default mode", () => {
  assert.equal(decide({ tool: READ, subject: "a", paths: ["a"] }, policy({})).behavior, "allow");
  assert.equal(decide({ tool: TODO, subject: "" }, policy({})).behavior, "allow");
  assert.equal(write("a", {}), "ask");
  assert.equal(command("ls", {}), "ask");
});

Deno.test("plan mode runs what reads and notes, whatever rules allow", () => {
  const plan = { mode: "plan", allow: ["Bash", "Write"] } as const;
  const rules = policy({ ...plan, allow: [...plan.allow] });
  assert.equal(decide({ tool: READ, subject: "a" }, rules).behavior, "allow");
  assert.equal(decide({ tool: TODO, subject: "" }, rules).behavior, "allow");
  const denied = decide({ tool: BASH, subject: "npm test" }, rules);
  assert.ok(denied.behavior === "deny" && /plan mode/.test(denied.reason));
  for (const subject of ["ls", "git log --oneline -5 | head -3", "git diff HEAD && cat a b 2>/dev/null"]) {
    assert.equal(decide({ tool: BASH, subject }, rules).behavior, "allow", subject);
    assert.equal(decide({ tool: BASH, subject }, policy({ mode: "plan" })).behavior, "ask", "as in the default mode");
  }
  const changing = [
    "git log --output=x",
    "git diff > x",
    "cat a; rm b",
    "sort -o x x",
    "git branch new",
    "rg --pre sh x",
  ];
  for (const subject of [...changing, "ls $(touch x)", "git -c core.pager=sh log", "git commit -am x", "cat a | sh"]) {
    assert.equal(decide({ tool: BASH, subject }, rules).behavior, "deny", subject);
  }
  assert.equal(decide({ tool: WRITE, subject: "a", paths: ["a"] }, rules).behavior, "deny");
});

Deno.test("acceptEdits writes but asks before commands without a rule", () => {
  assert.equal(write("a", { mode: "acceptEdits" }), "allow");
  assert.equal(write("a", { mode: "acceptEdits" }, EDIT), "allow");
  assert.equal(command("ls", { mode: "acceptEdits" }), "ask");
  assert.equal(command("ls", { mode: "acceptEdits", allow: ["Bash(ls)"] }), "allow");
});

Deno.test("bypassPermissions runs everything but what a rule denies", () => {
  assert.equal(command("ls; rm x", { mode: "bypassPermissions" }), "allow");
  assert.equal(command("ls; rm x", { mode: "bypassPermissions", deny: ["Bash(rm:*)"] }), "deny");
  assert.equal(write("a", { mode: "bypassPermissions", deny: ["Write"] }), "deny");
  assert.equal(
    decide({ tool: READ, subject: "k", paths: ["k"] }, policy({ mode: "bypassPermissions", deny: ["Read(k)"] }))
      .behavior,
    "deny",
  );
});

Deno.test("a command rule covers the words it names: all of them, or as a prefix", () => {
  assert.equal(command("git status", { allow: ["Bash(git status)"] }), "allow");
  assert.equal(command("git  'status'", { allow: ["Bash(git status)"] }), "allow");
  assert.equal(command("git status -s", { allow: ["Bash(git status)"] }), "ask");
  assert.equal(command("git log -n 5", { allow: ["Bash(git log:*)"] }), "allow");
  assert.equal(command("git log -n 5", { allow: ["Bash(git log *)"] }), "allow");
  assert.equal(command("git log", { allow: ["Bash(git log:*)"] }), "allow");
  assert.equal(command("git logx", { allow: ["Bash(git log:*)"] }), "ask");
  assert.equal(command("git push", { allow: ["Bash(git log:*)"] }), "ask");
  assert.equal(command("./ls", { allow: ["Bash(ls:*)"] }), "ask");
  assert.equal(command("anything; at all", { allow: ["Bash"] }), "allow");
  assert.equal(command("anything; at all", { allow: ["Bash(*)"] }), "allow");
});

Deno.test("no form that does more than the prefix is covered by it", () => {
  const forms = [
    "ls; X",
    "ls && X",
    "ls|X",
    "ls\nX",
    "ls $(X)",
    "ls `X`",
    "ls <(X)",
    "ls ${x:-$(X)}",
    "ls & X",
    "ls > file",
    "echo a > file",
    "echo $(X)",
    "env X",
    "git -c alias.x='!X' x",
    "git diff --output=F",
    "git log --output=F",
    "git log -p --ext-diff",
    "sort -o F",
    "sed 'w F'",
    "awk 'BEGIN{system(\"X\")}'",
    "rg --pre X a",
    "split --filter=X a",
    "tar -cf a --checkpoint-action=exec=X b",
    "find . -exec X ;",
    "find . -exec X '{}' +",
    "ls\rX",
    "ls 'a",
    "ls " + "a".repeat(1_000_000),
    "ls;".repeat(60),
  ];
  const allow = ["ls", "git log", "git", "echo", "sort", "sed", "awk", "rg", "tar", "find", "env", "split"];
  for (const form of forms) {
    assert.equal(
      command(form, { allow: allow.map((name) => `Bash(${name}:*)`) }),
      "ask",
      JSON.stringify(form.slice(0, 60)),
    );
  }
});

Deno.test("a denied command is found in any part and under any path", () => {
  const denied = [
    "rm x",
    "/bin/rm x",
    "r''m x",
    "ls; rm x",
    "ls && rm x",
    "$(rm x)",
    "echo `rm x`",
    "X=1 rm x",
    "xargs rm",
    "sudo rm x",
    "bash -c 'rm x'",
    "find . -exec rm '{}' +",
    "ls\nrm x",
    "(rm x)",
    "RM x",
    "r\\\nm x",
    "dbus-run-session rm x",
  ];
  for (const form of denied) assert.equal(command(form, { allow: ["Bash"], deny: ["Bash(rm:*)"] }), "deny", form);
  assert.equal(command("git -C x push", { allow: ["Bash"], deny: ["Bash(git push:*)"] }), "deny");
  assert.equal(command("git push origin --force", { allow: ["Bash"], deny: ["Bash(git push --force:*)"] }), "deny");
  assert.equal(command("rm x", { allow: ["Bash"], deny: ["Bash(rm)"] }), "deny");
  assert.equal(command("echo rm", { allow: ["Bash"], deny: ["Bash(rm:*)"] }), "allow");
  assert.equal(command("git commit -m 'rm x'", { allow: ["Bash"], deny: ["Bash(rm:*)"] }), "allow");
  assert.equal(command("git status", { allow: ["Bash"], deny: ["Bash(git push:*)"] }), "allow");
  assert.equal(command("ls;".repeat(300_000) + "rm x", { allow: ["Bash"], deny: ["Bash(rm:*)"] }), "deny");
});

Deno.test("a path rule covers a file, a directory with all below it, or a pattern", () => {
  assert.equal(write("src/a.ts", { allow: ["Write(src/**)"] }), "allow");
  assert.equal(write("src/a/b.ts", { allow: ["Write(src)"] }), "allow");
  assert.equal(write("src/a.ts", { allow: ["Write(./src/)"] }), "allow");
  assert.equal(write("src/a.ts", { allow: ["Write(*.ts)"] }), "ask");
  assert.equal(write("srcx/a.ts", { allow: ["Write(src)"] }), "ask");
  assert.equal(write("/tmp/x", { allow: ["Write(tmp/**)"] }), "ask");
  assert.equal(write("/tmp/x", { allow: ["Write(/tmp/**)"] }), "allow");
  assert.equal(write("src/a.ts", { allow: ["Edit(src/**)"] }), "ask");
});

Deno.test("a denied path is denied to both tools that write, in any letter case", () => {
  const rules = { mode: "acceptEdits", deny: ["Write(migrations/**)"] } as const;
  for (const path of ["migrations/1.sql", "Migrations/1.sql", "./migrations/a/b"]) {
    assert.equal(write(path, { ...rules, deny: [...rules.deny] }), "deny");
    assert.equal(write(path, { ...rules, deny: [...rules.deny] }, EDIT), "deny");
  }
  assert.equal(write("src/migrations.ts", { ...rules, deny: [...rules.deny] }), "allow");
});

Deno.test("a rule is asked about a file under each of its names, so that no link leads around it", () => {
  const through = (rules: Policy) =>
    decide({ tool: WRITE, subject: "link/1.sql", paths: ["link/1.sql", "migrations/1.sql"] }, policy(rules)).behavior;
  assert.equal(through({ mode: "bypassPermissions", deny: ["Write(migrations/**)"] }), "deny");
  assert.equal(through({ mode: "bypassPermissions", deny: ["Edit(link)"] }), "deny");
  assert.equal(through({ allow: ["Write(link/**)"] }), "ask");
  assert.equal(through({ allow: ["Write(migrations/**)"] }), "ask");
  assert.equal(through({ allow: ["Write(**)"] }), "allow");
});

Deno.test("a deny rule of Read covers a file under each of its names", () => {
  const { deny } = policy({ deny: ["Write(a)", "Read(keys/**)"] });
  const denied = (display: string, { real = display, rules = deny } = {}) =>
    readDenials({ root: "/work" }, rules)?.({ path: `/work/${display}`, display, real: `/work/${real}` });
  assert.equal(denied("a"), null);
  assert.equal(denied("link/k", { real: "keys/k" }), "Read(keys/**)");
  assert.equal(denied("anything", { rules: policy({ deny: ["Read"] }).deny }), "Read");
});

Deno.test("a rule with an absolute path covers that place of the project too", () => {
  const asked = (rules: Policy) =>
    decide({ tool: WRITE, subject: "m/x", paths: ["m/x"], root: "/work" }, policy(rules)).behavior;
  assert.equal(asked({ mode: "bypassPermissions", deny: ["Write(/work/m/**)"] }), "deny");
  assert.equal(asked({ mode: "bypassPermissions", deny: ["Write(/other/m/**)"] }), "allow");
  assert.equal(asked({ allow: ["Write(/work/m)"] }), "allow");
});

Deno.test("deny wins over allow, and says which rule", () => {
  const decision = decide({ tool: BASH, subject: "ls" }, policy({ allow: ["Bash"], deny: ["Bash(ls)"] }));
  assert.ok(decision.behavior === "deny" && decision.reason.includes("Bash(ls)"));
});

Deno.test("rules name tools of other servers one by one or all together", () => {
  const tool = { name: "mcp__db__query", kind: "execute" } as const;
  const asked = (rule: string) => decide({ tool, subject: "" }, policy({ allow: [rule] })).behavior;
  assert.equal(asked("mcp__db__query"), "allow");
  assert.equal(asked("mcp__db"), "allow");
  assert.equal(asked("mcp__db__*"), "allow");
  assert.equal(asked("mcp__d"), "ask");
  assert.equal(asked("Bash"), "ask");
});

Deno.test("the reason of a question says why a prefix does not cover it", () => {
  const decision = decide({ tool: BASH, subject: "ls > f" }, policy({ allow: ["Bash(ls:*)"] }));
  assert.ok(decision.behavior === "ask");
  assert.equal(decision.reason, "The command redirects, so rules for command prefixes do not cover it.");
});

Deno.test("a malformed rule is a usage error that names it", () => {
  for (
    const rule of ["", "Bash(", "Bash()", "Bash(ls; id)", "Bash(ls)x", "(ls)", "Grep(src)", "Write(../x)", "Bash($x:*)"]
  ) {
    assert.throws(
      () => parseRules(["Read", rule]),
      (error) =>
        error instanceof AgentcliError && error.code === "usage" && error.message.includes(JSON.stringify(rule)),
      rule,
    );
  }
});
