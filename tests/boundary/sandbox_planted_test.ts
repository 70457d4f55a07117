/**
 * What a command may leave behind that makes other programs run code: nothing, wherever it could write, however it
 * ended.
 */
import assert from "node:assert/strict";
import { identityAt, keptRoots } from "../../src/boundary/policy/identity.ts";
import { emptyRecord } from "../../src/boundary/policy/project_record_files.ts";
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import { quarantine } from "../../src/boundary/sandbox/quarantine.ts";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runProgram, startProgram } from "../helpers/program.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap, inSandboxProject, refusal, secondChoice } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };

/** Files that some program takes from a directory once the user starts it there. */
const STARTED_LATER = [
  ".vscode/launch.json",
  "sub/.vscode/extensions.json",
  ".idea/runConfigurations/x.xml",
  ".claude/commands/x.md",
  ".claude/skills/x/SKILL.md",
  "deep/.Claude/agents/x.md",
  ".cursor/rules/x.mdc",
  ".yarnrc.yml",
  ".yarn/plugins/x.cjs",
  ".pnpmfile.cjs",
  ".npmrc",
  ".envrc",
  "mise.toml",
  ".mise.local.toml",
  "lefthook.yml",
  ".pre-commit-config.yaml",
  ".cargo/config.toml",
  ".mvn/extensions.xml",
  ".exrc",
  ".clinerules/hooks/PreToolUse",
  ".github/hooks/x.json",
  ".factory/settings.json",
  ".amazonq/cli-agents/x.json",
  ".idea/startup.xml",
  "sub/.assistant/hooks/deep/x.sh",
  "x.sublime-project",
  ".vim/coc-settings.json",
  "sub/.lazy.lua",
  ".pi/extensions/x.ts",
  ".vibe/config.toml",
  ".Rprofile",
  ".ghci",
  ".irbrc",
  ".pryrc",
  ".pdbrc",
  ".iex.exs",
  ".ycm_extra_conf.py",
  ".luarc.json",
  ".externalToolBuilders/x.launch",
];

Deno.test(
  "what other programs start later is moved away when a command made it, and else stays as it is",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const make = (text: string) =>
        STARTED_LATER.map((name) => `mkdir -p "$(dirname "${name}")"; echo ${text} > "${name}"`).join("\n");
      const free = "package.json Makefile .github/workflows/ci.yml .env.example .yarn/cache/x.zip x/mise.md .vim/x.vim"
        .split(" ");
      const { report } = await project.sandboxed(
        `${make("evil")}\n${free.map((name) => `mkdir -p "$(dirname ${name})"; echo x > ${name}`).join("\n")}`,
      );
      assert.deepEqual(STARTED_LATER.filter((name) => project.read(name) !== null), []);
      assert.deepEqual(free.map(project.read), free.map(() => "x\n"), "the control");
      assert.ok((report.quarantined?.paths.length ?? 0) > 10);
      for (const name of STARTED_LATER) project.write(name, "mine");
      assert.equal((await project.sandboxed(`${make("evil")}; rm -rf .vscode .idea .claude`)).report.quarantined, null);
      for (const name of STARTED_LATER) assert.equal(project.read(name), "mine", name);
    }),
);

Deno.test(
  "where settings are too many rather than protected files, the hint is another one",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      for (let at = 0; at < 800; at++) project.write(`packages/p${at}/.npmrc`, "save-exact=true\n");
      const { hint } = await refusal(project.sandbox, await project.request("true"));
      assert.match(hint, /start in one of its directories/);
    }),
);

Deno.test("below sandbox.write it is the same as in the project", bubblewrap, async () => {
  const place = await Deno.realPath(await Deno.makeTempDir());
  try {
    const made = [".vscode/tasks.json", "sub/.envrc", "repo/.git/HEAD"];
    await Deno.mkdir(`${place}/.husky`);
    await Deno.writeTextFile(`${place}/.husky/pre-commit`, "mine");
    await inSandboxProject(async (project) => {
      const commands = made.map((name) => `mkdir -p $(dirname ${name}); echo evil > ${name}`).join("; ");
      const { report } = await project.sandboxed(
        `cd "${place}"; ${commands}; echo evil > .husky/pre-commit; rm -rf .husky; echo x > open.txt`,
      );
      for (const name of made) assert.equal(project.read(`${place}/${name}`), null, name);
      assert.equal(project.read(`${place}/.husky/pre-commit`), "mine");
      assert.equal(project.read(`${place}/open.txt`), "x\n", "the control");
      const { restoreQuarantined } = await import("../../src/cli/quarantine.ts");
      assert(report.quarantined);
      const { restored } = await restoreQuarantined(project.home, report.quarantined);
      assert.equal(restored.length, 3);
      assert.equal(project.read(`${place}/sub/.envrc`), "evil\n");
    }, { settings: { write: [place] } });
  } finally {
    await Deno.remove(place, { recursive: true });
  }
});

