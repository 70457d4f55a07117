import assert from "node:assert/strict";
import { guardedProject, sharedProject } from "../../../tests/helpers/guarded_project.ts";
import { plainWords } from "../../shell/command.ts";

const project = sharedProject({ sandbox: true });

/** Lines that run one command in the sandbox, whatever that names. */
const SANDBOXED = [
  "agentcli sandbox -- 'cat .env'",
  "  agentcli  sandbox -- 'ls' '-la' \n",
  "agentcli sandbox -- 'cat .env; rm -rf .ide > x & $(cat .e*)'",
  `agentcli sandbox -- 'bash' '-c' 'echo "a\\tb"; it'"'"'s'`,
  `'agentcli' "sandbox" -- "git" 'commit' '-m' "keep it, don't"`,
  "agentcli sandbox -- 'grep' -r'' 'é\\.ts' \"src\"",
  "agentcli sandbox -- 'agentcli editor remove --all'",
  "agentcli sandbox -- 'make' A='b' --c='d' '=e' '%f'",
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
  "agentcli doctor",
  // A word without quotes can be an alias of zsh for anything.
  "agentcli sandbox -- true T .env",
  "agentcli sandbox -- ls",
  "agentcli sandbox -- 'true' T '.env'",
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
  const at = await project();
  for (const line of SANDBOXED) assert.equal(await at.command(line), null, line);
});

for (const line of BARE) {
  Deno.test(`where there is a sandbox, the guard blocks ${JSON.stringify(line)}`, async () => {
    const at = await project();
    const refusal = await at.command(line);
    assert.match(refusal?.instead ?? "", /agentcli sandbox -- /);
  });
}

/** Commands, and how the assistant is told to run each. */
const ADVICE: readonly [string, string][] = [
  ["make", "agentcli sandbox -- 'make'"],
  ["npm test", "agentcli sandbox -- 'npm test'"],
  // Who has it nearly right is not sent into a sandbox inside of one.
  ["agentcli sandbox -- npm test", "agentcli sandbox -- 'npm test'"],
  ["agentcli sandbox -- ls | cat", "agentcli sandbox -- 'ls | cat'"],
  ["agentcli sandbox --network -- bash -c 'a b'", `agentcli sandbox -- 'bash -c '"'"'a b'"'"''`],
  ["cat src/*.ts | wc -l", "agentcli sandbox -- 'cat src/*.ts | wc -l'"],
  ["echo 'a b' > x", `agentcli sandbox -- 'echo '"'"'a b'"'"' > x'`],
  ["cd src && npm test\n", "agentcli sandbox -- 'cd src && npm test'"],
];

for (const [line, advice] of ADVICE) {
  Deno.test(`the advice for ${JSON.stringify(line)} is a line that passes`, async () => {
    const at = await project();
    assert.equal((await at.command(line))?.instead, `Run this instead: ${advice}`);
    assert.equal(await at.command(advice), null);
  });
}

Deno.test("a command for which no line can be given gets the rules instead", async () => {
  const at = await project();
  for (const line of ["cat <<EOF\na\nEOF", "x ".repeat(2_000)]) {
    assert.match((await at.command(line))?.instead ?? "", /as one line: agentcli sandbox -- 'COMMAND'/);
  }
});

Deno.test("no advice shows a fragment of protected content, and no sandbox lets it pass", async () => {
  const at = await project();
  for (const line of ["echo text of credentials", "agentcli sandbox -- echo 'text of credentials'"]) {
    const refusal = await at.command(line);
    assert.match(refusal?.reason ?? "", /it holds /);
    assert.doesNotMatch(refusal?.instead ?? "", /text of/);
  }
});

Deno.test("without a sandbox the reader checks the whole line, in that form too", async () => {
  await using at = await guardedProject();
  assert.equal(await at.command("agentcli sandbox -- ls src"), null);
  assert.notEqual(await at.command("agentcli sandbox -- cat .env"), null);
});

Deno.test("where nothing is protected, a command passes as it is", async () => {
  await using at = await guardedProject({ sandbox: true });
  Deno.removeSync(`${at.root}/.agentclisecret`);
  assert.equal(await at.command("ls src | wc -l"), null);
});

