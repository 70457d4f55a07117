/**
 * Every PowerShell text of this repository in a real PowerShell, part of `deno task test-powershell`: the hooks beside
 * what the program says of the same input, `install.ps1`, and completions. Where there is no PowerShell, all is left
 * out, and said.
 */
import assert from "node:assert/strict";
import { sha256, writeSums } from "../../scripts/release/sums.ts";
import { serveFolder } from "../../scripts/release/serve_folder.ts";
import { assistantPlaces, ASSISTANTS } from "../../src/editor/assistants.ts";
import { scriptsOf } from "../../src/editor/hooks/scaffold.ts";
import { SCAFFOLDS } from "../../src/editor/hooks/events.ts";
import {
  contentOf,
  FAILURES,
  FALSE_FRIENDS,
  HOSTILE,
  infos,
  install,
  installImpatientGuard,
  KINDS,
  type Line,
  payload,
  project,
  recorded,
  SECRET,
} from "../helpers/editor_lines.ts";
import { callHook, each, type LineOptions, runLine } from "../helpers/editor_program.ts";
import { handlersOf } from "../../src/editor/resources/hook_entry.ts";
import { makeAssistantGuard } from "../../src/editor/resources/make_assistant.ts";
import { done, prepared, windowsLines } from "../helpers/installed_assistant.ts";
import { REPOSITORY, type TemporaryHome, temporaryHome } from "../helpers/program.ts";
import { openShell } from "./pwsh.ts";

const found = await openShell();
console.log(found.path === null ? `PowerShell cannot be had: ${found.why}` : `PowerShell: ${found.name}`);
const pwsh = found.path ?? "";
const shell: [string, ...string[]] = [pwsh, "-NoProfile", "-Command"];
/** The shell reads the input before the script does, or leaves it to the script. */
const INPUTS = ["lines", "raw"];

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: found.path === null, fn });
}

/** Runs the PowerShell line of a hook. */
function run(home: TemporaryHome, line: Line, options: Omit<LineOptions, "shell">) {
  return runLine(home, line.powershell, { ...options, shell });
}

test("the shell runs what is PowerShell, and its exit codes are those of the text", async () => {
  await using home = await temporaryHome();
  for (
    const [text, code] of [["exit 7", 7], ["throw 'x'", 1], ["'a'", 0], ["if (", 1], [
      "& sh -c 'exit 3'; exit 4",
      4,
    ]] as const
  ) {
    assert.equal((await runLine(home, text, { input: "", shell })).code, code, text);
  }
  const { stdout } = await runLine(home, "@($input) -join '+'; $PSVersionTable.PSVersion.Major", {
    input: "a\nb",
    shell,
  });
  assert.deepEqual(stdout.split(/\r?\n/), ["a+b", "7", ""]);
});

for (const scope of ["project", "user"] as const) {
  test(`every line of the scope ${scope} does in PowerShell what the program says of the input`, async () => {
    await using home = await temporaryHome();
    const lines = await install(home, { scope, program: await project(home) });
    const before = await contentOf(home);
    const given = infos(home);
    // Of the other scope each script once: only the path of the script differs.
    const chosen = lines.filter(({ scaffold, event }) =>
      scope === "project" || event === SCAFFOLDS[scaffold].events[0]
    );
    const all = chosen.flatMap((line) => KINDS.map((kind) => ({ line, kind })));
    await each([...all.entries()].map(([at, pair]) => ({ at, ...pair })), async ({ at, line, kind }) => {
      const { scaffold, event } = line;
      const input = kind === "recorded" ? await recorded(home, event) : payload(event, given[event][kind]);
      const wanted = (await callHook(home, line, { input })).code;
      const mode = INPUTS[at % 2] ?? "";
      const { code, stdout, stderr } = await run(home, line, { input, env: { AGENTCLI_PWSH_INPUT: mode } });
      assert.equal(code, wanted, `${scaffold} ${event} ${kind} ${mode}: ${stderr}`);
      assert.equal((stdout + stderr).includes(SECRET), false, `${scaffold} ${event} ${kind}`);
      if (code === 2) assert.match(stderr, /blocked: /);
    });
    assert.equal(await contentOf(home), before);
    if (scope === "user") return;
    // Each of them twice: once called, once by PowerShell.
    assert.equal((await home.read(".ide/audit-log.jsonl")).trim().split("\n").length, 36);
    const notes = await home.read("notes.md");
    assert.equal(notes.match(/Done\./g)?.length, 4);
    assert.equal(notes.includes(SECRET), false);
    assert.equal(await Deno.readTextFile(`${home.root}/worktree/local/settings.json`), "{}\n");
  });
}

