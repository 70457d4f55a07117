/** The installed command lines of the scaffolded hooks, in a real bash: with hostile inputs, programs and homes. */
import { EVENTS, type HookEvent, type ScaffoldId, SCAFFOLDS } from "../src/editor/hooks/events.ts";
import {
  contentOf,
  FAILURES,
  HOSTILE,
  infos,
  install,
  installImpatientGuard,
  KINDS,
  type Line,
  linkProgram,
  payload,
  project,
  recorded,
  SCOPES,
  SECRET,
} from "./helpers/editor_lines.ts";
import { callHook, done, each, runLine } from "./helpers/editor_program.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import assert from "node:assert/strict";

/** Pairs of a line and an input that go through a shell: of the project's scope each line, of the other each script. */
function isShown({ scope, scaffold, event }: Line, kind: string): boolean {
  const { guard, events } = SCAFFOLDS[scaffold];
  return kind === (guard ? "secret" : "open") && (scope === "project" || event === events[0]);
}

/** The log of a project is in the directory of its editor; one without such a directory has it in the home. */
async function logOf(home: TemporaryHome, scope: Line["scope"]): Promise<string> {
  if (scope === "project") return await home.read(".ide/audit-log.jsonl");
  const directory = `${home.agentcliHome}/editor/audit`;
  const [name = ""] = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => /\.jsonl$/.test(name));
  return await Deno.readTextFile(`${directory}/${name}`);
}

for (const scope of Object.keys(SCOPES) as Line["scope"][]) {
  Deno.test(`every installed line of the scope ${scope} does its work with the input of its event`, async () => {
    await using home = await temporaryHome();
    const lines = await install(home, { scope, program: await project(home) });
    assert.equal(lines.length, 14);
    const before = await contentOf(home);
    const given = infos(home);
    await each(lines.flatMap((line) => KINDS.map((kind) => ({ line, kind }))), async ({ line, kind }) => {
      const { scaffold, event, command } = line;
      const input = kind === "recorded" ? await recorded(home, event) : payload(event, given[event][kind]);
      const { code, stdout, stderr } = isShown(line, kind)
        ? await runLine(home, command, { input })
        : await callHook(home, line, { input });
      const names = kind === "recorded" && /secrets/.test(input);
      const blocked = SCAFFOLDS[scaffold].guard && (kind === "secret" || names);
      assert.equal(code, blocked ? 2 : 0, `${scaffold} ${event} ${kind}: ${stderr}`);
      assert.equal((stdout + stderr).includes(SECRET), false, `${scaffold} ${event} ${kind}`);
      if (blocked) assert.match(stderr, /blocked: /);
    });
    // What the hooks add to the project holds nothing of what is protected, and what was there is as it was.
    assert.equal(await contentOf(home), before);
    const log = await logOf(home, scope);
    assert.equal(log.trim().split("\n").length, 18);
    const notes = await home.read("notes.md");
    assert.match(notes, /Done\./);
    for (const text of [log, notes]) assert.equal(text.includes(SECRET), false);
    assert.equal(await Deno.readTextFile(`${home.root}/worktree/local/settings.json`), "{}\n");
    assert.equal(await Deno.stat(`${home.root}/made`).catch(() => null), null);
  });
}

Deno.test("the input of another event is blocked by the guard, and not written down by the others", async () => {
  await using home = await temporaryHome();
  const lines = await install(home, { scope: "project", program: await project(home) });
  const before = await contentOf(home);
  const given = infos(home);
  const pairs = lines.flatMap((line) => EVENTS.map((event) => ({ line, event })))
    .filter(({ line, event }) => line.event !== event);
  for (const [at, { line, event }] of pairs.entries()) {
    const kind = KINDS[at % KINDS.length] ?? "open";
    const input = kind === "recorded" ? await recorded(home, event) : payload(event, given[event][kind]);
    const { code, stdout, stderr } = await callHook(home, line, { input });
    const what = `${line.scaffold} ${line.event} with ${event} ${kind}`;
    assert.equal(code, 2, `${what}: ${stderr}`);
    assert.equal((stdout + stderr).includes(SECRET), false, what);
  }
  assert.equal(await contentOf(home), before);
  await assert.rejects(home.read(".ide/audit-log.jsonl"), Deno.errors.NotFound);
  // Of the program's 2 the script of an event that nothing can stop makes a 1.
  const log = lines.find(({ scaffold }) => scaffold === "audit-log") ?? assert.fail();
  assert.equal((await runLine(home, log.command, { input: "{}" })).code, 1);
});

/** Those on which a shell or a pipe could have a part. */
const BY_SHELL: ReadonlySet<string> = new Set(["nothing", "zeros", "a path with quotes and a command", "5 MB"]);

Deno.test("no input makes the guard fail open, none that is whole and open is blocked, and no other hook blocks", async () => {
  await using home = await temporaryHome();
  const lines = await install(home, { scope: "project", program: await project(home) });
  const before = await contentOf(home);
  const line = (scaffold: ScaffoldId) => lines.find((one) => one.scaffold === scaffold) ?? assert.fail(scaffold);
  const [guard, log, format] = [line("no-cloud-guard"), line("audit-log"), line("format-on-write")];
  for (const [at, [what, make, passes]] of HOSTILE.entries()) {
    const input = make(guard.event, home.project);
    const called = await callHook(home, guard, { input });
    for (
      const { code, stderr } of BY_SHELL.has(what) ? [called, await runLine(home, guard.command, { input })] : [called]
    ) {
      assert.equal(code, passes ? 0 : 2, `${what}: ${stderr}`);
      assert.equal(stderr === "", passes, what);
    }
    const other = at % 2 === 0 ? log : format;
    const { code, stderr } = await callHook(home, other, { input: make(other.event, home.project) });
    assert.ok(code === 0 || /stopped: /.test(stderr), `${what}, ${other.event}: exit ${code}: ${stderr}`);
  }
  assert.equal(await contentOf(home), before);
  assert.equal(await Deno.stat(`${home.project}/made`).catch(() => null), null);
});

