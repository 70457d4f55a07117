/**
 * The completion scripts in real shells; those that are not installed are skipped, and the names of the tests say so.
 */
import assert from "node:assert/strict";
import { findExecutable } from "../src/platform/process.ts";
import { runInProcess } from "./helpers/in_process.ts";
import {
  configure,
  programCommand,
  runProgram,
  startCommand,
  type TemporaryHome,
  temporaryHome,
} from "./helpers/program.ts";

async function openHome(): Promise<TemporaryHome> {
  const home = await temporaryHome();
  await configure(home, {
    runtime_a: {
      baseUrl: "http://127.0.0.1:9/v1",
      models: ["qwen3:8b", "qwen3:1.7b", { id: "big", alias: "coder" }, "odd $(touch x)", "-rf"],
    },
    hosted: { baseUrl: "http://127.0.0.2:9/v1" },
  });
  await home.write("some file.txt", "");
  await home.write("inner/x", "");
  // The name that people type, for the scripts to call.
  const words = programCommand().map((word) => `'${word}'`).join(" ");
  await Deno.mkdir(`${home.root}/bin`);
  await Deno.writeTextFile(`${home.root}/bin/agentcli`, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  for (const shell of ["bash", "zsh", "fish"]) {
    await Deno.writeTextFile(
      `${home.root}/completions.${shell}`,
      (await runInProcess(["completions", shell], { home })).stdout,
    );
  }
  return home;
}

/** Runs a script of a shell in the project; gives the lines it printed, sorted. */
async function inShell(home: TemporaryHome, argv: readonly string[]): Promise<string[]> {
  const env = { PATH: `${home.root}/bin:${Deno.env.get("PATH")}`, TERM: "dumb" };
  await using shell = startCommand(argv, { home, env });
  await shell.closeInput();
  const done = await shell.finished;
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stderr, "");
  return done.stdout.split("\n").filter((line) => line !== "").sort();
}

/** What is typed, and the whole words that must be offered. */
const CASES: readonly { typed: string[]; offered: string[] }[] = [
  { typed: ["provi"], offered: ["providers"] },
  { typed: ["providers", "set-"], offered: ["set-key"] },
  { typed: ["providers", "remove", ""], offered: ["hosted", "runtime_a"] },
  { typed: ["providers", "model", "remove", "runtime_a", ""], offered: ["big", "coder", "qwen3:1.7b", "qwen3:8b"] },
  { typed: ["providers", "role", "set", "c"], offered: ["compact"] },
  { typed: ["config", "get", "sandbox.n"], offered: ["sandbox.network"] },
  { typed: ["config", "set", "default_provider", ""], offered: ["hosted", "runtime_a"] },
  { typed: ["config", "set", "sandbox.mode", "a"], offered: ["always", "auto"] },
  { typed: ["local-model", "serve", "--engine", "engine"], offered: ["engine_e"] },
  { typed: ["editor", "add", "hook", "no-"], offered: ["no-cloud-guard"] },
  { typed: ["run", "--mode"], offered: ["--model"] },
  { typed: ["run", "--model", "runtime_a:q"], offered: ["runtime_a:qwen3:1.7b", "runtime_a:qwen3:8b"] },
  { typed: ["run", "--model=runtime_a:qwen3:8"], offered: ["--model=runtime_a:qwen3:8b"] },
  { typed: ["run", "--output-format", "s"], offered: ["stream-json"] },
  { typed: ["completions", "po"], offered: ["powershell"] },
  { typed: ["help", "no-"], offered: ["no-cloud"] },
  { typed: ["providers", "remove", "hosted", ""], offered: [] },
];

const BASH = "/bin/bash";
const find = (name: string) => findExecutable(name, Deno.env.get("PATH") ?? "", { notBelow: [] });
const [zsh, fish, pwsh] = [find("zsh"), find("fish"), find("pwsh")];
const skipped = (program: string | null) => program === null ? " (skipped: not installed)" : "";

Deno.test("providers are offered with the name of their server and their address", async () => {
  await using home = await openHome();
  const { stdout } = await runInProcess(["__complete", "--word=", "--", "run", "--model"], { home });
  assert.match(stdout, /^runtime_a\tOllama, http:\/\/127\.0\.0\.1:9\/v1$/m);
  assert.match(stdout, /^hosted\thttp:\/\/127\.0\.0\.2:9\/v1$/m);
});

