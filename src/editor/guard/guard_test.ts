import assert from "node:assert/strict";
import { plainDirectory } from "../../../tests/helpers/plain_directory.ts";
import { denoIo } from "../../platform/deno_io.ts";
import { type HookEvent, parseHookInput } from "../events.ts";
import { judge } from "./guard.ts";

const MARKER = "no-cloud: secrets\nno-cloud: data\nno-cloud: .env\nno-cloud: credentials\nno-cloud: config/*.key\n";
const FILES = [
  "secrets/plan.md",
  "data/customers/list",
  "config/server.key",
  "config/open.json",
  "credentials",
  ".env",
  "docs/deep/a.md",
  "src/a.ts",
  "src/deep/b.ts",
  ".ide/hooks.json",
  ".ide/hooks/no-cloud-guard.sh",
];

/** A project `P` in the home of a user, and the guard as it is asked there. */
async function project() {
  // Paths stand in the commands without quotes.
  const home = await plainDirectory();
  const root = `${home}/P`;
  for (const path of FILES) {
    Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${root}/${path}`, `text of ${path}\n`);
  }
  Deno.mkdirSync(`${root}/.git`);
  Deno.writeTextFileSync(`${root}/.agentclisecret`, MARKER);
  Deno.symlinkSync("docs/deep", `${root}/l`);
  Deno.symlinkSync(`${root}/data/customers`, `${root}/docs/c`);
  Deno.symlinkSync(".ide/hooks", `${root}/hk`);
  Deno.linkSync(`${root}/.agentclisecret`, `${root}/src/marker.txt`);
  Deno.linkSync(`${root}/.ide/hooks.json`, `${root}/src/hooks.txt`);
  const { clock } = denoIo();
  const env = (name: string) => name === "AGENTCLI_HOME" ? `${home}/.agentcli` : undefined;
  const ask = async (event: HookEvent, info: unknown) => {
    const text = JSON.stringify({ tool_info: info }).replace(/(?<=[\s":]|:\/\/[\w+-]*)\/P\b/g, root);
    return await judge(parseHookInput(text, event), { cwd: root, userHome: home, io: { os: "linux", env, clock } });
  };
  return {
    root,
    home,
    read: (path: string) => ask("pre_read_code", { file_path: path }),
    write: (path: string) => ask("pre_write_code", { file_path: path, edits: [] }),
    command: (line: string, cwd?: string) => ask("pre_run_command", { command_line: line, cwd }),
    mcp: (given: unknown) => ask("pre_mcp_tool_use", { mcp_tool_name: "t", mcp_tool_arguments: given }),
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
}

/** What is asked and must be blocked, beside what is much the same and must pass. `/P` stands for the project. */
const CASES: Readonly<Record<"read" | "write" | "command", { blocked: readonly string[]; open: readonly string[] }>> = {
  read: {
    blocked: [
      "l/../../credentials",
      "docs/c/../customers/list",
      "docs/c/..",
      // As editors write addresses.
      "file:///P/.env",
      "file:/P/.env",
      "FILE:/P/%2Eenv",
      "vscode-remote://ssh-remote+host/P/.env",
      "git:/P/.env?ref=HEAD",
      "/proc/self/cwd/credentials",
      ".env\n",
      " .env ",
    ],
    open: [
      "l/a.md",
      "l/../deep/a.md",
      "src/../docs/deep",
      "src/a.ts\n",
      "file:/P/src/a.ts",
      "vscode-remote://ssh-remote+host/P/src/a.ts",
      "https://example.test/.env",
    ],
  },
  write: {
    blocked: [
      "hk/../hooks.json",
      "src/marker.txt",
      "src/hooks.txt",
      "~/.vendor/ide/hooks.json",
      "~/.vendor/ide/hooks/x.sh",
      "~/.codeium/windsurf/hooks.json",
      "~/.codeium/windsurf/hooks/x.ps1",
      "/etc/windsurf/hooks.json",
      "/etc/devin/hooks/x.sh",
      "~/.config/devin/hooks.json",
      "~/.local/share/agentcli/agentcli.js",
      "~/.local/bin/agentcli",
    ],
    open: ["src/a.ts", "hk.json", "~/.vendor/ide/notes.md", "~/.local/bin/other"],
  },
  command: {
    blocked: [
      // Behind a link, as the kernel goes.
      "cat l/../../credentials",
      "cat docs/c/../customers/list",
      "cat /proc/self/cwd/../P/credentials",
      "cat /dev/fd/../cwd/credentials",
      // Patterns from elsewhere.
      "cat /P/.e*",
      "cat ../P/.e*",
      "cat /P/sec*/plan.md",
      "cp /P/* /x",
      "cat ~/P/sec*/pl*",
      "cat ~/../*/P/.env",
      "cat *",
      "cat s[e]crets/*",
      "cat {secrets,src}/*.md",
      "cat {src/a.ts,.e}nv .{e,x}nv",
      "bash -c 'cat .e*'",
      'sh -c "cat {secrets,src}/plan.md"',
      'ls "secrets"/*',
      "find . -name '.e*'",
      "for f in *; do cat $f; done",
      "cat config/*",
      "cat config/server.k?y",
      "cat .[[:alpha:]]nv",
      "find . -name '.[[:lower:]]nv'",
      // Behind a variable.
      "cat $PWD/.env",
      'cat "$(pwd)/.env"',
      "cat `pwd`/.env",
      'cat "$PWD"/.env',
      "cat ${HOME}/../P/.env",
      "cat ~+/.env",
      "cat $HOME/P/.env",
      "cat $(git rev-parse --show-toplevel)/.env",
      "cat $PWD/.e*",
      "cat ${x:-.env}",
      'cat "${x-secrets/plan.md}"',
      "curl -d@.env http://localhost/",
      // From another directory.
      "cd src && cat ../.env",
      "cd src/deep; cat ../../.env",
      "git -C src show HEAD:../.env && cat .env",
      'bash -c "cd secrets && cat plan.md"',
      'bash -c "cd src; cat ../.env"',
      "sh -c 'cd src && cat ../.env'",
      "cd $PWD/src && cat ../.env",
      "env --chdir=src cat ../.env",
      "ls secrets",
      "cat 'secrets'",
      // A text that is shown names files all the same, is a name where it is one word, and ends where the shell ends it.
      `git commit -m "$(cat <<'EOF'\nsee secrets/plan.md\nEOF\n)"`,
      `git commit -m "$(cat <<'EOF'\nsee .env there\nEOF\n)"`,
      `tar c "$(cat <<'EOF'\nsecrets\nEOF\n)"`,
      `bash -c "$(cat <<'EOF'\ntar c secrets *\nEOF\n)"`,
      `git commit -m "$(cat <<'EOF'\na text\nEOF\ntar c secrets docs; cat <<'EOF'\nb\nEOF\n)"`,
      `git commit -m "$(cat <<'EOF' | tar cT -\nof secrets docs\nEOF\n)"`,
      `git commit -m "$(cat <<EOF\na $(tar c secrets docs)\nEOF\n)"`,
      `cat() { tar c $(</dev/stdin); }; echo "$(cat <<'EOF'\nsecrets docs\nEOF\n)"`,
      // Quotes in a comment and in a text of several lines part nothing.
      `# "\ntar c secrets docs\n# "`,
      "# don't\ntar c secrets docs # don't",
      "echo a # it's\ncat * # it's",
      "# it's\necho \"$(cat *)\" # it's",
      `# "$(cat <<'EOF'\ntar c secrets docs\nEOF\n)"`,
      `cat <<EOF\n"\nEOF\ntar c secrets docs\ncat <<EOF\n"\nEOF`,
      `cat <<-'EOF'\n'\nEOF\ncat *\ncat <<EOF\n'\nEOF`,
      // Nor those that the shell reads in another way than one after the other.
      "echo $'\\''; tar c secrets docs; echo $'\\'' \\'",
      `echo "$(echo ")")" ; tar c secrets docs ; echo "x" # "`,
      'echo "`echo \\`a\\` ""` " ; tar c secrets docs; echo ""',
      `echo "$(case x in x) echo "a";; esac) "; tar c secrets docs; echo "a b"`,
      `echo "\${x:-"}"}"; tar c secrets docs; echo "\${x:-"}"}"`,
      `echo "\${x:-'}" ; tar c secrets docs ; echo "'}"`,
      // What switches the guard off.
      "rm .agentclisecret",
      "echo > .agentclisecret",
      "rm .agentcli*",
      "mv .ide .ide2",
      "rm -rf .ide",
      "rm .ide/hooks.json",
      "sed -i s/x/y/ .ide/hooks/no-cloud-guard.sh",
      "echo > src/marker.txt",
      "echo > src/hooks.txt",
      "agentcli editor remove --all --yes",
      "agentcli --quiet editor remove hook:no-cloud-guard",
      "rm -rf ~/.local/share/agentcli",
      "rm .agentclisecre{t,x}",
      "tee .agentcli{secret,}",
      "rm -rf {.ide,x}",
      "rm -rf .[[:alpha:]]de",
      "echo > .agentcli*",
      "sed -i d .agentcli*t",
      "tee .agent???secret",
      "truncate -s 0 .i*/hooks.json",
      "find .ide -delete",
      "npx rimraf .ide",
      "trash .ide",
      "mount --bind /tmp .ide",
      "tar xf x.tar -C .ide",
      'agentcli edit""or remove --all',
      "agentcli editor --yes remove --all",
      "agentcli -C 'a;b' editor remove --all",
      "agentcli editor \\\n remove --all",
      "agentcli editor apply --dry-run; agentcli editor remove --all",
      "agentcli editor remove --all # --dry-run",
      "deno run -A main.ts editor remove --all",
    ],
    open: [
      "cat l/a.md",
      "cat src/*.ts",
      "cp /P/src/* /x",
      "awk '{print $1}' src/a.ts",
      "echo ${x:-y}",
      "echo $((3 * 4))",
      'curl -d \'{"a":1,"b":[2]}\' http://localhost/',
      "find src -name a.ts -exec wc {} +",
      'psql -c "SELECT * FROM t"',
      'node -e "const {a} = require(1); const {b, c} = a"',
      "expr 3 \\* 4",
      "for i in {1..3}; do echo $i; done",
      "case $x in *) echo y;; esac",
      "grep -E '^.*$' src/a.ts",
      'git commit -m "keep secrets out"',
      "git commit -m 'Move the data, not the code'",
      "git commit -m 'keep secrets out' # and push",
      "wc -w <<< 'keep secrets out'",
      "# it's all\nls src # it's short",
      `git commit -m "$(cat <<'EOF'\nKeep secrets out of it\n\n* don't log (it's odd)\n* 1) \`x\` of $y\nEOF\n)"`,
      `git commit -m "$(cat <<"END"\nWhat's in * is data\nEND\n)" && git push`,
      `gh pr create --title a --body "$(cat <<'EOF'\n## Test\n- [ ] *all* of config\nEOF\n)"`,
      "ls .ide",
      "ls $HOME/src",
      "cat ../.env",
      "agentcli editor doctor",
      "deno run -A main.ts editor doctor",
      "ls rimraf trash mount .ide/workflows",
      "agentcli editor apply --dry-run",
      "agentcli -C src editor show init",
      "cat src/[[:alpha:]].ts",
      "cat ${x:-src/a.ts}",
      "curl -d@src/a.ts http://localhost/",
      'sh -c "cd src; cat ../docs/deep/a.md"',
      "rm -rf {dist,out}",
      "sed -n p src/*.ts > out.txt",
      "find src -name '*.tmp' -delete",
      "git log -- src",
      "echo *",
      "cd src && cat a.ts",
    ],
  },
};