Deno.test("every line ends well whatever becomes of the program: the guard's with 2, the others' never so", async () => {
  await using home = await temporaryHome();
  await project(home);
  const program = `${home.root}/program`;
  const inProject = await install(home, { scope: "project", program });
  const all = [...inProject, ...await install(home, { scope: "user", program })];
  const before = await contentOf(home);
  const tried = async (what: string, lines: readonly Line[]) => {
    await each(lines, async ({ scope, scaffold, event, command }) => {
      const { code } = await runLine(home, command, { input: payload(event, {}) });
      const well = SCAFFOLDS[scaffold].guard ? code === 2 : code !== 0 && code !== 2;
      assert.ok(well, `${scope} ${scaffold} ${event}: exit ${code} when the program ${what}`);
    });
  };
  const scripts = inProject.filter(({ scaffold, event }) => event === SCAFFOLDS[scaffold].events[0]);
  for (const [what, script, mode] of FAILURES) {
    await Deno.remove(program).catch(() => {});
    if (script !== null) await Deno.writeTextFile(program, `#!/bin/sh\n${script}\n`, { mode: mode ?? 0o755 });
    await tried(what, scripts);
  }
  await Deno.remove(program);
  await Deno.mkdir(program);
  await tried("is a directory", all);
  assert.equal(await contentOf(home), before);
});

Deno.test("without agentcli on PATH, without its scripts and without a project the guard's lines end with 2", async () => {
  await using home = await temporaryHome();
  await project(home);
  await Deno.mkdir(`${home.root}/bin`);
  for (const name of ["bash", "sleep"]) await linkProgram(home, name);
  await done(home, "add", "hook", "no-cloud-guard", "--yes");
  const { hooks } = JSON.parse(await home.read(".ide/hooks.json"));
  const tried = async (env: Record<string, string>, options: { cwd?: string } = {}) => {
    const { code } = await runLine(home, hooks.pre_read_code[0].command, { input: "{}", env, ...options });
    assert.equal(code, 2);
  };
  const env = { PATH: `${home.root}/bin` };
  await tried(env);
  // A program of that name that gives the answer shows that the line was run as it should be: nothing else said no.
  const answer = "no-cloud-guard: pass pre_read_code";
  await Deno.writeTextFile(`${home.root}/bin/agentcli`, `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
  const control = await runLine(home, hooks.pre_read_code[0].command, { input: "{}", env });
  assert.equal(control.code, 0, control.stderr);
  await tried(env, { cwd: home.root });
  await Deno.remove(`${home.project}/.ide/hooks`, { recursive: true });
  await tried(env);
});

Deno.test(
  "a program that hangs ends after the limit: with 2, and with all that it started",
  { timeout: 60_000 },
  async () => {
    await using home = await temporaryHome();
    await project(home);
    const guard = await installImpatientGuard(
      home,
      `trap '' TERM INT\necho $$ >>'${home.root}/pids'\nsleep 600 & wait; wait`,
    );
    const { code, stderr } = await runLine(home, guard.command, { input: "{}" });
    assert.equal(code, 2);
    assert.match(stderr, /gave no answer/);
    const pid = Number(await Deno.readTextFile(`${home.root}/pids`));
    assert.throws(() => Deno.kill(pid, 0 as unknown as Deno.Signal), `${pid} still runs`);
  },
);

/** One event of every kind of question and of every hook. */
const CHOSEN: readonly HookEvent[] = ["pre_read_code", "pre_user_prompt", "post_write_code", "post_cascade_response"];

/** Environments in which there is no home, or none that can be written. */
const HOMES: readonly [string, (home: TemporaryHome) => Record<string, string | null>][] = [
  ["HOME unset", () => ({ HOME: null, AGENTCLI_HOME: null })],
  ["HOME relative", () => ({ HOME: "home", AGENTCLI_HOME: null })],
  ["HOME that is not there", (home) => ({ HOME: `${home.root}/absent`, AGENTCLI_HOME: null })],
  ["a home that cannot be written", () => ({ HOME: "/proc/self", AGENTCLI_HOME: "/proc/self/agentcli" })],
  ["a home of agentcli that is no path", () => ({ AGENTCLI_HOME: "nowhere" })],
];

Deno.test("without a home the guard still decides, and the others lose nothing of the user's", async () => {
  await using home = await temporaryHome();
  const lines = await install(home, { scope: "project", program: await project(home) });
  const before = await contentOf(home);
  const given = infos(home);
  const chosen = lines.filter(({ event }) => CHOSEN.includes(event));
  for (
    const { what, env, line } of HOMES.flatMap(([what, env]) => chosen.map((line) => ({ what, env: env(home), line })))
  ) {
    const { scaffold, event } = line;
    const call = (kind: "open" | "secret") => callHook(home, line, { input: payload(event, given[event][kind]), env });
    const open = await call("open");
    if (!SCAFFOLDS[scaffold].guard) assert.ok(open.code === 0 || /stopped: /.test(open.stderr), `${event}, ${what}`);
    else {
      assert.equal(open.code, 0, `${event}, ${what}: ${open.stderr}`);
      assert.equal((await call("secret")).code, 2, `${event}, ${what}`);
    }
  }
  assert.equal(await contentOf(home), before);
});