test("no input makes the guard fail open in PowerShell, and none that is whole and open is blocked", async () => {
  await using home = await temporaryHome();
  const lines = await install(home, { scope: "project", program: await project(home) });
  const guard = lines.find(({ scaffold, event }) => scaffold === "no-cloud-guard" && event === "pre_read_code");
  assert.ok(guard);
  await each(
    HOSTILE.flatMap((row) => INPUTS.map((mode) => ({ row, mode }))),
    async ({ row: [what, make, passes], mode }) => {
      const { code, stderr } = await run(home, guard, {
        input: make(guard.event, home.project),
        env: { AGENTCLI_PWSH_INPUT: mode },
      });
      assert.equal(code, passes ? 0 : 2, `${what}, ${mode}: ${stderr}`);
    },
  );
  assert.equal(await Deno.stat(`${home.project}/made`).catch(() => null), null);
});

/** Commands of which the guard has to say the same in both shells, whatever a shell makes of their characters. */
const COMMANDS = [
  "ls src",
  "agentcli sandbox -- 'cat src/a.ts'",
  "agentcli sandbox -- 'cat .env'",
  "cat .env",
  "cat $'.e\\x6ev'",
  "type .\\secrets\\keys.md",
  "Get-Content .env | Select-Object -First 1",
  "powershell -EncodedCommand YwBhAHQAIAAuAGUAbgB2AA==",
  "echo 'it''s' \"$(touch made)\" `touch made` %PATH% ü 鍵",
  "agentcli sandbox -- 'echo a' ; cat .env",
  "agentcli sandbox -- 'echo a\nb'",
  "",
];

test("the guard says the same of a command in PowerShell as in bash", async () => {
  await using home = await temporaryHome();
  const lines = await install(home, { scope: "project", program: await project(home) });
  const guard = lines.find(({ event }) => event === "pre_run_command") ?? assert.fail();
  const codes: number[] = [];
  await each(COMMANDS, async (command) => {
    const input = payload(guard.event, { command_line: command, cwd: home.project });
    const bash = await runLine(home, guard.command, { input });
    const { code, stderr } = await run(home, guard, { input });
    assert.deepEqual([code, stderr.trim().split(/\r?\n/)], [bash.code, bash.stderr.trim().split("\n")], command);
    codes.push(code);
  });
  assert.deepEqual([...new Set(codes)].sort(), [0, 2]);
  assert.equal(await Deno.stat(`${home.project}/made`).catch(() => null), null);
});

test("every PowerShell line ends well whatever becomes of the program: the guard's with 2, the others' never so", async () => {
  await using home = await temporaryHome();
  await project(home);
  const program = `${home.root}/program`;
  const lines = (await install(home, { scope: "project", program }))
    .filter(({ scaffold, event }) => event === SCAFFOLDS[scaffold].events[0])
    .filter(({ scaffold }) => scaffold === "no-cloud-guard" || scaffold === "audit-log");
  for (const [what, script, mode] of FAILURES) {
    await Deno.remove(program).catch(() => {});
    if (script !== null) await Deno.writeTextFile(program, `#!/bin/sh\n${script}\n`, { mode: mode ?? 0o755 });
    await each(lines, async (line) => {
      const { code } = await run(home, line, { input: payload(line.event, {}) });
      const well = SCAFFOLDS[line.scaffold].guard ? code === 2 : code !== 0 && code !== 2;
      assert.ok(well, `${line.scaffold}: exit ${code} when the program ${what}`);
    });
  }
  const guard = lines.find(({ scaffold }) => scaffold === "no-cloud-guard") ?? assert.fail();
  const open = payload(guard.event, { file_path: "src/a.ts" });
  for (const [what, script] of FALSE_FRIENDS) {
    await Deno.writeTextFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    assert.equal((await run(home, guard, { input: open })).code, 2, `the program ${what}`);
  }
  await Deno.writeTextFile(program, `#!/bin/sh\ncat >&2\necho 'no-cloud-guard: pass ${guard.event}'\n`, {
    mode: 0o755,
  });
  assert.equal((await run(home, guard, { input: open })).code, 0, "control");
  await Deno.remove(`${home.project}/.ide/hooks`, { recursive: true });
  assert.equal((await run(home, guard, { input: open })).code, 2, "without its script");
});