Deno.test(
  "a rule that is remembered of a project counts below sandbox.write too, with its wildcards",
  bubblewrap,
  async () => {
    const place = await Deno.realPath(await Deno.makeTempDir());
    try {
      await Deno.writeTextFile(`${place}/a.pem`, "remembered");
      const marker = { path: `${place}/.agentclisecret`, lines: [{ tier: "no-cloud", pattern: "*.pem" }] } as const;
      const known = { ...emptyRecord(place, identityAt(place)), markers: [marker] };
      const done = Promise.resolve();
      const projects = { any: () => Promise.resolve(true), all: () => Promise.resolve([known]), note: () => done };
      await inSandboxProject(async ({ sandboxed }) => {
        const { text } = await sandboxed(`cat "${place}/a.pem"; echo done`);
        assert.doesNotMatch(text, /remembered/);
        assert.match(text, /done/);
      }, { settings: { write: [place] }, projects });
    } finally {
      await Deno.remove(place, { recursive: true });
    }
  },
);

/** Runs a script in the sandbox while agentcli itself is stopped: it takes no look at what is made. */
async function makeBehindItsBack(script: string, { home, project }: Stage) {
  const waiting = "echo begun; until [ -e go ]; do sleep 0.01; done";
  const program = startProgram(["sandbox", "--", "sh", "-c", `${waiting}; ${script}; echo > made; sleep 60`], { home });
  await program.stdout.until(/begun/);
  program.kill("SIGSTOP");
  await Deno.writeTextFile(`${project}/go`, "");
  for (let round = 0; round < 1_000 && !await Deno.stat(`${project}/made`).catch(() => null); round++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return program;
}

Deno.test("what a command made before agentcli was killed is found at the next start", bubblewrap, async () => {
  await using stage = await openStage();
  const { home, project } = stage;
  const script = "mkdir -p .idea .vscode; echo evil > .idea/x.xml; echo evil > .vscode/tasks.json";
  await using program = await makeBehindItsBack(script, stage);
  program.kill("SIGKILL");
  await program.finished;
  assert.equal(await Deno.readTextFile(`${project}/.vscode/tasks.json`), "evil\n", "it was there");
  const next = await runProgram(["sandbox", "--", "true"], { home });
  assert.match(next.stderr, /broken off.*\.vscode.*moved to quarantine.*agentcli quarantine restore/);
  for (const name of [".vscode/tasks.json", ".idea/x.xml"]) {
    await assert.rejects(Deno.stat(`${project}/${name}`), Deno.errors.NotFound);
  }
  assert.equal((await runProgram(["sandbox", "--", "true"], { home })).stderr, "");
  assert.deepEqual([...Deno.readDirSync(`${home.agentcliHome}/unfinished`)], []);
});

Deno.test(
  "of what could run code later, what was there before a command is not taken at the next start",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const { home, project } = stage;
    for (const name of [".envrc", ".idea/workspace.xml", "conf/tasks.json"]) await stage.write(name, "mine\n");
    await using program = await makeBehindItsBack("mkdir .vscode; echo evil > .vscode/tasks.json; mv conf .zed", stage);
    program.kill("SIGKILL");
    await program.finished;
    // The user continues with their own.
    for (const name of [".envrc", ".idea/other.xml"]) await stage.write(name, "changed since\n");
    const { stderr } = await runProgram(["sandbox", "--", "true"], { home });
    // The second was there under another name.
    for (const name of [".vscode", ".zed"]) assert.ok(stderr.includes(`project/${name}`), stderr);
    for (const name of [".envrc", ".idea/workspace.xml"]) assert.ok(await Deno.stat(`${project}/${name}`), stderr);
  },
);

