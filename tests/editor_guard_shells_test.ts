/**
 * The guard beside real shells: no spelling of a protected name may pass its reader and be read, and no line that it
 * takes for a command in the sandbox may be anything else.
 */
import assert from "node:assert/strict";
import { parseHookInput } from "../src/editor/hooks/events.ts";
import { questionOf } from "../src/editor/guard/payloads.ts";
import { judge } from "../src/editor/guard/guard.ts";
import { plainWords } from "../src/shell/command.ts";
import { denoIo } from "../src/platform/deno_io.ts";
import { guardedProject } from "./helpers/guarded_project.ts";
import { plainDirectory } from "./helpers/plain_directory.ts";

const CANARY = "canary-of-the-reader";
const ROUNDS = 400;
const SHELLS = ["bash", "zsh", "dash", "fish"];

/** Numbers from 0 to 1, the same in each run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function spellingsOf(letter: string): string[] {
  const code = letter.charCodeAt(0);
  const hex = code.toString(16).padStart(2, "0");
  return [
    ...[`'${letter}'`, `"${letter}"`, `\\${letter}`, `""${letter}`, "?", "*", `[${letter}]`],
    ...[`$'${letter}'`, `$'\\x${hex}'`, `$'\\u00${hex}'`, `$'\\${code.toString(8).padStart(3, "0")}'`, `$"${letter}"`],
    ...[`{${letter},x}`, `{${letter}..${letter}}`, `\\x${hex}`],
    ...[`@(${letter})`, `+(${letter}|x)`, `?(${letter})`, "!(x)", `(${letter}|x)`],
  ];
}

const STARTS = ["", "", "$PWD/", "~+/", "src/../", "/proc/$$/cwd/", "/proc/self/cwd/", "/proc/*/cwd/", "`pwd`/"];

/** What a command is put into. */
const FRAMES: readonly ((word: string) => string)[] = [
  (word) => `cat ${word}`,
  (word) => `cat ${word} # it's`,
  (word) => `sh -c 'cat ${word.replaceAll("'", "'\\''")}'`,
  (word) => `eval 'cat ${word.replaceAll("'", "'\\''")}'`,
  (word) => `bash -O extglob -c "cat ${word.replace(/["\\$`]/g, "\\$&")}"`,
  (word) => `shopt -s extglob 2>/dev/null\ncat ${word}`,
  (word) => `for f in ${word}; do cat $f; done`,
  (word) => `f() { cat ${word}; }; f`,
  (word) => `echo "$(cat ${word})"`,
  (word) => `head < ${word}`,
  (word) => `cd src && cat ../${word}`,
];

/** What lines are made of: all that some shell gives a meaning. */
const PARTS = [
  ...[
    "'",
    "'",
    '"',
    '"',
    "\\",
    "\\'",
    '\\"',
    " ",
    " ",
    " ; ",
    " cat .env ",
    ".env",
    "|",
    "&",
    "$",
    "$'",
    "(",
    ")",
    "`",
  ],
  ...[
    "!",
    "!!",
    "^",
    "#",
    "~",
    "*",
    "{",
    "}",
    "[",
    "]",
    "?",
    "<",
    ">",
    "a",
    "b=c",
    "=cat",
    "%self",
    "@",
    ",",
    ":",
    "--",
  ],
  ...["\n", "\r", "\t", "\u2019", "\u00e9"],
];

/** Runs all lines in one process of a shell, each from the same directory; returns what they print. */
function outputOfAll(
  [shell = "", ...options]: readonly string[],
  lines: readonly string[],
  { cwd }: { cwd: string },
): string {
  const each = shell === "fish"
    ? 'for line in $argv; eval $line </dev/null 2>/dev/null; cd "$HOME"; end'
    : 'for line do (eval "$line") </dev/null 2>/dev/null; done';
  const { stdout } = new Deno.Command(shell, {
    args: [...options, "-c", each, ...shell === "fish" ? [] : [shell], ...lines],
    cwd,
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: cwd },
    stdin: "null",
    stderr: "null",
  }).outputSync();
  return new TextDecoder().decode(stdout);
}