test("the guard in PowerShell ends a program that hangs, and blocks", async () => {
  await using home = await temporaryHome();
  await project(home);
  const guard = await installImpatientGuard(home, "exec sleep 600");
  await Deno.mkdir(`${home.root}/bin`);
  // Stands for the program of Windows: taskkill.exe /T /F /PID n.
  await Deno.writeTextFile(
    `${home.root}/bin/taskkill.exe`,
    `#!/bin/sh\necho "$@" >'${home.root}/words'\nkill -KILL "$4"\n`,
    {
      mode: 0o755,
    },
  );
  const env = { PATH: `${home.root}/bin:${Deno.env.get("PATH")}` };
  const { code, stderr } = await runLine(home, guard.powershell, { input: "{}", env, shell });
  assert.deepEqual([code, stderr.trim()], [
    2,
    "no-cloud-guard: agentcli gave no answer in time; the action is blocked",
  ]);
  assert.match(await Deno.readTextFile(`${home.root}/words`), /^\/T \/F \/PID \d+\n$/);
});

test("the script of the completions completes in PowerShell", async () => {
  await using home = await temporaryHome();
  await Deno.mkdir(`${home.root}/bin`);
  const program = await project(home);
  await Deno.symlink(program, `${home.root}/bin/agentcli`);
  const env = { PATH: `${home.root}/bin:${Deno.env.get("PATH")}` };
  for (
    const [typed, offered] of [
      ["agentcli provi", ["providers"]],
      ["agentcli editor add hook no-", ["no-cloud-guard"]],
      ["agentcli completions po", ["powershell"]],
      ["agentcli run --mode", ["--model"]],
      ["agentcli run --output-format s", ["stream-json"]],
    ] as const
  ) {
    const text = `agentcli completions powershell | Out-String | Invoke-Expression
      (TabExpansion2 '${typed}' ${typed.length}).CompletionMatches | ForEach-Object { $_.CompletionText }`;
    const { stdout, stderr } = await runLine(home, text, { input: "", env, shell });
    assert.deepEqual(stdout.split(/\r?\n/).filter((line) => line !== ""), [...offered], `${typed}: ${stderr}`);
  }
});

const PROGRAM = `#!/bin/sh
case $1 in --version) echo "9.8.7 (agentcli)" ;; esac
`;

/** A release for Windows whose binary is a script, in the folder of a user. */
async function windowsPlace() {
  const folder = await Deno.makeTempDir();
  const [local, release, tools] = [`${folder}/a user's/Local`, `${folder}/release`, `${folder}/tools`];
  for (const path of [local, release, tools]) await Deno.mkdir(path, { recursive: true });
  await Deno.writeTextFile(`${release}/agentcli-x86_64-pc-windows-msvc.exe`, PROGRAM, { mode: 0o755 });
  await Deno.writeTextFile(`${release}/agentcli.js`, 'console.log("9.8.7 (agentcli)");\n');
  await writeSums(release);
  const profile = `${folder}/Documents/profile.ps1`;
  const registry = `${folder}/registry`;
  await Deno.writeTextFile(registry, "Path=%USERPROFILE%\\bin;C:\\tools\n");
  const env = {
    LOCALAPPDATA: local,
    USERPROFILE: folder,
    HOME: folder,
    PROCESSOR_ARCHITECTURE: "AMD64",
    PATH: `${tools}:/usr/local/bin:/usr/bin:/bin`,
    AGENTCLI_PWSH_WINDOWS: "1",
    AGENTCLI_PWSH_REGISTRY: registry,
    AGENTCLI_PWSH_PROFILE: profile,
  };
  const installed = async (args: readonly string[], more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await new Deno.Command(pwsh, {
      args: ["-NoProfile", "-File", `${REPOSITORY}/scripts/install.ps1`, ...args],
      env: { ...env, ...more },
      stdin: "null",
    }).output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  };
  const path = async () => (await Deno.readTextFile(registry)).trim().replace("Path=", "");
  const programs = `${local}/Programs/agentcli`;
  const files = async () => {
    try {
      return (await Array.fromAsync(Deno.readDir(programs))).map(({ name }) => name).sort();
    } catch {
      return [];
    }
  };
  const end = () => Deno.remove(folder, { recursive: true });
  return { folder, release, tools, profile, programs, install: installed, path, files, [Symbol.asyncDispose]: end };
}