/** Values of PATH by which a shell can find another agentcli, now or once a command has made one. */
const OPEN_PATHS = [
  "/H/bin:/P/node_modules/.bin",
  "node_modules/.bin:/H/bin",
  ":/H/bin",
  "/H/bin:.",
  "/H/L:/H/bin",
];
for (const path of OPEN_PATHS) {
  Deno.test(`with PATH ${path} no command passes, whether or not an agentcli stands there yet`, async () => {
    await using at = await guardedProject({ sandbox: true, path });
    Deno.symlinkSync(at.root, `${at.home}/L`);
    for (const cwd of [undefined, `${at.root}/src`]) {
      const refusal = await at.command("agentcli sandbox -- 'ls'", cwd);
      assert.match(refusal?.instead ?? "", /where a shell looks for agentcli: .* by its whole path/);
    }
    assert.notEqual(await at.mcp({ command: "agentcli sandbox -- 'ls'" }), null);
  });
}

Deno.test("what follows the real agentcli on PATH does not matter", async () => {
  await using at = await guardedProject({ sandbox: true, path: "/H/bin:/P/node_modules/.bin:." });
  Deno.mkdirSync(`${at.home}/bin`);
  Deno.writeTextFileSync(`${at.home}/bin/agentcli`, "#!/bin/sh\n");
  assert.equal(await at.command("agentcli sandbox -- 'ls'"), null);
  Deno.removeSync(`${at.home}/bin/agentcli`);
  Deno.symlinkSync(`${at.root}/src/a.ts`, `${at.home}/bin/agentcli`);
  assert.notEqual(await at.command("agentcli sandbox -- 'ls'"), null);
  assert.notEqual(await at.write("node_modules/.bin/agentcli"), null);
});

/** Arguments of a tool, and whether they pass where there is a sandbox. */
const TOOLS: readonly [unknown, boolean][] = [
  [{ command: "npm test" }, false],
  [{ command: "agentcli sandbox -- 'npm test'" }, true],
  [{ command: "agentcli", args: ["sandbox", "--", "'cat'", "'.env'"] }, false],
  // Who joins the words with spaces for a shell needs the quotes.
  [{ command: "agentcli", args: ["sandbox", "--", "npm", "test"] }, false],
  [{ command: "agentcli", args: ["sandbox", "--", "'npm test'"] }, true],
  [{ command: ["agentcli", "sandbox", "--", "'npm test'"] }, true],
  [{ command: "agentcli", args: ["sandbox", "--", "sh", "-c", "ls; id"] }, false],
  [{ command: "bash", args: ["-c", "agentcli sandbox -- 'ls'"] }, false],
  [{ command: "agentcli sandbox -- 'true'", exec: "grep -r x ." }, false],
  [{ shell_command: "grep -r x ." }, false],
  [{ request: { run: "grep -r x ." } }, false],
  [{ command: '["grep", "-r", "x", "."]' }, false],
  [{ command: "create", path: "src/new.ts", file_text: "a b" }, true],
  [{ code: "const a = 1;" }, true],
  [{ query: "npm test" }, true],
  // What else a call may say beside its line.
  [{ command: "agentcli sandbox -- 'ls'", cwd: "src", timeout_ms: 5_000, run_in_background: false, env: null }, true],
  [
    { command: "agentcli sandbox -- 'ls'", description: "lists files", workingDirectory: "/P/src", sessionId: "a b" },
    true,
  ],
  [{ request: { command: "agentcli sandbox -- 'ls'", explanation: "lists files" } }, true],
  [{ command: "agentcli sandbox -- 'ls'", shell: "bash" }, true],
  [{ command: "agentcli sandbox -- 'ls'", shell: "src/evil.sh" }, false],
  [{ command: "agentcli sandbox -- 'ls'", shell: "evil" }, false],
  [{ command: "agentcli sandbox -- 'ls'", env: { BASH_ENV: "/P/src/a.ts" } }, false],
  [{ command: "agentcli sandbox -- 'ls'", env: { LD_PRELOAD: "/P/src/a.so" } }, false],
  [{ command: "agentcli sandbox -- 'ls'", env: { PATH: "/P/src" } }, false],
  [{ command: "agentcli sandbox -- 'ls'", env: { AGENTCLI_HOME: "/P/src" } }, false],
  [{ command: "agentcli sandbox -- 'ls'", env: { CWD: "/P/src" } }, false],
  [{ command: "agentcli sandbox -- 'ls'", env: ["BASH_ENV=src/a.ts"] }, false],
  [{ command: "agentcli sandbox -- 'ls'", environment: "BASH_ENV=src/a.ts" }, false],
  [{ command: "agentcli sandbox -- 'ls'", options: '{"env":{"BASH_ENV":"src/a.ts"}}' }, false],
  [{ command: "agentcli sandbox -- 'ls'", options: { env: { BASH_ENV: "src/a.ts" } } }, false],
  [{ command: "agentcli sandbox -- 'ls'", BASH_ENV: "src/a.ts" }, false],
  [{ command: "agentcli sandbox -- 'ls'", input: "anything else" }, false],
  [{ env: { BASH_ENV: "src/a.ts" }, request: { command: "agentcli sandbox -- 'ls'" } }, false],
  // Commands under other names.
  [{ cmdline: "grep -r x ." }, false],
  [{ cmds: ["grep -r x ."] }, false],
  [{ zsh: "grep -r x ." }, false],
  [{ commandText: "grep -r x ." }, false],
  [{ command_to_run: "grep -r x ." }, false],
  [{ powershellScript: "Get-ChildItem -Recurse" }, false],
  [{ program: "grep", args: ["-r", "x", "."] }, false],
  [{ file: "grep", argv: ["-r", "x", "."] }, false],
  [{ command: "make" }, true],
  [{ command_description: "what it does", commandId: "a b" }, true],
  [{ name: "other", args: { path: "src/a.ts" } }, true],
];