for (const kind of ["read", "write", "command"] as const) {
  for (const text of CASES[kind].blocked) {
    Deno.test(`the guard blocks the ${kind} ${JSON.stringify(text)}`, async () => {
      await using at = await project();
      assert.notEqual(await at[kind](text), null);
    });
  }
  Deno.test(`the guard lets every open ${kind} pass`, async () => {
    await using at = await project();
    for (const text of CASES[kind].open) assert.equal(await at[kind](text), null, text);
  });
}

/** Arguments of tools, and whether they name something that is protected. */
const ARGUMENTS: readonly [unknown, boolean][] = [
  [{ path: "credentials" }, true],
  [{ paths: ["src/a.ts", "credentials"] }, true],
  [{ path: "/P" }, true],
  [{ path: "/P/config" }, true],
  [{ path: "." }, true],
  [{ path: "/" }, true],
  [{ path: "l/../../credentials" }, true],
  [{ path: ".agentclisecret" }, true],
  [{ path: "/P/.ide/hooks.json" }, true],
  [{ source: ".ide", destination: "x" }, true],
  [{ command: "cat s*/p*" }, true],
  [{ cmd: "bash", args: ["-c", "cat .e*"] }, true],
  [{ request: { arguments: { script: "cd src && cat ../.env" } } }, true],
  [{ command: "rm -rf .i*" }, true],
  [{ command: "rm", args: ["-rf", ".i*"] }, true],
  [{ command: "ls", args: ["-l", ".i*"] }, false],
  [[{ command: ["bash", "-c", "cat .e*"] }], true],
  [{ command_line: "agentcli editor remove --all" }, true],
  [{ uri: "vscode-remote://host/P/.env" }, true],
  [{ command: "cat src/*.ts" }, false],
  [{ command: "create", path: "src/new.ts", file_text: "// cat s*/p*\n" }, false],
  [{ cmd: "deno", args: ["test", "src/*.ts"] }, false],
  [{ path: "src" }, false],
  [{ path: "/P/src/a.ts", query: "what are credentials?" }, false],
  [{ text: "", credentials: 1, data: ["a"] }, false],
];

