import assert from "node:assert/strict";
import { guardedProject } from "../../../tests/helpers/guarded_project.ts";
import { plainWords } from "../../shell/command.ts";

/** Lines that run one command in the sandbox, whatever that names. */
const SANDBOXED = [
  "agentcli sandbox -- cat .env",
  "  agentcli  sandbox -- ls -la \n",
  "agentcli sandbox -- sh -c 'cat .env; rm -rf .ide > x & $(cat .e*)'",
  `agentcli sandbox -- bash -c 'echo "a\\tb"; it'"'"'s'`,
  `'agentcli' "sandbox" -- git commit -m "keep it, don't"`,
  "agentcli sandbox -- grep -r 'é\\.ts' src",
  "agentcli sandbox -- agentcli editor remove --all",
  "agentcli sandbox -- make A=b --c=d '=e' '%f'",
  "agentcli doctor",
  "agentcli providers validate",
];

/** Lines that look like those and are not, in some shell. */
const BARE = [
  "ls",
  "npm test",
  "agentcli",
  "agentcli sandbox",
  "agentcli sandbox --",
  "agentcli sandbox ls",
  "agentcli sandbox --network -- ls",
  "agentcli -C / sandbox -- ls",
  "agentcli --json sandbox -- ls",
  "agentcli run 'what is there?'",
  "agentcli doctor --json",
  "agentcli sandbox -- sh -c 'ls'; cat .env",
  "agentcli sandbox -- ls && cat .env",
  "agentcli sandbox -- ls | cat - .env",
  "agentcli sandbox -- ls & cat .env",
  "agentcli sandbox -- ls\ncat .env",
  "agentcli sandbox -- ls\r\ncat .env",
  "agentcli sandbox -- echo $(cat .env)",
  'agentcli sandbox -- echo "$(cat .env)"',
  'agentcli sandbox -- echo "`cat .env`"',
  "agentcli sandbox -- echo `cat .env`",
  "agentcli sandbox -- echo $TOKEN",
  "agentcli sandbox -- cat < .env",
  "agentcli sandbox -- ls > .agentclisecret",
  "agentcli sandbox -- cat <(cat .env)",
  "agentcli sandbox -- echo ^x ls^.agentclisecret",
  "agentcli sandbox -- echo *",
  "agentcli sandbox -- echo {a,b}",
  "agentcli sandbox -- ls ~",
  "agentcli sandbox -- ls # it's",
  "agentcli sandbox -- echo =cat",
  "agentcli sandbox -- echo %self",
  "agentcli sandbox -- echo !cat",
  'agentcli sandbox -- echo "!cat"',
  "agentcli sandbox -- echo 'a\n!cat'",
  "agentcli sandbox -- echo \\; cat .env",
  'agentcli sandbox -- echo "\\"; cat .env #"',
  "agentcli sandbox -- echo 'a\\' ; cat .env ; 'b'",
  "agentcli sandbox -- echo 'a\u2019; cat .env; \u2018b'",
  "agentcli sandbox -- echo 'a\u0003cat .env'",
  "agentcli sandbox -- echo 'a\u2028cat .env'",
  "agentcli sandbox -- echo 'a",
  'agentcli sandbox -- echo "a',
  "agentcli sandbox -- echo a\tb",
  "agentcli\u00a0sandbox -- ls",
  "PATH=. agentcli sandbox -- ls",
  "env agentcli sandbox -- ls",
  "./agentcli sandbox -- ls",
  "src/../agentcli sandbox -- ls",
  "/usr/bin/agentcli sandbox -- ls",
  "Agentcli sandbox -- ls",
  "agentcli.sh sandbox -- ls",
  "agentcli() { cat .env; }; agentcli sandbox -- ls",
];

Deno.test("where there is a sandbox, a command passes as one that runs in it, whatever it names", async () => {
  await using at = await guardedProject({ sandbox: true });
  for (const line of SANDBOXED) assert.equal(await at.command(line), null, line);
});

for (const line of BARE) {
  Deno.test(`where there is a sandbox, the guard blocks ${JSON.stringify(line)}`, async () => {
    await using at = await guardedProject({ sandbox: true });
    const refusal = await at.command(line);
    assert.match(refusal?.instead ?? "", /agentcli sandbox -- /);
  });
}