function isThere(shell: string): boolean {
  try {
    return new Deno.Command(shell, { args: ["-c", ":"], stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

Deno.test("no spelling of a protected name passes the guard and is read by a shell", async () => {
  const root = await plainDirectory();
  try {
    for (const directory of ["secrets", "src", ".git"]) Deno.mkdirSync(`${root}/${directory}`);
    for (const file of [".env", "secrets/plan", ".git/x"]) Deno.writeTextFileSync(`${root}/${file}`, `${CANARY}\n`);
    Deno.writeTextFileSync(`${root}/.agentclisecret`, "no-cloud: .env\nno-cloud: secrets\n");
    Deno.writeTextFileSync(`${root}/src/a.ts`, "open\n");
    Deno.symlinkSync("../.env", `${root}/src/e`);
    Deno.symlinkSync("../secrets", `${root}/src/s`);
    Deno.linkSync(`${root}/.env`, `${root}/src/h`);
    const random = randomOf(20_269);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const shells = SHELLS.filter(isThere);
    const { clock } = denoIo();
    const passed: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const target = pick([".env", "secrets/plan", "src/e", "src/s/plan", "src/h", ".git/x"]);
      const letters = [...target].map((sign) => sign === "/" || random() < 0.5 ? sign : pick(spellingsOf(sign)));
      const line = pick(FRAMES)(pick(STARTS) + letters.join(""));
      const input = parseHookInput(JSON.stringify({ tool_info: { command_line: line } }), "pre_run_command");
      const io = { os: "linux" as const, env: () => undefined, clock };
      const hasSandbox = () => Promise.resolve(false);
      if (await judge(questionOf(input), { cwd: root, userHome: `${root}-home`, io, hasSandbox }) === null) {
        passed.push(line);
      }
    }
    for (const shell of shells) {
      assert.match(
        outputOfAll([shell], ["cat src/a.ts; cd src", "cat .env"], { cwd: root }),
        new RegExp(`open\n${CANARY}`),
      );
      if (!outputOfAll([shell], passed, { cwd: root }).includes(CANARY)) continue;
      const leaks = passed.filter((line) => outputOfAll([shell], [line], { cwd: root }).includes(CANARY));
      assert.fail(`${shell}: ${leaks.join("\n")}`);
    }
    // Otherwise nothing was tried: spellings that only some shells know mean nothing to the others.
    const count = passed.length;
    assert.ok(shells.length > 0 && count > ROUNDS / 50 && count < ROUNDS / 2, `${count} passed`);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a line that the guard takes for one command is one in every shell, with these words", async () => {
  const root = await plainDirectory();
  try {
    Deno.writeTextFileSync(`${root}/.env`, `${CANARY}\n`);
    const random = randomOf(20_262);
    const shells = SHELLS.filter(isThere).flatMap((shell) =>
      /bash|zsh/.test(shell) ? [[shell], [shell, "-i"]] : [[shell]]
    );
    // Fish makes one backslash of two in single quotes.
    const plain = (text: string) => text.replaceAll("\\", "");
    const accepted: { line: string; expected: string }[] = [];
    for (let round = 0; round < 3 * ROUNDS; round++) {
      const parts = Array.from({ length: 1 + random() * 9 }, () => PARTS[Math.floor(random() * PARTS.length)]);
      const line = `agentcli sandbox -- ${parts.join("")}`;
      const words = plainWords(line);
      if (words !== null) accepted.push({ line, expected: words.map(({ text }) => `<${text}>`).join("") });
    }
    for (const [shell = "", ...options] of shells) {
      const agentcli = shell === "fish"
        ? "function agentcli; printf '<%s>' agentcli $argv; end"
        : `agentcli() { printf '<%s>' agentcli "$@"; }`;
      const outputOf = (lines: readonly string[]) => {
        const script = [agentcli, ...lines.map((line) => `${line}\necho`)].join("\n");
        const { stdout } = new Deno.Command(shell, {
          args: [...options, "-c", script],
          cwd: root,
          clearEnv: true,
          env: { PATH: "/usr/bin:/bin", HOME: root },
          stdin: "null",
          stderr: "null",
        }).outputSync();
        return plain(new TextDecoder().decode(stdout));
      };
      const expected = accepted.map((one) => `${plain(one.expected)}\n`).join("");
      if (outputOf(accepted.map(({ line }) => line)) === expected) continue;
      for (const one of accepted) {
        assert.equal(outputOf([one.line]), `${plain(one.expected)}\n`, `${shell} ${options}: ${one.line}`);
      }
      assert.fail(`${shell} ${options}: lines that are well alone are not together`);
    }
    assert.ok(shells.length > 0 && accepted.length > ROUNDS / 20, `${accepted.length} accepted`);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("no word of a line that passes is an alias of the shell", { ignore: !isThere("zsh") }, async () => {
  await using at = await guardedProject({ sandbox: true });
  Deno.writeTextFileSync(`${at.home}/.zshrc`, "alias -g T='| tail'\nalias -g ls='; cat'\n");
  const line = (command: string) => `agentcli sandbox -- ${command}`;
  const outputOf = (command: string) => {
    const { stdout } = new Deno.Command("zsh", {
      args: ["-i", "-c", `agentcli() { :; }; eval ${JSON.stringify(line(command))}`],
      cwd: at.root,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", HOME: at.home, ZDOTDIR: at.home },
      stdin: "null",
      stderr: "null",
    }).outputSync();
    return new TextDecoder().decode(stdout);
  };
  for (const command of ["true T .env", "ls .env", "'true' T '.env'"]) {
    assert.notEqual(await at.command(line(command)), null, command);
    assert.match(outputOf(command), /text of \.env/, "the control");
  }
  for (const command of ["'true' 'T' '.env'", "'ls .env'", "'true' T'' '.env'"]) {
    assert.equal(await at.command(line(command)), null, command);
    assert.equal(outputOf(command), "", command);
  }
});