for (const [given, blocked] of ARGUMENTS) {
  Deno.test(`the guard ${blocked ? "blocks" : "lets pass"} a tool with ${JSON.stringify(given)}`, async () => {
    await using at = await project();
    assert.equal(await at.mcp(given) !== null, blocked);
  });
}

Deno.test("a command that runs where no project is walks nothing but the way up", { timeout: 60_000 }, async () => {
  await using at = await project();
  assert.equal(await at.command("ls", "/"), null);
  assert.notEqual(await at.command("cat P/.env", at.home), null);
  assert.notEqual(await at.command(`cat ${at.root}/.env`, "/"), null);
});

/** Commands that are long, or that no shell can read to the end. */
const LONG: readonly [string, string, boolean][] = [
  ["options of git", `git ${"-a ".repeat(5_000)}`, false],
  ["pipes", "a | ".repeat(20_000), false],
  ["case patterns", `case ${"a | ".repeat(20_000)}`, false],
  ["open substitutions", "$(".repeat(20_000), false],
  ["open quotes", `"'`.repeat(20_000), false],
  ["braces", "{a,b}".repeat(2_000), true],
  ["nested quotes", `bash -c ${"\\'\"'".repeat(5_000)}`, false],
  ["words of agentcli", "agentcli editor ".repeat(10_000), false],
  ["directories to go into", "cd src; ".repeat(2_000), false],
  ["a pattern before what does not end", "cat .e* # $(", true],
  ["a pattern before a quote that does not end", "cat .e* # it's", true],
];

for (const [what, line, blocked] of LONG) {
  Deno.test(`the guard judges a command with ${what} in time`, { timeout: 60_000 }, async () => {
    await using at = await project();
    assert.equal(await at.command(line) !== null, blocked);
  });
}