Deno.test("nor is what lies where a line that the home alone remembers protects", bubblewrap, async () => {
  await using stage = await openStage({ marker: "no-cloud: .env\nno-cloud: private\n" });
  const { home, project } = stage;
  const own = ["private/.vscode/settings.json", "private/sub/.npmrc"];
  for (const name of own) await stage.write(name, "mine\n");
  await runProgram(["sandbox", "--", "true"], { home });
  await stage.write(".agentclisecret", "no-cloud: .env\n");
  await using program = await makeBehindItsBack("echo evil > .envrc", stage);
  program.kill("SIGKILL");
  await program.finished;
  const { stderr } = await runProgram(["sandbox", "--", "true"], { home });
  assert.match(stderr, /broken off made [^,]*\.envrc, which/, "the control");
  for (const name of own) assert.equal(await Deno.readTextFile(`${project}/${name}`), "mine\n", stderr);
});

Deno.test("a damaged note of a command holds nothing up", bubblewrap, async () => {
  await using stage = await openStage();
  const { home } = stage;
  for (const [at, note] of ["{", "{}", `{"process":null,"since":5,"roots":[]}`].entries()) {
    await stage.write(`${home.agentcliHome}/unfinished/${at}.json`, note);
  }
  const done = await runProgram(["sandbox", "--", "cat", "pub.txt"], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /PUB_marker/);
});

Deno.test("the next session finds it too", bubblewrap, async () => {
  await using stage = await openStage();
  const { home, project } = stage;
  await using program = await makeBehindItsBack("echo evil > .envrc", stage);
  // While it runs, nobody else takes what it makes.
  const beside = await runProgram(["run", "--model", "demo", "hello"], { home });
  assert.doesNotMatch(beside.stderr, /quarantine/);
  assert.ok(await Deno.stat(`${project}/.envrc`));
  program.kill("SIGKILL");
  await program.finished;
  const { stderr } = await runProgram(["run", "--model", "demo", "hello"], { home });
  assert.match(stderr, /broken off.*\.envrc.*agentcli quarantine restore/);
  await assert.rejects(Deno.stat(`${project}/.envrc`), Deno.errors.NotFound);
});

for (const [name, second] of [["bubblewrap", false], ["the second choice", true]] as const) {
  Deno.test(`a command has a terminal session of its own with ${name}`, bubblewrap, async () => {
    const base = await Deno.makeTempDir();
    try {
      const programs = second ? await secondChoice(base) : undefined;
      if (programs === null) return;
      await inSandboxProject(async ({ sandboxed }) => {
        // The sixth field is the session: 0 stands for one outside of the sandbox.
        const { text } = await sandboxed("cut -d ' ' -f 6 /proc/self/stat");
        assert.match(text, /^[1-9]\d*\n$/);
      }, programs === undefined ? {} : { programs });
    } finally {
      await Deno.remove(base, { recursive: true });
    }
  });
}

Deno.test(
  "where git is open, of the user's files of git only settings are seen",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      for (const name of ["config", "ignore", "credentials"]) {
        project.write(`${project.userHome}/.config/git/${name}`, "");
      }
      const hide = await new ProtectedSet([project.root]).hidden();
      const { text } = await project.sandboxed("ls ~/.config/git", { git: true, hide });
      assert.equal(text, "config\nignore\n");
    }),
);

Deno.test(
  "where the home cannot take a note, no command runs, and it is said why",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(`${project.home}/unfinished`, "in the way");
      const answer = await project.sandbox.wrapCommand(await project.request("touch ran"));
      assert.ok(answer.kind === "refused");
      assert.match(answer.reason, /what a command makes cannot be kept in /);
      assert.match(answer.hint, /can be written/);
    }),
);

Deno.test(
  "a command that makes settings that run by themselves is ended, and they are moved away",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const names = [".vscode/tasks.json", ".cursor/hooks.json", ".mcp.json", ".envrc"];
    const making = names.map((name) => `mkdir -p $(dirname ${name}); echo '{}' > ${name}`).join("; ");
    const script = `${making}; for i in $(seq 3000); do echo '{}' > .mcp.json; echo made; sleep 0.02; done; touch ran`;
    const { stderr } = await runProgram(["sandbox", "--", "sh", "-c", script], { home: stage.home });
    assert.match(stderr, /\.cursor[^]*moved to quarantine[^]*ended when it made that/);
    for (const name of [...names, "ran"]) {
      await assert.rejects(Deno.stat(`${stage.project}/${name}`), Deno.errors.NotFound, name);
    }
  },
);

/** A disk other than that of temporary directories. */
const OTHER_DISK = "/dev/shm";

