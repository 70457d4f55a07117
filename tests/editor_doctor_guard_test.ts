/** `agentcli editor doctor`: that it proves the guard, and leaves nothing of its trials behind. */
import assert from "node:assert/strict";
import { done, editor, installProgram } from "./helpers/editor_program.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";

interface Finding {
  level: string;
  subject: string;
  message: string;
  fix?: string;
}

const HOOKS = ".ide/hooks.json";

async function failuresOf(home: TemporaryHome, ...args: string[]): Promise<{ code: number; failures: Finding[] }> {
  const { code, stdout } = await editor(home, "doctor", "--json", ...args);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, failures: findings.filter(({ level }) => level === "failure") };
}

/**
 * Answers as the program does, for the inputs of the doctor: what is tested is what the doctor makes of the answers.
 */
const GUARD = `#!/bin/sh
read -r input
case $input in
  *protected.txt*) exit 2 ;;
  *tool_info*) echo "no-cloud-guard: pass $4" ;;
  *) exit 2 ;;
esac
`;

async function guarded(home: TemporaryHome): Promise<void> {
  await home.write(".agentclisecret", "no-cloud: secrets\n");
  const program = `${home.root}/agentcli`;
  await Deno.writeTextFile(program, GUARD, { mode: 0o755 });
  await done(home, "add", "hook", "no-cloud-guard", "--set", `agentcli=${program}`, "--yes");
}

type Hooks = Record<string, { command: string }[]>;

async function changeHooks(home: TemporaryHome, change: (hooks: Hooks) => void): Promise<void> {
  const file = JSON.parse(await home.read(HOOKS)) as { hooks: Hooks };
  change(file.hooks);
  await home.write(HOOKS, JSON.stringify(file));
}

/** What becomes of a guard, and how many failures tell of it. */
const WEAKENED: readonly [string, (home: TemporaryHome) => Promise<unknown>, RegExp, number][] = [
  [
    "its line let pass",
    (home) =>
      changeHooks(home, (hooks) => {
        for (const line of hooks.pre_read_code ?? []) line.command += " || true";
      }),
    /nothing shows that it blocks/,
    1,
  ],
  ["its script replaced", (home) => home.write(".ide/hooks/no-cloud-guard.sh", "exit 0\n"), /not as it was written/, 5],
  ["one event deleted", (home) => changeHooks(home, (hooks) => delete hooks.pre_read_code), /no guard is set on/, 1],
  [
    "another program in its line",
    (home) =>
      changeHooks(home, (hooks) => {
        hooks.pre_mcp_tool_use = [{ command: "true" }];
      }),
    /no guard is set on/,
    1,
  ],
  ["its whole file deleted", (home) => Deno.remove(`${home.project}/${HOOKS}`), /no guard is set on/, 5],
];

Deno.test("doctor fails for a guard that was weakened in any way, and not for one that was put right", async (test) => {
  await using home = await temporaryHome();
  await guarded(home);
  assert.deepEqual(await failuresOf(home), { code: 0, failures: [] });
  for (const [what, weaken, message, count] of WEAKENED) {
    await test.step(what, async () => {
      await weaken(home);
      const { code, failures } = await failuresOf(home);
      assert.equal(code, 1);
      // No more than that: what the one before did was put right.
      assert.equal(failures.length, count, JSON.stringify(failures));
      for (const failure of failures) {
        assert.match(failure.message, message);
        assert.match(failure.fix ?? "", /agentcli editor add hook no-cloud-guard/);
      }
      await done(home, "add", "hook", "no-cloud-guard", "--force", "--set", `agentcli=${home.root}/agentcli`, "--yes");
    });
  }
  assert.deepEqual((await failuresOf(home)).failures, []);
});

Deno.test("doctor fails for a guard that others wrote, until it is run and does its work", async () => {
  await using home = await temporaryHome();
  await guarded(home);
  await Deno.remove(home.agentcliHome, { recursive: true });
  const careful = await failuresOf(home);
  assert.equal(careful.code, 1);
  assert.equal(careful.failures.length, 5);
  assert.match(careful.failures[0]?.fix ?? "", /--foreign/);
  assert.deepEqual(await failuresOf(home, "--foreign"), { code: 0, failures: [] });
});

Deno.test("doctor finds a formatter that is not there", async () => {
  await using home = await temporaryHome();
  const program = await installProgram(home);
  const add = (formatter: string) =>
    done(
      home,
      "add",
      "hook",
      "format-on-write",
      "--set",
      `agentcli=${program}`,
      "--set",
      `formatter=${formatter}`,
      "--yes",
    );
  await add("true");
  assert.deepEqual(await failuresOf(home), { code: 0, failures: [] });
  await add("/nonexistent/fmt -w");
  const { code, failures: [failure] } = await failuresOf(home);
  assert.equal(code, 1);
  assert.match(failure?.message ?? "", /\/nonexistent\/fmt/);
  assert.match(failure?.fix ?? "", /--set formatter=/);
});

for (const log of ["home", "project"]) {
  Deno.test(`doctor writes nothing into the log that the user keeps in the ${log}`, async () => {
    await using home = await temporaryHome();
    const program = await installProgram(home);
    const settings = ["--set", `agentcli=${program}`, "--set", `log=${log}`];
    await done(home, "add", "hook", "audit-log", "--event", "post_read_code", ...settings, "--yes");
    assert.deepEqual(await failuresOf(home), { code: 0, failures: [] });
    const kept = [`${home.project}/.ide/audit-log.jsonl`, `${home.agentcliHome}/editor/audit`];
    for (const path of kept) assert.equal(await Deno.stat(path).catch(() => null), null, path);
  });
}

Deno.test("doctor leaves nothing of a trial in the notes, whatever event they are kept on", async () => {
  await using home = await temporaryHome();
  const program = await installProgram(home);
  const events = ["--event", "post_cascade_response", "--event", "post_cascade_response_with_transcript"];
  await done(home, "add", "hook", "session-note", ...events, "--set", `agentcli=${program}`, "--yes");
  await home.write("session-notes.md", "mine\n");
  assert.deepEqual(await failuresOf(home), { code: 0, failures: [] });
  assert.equal(await home.read("session-notes.md"), "mine\n");
});

Deno.test("doctor tries the guards of the editor and of assistants without a trace in the home's records", async () => {
  await using home = await temporaryHome();
  const program = await installProgram(home);
  await done(home, "add", "hook", "no-cloud-guard", "--set", `agentcli=${program}`, "--yes");
  const added = await runInProcess(["mcp", "install", "codex", "--program", program, "--yes"], { home });
  assert.equal(added.code, 0, added.stderr);
  const { stdout } = await done(home, "doctor", "--json");
  assert.match(stdout, /Codex, PreToolUse .*lets a harmless action pass, and blocks/);
  assert.equal(await Deno.stat(`${home.agentcliHome}/projects`).catch(() => null), null);
});