test("install.ps1 installs a folder, sets up PATH and the profile, and takes all of it away again", async () => {
  await using at = await windowsPlace();
  const before = await at.path();
  for (let round = 0; round < 2; round++) {
    const { code, stdout, stderr } = await at.install(["-From", at.release]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /9\.8\.7 \(agentcli\) is installed: .*agentcli\.exe/);
    assert.deepEqual(await at.files(), ["agentcli.exe", "installed", "path"]);
    assert.equal((await Deno.readTextFile(at.profile)).match(/>>> agentcli >>>/g)?.length, 1);
    assert.equal(await at.path(), `${at.programs};${before}`);
  }
  const gone = await at.install(["-Uninstall"]);
  assert.deepEqual([gone.code, gone.stderr], [0, ""]);
  assert.match(gone.stdout, /is uninstalled/);
  assert.deepEqual([await at.files(), await at.path(), await Deno.readTextFile(at.profile)], [[], before, ""]);
  assert.match((await at.install(["-Uninstall"])).stderr, /nothing is installed/);
});

test("install.ps1 -Bundle writes the starter for the Deno that is there, and the binary after it leaves nothing of it", async () => {
  await using at = await windowsPlace();
  await Deno.symlink(Deno.execPath(), `${at.tools}/deno`);
  const ran = await at.install(["-From", at.release, "-Bundle", "-NoShell"]);
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  assert.deepEqual(await at.files(), ["agentcli.cmd", "agentcli.js", "installed"]);
  const starter = await Deno.readTextFile(`${at.programs}/agentcli.cmd`);
  assert.match(
    starter,
    /^@echo off\r\nsetlocal\r\n.*\r\n"[^"]*\/deno" run --quiet -A --no-config "[^"]*agentcli\.js" %\*\r\n$/s,
  );
  assert.equal((await at.install(["-From", at.release, "-NoShell"])).code, 0);
  assert.deepEqual(await at.files(), ["agentcli.exe", "installed"]);
});

test("install.ps1 says in one line why it installs nothing, and leaves nothing behind", async () => {
  await using at = await windowsPlace();
  const refused = async (args: readonly string[], why: RegExp, env: Record<string, string> = {}) => {
    const { code, stderr } = await at.install(args, env);
    assert.match(stderr, why);
    assert.equal(code, 1, stderr);
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    assert.deepEqual((await at.files()).filter((name) => name.startsWith("agentcli")), []);
  };
  await refused(["-From", at.release], /on this system use install\.sh/, { AGENTCLI_PWSH_WINDOWS: "0" });
  await refused([], /name the release/);
  await refused(["-From", at.tools], /no folder of a release/);
  await refused(["-From", "http://user:word@example.com/r"], /http:\/\/example\.com\/r is not encrypted/);
  await refused(["-From", "ftp://127.0.0.1/r"], /only https addresses and folders/);
  await refused(["-From", at.release], /no binary for RISCV processors/, { PROCESSOR_ARCHITECTURE: "RISCV" });
  await refused(["-From", at.release], /no agentcli-aarch64-pc-windows-msvc\.exe/, { PROCESSOR_ARCHITECTURE: "ARM64" });
  await Deno.writeTextFile(`${at.tools}/deno`, "#!/bin/sh\necho 'deno 2.6.0 (stable)'\n", { mode: 0o755 });
  await refused(["-From", at.release, "-Bundle"], /Deno 2\.6\.0 is too old/);
  await Deno.writeTextFile(`${at.release}/agentcli-x86_64-pc-windows-msvc.exe`, PROGRAM + "# changed\n");
  await refused(["-From", at.release], /is damaged: its SHA-256/);
  await writeSums(at.release);
  await refused(["-From", at.release, "-Sums", "0".repeat(64)], /SHA256SUMS of .* is another one/);
  const sums = await sha256(await Deno.readFile(`${at.release}/SHA256SUMS`));
  assert.equal((await at.install(["-From", at.release, "-NoShell", "-Sums", sums])).code, 0, "control");
});