Deno.test("on another disk each path is moved by itself, and what cannot be moved ends commands", {
  ignore: !hasBubblewrap() || !isOtherDisk(),
}, async () => {
  await using stage = await openStage();
  const place = await Deno.makeTempDir({ dir: OTHER_DISK });
  try {
    await Deno.writeTextFile(`${place}/.agentclisecret`, "no-cloud: .env\n");
    await Deno.writeTextFile(`${place}/.env`, "K=1234567890abcdef\n");
    const script =
      "mkdir .cursor .devcontainer; touch .devcontainer/$'\\xff'; echo x > .devcontainer/devcontainer.json; " +
      "echo x > .cursor/hooks.json; echo x > .mcp.json";
    const at = { home: stage.home, cwd: place };
    const done = await runProgram(["sandbox", "--", "bash", "-c", script], at);
    assert.equal(done.code, 6, done.stderr);
    assert.match(done.stderr, /\.devcontainer, which could run code later, and it cannot be moved away/);
    for (const name of [".cursor", ".mcp.json"]) {
      await assert.rejects(Deno.stat(`${place}/${name}`), Deno.errors.NotFound);
    }
    const next = await runProgram(["sandbox", "--", "touch", "ran"], at);
    assert.equal(next.code, 6, "commands are refused as long as it stands there");
    await assert.rejects(Deno.stat(`${place}/ran`), Deno.errors.NotFound);
    await new Deno.Command("rm", { args: ["-r", `${place}/.devcontainer`] }).output();
    assert.equal((await runProgram(["sandbox", "--", "touch", "ran"], at)).code, 0);
    const { stdout } = await runProgram(["quarantine", "list"], at);
    assert.match(stdout, /\.mcp\.json/);
  } finally {
    await new Deno.Command("rm", { args: ["-r", place] }).output();
  }
});

function isOtherDisk(): boolean {
  try {
    return Deno.statSync(OTHER_DISK).dev !== Deno.statSync("/tmp").dev;
  } catch {
    return false;
  }
}

Deno.test(
  "a command that made what cannot be moved away fails, and it is said what",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(`${project.home}/quarantine`, "in the way");
      await assert.rejects(
        project.sandboxed("echo x > .envrc"),
        /\.envrc, which could run code later, and it cannot be moved/,
      );
      assert.equal((await project.sandboxed("echo ran")).text, "ran\n", "control: others run");
    }),
);

Deno.test(
  "what comes back from quarantine is as protected as what the command left in the project",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    for (const text of ["nothing", canary]) {
      await stage.write(".env", `API_TOKEN=${canary}\n`);
      const command = `mkdir .vscode && echo ${text} > .vscode/tasks.json`;
      const script = [ask(want("read", { path: ".env" })), ask(want("shell", { command })), say("Done.")];
      const local = await stage.play("loc", { script, args: ["--permission-mode", "bypassPermissions"] });
      const [, id = ""] = /agentcli quarantine restore (\S+)/.exec(local.done.stderr) ?? [];
      // What it holds is in no file any more that a line of the marker covers.
      await stage.write(".env", "API_TOKEN=another\n");
      const back = await stage.play("loc", { argv: ["quarantine", "restore", id], script: [] });
      assert.equal(await Deno.readTextFile(`${stage.project}/.vscode/tasks.json`), `${text}\n`, back.done.stderr);
      const reads = [ask(want("read", { path: ".vscode/tasks.json" })), say("Done.")];
      const remote = await stage.play("rem", { script: reads });
      assert.equal(remote.sent.includes(text), text !== canary, remote.done.stderr);
      if (text === canary) {
        assert.match(
          local.done.stderr,
          /protected from now on, since they hold protected content: .*tasks/,
        );
      }
      await Deno.remove(`${stage.project}/.vscode`, { recursive: true });
    }
  },
);

Deno.test("nothing comes back from quarantine while the home cannot keep a note of it", bubblewrap, async () => {
  await using stage = await openStage();
  const home = stage.home.agentcliHome;
  const path = await Deno.realPath(await stage.write("made.txt", "in a form that no scan finds\n"));
  const { id = "" } = await quarantine([path], { home, roots: keptRoots([stage.project]), now: Date.now() }) ?? {};
  await stage.write(`${home}/unfinished`, "in the way");
  const refused = await runProgram(["quarantine", "restore", id], { home: stage.home });
  assert.equal(refused.code, 6, refused.stderr);
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  await Deno.remove(`${home}/unfinished`);
  const restored = await runProgram(["quarantine", "restore", id], { home: stage.home });
  assert.equal(restored.code, 0, restored.stderr);
  assert.ok(await Deno.stat(path), "control");
  assert.deepEqual([...Deno.readDirSync(`${home}/unfinished`)], []);
});