/** Commands, and how the assistant is told to run each. */
const ADVICE: readonly [string, string][] = [
  ["npm test", "agentcli sandbox -- npm test"],
  ["cat src/*.ts | wc -l", "agentcli sandbox -- bash -c 'cat src/*.ts | wc -l'"],
  ["echo 'a b' > x", `agentcli sandbox -- bash -c 'echo '"'"'a b'"'"' > x'`],
  ["cd src && npm test\n", "agentcli sandbox -- bash -c 'cd src && npm test'"],
];

for (const [line, advice] of ADVICE) {
  Deno.test(`the advice for ${JSON.stringify(line)} is a line that passes`, async () => {
    await using at = await guardedProject({ sandbox: true });
    assert.equal((await at.command(line))?.instead, `Run this instead: ${advice}`);
    assert.equal(await at.command(advice), null);
  });
}

Deno.test("a command for which no line can be told gets the rules instead", async () => {
  await using at = await guardedProject({ sandbox: true });
  for (const line of ["cat <<EOF\na\nEOF", "x ".repeat(2_000)]) {
    assert.match((await at.command(line))?.instead ?? "", /as one line: agentcli sandbox -- COMMAND/);
  }
});

Deno.test("a fragment of protected content is told by no advice, and passes in no sandbox", async () => {
  await using at = await guardedProject({ sandbox: true });
  for (const line of ["echo text of credentials", "agentcli sandbox -- echo 'text of credentials'"]) {
    const refusal = await at.command(line);
    assert.match(refusal?.reason ?? "", /it holds /);
    assert.doesNotMatch(refusal?.instead ?? "", /text of/);
  }
});

Deno.test("without a sandbox the reader judges the whole line, in that form too", async () => {
  await using at = await guardedProject();
  assert.equal(await at.command("agentcli sandbox -- ls src"), null);
  assert.notEqual(await at.command("agentcli sandbox -- cat .env"), null);
});

Deno.test("where nothing is protected, a command passes as it is", async () => {
  await using at = await guardedProject({ sandbox: true });
  Deno.removeSync(`${at.root}/.agentclisecret`);
  assert.equal(await at.command("ls src | wc -l"), null);
});

Deno.test("a program of that name in the project, before the real one on PATH, runs nothing", async () => {
  await using at = await guardedProject({ sandbox: true, path: "/usr/bin:/P/node_modules/.bin" });
  assert.equal(await at.command("agentcli sandbox -- ls"), null);
  Deno.mkdirSync(`${at.root}/node_modules/.bin`, { recursive: true });
  Deno.writeTextFileSync(`${at.root}/node_modules/.bin/agentcli`, "#!/bin/sh\n");
  assert.match((await at.command("agentcli sandbox -- ls"))?.instead ?? "", /is in the project/);
  assert.notEqual(await at.write("node_modules/.bin/agentcli"), null);
});

/** Arguments of a tool, and whether they pass where there is a sandbox. */
const TOOLS: readonly [unknown, boolean][] = [
  [{ command: "npm test" }, false],
  [{ command: "agentcli sandbox -- npm test" }, true],
  [{ command: "agentcli", args: ["sandbox", "--", "cat", ".env"] }, false],
  [{ command: "agentcli", args: ["sandbox", "--", "npm", "test"] }, true],
  [{ command: ["agentcli", "sandbox", "--", "npm", "test"] }, true],
  [{ command: "agentcli", args: ["sandbox", "--", "sh", "-c", "ls; id"] }, false],
  [{ command: "bash", args: ["-c", "agentcli sandbox -- ls"] }, false],
  [{ command: "agentcli sandbox -- true", exec: "grep -r x ." }, false],
  [{ shell_command: "grep -r x ." }, false],
  [{ request: { run: "grep -r x ." } }, false],
  [{ command: '["grep", "-r", "x", "."]' }, false],
  [{ command: "create", path: "src/new.ts", file_text: "a b" }, true],
  [{ code: "const a = 1;" }, true],
  [{ query: "npm test" }, true],
];

for (const [given, passes] of TOOLS) {
  Deno.test(`where there is a sandbox, a tool with ${JSON.stringify(given)} ${passes ? "passes" : "is blocked"}`, async () => {
    await using at = await guardedProject({ sandbox: true });
    assert.equal(await at.mcp(given) === null, passes);
  });
}

Deno.test("long lines are read in time that grows with their length", { timeout: 60_000 }, () => {
  for (const part of ["a", "'a'", '"a"', "a ", "'a", "\\"]) plainWords(`agentcli sandbox -- ${part.repeat(300_000)}`);
});