Deno.test("bash completes words that it splits itself", { ignore: Deno.build.os === "windows" }, async () => {
  await using home = await openHome();
  for (const { typed, offered } of CASES) {
    // As bash cuts the line: at spaces, and `:` and `=` are words.
    const line = ["agentcli", ...typed].join(" ");
    const words: string[] = line.match(/[:=]+|[^\s:=]+/g) ?? [];
    if (typed.at(-1) === "") words.push("");
    const last = words.at(-1) ?? "";
    const current = /^[:=]+$/.test(last) ? "" : last;
    const found = await inShell(home, [
      BASH,
      "--norc",
      "-c",
      `. ../completions.bash; COMP_LINE=$1; COMP_POINT=\${#1}; shift; COMP_WORDS=("$@")
       COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _agentcli; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      line,
      ...words,
    ]);
    // What stands before the part that bash replaces.
    const kept = (typed.at(-1) ?? "").slice(0, (typed.at(-1) ?? "").length - current.length);
    assert.deepEqual(found.map((word) => kept + word), [...offered], line);
  }
});

Deno.test(
  "bash completes files and directories as it does by itself",
  { ignore: Deno.build.os === "windows" },
  async () => {
    await using home = await openHome();
    const complete = (line: string, word: string) =>
      inShell(home, [
        BASH,
        "--norc",
        "-c",
        `. ../completions.bash; COMP_LINE=$1; COMP_POINT=\${#1}; COMP_WORDS=(agentcli run x "$2")
       COMP_CWORD=3; _agentcli; printf '%s\\n' "\${COMPREPLY[@]}"`,
        "bash",
        line,
        word,
      ]);
    assert.deepEqual(await complete("agentcli run --file so", "so"), ["some file.txt"]);
    assert.deepEqual(await complete("agentcli run --add-dir ", ""), ["inner"]);
  },
);

Deno.test(`zsh completes${skipped(zsh)}`, { ignore: zsh === null }, async () => {
  await using home = await openHome();
  for (const { typed, offered } of CASES) {
    const found = await inShell(home, [
      zsh ?? "",
      "-f",
      "-c",
      `compdef() { :; }; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@"; }
       . ../completions.zsh; words=(agentcli "$@"); CURRENT=$#words; PREFIX=$words[-1]; _agentcli`,
      "zsh",
      ...typed,
    ]);
    assert.deepEqual(found, [...offered], typed.join(" "));
  }
});

Deno.test(`fish completes${skipped(fish)}`, { ignore: fish === null }, async () => {
  await using home = await openHome();
  for (const { typed, offered } of CASES) {
    const line = ["agentcli", ...typed].join(" ");
    const found = await inShell(home, [
      fish ?? "",
      "--no-config",
      "-c",
      `source ../completions.fish; complete -C "$argv[1]"`,
      line,
    ]);
    assert.deepEqual(found.map((text) => text.split("\t")[0]), [...offered], line);
  }
});

Deno.test(`PowerShell reads its script${skipped(pwsh)}`, { ignore: pwsh === null }, async () => {
  await using home = await openHome();
  const script = `agentcli completions powershell | Out-String | Invoke-Expression
    (TabExpansion2 'agentcli provi' 14).CompletionMatches | ForEach-Object CompletionText`;
  assert.deepEqual(await inShell(home, [pwsh ?? "", "-NoProfile", "-Command", script]), ["providers"]);
});

Deno.test("every script is one that its shell can read", { ignore: Deno.build.os === "windows" }, async () => {
  await using home = await openHome();
  for (const [shell, program] of [["bash", BASH], ["zsh", zsh], ["fish", fish]] as const) {
    if (program === null) continue;
    const path = await home.write(`script.${shell}`, (await runProgram(["completions", shell], { home })).stdout);
    assert.deepEqual(await inShell(home, [program, "-n", path]), []);
  }
});

Deno.test("whatever is wrong, completions say nothing and offer what they can", async () => {
  await using home = await openHome();
  await Deno.writeTextFile(`${home.agentcliHome}/providers.yaml`, "{{{");
  for (const words of [["--word=", "--", "providers", "remove"], ["--line=agentcli run --model "], ["--word="], []]) {
    const done = await runInProcess(["__complete", ...words], { home });
    assert.deepEqual([done.code, done.stderr], [0, ""]);
    assert.match(done.stdout, /:none\n$/);
  }
  const unknown = await runInProcess(["completions", "bsh"], { home });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /did you mean bash/);
});

Deno.test("sessions are completed by id", async () => {
  await using home = await openHome();
  const turn = await runInProcess(["run", "hello", "--model", "demo", "--json"], { home });
  const { session_id: id } = JSON.parse(turn.stdout);
  const done = await runInProcess(["__complete", "--word=", "--", "sessions", "show"], { home });
  assert.match(done.stdout, new RegExp(`^${id}\\thello\\n:none\\n$`));
});