test("install.ps1 installs from an address, and says when it cannot be reached", async () => {
  await using at = await windowsPlace();
  await refusedWithoutCurl(at);
  await Deno.symlink("/usr/bin/curl", `${at.tools}/curl.exe`);
  const server = serveFolder(at.release);
  const address = `http://127.0.0.1:${server.addr.port}`;
  // A download has no permission to run on this system, as it needs none on Windows: what is fetched is not started
  // here.
  const ran = await at.install(["-From", address, "-NoShell"]);
  assert.match(ran.stdout + ran.stderr, /Downloading http:\/\/127\.0\.0\.1:\d+\/agentcli-x86_64-pc-windows-msvc\.exe/);
  assert.match(ran.stderr, /does not run on this system/);
  await server.shutdown();
  assert.match((await at.install(["-From", address])).stderr, /cannot be reached/);
});

async function refusedWithoutCurl(at: Awaited<ReturnType<typeof windowsPlace>>): Promise<void> {
  const { stderr } = await at.install(["-From", "http://127.0.0.1:9/"]);
  assert.match(stderr, /there is no curl\.exe here/);
}

for (const assistant of Object.values(ASSISTANTS)) {
  test(`the lines of ${assistant.id} do in PowerShell what they do in bash, with the same answers`, async () => {
    await using home = await prepared();
    await home.write("src/a.ts", "let a = 1;\n");
    await done(home.mcp("install", assistant.id, "--yes"));
    const places = assistantPlaces(assistant, "project", {
      root: home.project,
      userHome: home.home,
      env: () => undefined,
    });
    const scripts = scriptsOf("no-cloud-guard", new Map());
    const env = { PATH: `${home.root}:${Deno.env.get("PATH")}`, CLAUDE_PROJECT_DIR: home.project };
    const guard = (os: "linux" | "windows") => makeAssistantGuard(scripts, { dialect: assistant, places, os });
    const bash = guard("linux").resources.flatMap((one) => one.kind === "item" ? handlersOf(one.value) : []);
    for (const [at, { event, line }] of windowsLines(guard("windows")).entries()) {
      for (const path of [".env", "src/a.ts"]) {
        const call = {
          tool_name: "read",
          tool_input: { path },
          file_path: path,
          command: `cat ${path}`,
          prompt: `@${path}`,
        };
        const input = JSON.stringify({ hook_event_name: event, cwd: home.project, ...call });
        const wanted = await runLine(home, String(bash[at]?.command), { input, env });
        const { code, stdout, stderr } = await runLine(home, line, { input, env, shell });
        assert.deepEqual([code, stdout.trim(), stderr.trim()], [
          wanted.code,
          wanted.stdout.trim(),
          wanted.stderr.trim(),
        ], event);
        assert.equal(code, path === ".env" || event === "beforeShellExecution" ? 2 : 0, `${event} ${path}: ${stderr}`);
      }
    }
    await Deno.remove(`${home.project}/${assistant.directory}/hooks/no-cloud-guard.ps1`);
    const { line } = windowsLines(guard("windows"))[0] ?? assert.fail();
    const gone = await runLine(home, line, { input: "{}", env, shell });
    assert.deepEqual([gone.code, gone.stderr.trim() !== ""], [2, true]);
  });
}