Deno.test("a program that is one word of a call with nothing else to say is a command", async () => {
  await using at = await guardedProject({ sandbox: true, path: "/H/bin" });
  Deno.mkdirSync(`${at.home}/bin`);
  Deno.writeTextFileSync(`${at.home}/bin/make`, "#!/bin/sh\n");
  assert.match((await at.mcp({ command: "make", cwd: "src" }))?.instead ?? "", /agentcli sandbox -- 'make'/);
  assert.equal(await at.mcp({ command: "make", path: "src/a.ts", text: "a b" }), null);
  assert.equal(await at.mcp({ command: "view" }), null);
});

Deno.test("whatever a tool is given that is named for a shell is a command", async () => {
  const at = await project();
  const given = { id: "1", input: "grep -r x .\n" };
  assert.equal(await at.mcp(given), null);
  assert.notEqual(await at.mcp(given, "send_to_terminal"), null);
});

Deno.test("a refusal for variables of a call says so, and how the call runs", async () => {
  const at = await project();
  const refusal = await at.mcp({ command: "agentcli sandbox -- 'ls'", env: { BASH_ENV: "src/a.ts" } });
  assert.match(refusal?.reason ?? "", /"env"/);
  assert.match(refusal?.instead ?? "", /without it/i);
});

Deno.test("a command of the editor with more than its line and its directory does not pass", async () => {
  const at = await project();
  const line = "agentcli sandbox -- 'ls'";
  assert.equal(await at.ask("pre_run_command", { command_line: line, cwd: "/P", trajectory_id: "a b" }), null);
  assert.notEqual(
    await at.ask("pre_run_command", { command_line: line, cwd: "/P", env: { BASH_ENV: "src/a.ts" } }),
    null,
  );
});

for (const [given, passes] of TOOLS) {
  Deno.test(`where there is a sandbox, a tool with ${JSON.stringify(given)} ${passes ? "passes" : "is blocked"}`, async () => {
    const at = await project();
    assert.equal(await at.mcp(given) === null, passes);
  });
}

Deno.test("long lines are read in time that grows with their length", { timeout: 60_000 }, () => {
  for (const part of ["a", "'a'", '"a"', "a ", "'a", "\\"]) plainWords(`agentcli sandbox -- ${part.repeat(300_000)}`);
});
